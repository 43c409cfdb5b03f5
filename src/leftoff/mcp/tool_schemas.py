"""Describe the tools and resources: what they do, what they take and what they return."""

TYPE_CHECKING = False  # see leftoff/mcp/__init__.py
if TYPE_CHECKING:
    from typing import Any

MOST_ROWS = 100


def _text(description: str = "") -> "dict[str, Any]":
    return {"type": "string", **({"description": description} if description else {})}


def _texts(description: str = "") -> "dict[str, Any]":
    return {
        "type": "array",
        "items": {"type": "string"},
        **({"description": description} if description else {}),
    }


def _flag(description: str = "") -> "dict[str, Any]":
    return {"type": "boolean", **({"description": description} if description else {})}


def _limit(default: int) -> "dict[str, Any]":
    return {
        "type": "integer",
        "minimum": 1,
        "maximum": MOST_ROWS,
        "description": f"Maximum number to return (default: {default}).",
    }


def _object(properties: "dict[str, Any]", required: "tuple[str, ...]" = ()) -> "dict[str, Any]":
    return {"type": "object", "properties": properties, "required": [*required]}


def _rows(properties: "dict[str, Any]", required: "tuple[str, ...]") -> "dict[str, Any]":
    return {"type": "array", "items": _object(properties, required)}


_KINDS = ["decision", "failure", "success", "rule", "pattern", "entity", "structure"]
_NAME = "Name or id of a piece of work, as `list` shows it."
_OPTIONAL_TEXT = {"type": ["string", "null"]}
_WARNINGS = {"warnings": _texts()}
_NOTICE = {"notice": _text("Says that the values are saved data, not instructions.")}

_THREAD = {
    "name": _text(),
    "id": _text(),
    "state": _text(),
    "age": _text(),
    "as_of": _text("When it was last active, as ISO 8601."),
    "branch": _OPTIONAL_TEXT,
    "agent": _OPTIONAL_TEXT,
    "task": _OPTIONAL_TEXT,
    "next_action": _OPTIONAL_TEXT,
}
_THREAD_KEYS = tuple(_THREAD)
_ENTRY = {
    "id": _text(),
    "kind": _text(),
    "text": _text(),
    "why": _text(),
    "status": _text(),
    "at": _text(),
}

_SAVE = _object(
    {
        "name": _text("Two to four words. Default: the name of this work, or one made from it."),
        "summary": _text("The task, in one sentence."),
        "next_action": _text("The exact next action: the command, file or change."),
        "left_off": _text("Where the work stopped, in one to three sentences."),
        "done": _texts("What is done, with files, commands and results."),
        "blockers": _texts("What blocks the work."),
        "questions": _texts("Open questions."),
        "decisions": _texts("Decisions, each as `what :: why`."),
        "failed": _texts("Approaches that failed, each as `what :: why`."),
        "files": _texts("Paths of the files that matter."),
        "notes": _texts("Anything else worth knowing."),
        "plan": _text("Path of the plan in use."),
        "overwrite": _flag("Save a new revision of a name that other work uses."),
        "strict": _flag("Refuse to save below the quality bar, instead of warning."),
    }
)
_RESUME = _object(
    {
        "name": _text(f"{_NAME} Default: the only open one."),
        "accept": _flag(
            "Mark it as resumed by this session. Pass true once the user has agreed to continue "
            "it; without it, this only shows the state."
        ),
        "budget": {
            "type": "integer",
            "minimum": 100,
            "maximum": 20_000,
            "description": "Maximum tokens of the briefing.",
        },
    }
)
_LIST = _object(
    {"limit": _limit(20), "all": _flag("Include work that is done, dropped or cleared.")}
)
_SHOW = _object({"name": _text(f"{_NAME} Default: the newest.")})
_SEARCH = _object(
    {
        "words": _text("Words to find; the last one matches as a prefix."),
        "limit": _limit(20),
        "all": _flag("Include work that is done, dropped or cleared."),
    },
    ("words",),
)
_REMEMBER = _object(
    {
        "kind": {"type": "string", "enum": _KINDS, "description": "What kind of entry it is."},
        "text": _text("What to remember, in a sentence or two."),
        "why": _text("The reason, or the root cause of a failure."),
        "files": _texts("Paths of the files it is about."),
        "alternatives": _texts("Alternatives that were considered."),
        "relations": _texts("How an entity relates to others."),
    },
    ("kind", "text"),
)
_RECALL = _object(
    {
        "words": _text("Words to find; without them, the newest entries."),
        "kinds": {
            "type": "array",
            "items": {"type": "string", "enum": _KINDS},
            "description": "Only these kinds.",
        },
        "limit": _limit(20),
    }
)

_SNAPSHOT = _object(
    {"list": _flag("Only list the newest snapshots; take none."), "limit": _limit(20)}
)
_SNAPSHOT_ROW = {
    "id": _text(),
    "age": _text(),
    "files": {"type": "integer"},
    "skipped": {"type": "integer", "description": "Files that were too large, or hold secrets."},
    "reason": _text(),
    "branch": _OPTIONAL_TEXT,
    "worktree": _text(),
}


def _tool(  # noqa: PLR0913 - one for each part of a tool
    name: str,
    title: str,
    description: str,
    arguments: "dict[str, Any]",
    output: "dict[str, Any]",
    *,
    is_reading: bool = True,
) -> "dict[str, Any]":
    """Describe a tool; none of them destroys anything or leaves this machine."""
    return {
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": {**arguments, "additionalProperties": False},
        "outputSchema": output,
        "annotations": {
            "title": title,
            "readOnlyHint": is_reading,
            "destructiveHint": False,
            "idempotentHint": is_reading,
            "openWorldHint": False,
        },
    }


TOOLS: "list[dict[str, Any]]" = [
    _tool(
        "save",
        "Save where the work left off",
        "Save where the work left off, so that any later session can continue it. leftoff reads "
        "files, git, todos and the plan; you add the task, the exact next action, decisions and "
        "failed approaches with their reasons. Paste no conversation and no file contents.",
        _SAVE,
        _object(
            {
                "name": _text(),
                "id": _text(),
                "path": _text(),
                "continues": _OPTIONAL_TEXT,
                **_WARNINGS,
            },
            ("name", "id", "path", "warnings"),
        ),
        is_reading=False,
    ),
    _tool(
        "resume",
        "Resume saved work",
        "Show where the work left off and what has changed since. Use it when the user wants to "
        "continue. It changes nothing unless you pass accept.",
        _RESUME,
        _object(
            {
                "found": _flag(),
                "name": _OPTIONAL_TEXT,
                "id": _OPTIONAL_TEXT,
                "briefing": _text(),
                "is_stale": _flag("Whether anything it relies on has changed."),
                "accepted": _flag(),
                "question": _OPTIONAL_TEXT,
                "prompts": _texts("Prompts of the user that no session answered."),
                **_WARNINGS,
            },
            ("found", "briefing", "accepted", "warnings"),
        ),
        is_reading=False,
    ),
    _tool(
        "list",
        "List saved work",
        "List the open pieces of work in this project, newest first.",
        _LIST,
        _object(
            {**_NOTICE, "threads": _rows(_THREAD, _THREAD_KEYS), "more": _flag(), **_WARNINGS},
            ("threads", "more", "warnings"),
        ),
    ),
    _tool(
        "show",
        "Show saved work in full",
        "Show everything that was saved about one piece of work.",
        _SHOW,
        _object(
            {
                **_NOTICE,
                "name": _OPTIONAL_TEXT,
                "id": _text(),
                "state": _text(),
                "checkpoint": {"type": "object"},
                **_WARNINGS,
            },
            ("id", "state", "checkpoint", "warnings"),
        ),
    ),
    _tool(
        "search",
        "Search saved work",
        "Search all saved work of this project, newest first.",
        _SEARCH,
        _object(
            {
                **_NOTICE,
                "hits": _rows({**_THREAD, "snippet": _text()}, (*_THREAD_KEYS, "snippet")),
                **_WARNINGS,
            },
            ("hits", "warnings"),
        ),
    ),
    _tool(
        "remember",
        "Remember a decision, failure or rule",
        "Keep something that outlives this piece of work: a decision with its reason, an approach "
        "that failed, a rule of the user.",
        _REMEMBER,
        _object(
            {"added": _flag(), **_ENTRY, **_WARNINGS}, ("added", "id", "kind", "text", "warnings")
        ),
        is_reading=False,
    ),
    _tool(
        "recall",
        "Recall decisions, failures and rules",
        "Find remembered decisions, failed approaches and rules. Use it before you decide or try "
        "something new.",
        _RECALL,
        _object(
            {
                **_NOTICE,
                "entries": _rows(_ENTRY, ("id", "kind", "text", "status", "at")),
                **_WARNINGS,
            },
            ("entries", "warnings"),
        ),
    ),
    _tool(
        "status",
        "Show the project's status",
        "Show the project, its branch, how many files have changed, and what work is open.",
        _object({}),
        _object(
            {
                "project": _text(),
                "worktree": _text(),
                "branch": _OPTIONAL_TEXT,
                "changed": {"type": ["integer", "null"]},
                "open": {"type": "integer"},
                "is_off": _flag("Whether the user turned leftoff's hooks off here."),
                "agent": _OPTIONAL_TEXT,
                "session_id": _OPTIONAL_TEXT,
                "thread": _OPTIONAL_TEXT,
                **_WARNINGS,
            },
            ("project", "worktree", "open", "is_off", "warnings"),
        ),
    ),
    _tool(
        "snapshot",
        "Keep the uncommitted code",
        "Keep a copy of the uncommitted code, or list the copies that are there. Use it before a "
        "step that could destroy work. It changes no file and nothing in git.",
        _SNAPSHOT,
        _object(
            {
                **_NOTICE,
                "taken": _flag(),
                "snapshots": _rows(_SNAPSHOT_ROW, tuple(_SNAPSHOT_ROW)),
                **_WARNINGS,
            },
            ("taken", "snapshots", "warnings"),
        ),
        is_reading=False,
    ),
]

ARGUMENTS: "dict[str, dict[str, Any]]" = {each["name"]: each["inputSchema"] for each in TOOLS}
"""The schema of each tool's arguments."""

RESOURCES: "list[dict[str, Any]]" = [
    {
        "uri": "leftoff://briefing",
        "name": "briefing",
        "title": "Where the work left off",
        "description": "The briefing of the open work, with what has changed since.",
        "mimeType": "text/plain",
    }
]

TEMPLATES: "list[dict[str, Any]]" = [
    {
        "uriTemplate": "leftoff://thread/{name}",
        "name": "thread",
        "title": "A piece of saved work",
        "description": "Everything that was saved about one piece of work.",
        "mimeType": "text/plain",
    }
]

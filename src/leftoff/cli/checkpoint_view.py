"""Format a full checkpoint as a page for people: the task first, long lists shortened."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from leftoff.checkpoint import Checkpoint, Decision, from_plain, to_plain
from leftoff.store import CheckpointEntry
from leftoff.text import times
from leftoff.text.fence import Rendered, join, quote_key, say
from leftoff.threads.field_labels import LABELS, format_decision, format_trigger

# The changed files of a big refactoring would push everything else off the screen.
_MOST_FILES = 10
_MOST_REVISIONS, _FEW_REVISIONS = 10, 5

_GROUPS = (
    "summary requests next_action next_steps constraints left_off intent answers_to "
    "pending_prompts in_flight last_failure blockers questions done todos plan "
    "feature tdd_phase".split(),
    "decisions failed notes".split(),
    "files files_deleted artifacts commands also_ran trail".split(),
    "last_commit dirty".split(),
)
_DETAILS = "context agent session_id transcript worktree reason".split()
# Files of every kind are one list. `native_text` is the text of a native file, and `native_lines`
# its line in an index, which other keys repeat.
# `stated` is shown by what is not marked as inferred.
_SHOWN_ELSEWHERE = frozenset(
    "schema id name saved_at as_of trigger head branch project thread act stated native_text "
    "native_lines files_modified focus_files seen_files watched".split()
)


class PageField(NamedTuple):
    """A field of a checkpoint as text: its label, its values, and whether they are a list."""

    label: str
    values: list[str]
    is_list: bool


def list_fields(checkpoint: Checkpoint) -> list[PageField]:
    """Return what a page shows of a checkpoint below its task, in the order of the page."""
    plain = _prepare(checkpoint)
    plain.pop("summary", None)
    others = [key for key in plain if key not in LABELS and key not in _SHOWN_ELSEWHERE]
    keys = [*(key for group in _GROUPS for key in group), *others, *_DETAILS]
    found = ((key, plain[key]) for key in keys if plain.get(key))
    return [
        PageField(*label_values(key, value if is_list else [value]), is_list=is_list)
        for key, value in found
        for is_list in (isinstance(value, list),)
    ]


def _prepare(checkpoint: Checkpoint) -> dict[str, Any]:
    """Return a checkpoint's values as the page shows them."""
    plain = _with_files(to_plain(checkpoint), checkpoint)
    if plain.get("intent") == checkpoint.task:
        plain["summary"] = plain.pop("intent")
    # The briefing shows how chains begin, so the rest of them is listed, too; a page has it all.
    ran = plain.get("also_ran") or []
    whole = [each for each in ran if not any(each != other and each in other for other in ran)]
    if whole:
        plain["also_ran"] = whole
    # The headline says it.
    if checkpoint.trigger == "session-end":
        plain.pop("reason", None)
    return plain


def build_page(
    checkpoint: Checkpoint,
    state: str,
    now: datetime,
    revisions: Sequence[CheckpointEntry],
    *,
    besides: Sequence[str] = (),
) -> Rendered:
    """Return everything in a checkpoint as a page: the task first, the details last.

    `besides` are keys that the reader sees elsewhere. Without ids, the history has none either.
    """
    has_ids = "id" not in besides
    plain = {key: value for key, value in _prepare(checkpoint).items() if key not in besides}
    others = [key for key in plain if key not in LABELS and key not in _SHOWN_ELSEWHERE]
    groups = [
        [_format_headline(checkpoint, state, now)],
        *([*_format_fields(plain, group)] for group in _GROUPS),
        [*_format_fields(plain, others)],
        [_format_history(revisions, has_ids=has_ids)],
        [
            *_format_fields(plain, _DETAILS),
            say("Id: {id}", id=checkpoint.id) if has_ids else say(""),
        ],
    ]
    return join([join(filter(None, group)) for group in groups if any(group)], "\n\n")


def _format_headline(checkpoint: Checkpoint, state: str, now: datetime) -> Rendered:
    agent = say(" by {agent}", agent=checkpoint.agent) if checkpoint.agent else say("")
    return say(
        "Thread: {name} ({state})\n"
        "Left off {moment} ({age}), on branch {branch}{agent}; {trigger}.",
        name=checkpoint.name or "autosave",
        state=state,
        moment=times.local(checkpoint.described_at),
        age=times.age((now - checkpoint.described_at).total_seconds()),
        branch=format_branch(checkpoint),
        agent=agent,
        trigger=format_trigger(checkpoint.trigger),
    )


def _with_files(plain: dict[str, Any], checkpoint: Checkpoint) -> dict[str, Any]:
    """Merge the lists of files into one, each file with all that is known of it."""
    found: dict[str, list[str]] = {}
    roles = [(file.path, _ROLES.get(file.role, file.role)) for file in checkpoint.files]
    marks = {
        "edited": checkpoint.files_modified,
        "needed next": checkpoint.focus_files,
        "uncommitted": [each for each in checkpoint.dirty if each in dict(roles)],
        "read": checkpoint.seen_files,
    }
    marked = [(path, mark) for mark, paths in marks.items() for path in paths]
    for path, mark in [*roles, *marked]:
        known = found.setdefault(path, [])
        if mark and mark not in known and not (mark == "read" and known):
            known.append(mark)
    return {
        **plain,
        "files": [f"{path} ({', '.join(each)})" if each else path for path, each in found.items()],
        "dirty": _shorten(checkpoint.dirty),
    }


_ROLES = {"modified": "edited"}


def _shorten(paths: Sequence[str]) -> list[str]:
    more = len(paths) - _MOST_FILES
    return [*paths[:_MOST_FILES], *([f"… and {more} more"] if more > 0 else [])]


def _format_fields(plain: dict[str, Any], keys: Iterable[str]) -> Iterator[Rendered]:
    for key in keys:
        if plain.get(key):
            yield _format_field(key, plain[key])


def _format_field(key: str, value: Any) -> Rendered:
    label, texts = label_values(key, value if isinstance(value, list) else [value])
    # Somebody else may have chosen an unknown key.
    head = say("{label}:" if key in LABELS else "Also {label}:", label=label)
    if not isinstance(value, list):
        return say("{head} {text:lines}", head=head, text=texts[0])
    return join([head, *(say("- {text:lines}", text=text) for text in texts)])


def _format_history(revisions: Sequence[CheckpointEntry], *, has_ids: bool) -> Rendered:
    """List the thread's revisions, newest first."""
    if len(revisions) <= 1:
        return say("")
    shown = [
        say(
            "- {moment}, {trigger}{head}{id}",
            moment=times.local(each.saved_at),
            trigger=format_trigger(each.trigger),
            head=say("; the newest" if each.is_head else ""),
            id=say(" ({id})", id=each.id) if has_ids else say(""),
        )
        for each in revisions[: _MOST_REVISIONS if has_ids else _FEW_REVISIONS]
    ]
    more = len(revisions) - len(shown)
    key = quote_key(revisions[0].name, revisions[0].id)
    rest = [say("- and {count} more: `leftoff log {key}` lists them", count=more, key=key)]
    rest = rest if more else []
    return join([say("History:"), *shown, *rest])


def label_values(key: str, values: Iterable[Any]) -> tuple[str, list[str]]:
    """Return a key's label, and each of its values as text."""
    return _find_label(key), [_format_inline(key, each) for each in values]


def _find_label(key: str) -> str:
    # A key that a newer version or another program wrote must not look like a known field.
    is_free = key.isidentifier() and key.capitalize() not in LABELS.values()
    return LABELS.get(key) or (key if is_free else repr(key))


def format_branch(checkpoint: Checkpoint) -> str:
    """Return the branch of a checkpoint, or where its HEAD was."""
    if checkpoint.branch:
        return checkpoint.branch
    return f"detached at {checkpoint.head[:8]}" if checkpoint.head else "unknown"


def _format_inline(key: str, value: Any) -> str:
    if not isinstance(value, dict):
        return format_trigger(value) if key == "trigger" else str(value)
    if key in _SENTENCES:
        return _SENTENCES[key](value)
    return ", ".join(f"{name} {each}" for name, each in value.items())


def _format_reason(value: dict[str, Any]) -> str:
    return " — ".join(str(value[key]) for key in ("what", "why") if value.get(key))


def _format_decision(value: dict[str, Any]) -> str:
    return format_decision(from_plain(value, Decision))


def _plan(value: dict[str, Any]) -> str:
    step, total = value.get("step"), value.get("total")
    step = f"(step {step} of {total})" if total else f"(step {step})" if step else ""
    parts = (value.get("path"), step, value.get("title"), value.get("stage"))
    return " ".join(str(part) for part in parts if part)


def _format_file(value: dict[str, Any]) -> str:
    return f"{value['path']} ({value['role']})" if value.get("role") else str(value["path"])


def _format_next_action(value: dict[str, Any]) -> str:
    inferred = " (inferred from the session)" if value.get("origin") == "inferred" else ""
    return f"{value['text']}{inferred}"


def _format_todo(value: dict[str, Any]) -> str:
    marks = {"completed": "x", "done": "x", "in_progress": ">"}
    return f"[{marks.get(value.get('status', ''), ' ')}] {value['text']}"


def _format_context(value: dict[str, Any]) -> str:
    percent = value.get("percent")
    used = f"{value.get('tokens', '?')} of {value.get('window', '?')} tokens"
    return f"{percent:.0f} %, {used}" if percent is not None else used


def _step(value: dict[str, Any]) -> str:
    failed = f" (exit {value['exit']})" if value.get("exit") else ""
    outcome = f": {value['outcome']}" if value.get("outcome") else ""
    return f"{value['tool']} {value.get('what', '')}{failed}{outcome}"


_SENTENCES: dict[str, Callable[[dict[str, Any]], str]] = {
    "context": _format_context,
    "decisions": _format_decision,
    "failed": _format_reason,
    "files": _format_file,
    "in_flight": lambda value: f"{value['tool']}: {value.get('what', '')}",
    "last_commit": lambda value: f"{value['sha'][:8]} {value.get('subject', '')}",
    "last_failure": lambda value: f"{value['command']}\n{value.get('error', '')}".strip(),
    "next_action": _format_next_action,
    "plan": _plan,
    "todos": _format_todo,
    "trail": _step,
    "transcript": lambda value: str(value["path"]),
}

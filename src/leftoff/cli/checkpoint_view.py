"""Format a full checkpoint for people: one label per key, long lists shortened."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

from leftoff.checkpoint import Checkpoint, to_plain
from leftoff.text import times

_LABEL = 12
_INDENT = " " * (_LABEL + 2)
# The changed files of a big refactoring would push everything else off the screen.
_MOST_DIRTY = 10

# In the order in which people look for things; keys that are not listed here follow under their
# own name.
_LABELS = {
    "agent": "agent",
    "branch": "branch",
    "summary": "task",
    "intent": "last request",
    "next_action": "next action",
    "left_off": "left off",
    "blockers": "blockers",
    "questions": "questions",
    "done": "done",
    "failed": "failed",
    "decisions": "decisions",
    "todos": "todos",
    "plan": "plan",
    "notes": "notes",
    "pending_prompts": "unanswered",
    "in_flight": "interrupted",
    "last_failure": "last failure",
    "files": "files",
    "files_modified": "modified",
    "focus_files": "needed next",
    "dirty": "uncommitted",
    "last_commit": "last commit",
    "context": "context",
}
# The last one is the text of a native file, which the other keys repeat.
_SHOWN_ELSEWHERE = frozenset({"schema", "id", "name", "saved_at", "trigger", "head", "native_text"})


def format_checkpoint(checkpoint: Checkpoint, state: str, now: datetime) -> Iterator[str]:
    """Yield everything in a checkpoint, line by line, starting with a headline."""
    plain = to_plain(checkpoint)
    age = times.age((now - checkpoint.described_at).total_seconds())
    yield f"{checkpoint.name or 'autosave'} ({state})"
    yield f"{'saved':{_LABEL}}  {times.local(checkpoint.saved_at)} ({age}), {checkpoint.trigger}"
    plain["branch"] = _branch(checkpoint)
    if len(checkpoint.dirty) > _MOST_DIRTY:
        more = len(checkpoint.dirty) - _MOST_DIRTY
        plain["dirty"] = [*checkpoint.dirty[:_MOST_DIRTY], f"… and {more} more"]
    others = [key for key in plain if key not in _LABELS and key not in _SHOWN_ELSEWHERE]
    for key in [*_LABELS, *others]:
        if plain.get(key):
            yield from _field(key, plain[key])
    yield f"{'id':{_LABEL}}  {checkpoint.id}"


def label_values(key: str, values: Iterable[Any]) -> tuple[str, list[str]]:
    """Return a key's label, and each of its values as text."""
    return _label(key), [_inline(key, each) for each in values]


def _label(key: str) -> str:
    # A key that a newer version or another program wrote must not look like a known field.
    is_free = key.isidentifier() and key not in _LABELS.values()
    return _LABELS.get(key) or (key if is_free else repr(key))


def _branch(checkpoint: Checkpoint) -> str:
    if checkpoint.branch:
        return checkpoint.branch
    return f"detached at {checkpoint.head[:8]}" if checkpoint.head else "unknown"


def _field(key: str, value: Any) -> Iterator[str]:
    label, texts = label_values(key, value if isinstance(value, list) else [value])
    bullet = "- " if isinstance(value, list) else ""
    first, *rest = texts
    # A text may have several lines; Output.text quotes all but the first.
    yield f"{label:{_LABEL}}  {bullet}{first}"
    yield from (f"{_INDENT}{bullet}{text}" for text in rest)


def _inline(key: str, value: Any) -> str:
    if not isinstance(value, dict):
        return str(value)
    if key in _SENTENCES:
        return _SENTENCES[key](value)
    return ", ".join(f"{name} {each}" for name, each in value.items())


def _format_reason(value: dict[str, Any]) -> str:
    return " — ".join(str(value[key]) for key in ("what", "why") if value.get(key))


def _plan(value: dict[str, Any]) -> str:
    step = f"(step {value['step']} of {value['total']})" if value.get("total") else ""
    parts = (value.get("path"), step, value.get("title"), value.get("stage"))
    return " ".join(str(part) for part in parts if part)


def _file(value: dict[str, Any]) -> str:
    return f"{value['path']} ({value['role']})" if value.get("role") else str(value["path"])


def _next_action(value: dict[str, Any]) -> str:
    inferred = " (inferred from the session)" if value.get("origin") == "inferred" else ""
    return f"{value['text']}{inferred}"


def _todo(value: dict[str, Any]) -> str:
    marks = {"completed": "x", "done": "x", "in_progress": ">"}
    return f"[{marks.get(value.get('status', ''), ' ')}] {value['text']}"


def _context(value: dict[str, Any]) -> str:
    percent = value.get("percent")
    used = f"{value.get('tokens', '?')} of {value.get('window', '?')} tokens"
    return f"{percent:.0f} %, {used}" if percent is not None else used


_SENTENCES: dict[str, Callable[[dict[str, Any]], str]] = {
    "context": _context,
    "decisions": _format_reason,
    "failed": _format_reason,
    "files": _file,
    "in_flight": lambda value: f"{value['tool']}: {value.get('what', '')}",
    "last_commit": lambda value: f"{value['sha'][:8]} {value.get('subject', '')}",
    "last_failure": lambda value: f"{value['command']}\n{value.get('error', '')}".strip(),
    "next_action": _next_action,
    "plan": _plan,
    "todos": _todo,
}

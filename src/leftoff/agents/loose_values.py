"""Access values that another program wrote, without assuming their types."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from leftoff.load_on_use import module_on_use

# It takes 2 ms to load, and a session start only needs to cut texts.
_json = module_on_use("json")
_LONGEST_BRIEF = 400
_LONGEST_VALUE = 160

MOST_REMEMBERED = 200
"""The number of recent calls that a reader keeps in its state."""

# Secrets and other words consist of these; blanks, quotes, brackets and commas end them.
_IN_WORDS = "".join(set(map(chr, range(33, 127))) - set("\"'`,;|&<>()[]{}"))
_GAP = re.compile(r"[^A-Za-z0-9]+")


def text(value: Any) -> str:
    """Return the value if it is a string, otherwise ""."""
    return value if isinstance(value, str) else ""


def mapping(value: Any) -> dict[str, Any]:
    """Return the value if it is an object, otherwise an empty one."""
    return value if isinstance(value, dict) else {}


def listing(value: Any) -> list[Any]:
    """Return the value if it is an array, otherwise an empty one."""
    return value if isinstance(value, list) else []


def count(value: Any) -> int:
    """Return the value as an integer if it is a number, otherwise 0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if abs(value) < 1e15 else 0


def first_text(values: dict[str, Any], *keys: str) -> str:
    """Return the first non-empty text under one of these keys."""
    for key in keys:
        if (found := values.get(key)) and isinstance(found, str):
            return found
    return ""


def parts_text(content: Any, *types: str) -> str:
    """Join the texts of a message that is a string or a list of typed parts."""
    if isinstance(content, str):
        return content
    parts = [
        text(part.get("text"))
        for part in map(mapping, listing(content))
        if not types or part.get("type") in types
    ]
    return "\n".join(part for part in parts if part)


def decode_mapping(value: Any) -> dict[str, Any]:
    """Return an object, even if it is encoded as a JSON string."""
    if not isinstance(value, str):
        return mapping(value)
    try:
        return mapping(msgspec.json.decode(value))
    except (ValueError, RecursionError):
        return {}


def brief(arguments: Any) -> str:
    """Format a call's arguments on one line of limited length, each with its name."""
    if not isinstance(arguments, dict):
        return shorten_value(arguments, _LONGEST_BRIEF) if arguments else ""
    shown = [f"{key}: {shorten_value(value)}" for key, value in arguments.items()]
    return cut(", ".join(shown), _LONGEST_BRIEF)


def shorten_value(value: Any, length: int = _LONGEST_VALUE) -> str:
    """Format one value on one line of limited length."""
    words = value if isinstance(value, str) else _json.dumps(value, ensure_ascii=False)
    return cut(" ".join(cut(words, 2 * length).split()), length)


def cut(words: str, length: int) -> str:
    """Shorten a text to its beginning; a word at the cut is dropped whole.

    Secrets are searched for in the shortened text. Half a secret, or one without its closing quote,
    would not be recognized.
    """
    if len(words) <= length:
        return words
    kept = words[:length]
    return kept if words[length].isspace() else kept.rstrip(_IN_WORDS)


def cut_start(words: str, length: int) -> str:
    """Shorten a text to its end; a word at the cut is dropped whole."""
    if len(words) <= length:
        return words
    kept = words[-length:]
    return kept if words[-length - 1].isspace() else kept.lstrip(_IN_WORDS)


def instant(milliseconds: Any) -> str:
    """Format a time given in milliseconds like the agents' own timestamps."""
    try:
        moment = datetime.fromtimestamp(count(milliseconds) / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def remember(kept: dict[str, Any], key: str, value: Any) -> None:
    """Add an entry to a reader's state, and drop the oldest beyond the limit."""
    kept[key] = value
    if len(kept) > MOST_REMEMBERED:
        del kept[next(iter(kept))]


def is_within(cwd: str, folder: Path) -> bool:
    """Return whether a session's directory is this folder or inside it."""
    return bool(cwd) and Path(cwd).is_relative_to(folder)


def dash_path(path: str) -> str:
    """Convert a path to the name that agents give its folder."""
    return _GAP.sub("-", path).strip("-")


def first_line(path: Path, limit: int) -> dict[str, Any]:
    """Decode the first line of a session file; return {} if it is unreadable."""
    # Opening a named pipe that was planted here would block forever.
    if not path.is_file():
        return {}
    try:
        with path.open("rb") as file:
            return mapping(msgspec.json.decode(file.readline(limit)))
    except (OSError, ValueError, RecursionError):
        return {}


def read_mtime(path: Path) -> float:
    """Return when a file was last modified; 0 if it does not exist."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def read_json(data: bytes, start: re.Pattern[str]) -> dict[str, Any] | list[dict[str, Any]]:
    """Decode a document, or the readable entries of a torn or damaged one.

    `start` matches the beginning of an entry.
    """
    try:
        return mapping(msgspec.json.decode(data))
    except (ValueError, RecursionError):
        return list(_entries(data.decode("utf-8", "replace"), start))


def _entries(damaged: str, start: re.Pattern[str]) -> Iterator[dict[str, Any]]:
    decoder = _json.JSONDecoder(strict=False)
    position = 1
    while (found := start.search(damaged, position)) is not None:
        try:
            entry, position = decoder.raw_decode(damaged, found.start())
        except (ValueError, RecursionError):
            position = found.start() + 1
        else:
            yield mapping(entry)

"""Careful access to values that another program wrote: whatever the shape, no surprise."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

_LONGEST_BRIEF = 400
_LONGEST_VALUE = 160

MOST_REMEMBERED = 200
"""How many recent calls a reader keeps in its state."""

# What secrets and other words are made of; blanks, quotes, brackets and commas end them.
_IN_WORDS = "".join(set(map(chr, range(33, 127))) - set("\"'`,;|&<>()[]{}"))
_GAP = re.compile(r"[^A-Za-z0-9]+")


def text(value: Any) -> str:
    """Return a string as it is and anything else as no text."""
    return value if isinstance(value, str) else ""


def mapping(value: Any) -> dict[str, Any]:
    """Return an object as it is and anything else as an empty one."""
    return value if isinstance(value, dict) else {}


def listing(value: Any) -> list[Any]:
    """Return an array as it is and anything else as an empty one."""
    return value if isinstance(value, list) else []


def count(value: Any) -> int:
    """Return a number as a whole one and anything else as 0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if abs(value) < 1e15 else 0


def first_text(values: dict[str, Any], *keys: str) -> str:
    """Return the first of these keys that holds text."""
    for key in keys:
        if (found := values.get(key)) and isinstance(found, str):
            return found
    return ""


def parts_text(content: Any, *types: str) -> str:
    """Join the texts of a message given as a string or as typed parts."""
    if isinstance(content, str):
        return content
    parts = [
        text(part.get("text"))
        for part in map(mapping, listing(content))
        if not types or part.get("type") in types
    ]
    return "\n".join(part for part in parts if part)


def decode_mapping(value: Any) -> dict[str, Any]:
    """Return an object that may have been written as a JSON string."""
    if not isinstance(value, str):
        return mapping(value)
    try:
        return mapping(msgspec.json.decode(value))
    except (ValueError, RecursionError):
        return {}


def brief(arguments: Any) -> str:
    """Show a call's arguments on one bounded line, each with its name."""
    if not isinstance(arguments, dict):
        return shorten_value(arguments, _LONGEST_BRIEF) if arguments else ""
    shown = [f"{key}: {shorten_value(value)}" for key, value in arguments.items()]
    return cut(", ".join(shown), _LONGEST_BRIEF)


def shorten_value(value: Any, length: int = _LONGEST_VALUE) -> str:
    """Show one value on one bounded line."""
    words = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return cut(" ".join(cut(words, 2 * length).split()), length)


def cut(words: str, length: int) -> str:
    """Keep the beginning of a text; a word at the cut goes whole.

    Secrets are looked for in what was kept, and half of one, or one without its closing quote,
    is not known as such.
    """
    if len(words) <= length:
        return words
    kept = words[:length]
    return kept if words[length].isspace() else kept.rstrip(_IN_WORDS)


def cut_start(words: str, length: int) -> str:
    """Keep the end of a text; a word at the cut goes whole."""
    if len(words) <= length:
        return words
    kept = words[-length:]
    return kept if words[-length - 1].isspace() else kept.lstrip(_IN_WORDS)


def instant(milliseconds: Any) -> str:
    """Write a time given in milliseconds as agents write theirs."""
    try:
        moment = datetime.fromtimestamp(count(milliseconds) / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def remember(kept: dict[str, Any], key: str, value: Any) -> None:
    """Add to a reader's memory and forget the oldest entry beyond the bound."""
    kept[key] = value
    if len(kept) > MOST_REMEMBERED:
        del kept[next(iter(kept))]


def is_within(cwd: str, folder: Path) -> bool:
    """Tell whether a session's directory is this folder or lies in it."""
    return bool(cwd) and Path(cwd).is_relative_to(folder)


def dash_path(path: str) -> str:
    """Write a path the way agents name folders after it."""
    return _GAP.sub("-", path).strip("-")


def first_line(path: Path, limit: int) -> dict[str, Any]:
    """Decode the first line of a session file; nothing where it cannot be read."""
    # A pipe planted here would never answer.
    if not path.is_file():
        return {}
    try:
        with path.open("rb") as file:
            return mapping(msgspec.json.decode(file.readline(limit)))
    except (OSError, ValueError, RecursionError):
        return {}


def read_mtime(path: Path) -> float:
    """Return when a file was last written; 0 where it is gone."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def read_json(data: bytes, start: re.Pattern[str]) -> dict[str, Any] | list[dict[str, Any]]:
    """Decode a document, or, of a torn or damaged one, the entries that can still be read.

    `start` matches where an entry begins.
    """
    try:
        return mapping(msgspec.json.decode(data))
    except (ValueError, RecursionError):
        return list(_entries(data.decode("utf-8", "replace"), start))


def _entries(damaged: str, start: re.Pattern[str]) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder(strict=False)
    position = 1
    while (found := start.search(damaged, position)) is not None:
        try:
            entry, position = decoder.raw_decode(damaged, found.start())
        except (ValueError, RecursionError):
            position = found.start() + 1
        else:
            yield mapping(entry)

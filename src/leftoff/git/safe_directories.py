"""Read which folders of other users the user's git settings declare safe."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from leftoff.lazy_patterns import lazy

_MAX_BYTES = 1_000_000
_MAX_INCLUDES = 10
_SECTION = lazy(r'\s*\[\s*([\w.-]+)\s*(?:"[^"]*")?\s*\](.*)')
_ENTRY = lazy(r"\s*([\w-]+)\s*=\s*(.*)")
_VALUE = lazy(r'("(?:[^"\\]|\\.)*"|[^"#;]+)')


def is_safe(folder: Path, files: Sequence[Path], home: Path) -> bool:
    """Return whether `safe.directory` in git's settings files covers a folder."""
    named: list[str] = []
    for file in files:
        for value in _read_values(file, home, _MAX_INCLUDES):
            # As in git, an empty value resets the list.
            named = [*named, value] if value else []
    return any(_names(value, folder, home) for value in named)


def _names(value: str, folder: Path, home: Path) -> bool:
    if value == "*":
        return True
    place = str(home / value[2:]) if value.startswith("~/") else value
    if place.endswith("/*"):
        return folder.is_relative_to(os.path.realpath(place[:-2]))
    return place.startswith("/") and os.path.realpath(place) == str(folder)


def _read_values(file: Path, home: Path, depth: int) -> Iterator[str]:
    """Yield the values of safe.directory, including those in included files."""
    section = ""
    for line in _read_lines(file):
        if found := _SECTION.match(line):
            section, line = found[1].lower(), found[2]  # noqa: PLW2901 - an entry can follow
        entry = _ENTRY.match(line)
        key = f"{section}.{entry[1].lower()}" if entry else ""
        value = _strip_value(entry[2]) if entry else ""
        if key == "safe.directory":
            yield value
        elif key == "include.path" and depth:
            included = home / value[2:] if value.startswith("~/") else file.parent / value
            yield from _read_values(included, home, depth - 1)


def _strip_value(value: str) -> str:
    """Remove the quotes and the trailing comment from a value."""
    parts = []
    while found := _VALUE.match(value):
        part, value = found[1], value[found.end() :]
        parts.append(re.sub(r"\\(.)", r"\1", part[1:-1]) if part.startswith('"') else part)
    return "".join(parts).strip()


def _read_lines(file: Path) -> list[str]:
    try:
        # Opening a FIFO would block forever.
        if not file.is_file():
            return []
        with file.open("rb") as opened:
            return opened.read(_MAX_BYTES).decode("utf-8", "surrogateescape").splitlines()
    except (OSError, ValueError):
        return []

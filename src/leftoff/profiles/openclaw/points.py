"""Read and write openclaw's points: labeled bullets, with further labeled bullets below them.

A point that fits on one line is written as people write it: `- what (why)`. If that would be
read back differently, each part gets its own bullet.
"""

import re
from collections.abc import Iterable, Sequence

import msgspec

from leftoff.profiles.loose_words import says_nothing
from leftoff.profiles.openclaw.section_items import (
    EDGES,
    escape,
    split_items,
    tidy,
    unescape,
    write_bullet,
)

_LABELS = (
    "Open question", "File", "Modified", "Artifact", "Branch", "Plan", "Failed", "Why",
    "Alternative", "Impact", "Path", "Title", "Step", "Stage",
)  # fmt: skip
_LABEL = re.compile(rf"({'|'.join(_LABELS)}):(?:[ \t]+|$)", re.MULTILINE)
# A person's text that looks like one of our labels gets a backslash.
_WORDS = rf"(?:(?:{'|'.join(_LABELS)}):(?:[ \t]|$)|-$)"
_LIKE_OURS = re.compile(rf"(\\*{_WORDS})", re.MULTILINE)
_GUARDED = re.compile(rf"\\(\\*{_WORDS})", re.MULTILINE)
_REASONED = re.compile(r"(\S.*?)(?: \((.+)\)| (?:—|::) (.+))")


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """One bullet: its label, if any, its text, and the labeled bullets below it."""

    label: str = ""
    text: str = ""
    parts: list[tuple[str, str]] = []

    def part(self, label: str) -> str:
        """Return the first part with this label; empty if there is none."""
        return next((text for name, text in self.parts if name == label), "")


def is_nothing(raw: str) -> bool:
    """Return whether a bullet only says that there is nothing to report."""
    return raw.strip(" \t") in {"", "-"} or says_nothing(raw)


def write(point: Point) -> str:
    """Write a point as a bullet."""
    text = escape(guard(point.text)) if not point.label else escape(_write_label(point))
    below = [write_bullet(escape(f"{label}: {value}")) for label, value in point.parts]
    return write_bullet("\n".join([text, *below]))


def _write_label(point: Point) -> str:
    return f"{point.label}: {point.text.strip(EDGES)}".rstrip(EDGES)


def read(raw: str) -> Point:
    """Read a bullet as it is written."""
    head, parts = _split_parts(raw)
    found = _LABEL.match(head)
    if found is None:
        return Point(text=unguard(unescape(head)), parts=parts)
    return Point(label=found[1], text=unescape(head)[found.end() :], parts=parts)


def _split_parts(raw: str) -> tuple[str, list[tuple[str, str]]]:
    """Split the labeled bullets off the end of a bullet; others belong to its text."""
    found = split_items(raw.split("\n"))
    below = [_LABEL.match(each.text) for each in found[1:]]
    is_ours = found and found[0].kind == "prose" and all(below)
    if len(found) < 2 or not is_ours or any(each.kind != "bullet" for each in found[1:]):
        return raw, []
    parts = [
        (label[1], unescape(each.text)[label.end() :])
        for each, label in zip(found[1:], below, strict=True)
        if label is not None
    ]
    return found[0].text, parts


def guard(text: str) -> str:
    """Protect a text from being read as one of our labels."""
    text = tidy(text)
    is_like = _LIKE_OURS.match(text) or says_nothing(text.lstrip("\\"))
    return f"\\{text}" if is_like else text


def unguard(text: str) -> str:
    """Undo `guard`."""
    is_guarded = text.startswith("\\") and says_nothing(text.lstrip("\\"))
    return text[1:] if is_guarded or _GUARDED.match(text) else text


def add_reason(label: str, what: str, why: str, more: Iterable[tuple[str, str]] = ()) -> Point:
    """Make a point from a thing and its reason."""
    further = [*more]
    text = f"{what} ({why})" if why else what
    point = Point(label=label, text=text)
    # Use the short form only if it reads back the same.
    if not further and _is_read_back(point, what, why):
        return point
    return Point(label=label, text=what, parts=[("Why", why), *further])


def _is_read_back(point: Point, what: str, why: str) -> bool:
    lines = write(point).split("\n")
    return len(lines) == 1 and read_reason(read(lines[0].removeprefix("- "))) == (what, why)


def read_reason(point: Point) -> tuple[str, str]:
    """Read a thing and its reason."""
    if point.parts:
        return point.text, point.part("Why")
    found = _REASONED.fullmatch(point.text) if "\n" not in point.text else None
    return (found[1], found[2] or found[3]) if found else (point.text, "")


def read_all(lines: Sequence[str]) -> list[Point]:
    """Read all points of a section."""
    found = split_items(lines, is_list=True)
    return [read(each.text) for each in found if not is_nothing(each.text)]


def write_all(points: Iterable[Point]) -> str:
    """Write points as a section, or the word for none."""
    return "\n".join(write(point) for point in points) or "- None"

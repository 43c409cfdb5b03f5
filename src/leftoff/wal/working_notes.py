"""Add notes to SESSION-STATE.md, each under its heading and on disk before work continues."""

import os
import re
import stat
from datetime import datetime
from pathlib import Path
from typing import Literal, get_args

import msgspec

from leftoff.digests import sha256
from leftoff.errors import StoreRefused
from leftoff.projects.project import leads_out
from leftoff.redact import redact
from leftoff.store import Store, disk, trash

Kind = Literal["correction", "noun", "preference", "decision", "draft", "value"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_OBSERVED = "Corrections & preferences observed this session"
_NAMED = "Proper nouns & values"
# The words that identify a heading, best first, and the heading to add if none matches.
_SECTIONS: dict[Kind, tuple[tuple[str, ...], str]] = {
    "correction": (("correction", "preference"), _OBSERVED),
    "preference": (("preference", "correction"), _OBSERVED),
    "noun": (("noun", "value"), _NAMED),
    "value": (("value", "noun"), _NAMED),
    "decision": (("decision",), "Decisions made"),
    "draft": (("draft",), "Drafts in flight"),
}
_TEMPLATE = """\
# SESSION-STATE.md

## Active task
**Name:**
**Goal:**
**Started:** {today}
**Blocking on:** nothing

## Open decisions

## Decisions made

## Corrections & preferences observed this session

## Proper nouns & values

## Drafts in flight

## Next-turn hint
"""
# Under these headings are things that are not decided yet.
_UNDECIDED = re.compile(r"\b(?:open|pending|undecided)\b")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.+?)[ \t]*$")
_FENCE = re.compile(r"[ \t]*(```|~~~)")
_STAMPED = re.compile(r"[-*][ \t]+(?:\[[^\]]*\][ \t]+)?")
_TEXT_CHARS = 2_000
_TEMP = ".leftoff"


class NotedLine(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the notes."""

    kind: Kind
    text: str
    path: Path
    is_new: bool
    """Whether this call added it."""


def add(store: Store, kind: Kind, text: str, *, path: Path) -> NotedLine:
    """Add a note under its heading; it is on disk when this returns."""
    clean = redact(text).strip()[:_TEXT_CHARS]
    now = store.now().astimezone()
    with disk.lock(_lock(store.project.state_folder, path)) as is_held:
        if is_held:
            _sweep(path)
        before, mode = _read(path)
        after = with_note(before or _TEMPLATE.format(today=f"{now:%Y-%m-%d}"), kind, clean, now)
        is_new = after is not None
        if after is not None:
            _write(path, after, mode)
    return NotedLine(kind=kind, text=clean, path=path, is_new=is_new)


def with_note(notes: str, kind: Kind, text: str, now: datetime) -> str | None:
    """Return the notes with one line added and the rest unchanged; None if it is already there."""
    newline = "\r\n" if "\r\n" in notes else "\n"
    words, title = _SECTIONS[kind]
    lines = notes.splitlines(keepends=True) if newline in notes else [notes] if notes else []
    begin, end = _find_section(lines, words)
    entry = _format_entry(text, newline)
    note = f"- [{now:%Y-%m-%d %H:%M}] {entry}"
    if begin is None:
        gap = newline if not notes.endswith(newline) else ""
        return f"{notes}{gap}{newline}## {title}{newline}{note}{newline}"
    section = "".join(lines[begin:end])
    if f"{newline}{entry}{newline}" in newline + _strip_stamps(section, newline) + newline:
        return None
    at = end
    while at > begin and not lines[at - 1].strip():
        at -= 1
    closed = newline if lines[at - 1].rstrip("\r\n") == lines[at - 1] else ""
    return "".join([*lines[:at], closed, note, newline, *lines[at:]])


def _format_entry(text: str, newline: str) -> str:
    """Format a text of several lines as one bullet."""
    return f"{newline}  ".join(line.rstrip() for line in text.splitlines() if line.strip())


def _strip_stamps(section: str, newline: str) -> str:
    return newline.join(_STAMPED.sub("", line, count=1) for line in section.split(newline))


def _find_section(lines: list[str], words: tuple[str, ...]) -> tuple[int | None, int]:
    """Find the best matching section, from below its heading to the next heading."""
    headings = _list_headings(lines)
    for word in words:
        for number, (at, level, title) in enumerate(headings):
            if level > 1 and word in title.lower() and not _UNDECIDED.search(title.lower()):
                following = [begin for begin, _, _ in headings[number + 1 :]]
                return at + 1, following[0] if following else len(lines)
    return None, 0


def _list_headings(lines: list[str]) -> list[tuple[int, int, str]]:
    found, fence = [], ""
    for number, line in enumerate(lines):
        if mark := _FENCE.match(line):
            fence = "" if mark[1] == fence else fence or mark[1]
        elif not fence and (heading := _HEADING.match(line.rstrip("\r\n"))):
            found.append((number, len(heading[1]), heading[2]))
    return found


def _lock(state: Path, path: Path) -> Path:
    """Return a lock in our own state folder: the notes may be in a folder that is not ours."""
    folder = state / "locks"
    disk.ensure_folder(folder)
    return folder / f"notes-{sha256(os.fsencode(path)).hexdigest()[:12]}"


def read(path: Path) -> str:
    """Return the notes, or an empty text if there are none."""
    return _read(path)[0].encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _read(path: Path) -> tuple[str, int]:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return "", 0o600
    if not stat.S_ISREG(found.st_mode) or leads_out(path):
        raise StoreRefused(
            f"{path} is not a regular file of this project, so leftoff writes no notes there",
            hint="Move it away and try again.",
        )
    return path.read_bytes().decode("utf-8", "surrogateescape"), stat.S_IMODE(found.st_mode)


def reset(store: Store, *, path: Path) -> Path | None:
    """Move the notes to the trash to start another task; return their new path."""
    with disk.lock(_lock(store.project.state_folder, path)):
        if not _read(path)[0]:
            return None
        return trash.put(store.project.store, path, store.now())


def _sweep(path: Path) -> None:
    """Remove temporary files that a killed writer left behind."""
    for temp in path.parent.glob(f".{path.name}.*{_TEMP}"):
        temp.unlink(missing_ok=True)


def _write(path: Path, text: str, mode: int) -> None:
    """Replace the notes atomically and durably."""
    if not path.parent.is_dir():
        disk.ensure_folder(path.parent)
    temp = path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}{_TEMP}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(temp, flags, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8", "surrogateescape"))
            file.flush()
            os.fsync(file.fileno())
        temp.replace(path)
    except BaseException:
        temp.unlink(missing_ok=True)
        raise
    disk.sync_folder(path.parent)

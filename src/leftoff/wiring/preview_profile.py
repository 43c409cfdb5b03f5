"""Read the native files of a profile as `init --profile` would, and change nothing."""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from leftoff import config, profiles
from leftoff.errors import LeftoffError
from leftoff.profiles.profile import More, Native, Profile
from leftoff.profiles.regular_files import read_regular
from leftoff.projects.project import Project, leads_out
from leftoff.text.plural import format_count, local
from leftoff.wiring.findings import DoctorFinding, ok, warning

# A checkpoint with none of these gives a session nothing to continue.
_DESCRIPTIVE = ("summary", "intent", "left_off", "done", "next_action")
_NOT_A_FILE = "It is not a readable regular file."
_SHOWN_CHARS = 80
_MOST_LINES = 3
# A fence, a title with a colon, or a key without a value.
_FRAME = re.compile(
    r"^\s*(?:```|~~~)|^[^:：]{1,40}[:：]\s*$"
    r"|(?:[:：|]|→|->|—)\s*[(_*]*(?:none(?: found)?|n/a)[)_*.]*\s*$",
    re.IGNORECASE,
)
# Below an underlined title, or below the head of a table.
_UNDERLINE = re.compile(r"\s*(?:-{3,}|={3,}|\|[\s:|-]*-[\s:|-]*)\s*$")
_WORD = re.compile(r"[^\W_]{3,}")
_LABEL = re.compile(r"^\W*\*\*[^*]*\*\*:?|^\W*[\w -]{1,30}:\s")
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}")
# What these systems write into every file: comments of a template, empty sections, how to resume.
_FIXED = re.compile(
    r"<!--|^\W*(?:none|nothing|n/a)\W*$|\(none(?: found)?\)|checkpoint save|precompact"
    r"|/checkpoint --restore",
    re.IGNORECASE,
)


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """What switching to a profile would read, and what is unclear about it."""

    profile: str
    folder: str
    checkpoints: int = 0
    """How many checkpoints would be imported."""
    others: dict[str, int] = {}
    """How many prompts, memory entries and features would be imported."""
    settings: dict[str, str] = {}
    """The settings that the profile would change, with their new values."""
    findings: list[DoctorFinding] = []
    """One for each file that would be read, and for everything that is unclear."""


def preview_profile(project: Project, name: str) -> Preview:
    """Read a profile's native files; nothing is written, not even an index."""
    profile = profiles.load(name)
    folder = profile.home(project)
    if leads_out(folder):
        raise LeftoffError(f"{folder} points outside the project, so leftoff would ignore it")
    files = [*_read_files(profile, folder, project)]
    more = profile.read_more(folder)
    return Preview(
        profile=name,
        folder=str(folder),
        checkpoints=sum(each.is_readable for each in files),
        others=_count_others(more),
        settings=_list_changes(project, name),
        findings=[
            *(finding for each in files for finding in each.findings),
            *_check_index(profile, folder),
            *(_report_doubt(folder.name, problem) for problem in more.problems),
        ],
    )


class _File(msgspec.Struct, frozen=True, kw_only=True):
    """A native file: whether it would be imported, and what to say about it."""

    is_readable: bool
    findings: list[DoctorFinding]


def _read_files(profile: Profile, folder: Path, project: Project) -> Iterator[_File]:
    for path in profile.list_natives(folder):
        shown = str(path.relative_to(folder))
        found = read_regular(path)
        native = _read(profile, path, found[0]) if found else Native(problem=_NOT_A_FILE)
        problem = native.problem or _find_other_project(native, project)
        if found is None or problem:
            findings = [_report_unreadable(shown, problem or _NOT_A_FILE)]
            yield _File(is_readable=False, findings=findings)
            continue
        moment = native.saved_at or datetime.fromtimestamp(found[1].st_mtime).astimezone()
        doubts = [_report_doubt(shown, doubt) for doubt in _list_doubts(path, native)]
        doubts += [_report_doubt(shown, doubt) for doubt in _list_unread(path, found[0], native)]
        yield _File(is_readable=True, findings=[ok(shown, _describe(native, moment)), *doubts])


def _read(profile: Profile, path: Path, data: bytes) -> Native:
    try:
        return profile.read(path, data)
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        return Native(problem=f"It cannot be read: {error}")


def _find_other_project(native: Native, project: Project) -> str | None:
    if native.project in {"", str(project.root)}:
        return None
    return f"It belongs to another project: {native.project}"


def _describe(native: Native, moment: datetime) -> str:
    found = next((native.fields[key] for key in _DESCRIPTIVE if native.fields.get(key)), "")
    first = found[0] if isinstance(found, list) else found
    text = first.get("text", "") if isinstance(first, dict) else first
    what = " ".join(str(text).split())[:_SHOWN_CHARS]
    name = native.name or "without a name"
    return f"{name}, saved {local(moment)}{f': {what}' if what else ''}"


def _list_doubts(path: Path, native: Native) -> Iterator[str]:
    """Yield what a reader of the file would have to guess."""
    if native.saved_at is None and not _TIME.search(path.name):
        yield "It has no save time, so the time of the file is used."
    if not native.name:
        yield "It has no task, so leftoff chooses a name."
    if not any(native.fields.get(key) for key in _DESCRIPTIVE):
        yield "It says neither what the work is nor where it stopped."


def _list_unread(path: Path, data: bytes, native: Native) -> Iterator[str]:
    """Yield the lines of a text that are in no field; leftoff keeps them only in the file."""
    if path.suffix != ".md":
        return
    plain = msgspec.json.encode([native.name, native.fields], enc_hook=str).decode()
    known = {*_WORD.findall(plain.casefold())}
    lines = data.decode("utf-8", "replace").removeprefix("\ufeff").splitlines()
    unread = [
        (number, line)
        for number, (line, below) in enumerate(zip(lines, [*lines[1:], ""], strict=True), 1)
        if not _is_known(line, known) and not _is_frame(line, below)
    ]
    for number, line in unread[:_MOST_LINES]:
        yield f"Line {number} is not understood: {line.strip()[:_SHOWN_CHARS]}"
    if len(unread) > _MOST_LINES:
        yield f"{format_count(len(unread) - _MOST_LINES, 'more line')} like these"


def _is_frame(line: str, below: str) -> bool:
    """Return whether a line is a title, a fence, the head of a table, or a word for nothing."""
    is_head = _UNDERLINE.match(below) is not None and bool(line.strip())
    return is_head or _FRAME.search(line) is not None


def _is_known(line: str, known: set[str]) -> bool:
    """Return whether most words of a line are in some field, or the line has none to keep."""
    if line.lstrip().startswith("#") or _TIME.search(line) or _FIXED.search(line):
        return True
    words = _WORD.findall(_LABEL.sub("", line).casefold())
    return 2 * sum(word in known for word in words) >= len(words)


def _check_index(profile: Profile, folder: Path) -> Iterator[DoctorFinding]:
    for name in profile.find_stale_names(folder):
        yield _report_doubt(name, "The index lists it, but its file is missing.")


def _count_others(more: More) -> dict[str, int]:
    counts = {
        "prompts": sum(map(len, more.prompts.values())),
        "memory entries": len(more.memories) + len(more.queued),
        "features": len(more.features),
    }
    return {what: count for what, count in counts.items() if count}


def _list_changes(project: Project, name: str) -> dict[str, str]:
    """Return the settings that a switch would change."""
    now: Mapping[str, Any] = msgspec.structs.asdict(config.load(project).settings)
    wanted = {**profiles.load(name).SETTINGS, "profile": name}
    return {
        key: config.format_value(value)
        for key, value in wanted.items()
        if key in now and now[key] != value
    }


def _report_unreadable(shown: str, problem: str) -> DoctorFinding:
    return warning(
        shown, problem, why="It would not be imported.", do="The file stays where it is."
    )


def _report_doubt(shown: str, doubt: str) -> DoctorFinding:
    return warning(shown, doubt, why="", do="")


def summarize(preview: Preview) -> list[str]:
    """Return the lines that end a preview."""
    doubts = sum(each.level == "warning" for each in preview.findings)
    counted = [format_count(preview.checkpoints, "checkpoint")]
    counted += [f"{count} {what}" for what, count in preview.others.items()]
    lines = [f"Would import {', '.join(counted)} from {preview.folder}"]
    if doubts:
        lines.append(f"{format_count(doubts, 'thing')} unclear; see the warnings above.")
    if preview.settings:
        changes = ", ".join(f"{key} = {value}" for key, value in preview.settings.items())
        lines.append(f"Would set {changes}")
    switch = f"`leftoff init --profile {preview.profile}`"
    return [*lines, f"Nothing was changed. Run {switch} to switch."]

"""Noticing: what people and the original programs did to native files since we wrote them."""

import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from leftoff import importing
from leftoff.errors import LeftoffError
from leftoff.names import kebab
from leftoff.profiles.mirror import project_knowledge, prompt_queue
from leftoff.profiles.mirror.manifest import Note
from leftoff.profiles.mirror.mirror import Cursor, Mirror
from leftoff.profiles.profile import News
from leftoff.profiles.regular_files import digest, read_regular
from leftoff.store import LISTED, Store, trash


class Noticed(msgspec.Struct, frozen=True, kw_only=True):
    """What was found: files taken in, and names whose file was removed."""

    imported: list[Path] = []
    gone: list[str] = []
    problems: list[str] = []


def notice(store: Store, names: Iterable[str]) -> Noticed:
    """Take in what was changed by hand in the mirrored files, before anything is read or written.

    Of a mirror that was never written that is all there is.
    """
    noticed = Noticed()
    for name in names:
        mirror = Mirror(store, name)
        cursor = mirror.cursor()
        if not mirror.folder.is_dir():
            continue
        try:
            if cursor is not None:
                look(mirror, cursor, noticed)
                continue
            with mirror.alone():
                look(mirror, mirror.cursor() or NOWHERE, noticed)
        except (OSError, LeftoffError) as error:
            noticed.problems.append(f"The {name} files could not be looked at: {error}")
    return noticed


NOWHERE = Cursor(0, 0)
"""The cursor of a mirror that was never written."""


def look(mirror: Mirror, cursor: Cursor, noticed: Noticed) -> None:
    """Look at one mirror's files."""
    stamp = mirror.stamp()
    if not mirror.profile.IS_LIVING and stamp == cursor.folder_mtime:
        return
    notes = mirror.notes
    seen: set[str] = set()
    before = f"{mirror.folder}{os.sep}"
    for path in mirror.profile.natives(mirror.folder):
        # Of ten thousand files `relative_to` would take half the time of a command.
        relative = str(path).removeprefix(before)
        seen.add(relative)
        if _is_unchanged(path, notes.files.get(relative)):
            continue
        found = read_regular(path)
        if found is None:
            continue
        note = notes.files.get(relative)
        if note is None or note.sha256 != digest(found[0]):
            _take(mirror, path, found[0], noticed)
    if mirror.profile.IS_LIVING:
        for note in [note for path, note in notes.files.items() if path not in seen]:
            _put_away(mirror, note, noticed)
    for name in mirror.profile.listed(mirror.folder):
        _clean_up(mirror, name, noticed)
    if stamp != cursor.folder_mtime:
        prompt_queue.take_in(mirror)
        stamps = project_knowledge.take_in(mirror, cursor.files, noticed.problems)
        mirror.keep_cursor(msgspec.structs.replace(cursor, folder_mtime=stamp, files=stamps))


def _is_unchanged(path: Path, note: Note | None) -> bool:
    if note is None:
        return False
    found = path.lstat()
    return (found.st_size, found.st_mtime_ns) == (note.size, note.mtime)


def _take(mirror: Mirror, path: Path, data: bytes, noticed: Noticed) -> None:
    name = kebab(mirror.profile.read(path, data).name or "")
    head = mirror.store.index().head(name) if name else None
    # It may have been read before, as by `leftoff import`.
    if head is not None and mirror.is_source(head.id, data):
        _note(mirror, path, data, of=head.id)
        return
    is_new = str(path.relative_to(mirror.folder)) not in mirror.notes.files
    # One that is new tells its own time, unless it says more of what we know.
    is_more = mirror.profile.IS_LIVING and head is not None
    edit = _edit(mirror, path) if is_more or not is_new else None
    taken = importing.take(mirror.store, mirror.name, mirror.profile, path, edit=edit)
    if taken.problem is not None:
        noticed.problems.append(f"{path} was changed and cannot be read: {taken.problem}")
        return
    if taken.is_foreign:
        # It took the place of ours; should it be removed, that says nothing about ours.
        mirror.notes.add(Note(path=str(path.relative_to(mirror.folder))))
        return
    _note(mirror, path, data, of=taken.checkpoint.id if taken.checkpoint else "")
    if taken.checkpoint is not None and taken.is_new and not taken.is_open and is_new:
        importing.settle(mirror.store, [taken.checkpoint.id])
    noticed.imported.append(path)


def _note(mirror: Mirror, path: Path, data: bytes, *, of: str) -> None:
    found = path.lstat()
    relative = str(path.relative_to(mirror.folder))
    mirror.notes.add(
        Note(path=relative, sha256=digest(data), size=len(data), mtime=found.st_mtime_ns, of=of)
    )


def _put_away(mirror: Mirror, note: Note, noticed: Noticed) -> None:
    """Take a file that somebody removed for what it is: a checkpoint put away."""
    if os.path.lexists(mirror.folder / note.path):
        return
    entry = mirror.store.index().get(note.of) if note.of else None
    mirror.notes.add(Note(path=note.path))
    if entry is not None and entry.is_head and entry.state in LISTED:
        mirror.store.record("cleared", [entry.id])
        noticed.gone.append(entry.name or entry.id)


def _clean_up(mirror: Mirror, name: str, noticed: Noticed) -> None:
    """Take a name out of the layout's index that neither a file nor the store knows."""
    if mirror.shows(name):
        return
    now, project = mirror.store.now(), mirror.store.project
    mirror.profile.write(mirror.files(), News(now=now, project=project, current={name: None}))
    if name not in noticed.gone:
        noticed.gone.append(name)


def take_edit(mirror: Mirror, path: Path, data: bytes) -> None:
    """Take in what somebody wrote into a file that is about to be replaced or put away."""
    edit = _edit(mirror, path)
    taken = importing.take(mirror.store, mirror.name, mirror.profile, path, edit=edit)
    if taken.problem is None and not taken.is_foreign:
        return
    # It cannot be taken for a checkpoint of this project, so it is kept as it is.
    kept = trash.put(mirror.store.project.store, _copy(path, data), mirror.store.now())
    why = "belonged to another project" if taken.is_foreign else "could not be read"
    mirror.problems.append(f"{path} had been changed and {why}; it is kept as {kept}")


def _edit(mirror: Mirror, path: Path) -> importing.Edit:
    note = mirror.notes.files.get(str(path.relative_to(mirror.folder)))
    entry = mirror.index.get(note.of) if note and note.of else None
    return importing.Edit(
        at=datetime.fromtimestamp(path.lstat().st_mtime, UTC),
        base=mirror.store.load(entry) if entry and not entry.problem else None,
    )


def _copy(path: Path, data: bytes) -> Path:
    copy = path.with_name(f"{path.stem}-edited{path.suffix}")
    copy.write_bytes(data)
    return copy

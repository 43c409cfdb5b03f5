"""Import what people and the original programs changed in native files since we wrote them."""

import os
from collections.abc import Collection, Iterable
from pathlib import Path

import msgspec

from leftoff.errors import LeftoffError
from leftoff.profiles import import_native
from leftoff.profiles.mirror import ImportedEdits, pending_files, project_knowledge
from leftoff.profiles.mirror.edited_file import make_edit
from leftoff.profiles.mirror.manifest import NOWHERE, ManifestEntry, MirrorCursor
from leftoff.profiles.mirror.mirror import Mirror
from leftoff.profiles.profile import StoreNews
from leftoff.profiles.regular_files import compute_digest, read_regular
from leftoff.store import BY_REMOVAL, LISTED, Store


def import_edits(store: Store, names: Iterable[str]) -> ImportedEdits:
    """Import manual changes to the mirrored files, before anything is read or written.

    If a mirror was never written, import every file in it.
    """
    found_edits = ImportedEdits()
    for name in names:
        mirror = Mirror(store, name)
        cursor = mirror.manifest.read_cursor()
        if not mirror.folder.is_dir():
            continue
        try:
            if cursor is not None:
                import_mirror(mirror, cursor, found_edits)
                continue
            with mirror.alone():
                import_mirror(mirror, mirror.manifest.read_cursor() or NOWHERE, found_edits)
        except (OSError, LeftoffError) as error:
            found_edits.problems.append(f"Could not check the {name} files: {error}")
    return found_edits


def was_removed(store: Store, names: Iterable[str], spellings: Collection[str]) -> bool:
    """Return whether a layout's index listed one of these names without a file or checkpoint."""
    found = (Mirror(store, name).manifest.read_removed() for name in names)
    return any(not each.isdisjoint(spellings) for each in found)


def import_mirror(mirror: Mirror, cursor: MirrorCursor, found_edits: ImportedEdits) -> None:
    """Import what changed in one mirror's files."""
    stamp = mirror.stamp()
    if not mirror.profile.IS_LIVING and stamp == cursor.folder_mtime:
        return
    manifest = mirror.manifest
    seen: set[str] = set()
    before = f"{mirror.folder}{os.sep}"
    for path in mirror.profile.list_natives(mirror.folder):
        # With ten thousand files, `relative_to` would take half the time of a command.
        relative = str(path).removeprefix(before)
        seen.add(relative)
        if _is_unchanged(path, manifest.files.get(relative)):
            continue
        found = read_regular(path)
        if found is None:
            continue
        note = manifest.files.get(relative)
        if note is None or note.sha256 != compute_digest(found[0]):
            _import_file(mirror, path, found[0], found_edits)
    if mirror.profile.IS_LIVING:
        for note in [note for path, note in manifest.files.items() if path not in seen]:
            _clear_removed(mirror, note, found_edits)
    for name in mirror.profile.find_stale_names(mirror.folder):
        _clean_up(mirror, name, found_edits)
    if stamp != cursor.folder_mtime:
        pending_files.import_prompts(mirror)
        stamps = project_knowledge.import_changes(mirror, cursor.files, found_edits.problems)
        mirror.manifest.write_cursor(
            msgspec.structs.replace(cursor, folder_mtime=stamp, files=stamps)
        )


def _is_unchanged(path: Path, note: ManifestEntry | None) -> bool:
    if note is None:
        return False
    found = path.lstat()
    return (found.st_size, found.st_mtime_ns) == (note.size, note.mtime)


def _import_file(mirror: Mirror, path: Path, data: bytes, found_edits: ImportedEdits) -> None:
    name = import_native.name_of(mirror.profile.read(path, data))
    head = mirror.store.index().find_named(name) if name else None
    # It may have been imported already, for example by `leftoff import`.
    if head is not None and mirror.is_source(head.id, data):
        _record(mirror, path, data, of=head.id)
        return
    is_new = str(path.relative_to(mirror.folder)) not in mirror.manifest.files
    # A new file has its own time, unless it adds to a checkpoint that we know.
    is_more = mirror.profile.IS_LIVING and head is not None
    edit = make_edit(mirror, path) if is_more or not is_new else None
    taken = import_native.import_file(mirror.store, mirror.name, mirror.profile, path, edit=edit)
    if taken.problem is not None:
        found_edits.problems.append(f"Could not import {path}: {taken.problem}")
        return
    if taken.is_foreign:
        # It replaced our file. If it is removed, that says nothing about ours.
        mirror.manifest.add(ManifestEntry(path=str(path.relative_to(mirror.folder))))
        return
    _record(mirror, path, data, of=taken.checkpoint.id if taken.checkpoint else "")
    if taken.checkpoint is not None and taken.is_new and not taken.is_open and is_new:
        import_native.mark_declined(mirror.store, [taken.checkpoint.id])
    found_edits.imported.append(path)


def _record(mirror: Mirror, path: Path, data: bytes, *, of: str) -> None:
    found = path.lstat()
    relative = str(path.relative_to(mirror.folder))
    mirror.manifest.add(
        ManifestEntry(
            path=relative,
            sha256=compute_digest(data),
            size=len(data),
            mtime=found.st_mtime_ns,
            of=of,
        )
    )


def _clear_removed(mirror: Mirror, note: ManifestEntry, found_edits: ImportedEdits) -> None:
    """Clear the checkpoint whose file somebody removed."""
    if os.path.lexists(mirror.folder / note.path):
        return
    entry = mirror.store.index().get(note.of) if note.of else None
    mirror.manifest.add(ManifestEntry(path=note.path))
    if entry is not None and entry.is_head and entry.state in LISTED:
        mirror.store.record("cleared", [entry.id], trigger=BY_REMOVAL)
        found_edits.gone.append(entry.name or entry.id)


def _clean_up(mirror: Mirror, name: str, found_edits: ImportedEdits) -> None:
    """Remove a name from the layout's index if it has no file and no checkpoint."""
    if mirror.shows(name):
        return
    now, project = mirror.store.now(), mirror.store.project
    mirror.profile.write(mirror.files(), StoreNews(now=now, project=project, current={name: None}))
    if name not in found_edits.gone:
        # The command that asks for this name may be a later one.
        mirror.manifest.add_removed(name)
        found_edits.gone.append(name)

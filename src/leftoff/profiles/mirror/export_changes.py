"""Update native files with what happened in the store since they were last written.

A cursor follows the event log, so that the next process, whichever it is, continues after one that
died. Processing the same events twice has no further effect.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from leftoff.checkpoint import Checkpoint
from leftoff.errors import LeftoffError
from leftoff.git import query
from leftoff.profiles.mirror import Exported, ImportedEdits, pending_files, project_knowledge
from leftoff.profiles.mirror.import_edits import import_mirror
from leftoff.profiles.mirror.manifest import NOWHERE, MirrorCursor
from leftoff.profiles.mirror.mirror import Mirror
from leftoff.profiles.mirror.native_files import NativeFiles
from leftoff.profiles.profile import AUTOSAVE, SessionNews, StoreNews, TakenUp
from leftoff.store import BY_PROMPT, LISTED, CheckpointEntry, Store, StoreEvent

# In practice no limit: a full export writes every listed checkpoint.
_MOST = 1_000_000


def export_changes(
    store: Store,
    names: Iterable[str],
    *,
    session: SessionNews | None = None,
    briefing: Callable[[], str] | None = None,
) -> Exported:
    """Update the native files of some profiles; problems are returned, never raised."""
    exported = Exported()
    if store.is_far_behind():
        # A save must not wait for an index to be built. A reader builds it, then updates files.
        return exported
    for name in names:
        written: list[Path] = []
        try:
            mirror = Mirror(store, name)
            cursor = mirror.manifest.read_cursor()
            if session is None and cursor is not None and _is_followed(mirror, cursor):
                continue
            exported.written[name] = _export(mirror, session, briefing, written)
            exported.problems.extend(mirror.problems)
            exported.warnings.extend(mirror.warnings)
        except (OSError, LeftoffError) as error:
            exported.written[name] = written
            exported.problems.append(f"The {name} files could not be written: {_explain(error)}")
            # A file that is left alone on purpose does not make the others count as missing.
            if isinstance(error, OSError) or not written:
                exported.unwritten[name] = exported.problems[-1]
    return exported


def _explain(error: OSError | LeftoffError) -> str:
    if isinstance(error, LeftoffError) or error.filename is None:
        return str(error)
    return f"{os.fsdecode(error.filename)}: {error.strerror}"


def export_all(
    store: Store, name: str, folder: Path, *, briefing: Callable[[], str] | None = None
) -> list[Path]:
    """Write everything that is listed to a folder, as native files of a profile."""
    mirror = Mirror(store, name, folder)
    with mirror.alone():
        files = mirror.files()
        news = msgspec.structs.replace(_collect_all(mirror), briefing=briefing)
        if mirror.wants_knowledge:
            news = msgspec.structs.replace(
                news, knowledge=project_knowledge.load_knowledge(store, whole=True)
            )
        mirror.profile.write(files, news)
        _, mark = store.events_since(None)
        mirror.manifest.write_cursor(MirrorCursor(*mark))
    return files.written


def _is_followed(mirror: Mirror, cursor: MirrorCursor) -> bool:
    if mirror.store.has_events_since((cursor.inode, cursor.offset)):
        return False
    if mirror.wants_prompts and pending_files.measure(mirror.store) != cursor.prompts:
        return False
    return not mirror.wants_knowledge or project_knowledge.stamp(mirror.store) == cursor.knowledge


def _export(
    mirror: Mirror,
    session: SessionNews | None,
    briefing: Callable[[], str] | None,
    written: list[Path],
) -> list[Path]:
    with mirror.alone():
        # Read it again: another process may have advanced it while we waited.
        cursor = _import_first(mirror)
        events, end = _read_events(mirror, cursor)
        is_new = cursor is None or cursor.inode != end[0]
        news = _collect_all(mirror, events) if is_new else _collect_news(mirror, events)
        news = msgspec.structs.replace(news, session=session, briefing=briefing)
        known = project_knowledge.stamp(mirror.store) if mirror.wants_knowledge else ""
        size = pending_files.measure(mirror.store) if mirror.wants_prompts else 0
        news = _with_prompts(_with_knowledge(news, mirror, cursor, known), mirror, cursor, size)
        files = mirror.files()
        files.written = written
        mirror.profile.write(files, news)
        mirror.warnings.extend(files.warnings)
        if not is_new:
            _drop_purged(files, mirror, events)
        left = project_knowledge.note_shown(mirror, cursor.files if cursor else {})
        now = MirrorCursor(
            *end, folder_mtime=mirror.stamp(), knowledge=known, files=left, prompts=size
        )
        if cursor != now:
            mirror.manifest.write_cursor(now)
        # The file with the newest checkpoint comes first.
        return sorted(files.written, key=lambda path: files.shows.get(path, ""), reverse=True)


def _read_events(
    mirror: Mirror, cursor: MirrorCursor | None
) -> tuple[list[StoreEvent], tuple[int, int]]:
    """Return the events since the cursor, including saves that were killed before their log line.

    Updating the index adds the missing lines.
    """
    mark = (cursor.inode, cursor.offset) if cursor else None
    events, end = mirror.store.events_since(mark)
    mirror.catch_up(events)
    return mirror.store.events_since(mark) if mirror.store.has_events_since(end) else (events, end)


def _with_knowledge(
    news: StoreNews, mirror: Mirror, cursor: MirrorCursor | None, known: str
) -> StoreNews:
    """Add the features and memory, if the layout shows them."""
    if not mirror.wants_knowledge:
        return news
    is_gone = cursor is not None and project_knowledge.is_missing(mirror, cursor.files)
    is_new = bool(known) and (cursor is None or known != cursor.knowledge or is_gone)
    knowledge = project_knowledge.load_knowledge(
        mirror.store, whole=news.is_whole or is_gone, is_new=is_new
    )
    return msgspec.structs.replace(news, knowledge=knowledge)


def _with_prompts(
    news: StoreNews, mirror: Mirror, cursor: MirrorCursor | None, size: int
) -> StoreNews:
    """Add the waiting prompts, if the queue has changed."""
    if not size or (cursor is not None and size == cursor.prompts):
        return news
    return msgspec.structs.replace(news, prompts=pending_files.list_prompts(mirror.store))


def _import_first(mirror: Mirror) -> MirrorCursor | None:
    """Import manual changes before anything is overwritten."""
    cursor = mirror.manifest.read_cursor()
    if not mirror.folder.is_dir():
        return cursor
    if cursor is None:
        pending_files.import_first(mirror)
    edits = ImportedEdits()
    import_mirror(mirror, cursor or NOWHERE, edits)
    mirror.problems.extend(edits.problems)
    return mirror.manifest.read_cursor()


def _collect_all(mirror: Mirror, events: Sequence[StoreEvent] = ()) -> StoreNews:
    """Return everything that is listed, as if it had just been saved."""
    entries = reversed(mirror.store.index().heads([*LISTED], _MOST))
    heads = [each for each in entries if not each.problem and _is_here(mirror, each)]
    found = [each for head in heads for each in _list_shown(mirror, head)]
    saved = [_as_shown(mirror.store.load(entry)) for entry in found]
    current = _list_archived(mirror)
    current |= {checkpoint.name or AUTOSAVE: checkpoint for checkpoint in saved}
    return StoreNews(
        now=mirror.store.now(),
        project=mirror.store.project,
        saved=saved,
        resumed=[each for each, entry in zip(saved, found, strict=True) if entry.state != "open"],
        taken_up=_find_taken_up(mirror, events),
        current=current,
        is_whole=True,
    )


def _list_archived(mirror: Mirror) -> dict[str, Checkpoint | None]:
    """Return the names of files that were imported and archived before anything was written."""
    entries = [mirror.entry(each.of) for each in mirror.manifest.files.values() if each.of]
    names = {entry.name for entry in entries if entry is not None and entry.name}
    return {name: None for name in sorted(names) if not mirror.shows(name)}


def _collect_news(mirror: Mirror, events: Sequence[StoreEvent]) -> StoreNews:
    saved = _load(
        mirror, [each for event in events if event.action == "saved" for each in event.ids]
    )
    taken_up = _find_taken_up(mirror, events)
    return StoreNews(
        now=mirror.store.now(),
        project=mirror.store.project,
        saved=saved,
        resumed=_load(mirror, [*taken_up]),
        taken_up=taken_up,
        reopened=_load(mirror, _list_reopened(mirror, events)),
        current=_find_current(mirror, events),
    )


def _list_reopened(mirror: Mirror, events: Sequence[StoreEvent]) -> list[str]:
    """Return what an undo left open; a save that was undone is no longer listed."""
    undone = [each for each in events if each.action == "undone"]
    touched = [one for each in undone for one in mirror.index.list_touched(each)]
    entries = [mirror.entry(each) for each in dict.fromkeys(touched)]
    return [each.id for each in entries if each is not None and each.state == "open"]


def _find_taken_up(mirror: Mirror, events: Sequence[StoreEvent]) -> dict[str, TakenUp]:
    return {
        each: TakenUp(
            event=event.id, session_id=event.session_id, is_by_prompt=event.trigger == BY_PROMPT
        )
        for event in events
        if event.action in {"resumed", "consumed"}
        for one in event.ids
        for each in _with_purposeful(mirror, one)
    }


def _load(mirror: Mirror, ids: Sequence[str]) -> list[Checkpoint]:
    entries = [mirror.entry(each) for each in dict.fromkeys(ids)]
    return [
        _as_shown(mirror.store.load(entry))
        for entry in entries
        if entry and not entry.problem and _is_here(mirror, entry)
    ]


def _as_shown(checkpoint: Checkpoint) -> Checkpoint:
    """Hide the name of an autosave: in native files, a name means that somebody saved it."""
    return msgspec.structs.replace(checkpoint, name=None) if checkpoint.is_autosave else checkpoint


def _list_shown(mirror: Mirror, head: CheckpointEntry) -> list[CheckpointEntry]:
    """Return what native files show of a thread: its head, and the last save on purpose."""
    purposeful = mirror.index.find_purposeful(head.slot) if head.is_autosave else None
    return [purposeful, head] if purposeful is not None else [head]


def _with_purposeful(mirror: Mirror, checkpoint_id: str) -> list[str]:
    """Return a checkpoint, and if it is an autosave, the last save on purpose of its thread."""
    entry = mirror.entry(checkpoint_id)
    shown = _list_shown(mirror, entry) if entry is not None else []
    return [each.id for each in shown] or [checkpoint_id]


def _find_current(mirror: Mirror, events: Sequence[StoreEvent]) -> dict[str, Checkpoint | None]:
    """Return the current checkpoint of every name in the events."""
    ids = dict.fromkeys(each for event in events for each in mirror.index.list_touched(event))
    touched = [mirror.entry(each) for each in ids]
    names = dict.fromkeys(
        AUTOSAVE if each.is_autosave else each.name or AUTOSAVE
        for entry in touched
        if entry and _is_here(mirror, entry)
        for each in _list_shown(mirror, entry)
    )
    return {name: _find_shown(mirror, name) for name in names}


def _find_shown(mirror: Mirror, name: str) -> Checkpoint | None:
    head = mirror.index.find_named(name) if name else mirror.index.autosave()
    if head is None or head.state not in LISTED or head.problem:
        return None
    entry = _list_shown(mirror, head)[0] if name else head
    # In native files, a name means that somebody saved it.
    if name and entry.is_autosave:
        return None
    return _as_shown(mirror.store.load(entry))


def _is_here(mirror: Mirror, entry: CheckpointEntry) -> bool:
    """Return whether a checkpoint belongs in this folder; one that the user named gets all."""
    if mirror.is_elsewhere or not mirror.profile.PER_WORKTREE or entry.worktree is None:
        return True
    return entry.worktree == query.printable(str(mirror.store.project.worktree))


def _drop_purged(files: NativeFiles, mirror: Mirror, events: Sequence[StoreEvent]) -> None:
    purged = {each for event in events if event.action == "purged" for each in event.ids}
    if not purged:
        return
    for entry in [*mirror.manifest.files.values()]:
        if entry.of in purged:
            files.trash(entry.path)

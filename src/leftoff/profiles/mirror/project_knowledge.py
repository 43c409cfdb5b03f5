"""Load a project's features and memory for the layouts that show them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, cast

import msgspec

from leftoff.knowledge import features, memory
from leftoff.profiles import import_native
from leftoff.profiles.mirror.mirror import Mirror
from leftoff.profiles.profile import Knowing, Knowledge, More
from leftoff.profiles.regular_files import compute_digest
from leftoff.store import Store

# Older entries were written when they were new.
_NEWEST = 200


def load_knowledge(store: Store, *, whole: bool, is_new: bool = True) -> Knowledge:
    """Return a project's features and memory: all of it, or what may be new."""

    def list_entries(kind: memory.Kind) -> Sequence[memory.MemoryEntry]:
        limit = None if whole else _NEWEST
        found = memory.entries(store, kinds=(kind,), statuses=memory.STATUSES, limit=limit)
        return found[::-1]

    def knows(kind: memory.Kind, text: str) -> bool:
        return memory.twin(store, memory.EntryDraft(kind=kind, text=text)) is not None

    return Knowledge(
        is_new=is_new,
        board=features.load(store),
        loops=features.load_loops(store),
        remembered=list_entries,
        knows=knows,
    )


def stamp(store: Store) -> str:
    """Return a stamp of their state without reading them; empty if there are none."""
    found = []
    for path in (*store.log_paths("memory"), *features.list_places(store)):
        try:
            seen = path.stat()
        except OSError:
            continue
        found.append(f"{seen.st_ino}.{seen.st_size}.{seen.st_mtime_ns}")
    return " ".join(found)


# Changes that others made to the files


def import_changes(
    mirror: Mirror, before: Mapping[str, str], problems: list[str]
) -> dict[str, str]:
    """Import what others changed since we left the files; return the new state of the files.

    Only differences from what the files showed then count: the rest may be outdated.
    """
    stamps = mirror.stamps()
    changed = [name for name, stamp in stamps.items() if before.get(name) != stamp]
    shown = mirror.manifest.read_shown() if changed else {}
    for name in changed:
        more = _read(mirror, name)
        news = _without(more, shown.get(name, ()))
        import_native.import_knowledge(mirror.store, news, is_edit=name in shown)
        problems.extend(f"{mirror.folder}: {problem}" for problem in more.problems)
        shown[name] = [*_list_digests(more)]
    if changed:
        mirror.manifest.write_shown(shown)
    return stamps


def note_shown(mirror: Mirror, before: Mapping[str, str]) -> dict[str, str]:
    """Record what the files show after they were written; return their state."""
    stamps = mirror.stamps()
    changed = [name for name, stamp in stamps.items() if before.get(name) != stamp]
    if changed:
        shown = mirror.manifest.read_shown()
        noted = {name: [*_list_digests(_read(mirror, name))] for name in changed}
        if news := {name: each for name, each in noted.items() if each != shown.get(name, [])}:
            mirror.manifest.write_shown({**shown, **news})
    return stamps


def is_missing(mirror: Mirror, before: Mapping[str, str]) -> bool:
    """Return whether files that showed something are gone, so that all must be written again."""
    return bool(before) and not {*before} <= {*mirror.stamps()}


def _read(mirror: Mirror, name: str) -> More:
    return cast("Knowing", mirror.profile).read_changed(mirror.folder, [name])


def _list_values(more: More) -> Iterable[Any]:
    loops = [[session, loop] for session, loop in more.loops.items()]
    queued = map(_mark_queued, more.queued)
    return (*more.memories, *queued, *more.features, *loops, more.orchestration)


def _mark_queued(value: Any) -> Any:
    """Mark an entry that is not in force, so that it differs from the same one that is."""
    return ["queued", value]


def _list_digests(more: More) -> Iterable[str]:
    return (_make_digest(value) for value in _list_values(more) if value is not None)


def _make_digest(value: object) -> str:
    return compute_digest(msgspec.json.encode(value, order="sorted"))[:16]


def _without(more: More, shown: Collection[str]) -> More:
    """Leave out what the files already showed when we left them."""
    known = {*shown}

    def new(values: Iterable[Any]) -> list[Any]:
        return [value for value in values if _make_digest(value) not in known]

    agents = more.orchestration
    return msgspec.structs.replace(
        more,
        memories=new(more.memories),
        queued=[value for value in more.queued if new([_mark_queued(value)])],
        features=new(more.features),
        loops={key: loop for key, loop in more.loops.items() if new([[key, loop]])},
        orchestration=agents if agents is not None and new([agents]) else None,
    )

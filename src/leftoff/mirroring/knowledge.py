"""Knowledge: the features and the memory of a project, for layouts that show them too."""

from collections.abc import Sequence

from leftoff import features, memory
from leftoff.profiles.base import Knowledge
from leftoff.store import Store

# What was remembered before these was written when it was new.
_NEWEST = 200


def of(store: Store, *, whole: bool, is_new: bool = True) -> Knowledge:
    """Return what a project works on and remembers: all of it, or what may be new."""

    def remembered(kind: memory.Kind) -> Sequence[memory.Entry]:
        limit = None if whole else _NEWEST
        found = memory.entries(store, kinds=(kind,), statuses=memory.STATUSES, limit=limit)
        return found[::-1]

    def knows(kind: memory.Kind, text: str) -> bool:
        return memory.twin(store, memory.Draft(kind=kind, text=text)) is not None

    return Knowledge(
        is_new=is_new,
        board=features.load(store),
        loops=features.loops(store),
        remembered=remembered,
        knows=knows,
    )


def stamp(store: Store) -> str:
    """Tell in what state they are, without reading them; empty if there are none."""
    found = []
    for path in (*store.log_paths("memory"), *features.places(store)):
        try:
            seen = path.stat()
        except OSError:
            continue
        found.append(f"{seen.st_ino}.{seen.st_size}.{seen.st_mtime_ns}")
    return " ".join(found)

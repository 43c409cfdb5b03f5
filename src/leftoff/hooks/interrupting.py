"""Interrupting: a session that ends or dies in the middle of a feature leaves a mark of it."""

import msgspec

from leftoff import fence, paths
from leftoff.errors import LeftoffError
from leftoff.hooks import trouble
from leftoff.hooks.offers import Told
from leftoff.store import Store

_BEFORE = (
    "leftoff: the work on a feature broke off here. Ask the user how to go on with it, and do "
    "nothing of it before they answer."
)
_LINE_CHARS = 160


def note(store: Store, session_id: str, reason: str) -> None:
    """Note that a session is over, for whoever goes on with its feature."""
    if not _has_loops(store):
        return
    from leftoff import features  # noqa: PLC0415 - few projects keep any

    try:
        features.mark_interrupted(store, session_id, reason)
    except (LeftoffError, OSError) as error:
        # Features that cannot be read must not keep the session's end from being noted.
        trouble.note(paths.state_folder(), "marking interrupted work", error)


def added(told: Told, store: Store) -> Told:
    """Add the newest work that broke off here, with the ways to go on."""
    if not _has_loops(store):
        return told
    from leftoff import features  # noqa: PLC0415 - same

    try:
        broken = features.interrupted_loops(store)
    except (LeftoffError, OSError) as error:
        trouble.note(paths.state_folder(), "looking for interrupted work", error)
        return told
    if not broken:
        return told
    ways = "\n".join(_cut(line) for line in features.ways_to_go_on(broken[0]).split("\n"))
    text = f"{_BEFORE}\n{fence.fenced(ways)}"
    return msgspec.structs.replace(told, text=f"{told.text.rstrip()}\n\n{text}".lstrip())


def _has_loops(store: Store) -> bool:
    places = [store.project.store / "loops", *store.log_paths("features")]
    return any(place.exists() for place in places)


def _cut(line: str) -> str:
    # What failed can be told at length, and the reply has other things to tell.
    return line if len(line) <= _LINE_CHARS else line[: _LINE_CHARS - 1] + "…"

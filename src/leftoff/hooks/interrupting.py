"""Interrupting: a session that ends or dies in the middle of a feature leaves a mark of it."""

from leftoff import paths
from leftoff.errors import LeftoffError
from leftoff.hooks import trouble
from leftoff.store import Store


def note(store: Store, session_id: str, reason: str) -> None:
    """Note that a session is over, for whoever goes on with its feature."""
    places = [store.project.store / "loops", *store.log_paths("features")]
    if not any(place.exists() for place in places):
        return
    from leftoff import features  # noqa: PLC0415 - few projects keep any

    try:
        features.mark_interrupted(store, session_id, reason)
    except (LeftoffError, OSError) as error:
        # Features that cannot be read must not keep the session's end from being noted.
        trouble.note(paths.state_folder(), "marking interrupted work", error)

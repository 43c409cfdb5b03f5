"""Autosaving: putting a session's state on disk that nobody asked to save."""

import hashlib

import msgspec

from leftoff.checkpoint import MANUAL, Checkpoint, bounded, to_plain
from leftoff.redact import redact_value
from leftoff.sessions import KnownSession
from leftoff.store import Saved, Store

# These move without the work moving.
_VOLATILE = frozenset(
    {"id", "saved_at", "trigger", "transcript", "context", "files", "dirty", "in_flight"}
)


def digest(draft: Checkpoint) -> str:
    """Tell states apart: the same digest says nothing new."""
    plain = {key: value for key, value in to_plain(draft).items() if key not in _VOLATILE}
    return hashlib.blake2b(msgspec.json.encode(plain), digest_size=16).hexdigest()


def is_saved_on_purpose(session: KnownSession) -> bool:
    """Say whether someone saved this session's state after its last change."""
    newest = session.checkpoint
    return newest is not None and newest.trigger == MANUAL and newest.saved_at >= session.touched_at


def autosave(store: Store, draft: Checkpoint) -> Saved:
    """Save a state; it has no name, so it never replaces a named one."""
    unnamed = msgspec.structs.replace(draft, name=None)
    return store.save(bounded(redact_value(unnamed))[0])

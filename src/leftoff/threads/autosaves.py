"""Autosaving: putting a session's state on disk that nobody asked to save."""

import hashlib

import msgspec

from leftoff import knowledge
from leftoff.checkpoint import MANUAL, Checkpoint, cut_to_limits, to_plain
from leftoff.redact import redact_value
from leftoff.store import SavedCheckpoint, Store

# These move without the work moving.
_VOLATILE = frozenset(
    {"id", "saved_at", "trigger", "reason", "transcript", "context", "files", "dirty", "in_flight"}
)

# What moves when work is done.
_WORK = ("intent", "files_modified", "todos", "head", "pending_prompts")


def digest(draft: Checkpoint) -> str:
    """Tell states apart: the same digest says nothing new."""
    plain = {key: value for key, value in to_plain(draft).items() if key not in _VOLATILE}
    return hashlib.blake2b(msgspec.json.encode(plain), digest_size=16).hexdigest()


def is_saved_on_purpose(store: Store, draft: Checkpoint) -> bool:
    """Say whether someone saved this session by name and no work was done since.

    An agent that saves still says a word or two afterwards, so the transcript is always newer.
    """
    newest = store.index().newest_of_session(draft.session_id or "")
    if newest is None or newest.trigger != MANUAL or newest.problem is not None:
        return False
    saved = store.load(newest)
    return all(getattr(saved, key) == getattr(draft, key) for key in _WORK)


def autosave(store: Store, draft: Checkpoint) -> SavedCheckpoint:
    """Save a state; it has no name, so it never replaces a named one."""
    unnamed = msgspec.structs.replace(draft, name=None)
    saved = store.save(cut_to_limits(redact_value(unnamed))[0])
    lessons(store, saved.checkpoint)
    return saved


def lessons(store: Store, checkpoint: Checkpoint) -> list[str]:
    """Remember what a checkpoint on disk teaches; return what is to be said about it."""
    if not (checkpoint.decisions or checkpoint.failed):
        return []
    return knowledge.memory.take_lessons(store, checkpoint)

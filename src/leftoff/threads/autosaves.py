"""Save a session's state without being asked."""

import hashlib

import msgspec

from leftoff import knowledge
from leftoff.checkpoint import MANUAL, Checkpoint, cut_to_limits, to_plain
from leftoff.redact import redact_value
from leftoff.store import SavedCheckpoint, Store

# These change even if no work is done.
_VOLATILE = frozenset(
    {"id", "saved_at", "trigger", "reason", "transcript", "context", "files", "dirty", "in_flight"}
)

# These change when work is done.
_WORK = ("intent", "files_modified", "todos", "head", "pending_prompts")


def digest(draft: Checkpoint) -> str:
    """Return a digest that stays the same as long as a state says nothing new."""
    plain = {key: value for key, value in to_plain(draft).items() if key not in _VOLATILE}
    return hashlib.blake2b(msgspec.json.encode(plain), digest_size=16).hexdigest()


def is_saved_on_purpose(store: Store, draft: Checkpoint) -> bool:
    """Return whether someone saved this session by name and no work was done since.

    The transcript does not show that: an agent says a few more words after it has saved.
    """
    newest = store.index().newest_of_session(draft.session_id or "")
    if newest is None or newest.trigger != MANUAL or newest.problem is not None:
        return False
    saved = store.load(newest)
    return all(getattr(saved, key) == getattr(draft, key) for key in _WORK)


def autosave(store: Store, draft: Checkpoint) -> SavedCheckpoint:
    """Save a state without a name, so that it never replaces a named checkpoint."""
    unnamed = msgspec.structs.replace(draft, name=None)
    saved = store.save(cut_to_limits(redact_value(unnamed))[0])
    lessons(store, saved.checkpoint)
    return saved


def lessons(store: Store, checkpoint: Checkpoint) -> list[str]:
    """Remember a saved checkpoint's decisions and failures; return messages about them."""
    if not (checkpoint.decisions or checkpoint.failed):
        return []
    return knowledge.memory.take_lessons(store, checkpoint)

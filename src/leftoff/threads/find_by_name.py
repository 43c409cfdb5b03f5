"""Find a thread by what people call it, if no checkpoint has exactly that id or name."""

from leftoff.names import clean_name, kebab, suggest_name
from leftoff.store import LISTED, TRASHED, CheckpointEntry, StoreIndex

_MOST_UNNAMED = 1000


def find_by_name(index: StoreIndex, name: str) -> CheckpointEntry | None:
    """Find a thread by another spelling of its name, or by the name that lists show for it."""
    return find_spelling(index, name) or _find_unnamed(index, kebab(name))


def find_autosave(index: StoreIndex) -> CheckpointEntry | None:
    """Find what `autosave` means: an open checkpoint with that name, or the newest autosave."""
    named = index.find_named("autosave")
    return named if named is not None and named.is_open else index.autosave()


def find_spelling(index: StoreIndex, name: str) -> CheckpointEntry | None:
    """Find a checkpoint by any spelling of its name."""
    plain = kebab(name)
    found = (index.find_named(each) for each in (clean_name(name), plain) if each)
    known = next(filter(None, found), None)
    if known is not None or not plain:
        return known
    alike = [each for each in index.names_like("") if kebab(each) == plain]
    return index.find_named(alike[0]) if len(alike) == 1 else None


def _find_unnamed(index: StoreIndex, name: str) -> CheckpointEntry | None:
    """Find a thread without a name by the one that lists show; an open one comes first.

    Autosaves of version 0.1 have no name, and neither has work that was shipped without a save.
    """
    for states in (LISTED, TRASHED):
        for entry in index.heads([*states], _MOST_UNNAMED):
            shown = suggest_name([entry.task], entry.branch) if entry.name is None else None
            if shown == name:
                return entry
    return None

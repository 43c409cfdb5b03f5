"""The briefing's file, where a profile wants one."""

from leftoff.config import Settings
from leftoff.store import Store


def write(store: Store, settings: Settings) -> list[str]:
    """Write the briefing where the profile in force wants it; return the paths in the worktree."""
    del store, settings
    return []

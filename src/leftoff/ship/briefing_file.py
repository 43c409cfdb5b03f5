"""The briefing's file, where a profile or the user wants one."""

from leftoff import threads
from leftoff.config import Settings
from leftoff.store import Store


def write(store: Store, settings: Settings) -> list[str]:
    """Keep the briefing in its file, if there is to be one; return its path in the worktree.

    A file of somebody's own is left as it is, and is no file of ours.
    """
    if not settings.briefing_file:
        return []
    target = threads.memory_page.file_of(store.project, settings.briefing_file)
    if target is None:
        return []
    # Somebody's own words are for the next session; a mirror has put aside what it must.
    if threads.memory_page.is_somebodys(target):
        return []
    threads.memory_page.keep(target, page(store))
    worktree = store.project.worktree
    return [str(target.relative_to(worktree))] if target.is_relative_to(worktree) else []


def page(store: Store) -> str:
    """Make the page that tells a new session where the project stands."""
    return threads.memory_briefing.page(store)

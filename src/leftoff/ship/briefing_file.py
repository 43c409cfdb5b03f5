"""Write the briefing to a file, if a profile or the user asked for one."""

from leftoff import threads
from leftoff.config import Settings
from leftoff.store import Store


def write(store: Store, settings: Settings) -> list[str]:
    """Write the briefing to its configured file; return its path inside the worktree.

    A file that a person wrote is left unchanged and is not listed.
    """
    if not settings.briefing_file:
        return []
    target = threads.memory_page.file_of(store.project, settings.briefing_file)
    if target is None:
        return []
    # A person wrote this for the next session. A mirror has already moved away what it replaces.
    if threads.memory_page.is_somebodys(target):
        return []
    threads.memory_page.keep(target, page(store))
    worktree = store.project.worktree
    return [str(target.relative_to(worktree))] if target.is_relative_to(worktree) else []


def page(store: Store) -> str:
    """Build the page that shows a new session the state of the project."""
    return threads.memory_briefing.page(store)

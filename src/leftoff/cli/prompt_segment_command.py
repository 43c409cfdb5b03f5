"""The `leftoff prompt-segment` command: print one line about this project for a shell prompt."""

import time

from leftoff import prompt_segment as segment
from leftoff.cli.app import App, command
from leftoff.errors import LeftoffError
from leftoff.projects.project import Project
from leftoff.session import prompt_queue, records
from leftoff.store import LISTED, CheckpointEntry, Store
from leftoff.store.layout import is_off

_MOST = 1000


@command(name="prompt-segment")
def prompt_segment(app: App) -> None:
    """Print one line about this project for a shell prompt.

    Prints nothing if no thread is open here.
    """
    try:
        line = _make(app)
    # An error message would end up in every prompt.
    except (LeftoffError, OSError):
        line = ""
    app.out.result({"segment": line}, line)


def _make(app: App) -> str:
    """Read what is open here, and store it for the next prompts."""
    project = app.project
    stamps = segment.take_stamps(str(project.store))
    shown = _read(project, app.store) if project.store.is_dir() else ("", 0.0, 0, 0)
    segment.keep(str(project.worktree), str(project.store), shown, stamps)
    name, as_of, count, prompts = shown
    if not name or is_off(project):
        return ""
    return segment.render(segment.clean(name), time.time() - as_of, count, prompts)


def _read(project: Project, store: Store) -> tuple[str, float, int, int]:
    """Return the newest thread of this worktree, and how many threads and prompts are open."""
    found = [each for each in store.index().heads([*LISTED], _MOST) if each.state != "declined"]
    here = next((each for each in found if _is_here(each, project)), None)
    if here is None:
        return "", 0.0, 0, 0
    lives = records.list_lives(project.state_folder, project)
    running = {life.session_id for life in lives if not life.has_crashed}
    has_log = any(path.exists() for path in store.log_paths("prompts"))
    kept = prompt_queue.list_kept(store) if has_log else []
    waiting = sum(each.session_id not in running for each in kept)
    return here.name or here.task or "", here.as_of.timestamp(), len(found), waiting


def _is_here(entry: CheckpointEntry, project: Project) -> bool:
    return entry.is_open and entry.worktree in {None, str(project.worktree)}

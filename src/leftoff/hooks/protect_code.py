"""Take a snapshot of each worktree that a risky command can harm, while the agent waits."""

import time
from collections.abc import Iterator
from pathlib import Path

from leftoff import config
from leftoff.agents.hook_events import HookEvent
from leftoff.context import Environment, read_environment, state_folder
from leftoff.errors import LeftoffError, NotAProject
from leftoff.hooks import trouble, watched_commands
from leftoff.hooks.risky_commands import Risk
from leftoff.projects.project import Project, find_project, list_folders
from leftoff.redact import redact
from leftoff.snapshots.take import Reason, take_snapshot
from leftoff.store import Store
from leftoff.store.layout import is_off

_COMMAND_CHARS = 200
# Each costs some file look-ups while the agent waits.
_MOST_FOLDERS = 20


def protect_worktrees(event: HookEvent, risk: Risk, *, deadline: float) -> None:
    """Take a snapshot of every worktree that a command can harm; note it if that fails."""
    for project in _list_projects(read_environment(), event, risk):
        if is_off(project) or config.load(project).settings.snapshots == "off":
            continue
        _protect(project, event, risk, deadline)


def note_failure(error: Exception) -> None:
    """Note that something failed before a command."""
    trouble.note(state_folder(), "before a command", error)


def _list_projects(environment: Environment, event: HookEvent, risk: Risk) -> Iterator[Project]:
    """Yield the worktrees that a command runs in or names, each once."""
    seen: set[Path] = set()
    waiting = [_expand(environment, each) for each in risk.folders[:_MOST_FOLDERS]]
    while waiting:
        try:
            project = find_project(environment, Path(waiting.pop(0)))
        except (NotAProject, OSError, ValueError):
            continue
        if not project.is_git or project.worktree in seen:
            continue
        seen.add(project.worktree)
        # Such as `git worktree remove ../feature`, or `rm -rf ../feature`.
        named = (each for each in list_folders(project) if each.name in event.command)
        waiting += map(str, named)
        yield project


def _expand(environment: Environment, folder: str) -> str:
    is_home = folder == "~" or folder.startswith("~/")
    return f"{environment.home}{folder[1:]}" if is_home else folder


def _protect(project: Project, event: HookEvent, risk: Risk, deadline: float) -> None:
    command = " ".join(redact(event.command).split())[:_COMMAND_CHARS]
    watched = watched_commands.Watched(
        command=command, at=event.at, worktree=str(project.worktree), is_broad=risk.is_broad
    )
    state = project.state_folder
    try:
        reason = Reason(
            trigger="command",
            thread=_find_thread(project, event),
            session=event.session_id,
            command=command,
        )
        taken = take_snapshot(project, reason, seconds=deadline - time.monotonic())
    except Exception as error:  # noqa: BLE001 - the command goes on; the next reply says so
        trouble.note(state, "taking a snapshot before a command", error)
        watched_commands.watch(state, event, watched)
        return
    if taken is not None:
        watched_commands.watch(state, event, watched, taken.id)


def _find_thread(project: Project, event: HookEvent) -> str | None:
    store = Store(project)
    try:
        found = store.index().find_thread(event.session_id)
    except (LeftoffError, OSError):
        return None
    else:
        return found.slot if found is not None else None
    finally:
        store.close()

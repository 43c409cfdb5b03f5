"""Deny tool calls that would destroy work by mistake. Off unless the user enables it."""

import os
from pathlib import Path

from leftoff import config, knowledge, profiles
from leftoff.agents.hook_events import HookEvent
from leftoff.errors import LeftoffError
from leftoff.git import repository
from leftoff.hooks import trouble
from leftoff.hooks.destructive_commands import CommandContext, find_danger
from leftoff.projects.project import Project
from leftoff.store import Store
from leftoff.text.fence import Rendered, say

_WRITERS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
_TO_MAIN = ("checkout", "switch", "push")


def find_objection(
    event: HookEvent, project: Project, settings: config.Settings
) -> Rendered | None:
    """Return why a tool call is denied and what to do instead; None for nearly all calls."""
    if event.tool in _WRITERS and event.file:
        return _object_to_writing(event, project)
    if "git" not in event.command and "rm" not in event.command:
        return None
    return find_danger(event.command, _build_command_context(event, project, settings))


def _object_to_writing(event: HookEvent, project: Project) -> Rendered | None:
    path = os.path.realpath(Path(event.cwd, event.file))
    if not any(Path(path).is_relative_to(folder) for folder in _own(project)):
        return None
    return say(
        "That file is leftoff's own: {path}. Use leftoff's commands to change it; "
        "`leftoff init` repairs the hooks.",
        path=path,
    )


def _find_head_ref(project: Project) -> str | None:
    try:
        found = repository.find_repository_at(project.worktree)
    except OSError:
        # The other rules apply even if this cannot be read.
        return None
    return repository.find_head_ref(found) if found else None


def _build_command_context(
    event: HookEvent, project: Project, settings: config.Settings
) -> CommandContext:
    """Collect what the rules for this command need; reading the rest would take time."""
    command = event.command
    folder = os.path.realpath(event.cwd)
    ref = _find_head_ref(project) if "push" in command else None
    goes_to_main = any(word in command for word in _TO_MAIN)
    return CommandContext(
        folder=folder,
        home=str(project.environment.home),
        worktree=str(project.worktree),
        own=_own(project),
        native=_list_native_folders(project, settings) if "rm" in command else (),
        branch=(ref or "").removeprefix("refs/heads/"),
        feature=_find_feature(project, event.session_id) if goes_to_main else "",
    )


def _own(project: Project) -> tuple[str, ...]:
    folders = (project.store, project.state_folder)
    return tuple(os.path.realpath(folder) for folder in folders)


def _list_native_folders(project: Project, settings: config.Settings) -> tuple[str, ...]:
    """Return the home folders of the profiles in use, and their folders with checkpoints."""
    folders: list[Path] = []
    for name in dict.fromkeys([settings.profile, *settings.mirror]):
        if name in profiles.PROFILES:
            profile = profiles.load(name)
            home = profile.home(project)
            folders += [home, *profile.folders(home)]
    return tuple(os.path.realpath(folder) for folder in folders)


def _find_feature(project: Project, session_id: str) -> str:
    """Return the feature in progress here; empty if there is none."""
    if not (project.store / "loops").exists():
        return ""
    store = Store(project)
    try:
        loop = knowledge.features.load_loop(store, session_id or None)
    except (LeftoffError, OSError) as error:
        # The other rules apply even if this cannot be read.
        trouble.note(project.state_folder, "looking for work in progress", error)
        return ""
    finally:
        store.close()
    return loop.feature or "" if loop is not None and loop.is_under_way else ""

"""Profiles: the habits and native files of the five systems that leftoff unites."""

import importlib
import os
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, cast

import msgspec

from leftoff.projects.project import Project

if TYPE_CHECKING:
    # Session start needs only names of profiles; to load this costs a tenth of starting Python.
    from leftoff.profiles.profile import Profile

# Loaded when one is named: most users have none.
PROFILES = {
    "guardz": "leftoff.profiles.guardz",
    "openclaw": "leftoff.profiles.openclaw",
    "sail": "leftoff.profiles.sail",
    "quoin": "leftoff.profiles.quoin",
    "harness": "leftoff.profiles.harness",
}

# Native state inside a repository that a team commits with its work.
STATE_FOLDERS = (".claude-harness/",)
# What belongs to one session there, and to nobody else.
SESSION_FOLDERS = (
    ".claude-harness/sessions/",
    ".claude-harness/working/",
    ".claude-harness/memory/working/",
    ".claude-harness/memory/compaction-backups/",
)


def find_wanted_events(names: Iterable[str]) -> frozenset[str]:
    """Return the kinds of hook events that some profiles need beyond those that all do."""
    return frozenset[str]().union(*(load(name).EVENTS for name in names if name in PROFILES))


def natives_in(project: Project, names: Iterable[str]) -> Callable[[str], bool]:
    """Return what tells, by its path in the worktree, a native file of some profiles.

    Saving writes such files, so that they change is no work of anybody.
    """
    here = msgspec.structs.replace(project, root=project.worktree)
    patterns: list[str] = []
    for profile in (load(name) for name in names if name in PROFILES):
        home = os.path.relpath(profile.home(here), here.worktree)
        patterns += (os.path.normpath(f"{home}/{each}") for each in profile.NATIVE)
    return lambda path: any(fnmatchcase(path, pattern) for pattern in patterns)


def load(name: str) -> "Profile":
    """Return a profile by its name: a module, or a folder of them, is one."""
    return cast("Profile", importlib.import_module(PROFILES[name]))

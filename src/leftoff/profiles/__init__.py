"""Profiles: the conventions and native files of the five systems that leftoff supports."""

import importlib
import os
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

from leftoff.projects.project import Project, leads_out

if TYPE_CHECKING:
    # Session start needs only the names of profiles; loading this adds a tenth of Python's start.
    from leftoff.profiles.profile import Profile

# A profile is loaded when it is named: most users have none.
PROFILES = {
    "guardz": "leftoff.profiles.guardz",
    "openclaw": "leftoff.profiles.openclaw",
    "sail": "leftoff.profiles.sail",
    "quoin": "leftoff.profiles.quoin",
    "harness": "leftoff.profiles.harness",
}

TIDY_SUBJECT = "chore(leftoff): keep the state of what was shipped"
"""The subject of leftoff's own commits of native state, by which later runs recognize them."""
# Native state in a repository that a team commits together with its work.
STATE_FOLDERS = (".claude-harness/",)
# The part of it that belongs to a single session and is never committed.
SESSION_FOLDERS = (
    ".claude-harness/sessions/",
    ".claude-harness/working/",
    ".claude-harness/memory/working/",
    ".claude-harness/memory/compaction-backups/",
)


# Settings that a project of a profile has in a file of its own, and what reads them.
_SETTINGS_FILES = {
    "harness": (".claude-harness/config.json", "leftoff.profiles.harness.native_settings"),
}


def read_native_settings(name: str, project: Project) -> tuple[Path, dict[str, Any]] | None:
    """Return the settings that a profile's own file contains, and its path; None without one."""
    place, reader = _SETTINGS_FILES.get(name, ("", ""))
    path = project.root / place
    # Most projects have no such file, and then nothing is loaded.
    if not place or leads_out(path) or not path.is_file():
        return None
    found: dict[str, Any] = importlib.import_module(reader).read_settings(path)
    return path, found


def find_wanted_events(names: Iterable[str]) -> frozenset[str]:
    """Return the kinds of hook events that some profiles need in addition to the usual ones."""
    return frozenset[str]().union(*(load(name).EVENTS for name in names if name in PROFILES))


def natives_in(project: Project, names: Iterable[str]) -> Callable[[str], bool]:
    """Return a function that recognizes native files of some profiles by their worktree path.

    Saving writes these files, so a change in them is not the user's work.
    """
    here = msgspec.structs.replace(project, root=project.worktree)
    patterns: list[str] = []
    for profile in (load(name) for name in names if name in PROFILES):
        home = os.path.relpath(profile.home(here), here.worktree)
        patterns += (os.path.normpath(f"{home}/{each}") for each in profile.NATIVE)
    return lambda path: any(fnmatchcase(path, pattern) for pattern in patterns)


def load(name: str) -> "Profile":
    """Return a profile by its name: each is a module or a package here."""
    return cast("Profile", importlib.import_module(PROFILES[name]))

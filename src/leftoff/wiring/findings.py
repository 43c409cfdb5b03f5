"""Describe the findings of `leftoff doctor`: what is wrong, why it matters, what to do."""

from pathlib import Path
from typing import Literal

import msgspec

from leftoff.projects.project import Project
from leftoff.wiring.install_places import Places

Level = Literal["ok", "warning", "broken"]


class DoctorFinding(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a check."""

    check: str
    level: Level = "ok"
    what: str
    why: str = ""
    do: str = ""


class World(msgspec.Struct, frozen=True, kw_only=True):
    """What the checks examine: the places of an installation and the project."""

    places: Places
    project: Project | None = None

    @property
    def settings_files(self) -> list[Path]:
        """The files in which Claude Code looks for hooks, the user's first."""
        found = [self.places.settings]
        if self.project is not None:
            folder = self.project.worktree / ".claude"
            found += [folder / "settings.json", folder / "settings.local.json"]
        return list(dict.fromkeys(found))


def ok(check: str, what: str) -> DoctorFinding:
    """Return a finding that reports success."""
    return DoctorFinding(check=check, what=what)


def warning(check: str, what: str, *, why: str, do: str) -> DoctorFinding:
    """Return a finding about a problem that does no harm yet."""
    return DoctorFinding(check=check, level="warning", what=what, why=why, do=do)


def fault(check: str, what: str, *, why: str, do: str) -> DoctorFinding:
    """Return a finding about a problem that keeps leftoff from working."""
    return DoctorFinding(check=check, level="broken", what=what, why=why, do=do)

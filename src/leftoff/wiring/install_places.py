"""Name the paths of everything that leftoff installs."""

from pathlib import Path

import msgspec

from leftoff.context import Environment
from leftoff.hooks import replies

COMMANDS = ("checkpoint.md", "continue.md", "dashboard.md")
"""The slash commands that come with a profile."""


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """The paths of everything that leftoff installs."""

    environment: Environment
    project: Path | None = None
    """The project whose settings to change; None for the user's own settings."""

    @property
    def state(self) -> Path:
        """The user's state folder."""
        return self.environment.state_folder

    @property
    def settings(self) -> Path:
        """The settings of Claude Code."""
        return self._claude / "settings.json"

    @property
    def skills(self) -> tuple[Path, ...]:
        """The skill: one copy for Claude Code and one for other agents."""
        folders = self.environment.list_skill_folders()
        return tuple(each / "leftoff" / "SKILL.md" for each in folders)

    @property
    def commands(self) -> tuple[Path, ...]:
        """The slash commands that come with a profile."""
        return tuple(self._claude / "commands" / name for name in COMMANDS)

    @property
    def hook(self) -> Path:
        """The program that hooks run."""
        return self.state / "hook"

    @property
    def python(self) -> Path:
        """The file that names the Python for hooks."""
        return self.state / "python"

    @property
    def mark(self) -> Path:
        """The file that makes the plugin's hooks defer to those in the settings."""
        folder = replies.place_of(self.state, self.project) if self.project else self.state
        return folder / "wired.claude"

    @property
    def _claude(self) -> Path:
        if self.project is not None:
            return self.project / ".claude"
        return self.environment.find_config_folder("claude")


def find_places(environment: Environment, project: Path | None = None) -> Places:
    """Return where to install: in the user's settings, or in those of a project."""
    return Places(environment=environment, project=project)

"""The context: environment, project, settings and session, read once and passed down."""

import functools
import os
from pathlib import Path

from leftoff import config
from leftoff.environment import Environment
from leftoff.projects import project as projects_project
from leftoff.projects.project import Project


def read_environment() -> Environment:
    """Read the process's environment; nothing else in the package does."""
    return Environment(dict(os.environ))


def state_folder() -> Path:
    """Return the user's state folder, as the environment is now."""
    return read_environment().state_folder


def find_project(start: Path | None = None) -> Project:
    """Find the project that a folder belongs to, or the current one, as the environment is now."""
    return projects_project.find_project(read_environment(), start)


class Context:
    """What one command or one event works with."""

    def __init__(self, environment: Environment, project: Project | None) -> None:
        self.environment = environment
        self.project = project

    @functools.cached_property
    def configuration(self) -> config.Loaded:
        """The settings and their sources, read when first asked for."""
        if self.project is None:
            return config.load_outside(self.environment)
        return config.load(self.project)

    @property
    def settings(self) -> config.Settings:
        """The settings in force."""
        return self.configuration.settings

    @property
    def session(self) -> tuple[str, str] | None:
        """The agent's session that runs us, as (agent, session id)."""
        return self.environment.find_session()

    def forget_settings(self) -> None:
        """Read the settings again when they are next asked for; they were just changed."""
        self.__dict__.pop("configuration", None)

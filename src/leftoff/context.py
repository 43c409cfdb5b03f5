"""Read environment, project, settings and session once, as one value to pass down."""

import functools
import os
from pathlib import Path

from leftoff import config
from leftoff.environment import Environment
from leftoff.projects import project as projects
from leftoff.projects.project import Project


def read_environment() -> Environment:
    """Read the process's environment; no other module of the package does."""
    return Environment(dict(os.environ))


def state_folder() -> Path:
    """Return the user's state folder according to the current environment."""
    return read_environment().state_folder


def find_project(start: Path | None = None) -> Project:
    """Find the project of a folder (default: the current one) in the current environment."""
    return projects.find_project(read_environment(), start)


class Context:
    """The environment and project of one command or event, with the settings in force."""

    def __init__(self, environment: Environment, project: Project | None) -> None:
        self.environment = environment
        self.project = project

    @functools.cached_property
    def configuration(self) -> config.Loaded:
        """The settings and their sources, loaded on first use."""
        if self.project is None:
            return config.load_outside(self.environment)
        return config.load(self.project)

    @property
    def settings(self) -> config.Settings:
        """The settings in force."""
        return self.configuration.settings

    @property
    def session(self) -> tuple[str, str] | None:
        """The agent's session that runs this process, as (agent, session id)."""
        return self.environment.find_session()

    def forget_settings(self) -> None:
        """Reload the settings on next use, after a change."""
        self.__dict__.pop("configuration", None)

"""Read environment, project, settings and session once, as one value to pass down.

Only this module reads the environment. The modules below it get an `Environment`.
"""

import functools
import os
import pwd
from collections.abc import Mapping
from pathlib import Path

from leftoff import config, processes, session
from leftoff.errors import NotAProject
from leftoff.projects import project as projects
from leftoff.projects.project import Project

# Each agent's folder: the variable that sets it, the part below, and the default.
_AGENT_FOLDERS = {
    "claude": ("CLAUDE_CONFIG_DIR", "", "~/.claude"),
    "codex": ("CODEX_HOME", "", "~/.codex"),
    "gemini": ("GEMINI_CLI_HOME", ".gemini", "~/.gemini"),
    "opencode": ("XDG_DATA_HOME", "opencode", "~/.local/share/opencode"),
    "copilot": ("COPILOT_HOME", "", "~/.copilot"),
    "cursor": ("", "", "~/.cursor"),
}
# The program of an agent that is not named like the agent.
_AGENT_PROGRAMS = {"cursor": "cursor-agent"}
# Only opencode keeps its settings and its sessions in different folders.
_CONFIG_FOLDERS = {"opencode": ("XDG_CONFIG_HOME", "opencode", "~/.config/opencode")}
# Gemini CLI names its session only to hooks. In its shell it sets this variable to 1.
_GEMINI_SHELL = "GEMINI_CLI"
# What each agent sets for the programs that it runs; leftoff's plugin does it for opencode.
_SESSION_VARIABLES = {
    "CLAUDE_CODE_SESSION_ID": "claude",
    "CODEX_THREAD_ID": "codex",
    "CODEX_SESSION_ID": "codex",
    "GEMINI_SESSION_ID": "gemini",
    "COPILOT_AGENT_SESSION_ID": "copilot",
    "OPENCODE_SESSION_ID": "opencode",
    _GEMINI_SHELL: "gemini",
}
# What these agents set only for their hooks, so that the process that set it is the agent.
_HOOK_VARIABLES = {"gemini": "GEMINI_SESSION_ID", "copilot": "COPILOT_PROJECT_DIR"}


class Environment:
    """The variables that were read; modules get them from here, not from the system."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self.variables = variables

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Environment) and self.variables == other.variables

    def __hash__(self) -> int:
        return hash(frozenset(self.variables.items()))

    @functools.cached_property
    def home(self) -> Path:
        """The user's home folder."""
        return Path(os.path.realpath(self._expand("~")))

    @functools.cached_property
    def state_folder(self) -> Path:
        """The folder for state that belongs to the user rather than to one project."""
        if override := self.variables.get("LEFTOFF_HOME"):
            return self._expand(override).absolute()
        return self._find_base("XDG_STATE_HOME", "~/.local/state") / "leftoff"

    @functools.cached_property
    def config_file(self) -> Path:
        """The user's configuration file."""
        return self._config_folder() / "leftoff" / "config.toml"

    @property
    def keeps_stores_apart(self) -> bool:
        """Whether LEFTOFF_HOME moves the stores of repositories to the state folder, too."""
        return bool(self.variables.get("LEFTOFF_HOME"))

    @property
    def project_override(self) -> str | None:
        """The folder that LEFTOFF_PROJECT names."""
        return self.variables.get("LEFTOFF_PROJECT")

    def find_agent_folder(self, agent: str) -> Path:
        """Return the folder where an agent keeps its settings and sessions."""
        return self._find_folder(*_AGENT_FOLDERS[agent])

    def find_config_folder(self, agent: str) -> Path:
        """Return the folder where an agent keeps its settings."""
        return self._find_folder(*_CONFIG_FOLDERS.get(agent, _AGENT_FOLDERS[agent]))

    def list_other_agents(self, agent: str) -> list[str]:
        """List the agents besides this one that have a folder here."""
        return [
            each
            for each in _AGENT_FOLDERS
            if each != agent and self.find_agent_folder(each).is_dir()
        ]

    def list_installed_agents(self, *, but: str) -> list[str]:
        """List the agents besides one that are installed and have been used here."""
        found = self.list_other_agents(but)
        return [each for each in found if self._has_program(_AGENT_PROGRAMS.get(each, each))]

    def _has_program(self, name: str) -> bool:
        folders = os.get_exec_path(self.variables)
        return any(os.access(Path(folder) / name, os.X_OK) for folder in folders if folder)

    def list_plans_folders(self) -> list[Path]:
        """Return the folders where agents keep the plans they write."""
        return [self.find_agent_folder("claude") / "plans"]

    def list_skill_folders(self) -> tuple[Path, ...]:
        """Return the folders where agents look for skills: Claude Code's, and the shared one."""
        return self.find_agent_folder("claude") / "skills", self._expand("~/.agents/skills")

    def find_folder(self, variable: str) -> Path | None:
        """Return the folder that another program's variable names, if it is set."""
        named = self.variables.get(variable)
        return self._expand(named).absolute() if named else None

    def list_disabled_hooks(self) -> set[str]:
        """Return the names of the hooks that LEFTOFF_DISABLED_HOOKS disables."""
        return set(self.variables.get("LEFTOFF_DISABLED_HOOKS", "").replace(",", " ").split())

    def allows_compaction(self) -> bool:
        """Return whether the user allows every compaction, whatever the settings say."""
        return self.variables.get("LEFTOFF_ALLOW_COMPACT") == "1"

    def find_shell(self) -> str:
        """Return the name of the user's shell; empty if it is unknown."""
        return Path(self.variables.get("SHELL") or "").name

    def find_data_folder(self) -> Path:
        """Return the folder for data of the user's programs."""
        return self._find_base("XDG_DATA_HOME", "~/.local/share")

    def find_editor(self) -> str:
        """Return the command of the user's editor; empty if none is set."""
        # Never from a project's settings: it starts a program.
        return self.variables.get("VISUAL") or self.variables.get("EDITOR") or ""

    def find_setting(self, name: str) -> str | None:
        """Return a setting's value, such as LEFTOFF_BUDGET for `budget`."""
        return self.variables.get(f"LEFTOFF_{name.upper()}")

    def find_session(self) -> tuple[str, str] | None:
        """Return the session that runs this process as (agent, session id), if the agent set it."""
        found = [variable for variable in _SESSION_VARIABLES if self.variables.get(variable)]
        if len({_SESSION_VARIABLES[variable] for variable in found}) > 1:
            # One agent runs in the shell of another and inherits its variable. The inner one is
            # the one whose variable was set by a nearer process.
            found.sort(key=lambda each: processes.count_heirs(each, self.variables[each]))
        if not found:
            return None
        is_named = found[0] != _GEMINI_SHELL
        name = self.variables[found[0]] if is_named else self._gemini_session
        return (_SESSION_VARIABLES[found[0]], name) if name else None

    @functools.cached_property
    def _gemini_session(self) -> str:
        """The session of Gemini CLI that runs this process, as its hooks reported it."""
        ancestors = processes.list_ancestors()
        life = session.records.find_life(self.state_folder, "gemini", ancestors, Path.cwd())
        return life.session_id if life is not None else ""

    def find_agent_pid(self, agent: str) -> int:
        """Return the process id of the agent that runs this hook; 0 if it is unknown."""
        if value := self.variables.get(_HOOK_VARIABLES.get(agent, "")):
            return processes.find_setter(_HOOK_VARIABLES[agent], value)
        # An agent that was started in Claude Code's shell inherits the variable.
        pid = self.variables.get("CLAUDE_PID", "") if agent == "claude" else ""
        return int(pid) if pid.isdigit() else 0

    def list_user_ids(self) -> set[int]:
        """Return the user's ids; for root under sudo also the caller's, as git does."""
        user = os.geteuid()
        caller = self.variables.get("SUDO_UID", "")
        return {user, int(caller)} if user == 0 and caller.isdecimal() else {user}

    def list_git_settings(self) -> list[Path]:
        """Return git's settings files outside any repository."""
        found = []
        if not self.variables.get("GIT_CONFIG_NOSYSTEM"):
            found.append(Path(self.variables.get("GIT_CONFIG_SYSTEM") or "/etc/gitconfig"))
        if given := self.variables.get("GIT_CONFIG_GLOBAL"):
            return [*found, Path(given)]
        return [*found, self._config_folder() / "git" / "config", self.home / ".gitconfig"]

    def list_former_fallbacks(self) -> list[Path]:
        """Return the temp folders where earlier versions saved if the store was not writable."""
        user = os.getuid() if hasattr(os, "getuid") else self.variables.get("USERNAME", "user")
        # Same order as tempfile.gettempdir, whose module imports random, shutil and more.
        temporary = self.variables.get("TMPDIR") or self.variables.get("TEMP") or "/tmp"  # noqa: S108
        # Claude Code's sandbox uses one of the last two, whatever TMPDIR is outside.
        folders = (temporary, "/tmp", f"/tmp/claude-{user}", "/tmp/claude")  # noqa: S108 - same
        return [Path(folder) / f"leftoff-{user}" for folder in dict.fromkeys(folders)]

    def _find_folder(self, variable: str, below: str, default: str) -> Path:
        named = self.variables.get(variable) if variable else None
        return self._expand(f"{named}/{below}" if named else default).absolute()

    def _config_folder(self) -> Path:
        return self._find_base("XDG_CONFIG_HOME", "~/.config")

    def _find_base(self, name: str, usual: str) -> Path:
        """Return a base folder; a relative one does not count, as its specification says."""
        found = self._expand(self.variables.get(name) or usual)
        return found if found.is_absolute() else self._expand(usual)

    def _expand(self, path: str) -> Path:
        """Expand `~` as a shell would, using the given variables, not the process's."""
        if path != "~" and not path.startswith("~/"):
            return _expand_user(path)
        home = self.variables.get("HOME")
        # A relative home would put private files into the project.
        return Path(home, path[2:]) if home and Path(home).is_absolute() else _expand_user(path)


def _expand_user(path: str) -> Path:
    """Expand `~` and `~user` using the system's list of users."""
    if not path.startswith("~"):
        return Path(path)
    user, _, below = path[1:].partition("/")
    try:
        entry = pwd.getpwnam(user) if user else pwd.getpwuid(os.getuid())
    except KeyError as error:
        # Some containers run as a user id without an entry in the list, and without HOME.
        raise NotAProject(
            "Cannot find your home folder.", hint="Set HOME to a folder that you own."
        ) from error
    return Path(entry.pw_dir, below)


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

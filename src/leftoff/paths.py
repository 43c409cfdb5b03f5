"""Where things are: the only module that reads the environment and the home folder."""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from leftoff.errors import NotAProject
from leftoff.repository import Repository, linked_worktrees, repository_at


class Project(msgspec.Struct, frozen=True, kw_only=True):
    """A git repository with all its worktrees, or a plain folder."""

    root: Path
    """The project's folder: the main worktree's, or the plain folder."""
    worktree: Path
    """The worktree we stand in; the same as root outside git."""
    store: Path
    """Where the project's checkpoints are kept."""
    fallback: Path
    """Where a save goes while the store cannot be written."""
    strays: tuple[Path, ...] = ()
    """Temp folders where earlier versions put it; what they left there is still taken in."""
    is_git: bool = False


def home() -> Path:
    """Return the user's home folder."""
    try:
        return Path(os.path.realpath(Path("~").expanduser()))
    except RuntimeError as error:
        # A user without a name, as in some containers, and no HOME to say where it is.
        raise NotAProject(
            "Your home folder is not known.", hint="Set HOME to a folder of your own."
        ) from error


def state_folder() -> Path:
    """Return the folder for state that belongs to the user, not to one project."""
    override = os.environ.get("LEFTOFF_HOME")
    if override:
        return Path(override).expanduser().absolute()
    base = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(base).expanduser() / "leftoff"


def config_file() -> Path:
    """Return the user's configuration file."""
    base = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(base).expanduser() / "leftoff" / "config.toml"


def plans_folders() -> list[Path]:
    """Return the folders where agents keep the plans they write."""
    return [agent_folder("claude") / "plans"]


# Where each agent keeps its own things: the variable that moves them, and where they are without.
_AGENT_FOLDERS = {
    "claude": ("CLAUDE_CONFIG_DIR", "", "~/.claude"),
    "codex": ("CODEX_HOME", "", "~/.codex"),
    "gemini": ("", "", "~/.gemini"),
    "opencode": ("XDG_DATA_HOME", "opencode", "~/.local/share/opencode"),
    "copilot": ("", "", "~/.copilot"),
    "cursor": ("", "", "~/.cursor"),
}


def agent_folder(agent: str) -> Path:
    """Return the folder where an agent keeps its settings and sessions."""
    variable, below, default = _AGENT_FOLDERS[agent]
    named = os.environ.get(variable) if variable else None
    return (Path(named) / below if named else Path(default)).expanduser().absolute()


def skills_folder() -> Path:
    """Return the folder where agents look for skills."""
    return Path("~/.agents/skills").expanduser()


def folder_named(variable: str) -> Path | None:
    """Return the folder that a variable of another program names, if it does."""
    named = os.environ.get(variable)
    return Path(named).expanduser().absolute() if named else None


def disabled_hooks() -> set[str]:
    """Return the names of the hooks that the environment disables."""
    return set(os.environ.get("LEFTOFF_DISABLED_HOOKS", "").replace(",", " ").split())


def is_compaction_allowed() -> bool:
    """Say whether the environment lets every compaction pass, whatever the settings say."""
    return os.environ.get("LEFTOFF_ALLOW_COMPACT") == "1"


def setting(name: str) -> str | None:
    """Return the environment's value for a setting, such as LEFTOFF_BUDGET."""
    return os.environ.get(f"LEFTOFF_{name.upper()}")


def child_environment(*, drop_prefix: str = "", **values: str) -> dict[str, str]:
    """Copy the environment for a child process, without some variables and with others set."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not (drop_prefix and key.startswith(drop_prefix))
    }
    return {**kept, **values}


def find_project(start: Path | None = None) -> Project:
    """Find the project a folder belongs to: its repository, else a known folder above, else itself.

    The home folder and `/` never become a project by accident: a repository there counts only
    for someone who names it with LEFTOFF_PROJECT.
    """
    named = os.environ.get("LEFTOFF_PROJECT")
    here = Path(os.path.realpath(start or named or _current_folder()))
    explicit = here if named and start is None else None
    barred = {home(), Path(here.anchor)} - {explicit}
    candidates = [folder for folder in (here, *here.parents) if folder not in barred]
    for folder in candidates:
        if (repository := repository_at(folder)) is not None:
            return _git_project(folder, repository)
        if folder in home().parents:
            break
    known = next((folder for folder in candidates if _plain_store(folder).is_dir()), None)
    if known is None and here in barred:
        raise NotAProject(
            f"{here} is not a project: leftoff keeps no checkpoints for the home folder or /",
            hint="Go to a project's folder, or name this one with LEFTOFF_PROJECT.",
        )
    root = known or here
    return _project(root=root, worktree=root, store=_plain_store(root), is_git=False)


def folders_of(project: Project) -> list[Path]:
    """List the project's folders: the worktree we stand in, the main one, and all others."""
    repository = repository_at(project.worktree) if project.is_git else None
    others = linked_worktrees(repository) if repository else []
    return list(dict.fromkeys([project.worktree, project.root, *others]))


def _current_folder() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise NotAProject(
            "The folder you are in no longer exists.", hint="Go to one that does, then retry."
        ) from error


def _git_project(folder: Path, repository: Repository) -> Project:
    common = repository.common_dir
    # A linked worktree's own git folder lies in the common one, which lies in the main worktree.
    is_linked = repository.git_dir != common
    root = common.parent if is_linked and common.name == ".git" else folder
    store = _plain_store(root) if os.environ.get("LEFTOFF_HOME") else common / "leftoff"
    return _project(root=root, worktree=folder, store=store, is_git=True)


def _project(*, root: Path, worktree: Path, store: Path, is_git: bool) -> Project:
    key = _key(store)
    strays = (folder / key for folder in _former_fallbacks())
    return Project(
        root=root,
        worktree=worktree,
        store=store,
        fallback=state_folder() / "fallback" / key,
        strays=tuple(stray for stray in strays if stray.is_dir()),
        is_git=is_git,
    )


def _former_fallbacks() -> list[Path]:
    """Return the temp folders where earlier versions put what the store could not hold."""
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    # What tempfile.gettempdir says, without its import of random, shutil and more.
    temporary = os.environ.get("TMPDIR") or os.environ.get("TEMP") or "/tmp"  # noqa: S108
    # Claude Code's sandbox has one of the last two, whatever the user's is.
    folders = (temporary, "/tmp", f"/tmp/claude-{user}", "/tmp/claude")  # noqa: S108 - same
    return [Path(folder) / f"leftoff-{user}" for folder in dict.fromkeys(folders)]


def _plain_store(folder: Path) -> Path:
    return state_folder() / "projects" / _key(folder)


def _key(folder: Path) -> str:
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]
    return f"{folder.name[:40] or 'root'}-{digest}"


def agent_session(environment: Mapping[str, str] | None = None) -> tuple[str, str] | None:
    """Tell which agent's session runs us, as (agent, session id), where the agent says so."""
    env = os.environ if environment is None else environment
    for variable, agent in _SESSION_VARIABLES.items():
        if session_id := env.get(variable):
            return agent, session_id
    return None


def agent_pid() -> int:
    """Return the process of the agent that runs us, where it says so; else 0."""
    pid = os.environ.get("CLAUDE_PID", "")
    return int(pid) if pid.isdigit() else 0


_SESSION_VARIABLES = {
    "CLAUDE_CODE_SESSION_ID": "claude",
    "GEMINI_SESSION_ID": "gemini",
}

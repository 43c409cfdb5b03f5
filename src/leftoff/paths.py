"""Where things are: the only module that reads the environment and the home folder."""

import hashlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

from leftoff.errors import NotAProject


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
    is_git: bool = False


def home() -> Path:
    """Return the user's home folder."""
    return Path(os.path.realpath(Path("~").expanduser()))


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
    here = Path(os.path.realpath(start or named or Path.cwd()))
    explicit = here if named and start is None else None
    barred = {home(), Path(here.anchor)} - {explicit}
    candidates = [folder for folder in (here, *here.parents) if folder not in barred]
    for folder in candidates:
        if (git := _git_folders(folder)) is not None:
            return _git_project(folder, *git)
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


def _git_project(worktree: Path, git_folder: Path, common: Path) -> Project:
    # A worktree's own git folder lies in the common one; the main worktree is the common's parent.
    is_linked = git_folder != common
    root = common.parent if is_linked and common.name == ".git" else worktree
    override = os.environ.get("LEFTOFF_HOME")
    store = _plain_store(root) if override else common / "leftoff"
    return _project(root=root, worktree=worktree, store=store, is_git=True)


def _project(*, root: Path, worktree: Path, store: Path, is_git: bool) -> Project:
    return Project(
        root=root,
        worktree=worktree,
        store=store,
        fallback=_fallback_root() / _key(store),
        is_git=is_git,
    )


def _fallback_root() -> Path:
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    return Path(tempfile.gettempdir()) / f"leftoff-{user}"


def _plain_store(folder: Path) -> Path:
    return state_folder() / "projects" / _key(folder)


def _key(folder: Path) -> str:
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]
    return f"{folder.name[:40] or 'root'}-{digest}"


def _git_folders(folder: Path) -> tuple[Path, Path] | None:
    """Return a worktree's git folder and the repository's common one, read without running git."""
    dot_git = folder / ".git"
    if dot_git.is_dir():
        return (dot_git, dot_git) if (dot_git / "HEAD").exists() else None
    pointer = _first_line(dot_git)
    if not pointer.startswith("gitdir:"):
        return None
    git_folder = (folder / pointer.removeprefix("gitdir:").strip()).resolve()
    if not git_folder.is_dir():
        return None
    common = _first_line(git_folder / "commondir")
    return git_folder, (git_folder / common).resolve() if common else git_folder


def _first_line(path: Path) -> str:
    if not path.is_file():
        return ""
    with path.open(encoding="utf-8", errors="surrogateescape") as file:
        return file.readline(4096).strip()


def agent_session(environment: Mapping[str, str] | None = None) -> tuple[str, str] | None:
    """Tell which agent's session runs us, as (agent, session id), where the agent says so."""
    env = os.environ if environment is None else environment
    for variable, agent in _SESSION_VARIABLES.items():
        if session_id := env.get(variable):
            return agent, session_id
    return None


_SESSION_VARIABLES = {
    "CLAUDE_CODE_SESSION_ID": "claude",
}

"""Where things are: the only module that reads the environment and the home folder."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from leftoff.errors import NotAProject
from leftoff.repository import Repository, linked_worktrees, repository_at
from leftoff.trees import guard, guard_store


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
    """Folders where earlier versions put it, or where it went before `git init`."""
    earlier: tuple[Path, ...] = ()
    """Stores that this project had in another place; the next command moves them in."""
    shared: tuple[Path, ...] = ()
    """Those of the earlier stores that another folder uses too; they are copied, not moved."""
    is_moved: bool = False
    """Whether the mark of the folder still names the path that it had before."""
    is_git: bool = False
    distrusted: Path | None = None
    """A repository around this folder that is left alone, as it belongs to another user."""


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


def skill_folders() -> tuple[Path, ...]:
    """Return the folders where agents look for skills; Claude Code has one of its own."""
    return agent_folder("claude") / "skills", Path("~/.agents/skills").expanduser()


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
    for someone who names it with LEFTOFF_PROJECT. A repository of the user's that cannot be read
    now raises an OSError: its checkpoints are in no other store.
    """
    named = os.environ.get("LEFTOFF_PROJECT")
    here = Path(os.path.realpath(start or named or _current_folder()))
    explicit = here if named and start is None else None
    barred = {home(), Path(here.anchor)} - {explicit}
    candidates = [folder for folder in (here, *here.parents) if folder not in barred]
    distrusted = None
    for folder in candidates:
        repository = repository_at(folder, is_named=folder == explicit)
        if repository is not None and _is_trusted(repository):
            return _git_project(folder, repository, candidates[: candidates.index(folder) + 1])
        if repository is not None and distrusted is None:
            distrusted = folder
        if folder in home().parents:
            break
    project = _plain_project(here, candidates, distrusted)
    if project is None:
        raise NotAProject(
            f"{here} is not a project: leftoff keeps no checkpoints for the home folder or /",
            hint="Go to a project's folder, or name this one with LEFTOFF_PROJECT.",
        )
    return project


def _plain_project(
    here: Path, candidates: Sequence[Path], distrusted: Path | None
) -> Project | None:
    """Return the project of a folder that is in no repository, if it can be one."""
    for folder in candidates:
        store = plain_store(folder)
        moved = _moved_from(folder)
        if store.is_dir() or (moved is not None and plain_store(moved).is_dir()):
            return _project(
                root=folder, worktree=folder, store=store, moved=moved, distrusted=distrusted
            )
    if here not in candidates:
        return None
    root = here
    # A tree that is all someone else's, as a mounted one, is one project with its repository.
    if distrusted is not None and not _is_own(here):
        root = distrusted
    return _project(root=root, worktree=root, store=plain_store(root), distrusted=distrusted)


def _is_trusted(repository: Repository) -> bool:
    """Say whether git would trust a repository: it is the user's own, or they said so."""
    try:
        others = repository.owners() - _own_ids()
    except OSError:
        return False
    if not others:
        return True
    from leftoff.safedirectories import is_safe  # noqa: PLC0415 - most repositories are one's own

    return is_safe(repository.worktree or repository.git_dir, _git_settings(), home())


def _own_ids() -> set[int]:
    """Return the ids of the user; for root under sudo also of the one who called it, as in git."""
    user = os.geteuid()
    caller = os.environ.get("SUDO_UID", "")
    return {user, int(caller)} if user == 0 and caller.isdecimal() else {user}


def _is_own(folder: Path) -> bool:
    try:
        return folder.stat().st_uid in _own_ids()
    except OSError:
        return False


def _git_settings() -> list[Path]:
    """Name git's settings files that a repository cannot change."""
    found = []
    if not os.environ.get("GIT_CONFIG_NOSYSTEM"):
        found.append(Path(os.environ.get("GIT_CONFIG_SYSTEM") or "/etc/gitconfig"))
    if given := os.environ.get("GIT_CONFIG_GLOBAL"):
        return [*found, Path(given)]
    base = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return [*found, Path(base).expanduser() / "git" / "config", home() / ".gitconfig"]


def folder_marks() -> Path:
    """Return the folder of the marks by which plain folders are known again."""
    return state_folder() / "folders"


def lost_stores() -> list[tuple[Path, Path]]:
    """List the stores of plain folders that are gone, each with the path the folder had."""
    from leftoff.identities import lost_marks  # noqa: PLC0415 - few commands ask

    # Named after the path, so that a garbled mark cannot name any other folder.
    found = [(mark.path, plain_store(mark.path)) for mark in lost_marks(folder_marks())]
    return [(folder, store) for folder, store in found if store.is_dir()]


def stores_elsewhere(project: Project) -> list[tuple[Path, Path]]:
    """List the stores that may hold a project's checkpoints too, each with its folder.

    For a plain folder these are the stores of folders that are gone. For a repository it is the
    store in its git folder, left there when LEFTOFF_HOME was set, and those of plain folders that
    were at its path or below.
    """
    return [*_left_in_git(project), *_plain_below(project)] if project.is_git else lost_stores()


def _left_in_git(project: Project) -> list[tuple[Path, Path]]:
    repository = repository_at(project.worktree, is_named=True)
    place = repository.common_dir / "leftoff" if repository else project.store
    return [(project.root, place)] if place != project.store and place.is_dir() else []


def _plain_below(project: Project) -> list[tuple[Path, Path]]:
    from leftoff.identities import marks_below  # noqa: PLC0415 - few commands ask

    marks = marks_below(folder_marks(), project.root)
    found = {mark.path: plain_store(mark.path) for mark in marks}
    used = {project.store, *project.earlier}
    return [each for each in found.items() if each[1] not in used and each[1].is_dir()]


def _moved_from(folder: Path) -> Path | None:
    """Return the path that a folder had when it was last marked, if it has another now."""
    from leftoff.identities import find_moved  # noqa: PLC0415 - a repository may have no need

    mark = find_moved(folder_marks(), folder)
    return mark.path if mark is not None else None


def _is_used_at(path: Path) -> bool:
    """Say whether the folder that is at a path now saved there too."""
    from leftoff.identities import is_marked  # noqa: PLC0415 - only folders that were renamed

    return is_marked(folder_marks(), path)


def _is_of_another(folder: Path) -> bool:
    """Say whether the store named after a folder's path is that of another, renamed since."""
    from leftoff.identities import is_of_another  # noqa: PLC0415 - few have such a store

    return is_of_another(folder_marks(), folder)


def distrust_of(project: Project) -> tuple[str, str] | None:
    """Say why the repository around a project is not used, and what to do about it."""
    if project.distrusted is None:
        return None
    what = (
        f"{project.distrusted} is a git repository that belongs to another user, so leftoff "
        f"reads nothing from it and keeps your checkpoints in {project.store}"
    )
    way_out = f"If you trust it: git config --global --add safe.directory {project.distrusted}"
    return what, way_out


def folders_of(project: Project) -> list[Path]:
    """List the project's folders: the worktree we stand in, the main one, and all others."""
    repository = repository_at(project.worktree, is_named=True) if project.is_git else None
    others = linked_worktrees(repository) if repository else []
    return list(dict.fromkeys([project.worktree, project.root, *others]))


def _current_folder() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise NotAProject(
            "The folder you are in no longer exists.", hint="Go to one that does, then retry."
        ) from error


def _git_project(folder: Path, repository: Repository, below: Sequence[Path]) -> Project:
    """Make the project of a repository; `below` are the folders from where we are up to it."""
    common = repository.common_dir
    # A linked worktree's own git folder lies in the common one, which lies in the main worktree.
    is_linked = repository.git_dir != common
    root = common.parent if is_linked and common.name == ".git" else folder
    store = plain_store(root) if os.environ.get("LEFTOFF_HOME") else common / "leftoff"
    # Before `git init` here or above, a folder may have been a project of its own.
    folders = dict.fromkeys([*below, root])
    earlier = [place for each in folders for place in _plain_stores(each) if place != store]
    earlier += [place for each in below if each != root for place in _former_stores(each)]
    if not os.path.lexists(store):
        # Right after `git init`. Later a folder below is found when somebody works there.
        earlier += [place for place in _stores_below(root) if place not in {store, *earlier}]
    moved = _moved_from(root)
    return _project(
        root=root, worktree=folder, store=store, is_git=True, earlier=earlier, moved=moved
    )


def _plain_stores(folder: Path) -> list[Path]:
    """List the stores that a folder had while it was a project of its own."""
    place = plain_store(folder)
    return [place] if place.is_dir() and not _is_of_another(folder) else []


def _former_stores(folder: Path) -> list[Path]:
    """List the stores that a folder had before it was moved into a repository."""
    moved = _moved_from(folder)
    if moved is None or _is_used_at(moved):
        return []
    return [place] if (place := plain_store(moved)).is_dir() else []


def _stores_below(root: Path) -> list[Path]:
    """List the stores of plain folders in a worktree that are in no repository of their own."""
    from leftoff.identities import is_marked, marks_below  # noqa: PLC0415 - only a new repository

    marks = folder_marks()
    found = [mark.path for mark in marks_below(marks, root) if is_marked(marks, mark.path)]
    return [
        place
        for folder in found
        if not _is_in_repository_below(folder, root) and (place := plain_store(folder)).is_dir()
    ]


def _is_in_repository_below(folder: Path, root: Path) -> bool:
    around = (folder, *folder.parents)
    return any(repository_at(each) is not None for each in around[: around.index(root)])


def _project(  # noqa: PLR0913 - each has its name
    *,
    root: Path,
    worktree: Path,
    store: Path,
    is_git: bool = False,
    earlier: Sequence[Path] = (),
    moved: Path | None = None,
    distrusted: Path | None = None,
) -> Project:
    guard(root)
    guard(worktree)
    for place in (store, *earlier):
        guard_store(place)
    # What was saved to the fallback before `git init` is still this project's.
    keys = dict.fromkeys([_key(store), _key(plain_store(root))])
    roots = (state_folder() / "fallback", *_former_fallbacks())
    fallback, *others = (folder / key for key in keys for folder in roots)
    former = [plain_store(moved)] if moved is not None and plain_store(moved).is_dir() else []
    return Project(
        root=root,
        worktree=worktree,
        store=store,
        fallback=fallback,
        strays=tuple(other for other in others if other.is_dir()),
        earlier=(*earlier, *former),
        shared=tuple(former) if moved is not None and _is_used_at(moved) else (),
        is_moved=moved is not None,
        is_git=is_git,
        distrusted=distrusted,
    )


def _former_fallbacks() -> list[Path]:
    """Return the temp folders where earlier versions put what the store could not hold."""
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    # What tempfile.gettempdir says, without its import of random, shutil and more.
    temporary = os.environ.get("TMPDIR") or os.environ.get("TEMP") or "/tmp"  # noqa: S108
    # Claude Code's sandbox has one of the last two, whatever the user's is.
    folders = (temporary, "/tmp", f"/tmp/claude-{user}", "/tmp/claude")  # noqa: S108 - same
    return [Path(folder) / f"leftoff-{user}" for folder in dict.fromkeys(folders)]


def plain_store(folder: Path) -> Path:
    """Return the store of a folder that is in no repository."""
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

"""Find the project that a folder belongs to, and open its files without following links out."""

import errno
import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from leftoff.errors import NotAProject
from leftoff.git.repository import Repository, find_repository_at, list_linked_worktrees
from leftoff.git.safe_directories import is_safe
from leftoff.load_on_use import module_on_use
from leftoff.projects import store_places
from leftoff.projects.store_places import find_plain_store, list_marks_below
from leftoff.text.fence import printable

if TYPE_CHECKING:
    from leftoff.context import Environment

_shlex = module_on_use("shlex")


class Project(msgspec.Struct, frozen=True, kw_only=True):
    """A git repository with all its worktrees, or a plain folder."""

    environment: "Environment"
    """The environment in which it was found."""
    root: Path
    """The project's folder: the main worktree's, or the plain folder."""
    worktree: Path
    """The current worktree; outside git the same as `root`."""
    store: Path
    """Where the project's checkpoints are kept."""
    fallback: Path
    """Where saves go while the store is not writable."""
    strays: tuple[Path, ...] = ()
    """Fallback folders of earlier versions, and from before `git init`."""
    earlier: tuple[Path, ...] = ()
    """Stores that this project had elsewhere; the next command moves them into `store`."""
    shared: tuple[Path, ...] = ()
    """The earlier stores that another folder also uses; they are copied, not moved."""
    is_moved: bool = False
    """Whether the folder was moved, and its mark still names the old path."""
    is_git: bool = False
    distrusted: Path | None = None
    """A repository around this folder that leftoff ignores because another user owns it."""

    @property
    def state_folder(self) -> Path:
        """The folder for state that belongs to the user rather than to this project."""
        return self.environment.state_folder

    @property
    def known_mark(self) -> Path:
        """The file that adds this project to the list of all projects."""
        return self.state_folder / "known" / self.fallback.name

    @property
    def has_snapshots(self) -> bool:
        """Whether uncommitted code was ever kept; if not, nothing about snapshots is loaded."""
        return any((each / "snapshots").is_dir() for each in (self.store, self.fallback))


def find_project(environment: "Environment", start: Path | None = None) -> Project:
    """Find a folder's project: its repository, else a known folder above it, else itself.

    The home folder and `/` become a project only if LEFTOFF_PROJECT names them. A trusted
    repository that cannot be read raises an OSError, because no other store has its checkpoints.
    """
    named = environment.project_override
    here = Path(os.path.realpath(start or named or _find_current_folder()))
    explicit = here if named and start is None else None
    barred = {environment.home, Path(here.anchor)} - {explicit}
    candidates = [folder for folder in (here, *here.parents) if folder not in barred]
    distrusted = None
    for folder in candidates:
        repository = find_repository_at(folder, is_named=folder == explicit)
        if repository is not None and _is_trusted(environment, repository):
            below = candidates[: candidates.index(folder) + 1]
            return _build_git_project(environment, folder, repository, below)
        if repository is not None and distrusted is None:
            distrusted = folder
        if folder in environment.home.parents:
            break
    project = _find_plain_project(environment, here, candidates, distrusted)
    if project is None:
        raise NotAProject(
            f"{here} is not a project: leftoff keeps no checkpoints for the home folder or /",
            hint="Change to a project's folder, or set LEFTOFF_PROJECT to this one. To see what is "
            "open in all projects, run `leftoff list --everywhere`.",
        )
    return project


def _find_current_folder() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise NotAProject(
            "The folder you are in no longer exists.",
            hint="Change to an existing folder, then try again.",
        ) from error


def _is_trusted(environment: "Environment", repository: Repository) -> bool:
    """Return whether git would trust a repository: the user owns it or listed it as safe."""
    try:
        others = repository.owners() - environment.list_user_ids()
    except OSError:
        # Without a known owner, nothing shows that the repository is the user's.
        return False
    place = repository.worktree or repository.git_dir
    return not others or is_safe(place, environment.list_git_settings(), environment.home)


def _find_plain_project(
    environment: "Environment", here: Path, candidates: Sequence[Path], distrusted: Path | None
) -> Project | None:
    """Return the project of a folder outside any repository, if it can be a project."""
    for folder in candidates:
        moved = store_places.find_former_path(environment, folder)
        known = [folder, *([moved] if moved is not None else [])]
        if any(find_plain_store(environment, each).is_dir() for each in known):
            return _build_plain_project(environment, folder, moved=moved, distrusted=distrusted)
    if here not in candidates:
        return None
    # If another user owns the whole tree, as on a mounted disk, treat it as one project.
    is_foreign = distrusted is not None and not _is_own(environment, here)
    root = distrusted if distrusted is not None and is_foreign else here
    return _build_plain_project(environment, root, distrusted=distrusted)


def _is_own(environment: "Environment", folder: Path) -> bool:
    try:
        return folder.stat().st_uid in environment.list_user_ids()
    except OSError:
        return False


def _build_plain_project(
    environment: "Environment",
    folder: Path,
    *,
    moved: Path | None = None,
    distrusted: Path | None = None,
) -> Project:
    store = find_plain_store(environment, folder)
    project = Project(
        environment=environment,
        root=folder,
        worktree=folder,
        store=store,
        fallback=store,
        distrusted=distrusted,
    )
    return _complete(project, moved)


def _build_git_project(
    environment: "Environment", folder: Path, repository: Repository, below: Sequence[Path]
) -> Project:
    """Build a repository's project; `below` lists the folders between it and the current one."""
    common = repository.common_dir
    # A linked worktree's git folder is inside the common one, which is in the main worktree.
    is_linked = repository.git_dir != common
    root = common.parent if is_linked and common.name == ".git" else folder
    # LEFTOFF_HOME moves the store out of the repository.
    apart = find_plain_store(environment, root) if environment.keeps_stores_apart else None
    store = apart or common / "leftoff"
    project = Project(
        environment=environment,
        root=root,
        worktree=folder,
        store=store,
        fallback=store,
        earlier=tuple(_list_earlier(environment, root, store, below)),
        is_git=True,
    )
    return _complete(project, store_places.find_former_path(environment, root))


def _list_earlier(
    environment: "Environment", root: Path, store: Path, below: Sequence[Path]
) -> list[Path]:
    """List the stores that folders of this repository had while they were separate projects."""
    folders = dict.fromkeys([*below, root])
    plain = [place for each in folders for place in store_places.list_plain(environment, each)]
    earlier = [place for place in plain if place != store]
    for each in below:
        earlier += store_places.list_former(environment, each) if each != root else []
    if not os.path.lexists(store):
        # Look into all subfolders only right after `git init`; later, each is found when used.
        new = store_places.list_below(environment, root)
        earlier += [place for place in new if place not in {store, *earlier}]
    return earlier


def _complete(project: Project, moved: Path | None) -> Project:
    """Add the fallback folders and earlier stores, and guard the folders against links."""
    guard(project.root)
    guard(project.worktree)
    for place in (project.store, *project.earlier):
        guard_store(place)
    environment = project.environment
    # Saves that went to the fallback before `git init` still belong to this project.
    plain = find_plain_store(environment, project.root)
    keys = dict.fromkeys(map(store_places.key_of, [project.store, plain]))
    roots = (environment.state_folder / "fallback", *environment.list_former_fallbacks())
    fallback, *others = (folder / key for key in keys for folder in roots)
    former = [find_plain_store(environment, moved)] if moved is not None else []
    former = [place for place in former if place.is_dir()]
    is_shared = moved is not None and store_places.is_used_at(environment, moved)
    return msgspec.structs.replace(
        project,
        fallback=fallback,
        strays=tuple(other for other in others if other.is_dir()),
        earlier=(*project.earlier, *former),
        shared=tuple(former) if is_shared else (),
        is_moved=moved is not None,
    )


def list_stores_elsewhere(project: Project) -> list[tuple[Path, Path]]:
    """List other stores that may contain a project's checkpoints, each with its folder.

    For a plain folder, these are the stores of folders that no longer exist. For a repository,
    these are the store in its git folder, if LEFTOFF_HOME was set later, and the stores of plain
    folders that were at its path or below.
    """
    if not project.is_git:
        return store_places.list_lost(project.environment)
    return [*_list_left_in_git(project), *_list_plain_below(project)]


def _list_left_in_git(project: Project) -> list[tuple[Path, Path]]:
    repository = find_repository_at(project.worktree, is_named=True)
    place = repository.common_dir / "leftoff" if repository else project.store
    return [(project.root, place)] if place != project.store and place.is_dir() else []


def _list_plain_below(project: Project) -> list[tuple[Path, Path]]:
    environment = project.environment
    marks = list_marks_below(store_places.find_marks_folder(environment), project.root)
    found = {mark.path: find_plain_store(environment, mark.path) for mark in marks}
    used = {project.store, *project.earlier}
    return [each for each in found.items() if each[1] not in used and each[1].is_dir()]


def explain_distrust(project: Project) -> tuple[str, str] | None:
    """Return why leftoff ignores the repository around a project, and what to do about it."""
    if project.distrusted is None:
        return None
    what = (
        f"{project.distrusted} is a git repository that belongs to another user, so leftoff "
        f"reads nothing from it and keeps your checkpoints in {project.store}"
    )
    folder = _shlex.quote(str(project.distrusted))
    way_out = f"If you trust it: git config --global --add safe.directory {folder}"
    return what, way_out


def list_folders(project: Project) -> list[Path]:
    """List the project's worktrees: the current one, the main one, then all others."""
    repository = find_repository_at(project.worktree, is_named=True) if project.is_git else None
    others = list_linked_worktrees(repository) if repository else []
    return list(dict.fromkeys([project.worktree, project.root, *others]))


def find_own_folder(project: Project, path: str | None) -> Path:
    """Return the worktree of a project at a path; without one there, the current worktree.

    The path comes from a checkpoint, which may name any folder: only the project's own count.
    """
    found = {printable(str(each)): each for each in list_folders(project)}.get(path or "")
    return found if found is not None and found.is_dir() else project.worktree


# --- files in a project, without links that lead out of it ---
#
# A clone or an archive can contain a link in place of any file or folder: a `memory` folder that
# leads to `~/.ssh`, or a plan that leads to a credentials file. Code that reads a file from a
# project's tree, to show or import it, must open it with this module.


_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
_trees: set[str] = set()
_stores: set[str] = set()


def guard(folder: Path) -> None:
    """Refuse links out of this folder from now on; the path must be resolved."""
    _trees.add(os.fspath(folder))


def guard_store(folder: Path) -> None:
    """Refuse all links in this folder from now on, including the folder itself."""
    _stores.add(os.fspath(folder))


def is_linked_store(path: Path | str) -> bool:
    """Return whether a store, or a folder between it and a path, is a link.

    The path itself is not checked: opening it refuses a link.
    """
    place = os.path.dirname(path)  # noqa: PTH120 - every read and write runs this, and Path is slow
    # A page with many projects has many stores, so look for the folders above in the set.
    found, above, folder = "", place, ""
    while above != folder:
        if above in _stores:
            found = above
        folder, above = above, os.path.dirname(above)  # noqa: PTH120 - see above
    return bool(found) and _is_link_between(place, found)


def _is_link_between(place: str, store: str) -> bool:
    while len(place) >= len(store):
        if os.path.islink(place):  # noqa: PTH114 - see above
            return True
        place = os.path.dirname(place)  # noqa: PTH120 - see above
    return False


def open_file(path: Path, *, follow: bool = False) -> int:
    """Open a regular file for reading; raise OSError if it is anything else.

    `follow` allows the file itself to be a link to another file of the same tree.
    """
    # Opening a device can have side effects, so check the type first.
    _refuse_odd(path.stat(follow_symlinks=follow), path)
    descriptor = os.open(path, _FLAGS if follow else _FLAGS | os.O_NOFOLLOW)
    try:
        # Check again: the file may have been replaced before it was opened.
        _refuse_odd(os.fstat(descriptor), path)
        _refuse_outside(_resolve_path(descriptor, path), path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _refuse_odd(found: os.stat_result, path: Path) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "It is not a regular file", os.fspath(path))


def _refuse_outside(real: str, path: Path) -> None:
    if _is_outside(real, path):
        raise OSError(errno.ELOOP, "A link points outside the project", os.fspath(path))


def read_start(path: Path, limit: int, *, follow: bool = False) -> bytes:
    """Read the first bytes of a regular file, with the checks of `open_file`."""
    with open(open_file(path, follow=follow), "rb") as file:
        return file.read(limit)


def leads_out(path: Path) -> bool:
    """Return whether a path in a tree points outside it through a link."""
    return _is_outside(os.path.realpath(path), path)


def is_inside(path: Path, folders: Iterable[Path]) -> bool:
    """Return whether a path is in one of these folders after following links."""
    real = Path(os.path.realpath(path))
    return any(real.is_relative_to(os.path.realpath(folder)) for folder in folders)


def _is_outside(real: str, path: Path) -> bool:
    named = os.path.normpath(path)
    # The usual case: no link on the way.
    if real == named:
        return False
    around = [tree for tree in _trees if _is_below(named, tree)]
    # In nested trees, the innermost one applies.
    return bool(around) and not _is_below(real, max(around, key=len))


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def _resolve_path(descriptor: int, path: Path) -> str:
    try:
        # Check the opened file: the name may refer to another one by now.
        return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 - not the name of a file
    except OSError:
        # macOS has no /proc.
        return os.path.realpath(path)

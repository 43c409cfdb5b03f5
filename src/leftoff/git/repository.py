"""Find a git repository, and read its small files; git runs only where they do not suffice."""

import errno
import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from leftoff.text.fence import printable

if TYPE_CHECKING:
    from leftoff.git.process import Git

_MAX_LINE_BYTES = 65536
# Compiled on first use: session start does not need remotes.
# git@host:owner/name.git, ssh://git@host:22/owner/name, https://user@host/owner/name.git/
_ADDRESS = (
    r"(?:[a-z+]+://(?:[^@/\s]+@)?[^/\s:]+(?::\d+)?/|(?:[^@/\s:]+@)?[^/\s:@]{2,}:(?!//))"
    r"/?(?P<slug>[^/\s]+/[^/\s]+?)(?:\.git)?/*"
)
_REMOTE = r'(?m)^\[remote "(.+)"\][^\n]*\n((?:[^\[\n][^\n]*\n|\n)*)'
_URL = r"(?im)^\s*url\s*=\s*(\S+)\s*$"
_MAX_CONFIG_BYTES = 1_000_000
# A line of git's log of HEAD: from which commit to which, by whom, when, and why.
_HEAD_MOVE = (
    rb"[0-9a-f]{40,64} (?P<sha>[0-9a-f]{40,64}) .*> (?P<at>\d{1,12}) [+-]\d{4}"
    rb"(?:\tcheckout: moving from (?P<left>\S+) to )?"
)
_FULL_SHA = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})")

_BRANCHES = "refs/heads/"
# The reftable format leaves this placeholder in the HEAD file.
NO_BRANCH = f"{_BRANCHES}.invalid"
_GITDIR = "gitdir: "
_REF = "ref:"

Operation = Literal["rebase", "am", "merge", "cherry-pick", "revert", "bisect"]

# Checked first, because a rebase also leaves the marks of the picks that it consists of.
_MARKS: tuple[tuple[str, Operation], ...] = (
    ("rebase-apply/applying", "am"),
    ("rebase-apply", "rebase"),
    ("rebase-merge", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
)


class Repository(msgspec.Struct, frozen=True, kw_only=True):
    """The folders of a repository; worktrees share `common_dir`, a bare one has no worktree."""

    worktree: Path | None
    git_dir: Path
    common_dir: Path

    def owners(self) -> set[int]:
        """Return the users who own the paths that git reads its settings from.

        Git checks the owners of these paths before it trusts a repository.
        """
        dot_git = self.worktree / ".git" if self.worktree else None
        places = (self.worktree, dot_git, self.git_dir, self.common_dir)
        return {os.lstat(place).st_uid for place in places if place is not None}


def find_repository(folder: Path) -> Repository | None:
    """Find the repository around a folder; raises OSError if it is currently unreadable."""
    # Like git, follow links first: the parents of a linked folder are those of its target.
    here = Path(os.path.realpath(folder))
    for candidate in (here, *here.parents):
        found = find_repository_at(candidate)
        if found is not None:
            return found
    return None


def find_repository_at(folder: Path, *, is_named: bool = False) -> Repository | None:
    """Return the repository whose worktree, or bare folder, is exactly this folder.

    A clone can contain a folder that looks like a bare repository, with settings by its author. A
    bare repository inside a worktree therefore counts only if the user named it.
    """
    git_dir = _find_git_dir(folder / ".git")
    if git_dir is not None:
        return _build_repository(folder, git_dir)
    if not _is_git_dir(folder) or not (is_named or _is_outside_worktrees(folder)):
        return None
    return _build_repository(None, folder)


def _is_outside_worktrees(folder: Path) -> bool:
    """Return whether a folder is in no worktree; a clone cannot place files in `.git`."""
    git_dirs = [_find_git_dir(parent / ".git") for parent in folder.parents]
    return all(folder.is_relative_to(git_dir) for git_dir in git_dirs if git_dir is not None)


def list_linked_worktrees(repository: Repository) -> list[Path]:
    """List the folders of all linked worktrees, including deleted ones."""
    links = sorted((repository.common_dir / "worktrees").glob("*/gitdir"))
    # Newer versions of git can write these paths relative to the file that holds them.
    named = [
        (link, (link.parent / line).parent) for link in links if (line := _read_first_line(link))
    ]
    found = [(link, Path(os.path.realpath(folder))) for link, folder in named]
    return [folder for link, folder in found if _is_worktree_of(folder, link.parent)]


def _is_worktree_of(folder: Path, git_dir: Path) -> bool:
    """Return whether a folder is the worktree that a repository claims, or does not exist.

    Someone else's repository could claim any folder of the user as its worktree.
    """
    return not folder.exists() or _find_git_dir(folder / ".git") == Path(os.path.realpath(git_dir))


def find_head_ref(repository: Repository) -> str | None:
    """Return the full name of the ref that HEAD points to; None if HEAD is detached."""
    line = _read_first_line(repository.git_dir / "HEAD") or ""
    return line.removeprefix(_REF).strip() if line.startswith(_REF) else None


def read_head(repository: Repository) -> str | None:
    """Return the hash of HEAD, "" before the first commit; None if only git can tell."""
    ref = find_head_ref(repository)
    if ref is None:
        line = _read_first_line(repository.git_dir / "HEAD") or ""
        return line if _FULL_SHA.fullmatch(line) else None
    return _read_ref(repository, ref)


def _read_ref(repository: Repository, ref: str) -> str | None:
    """Return the hash of a ref, "" if there is no such branch; None if only git can tell."""
    place = repository.common_dir / ref
    line = _read_first_line(place) or ""
    if _FULL_SHA.fullmatch(line):
        return line
    # Other refs can be specific to a worktree, and a loose file can name yet another ref.
    if not ref.startswith(_BRANCHES) or ref == NO_BRANCH or os.path.lexists(place):
        return None
    return _find_packed_sha(repository, ref)


def _find_packed_sha(repository: Repository, ref: str) -> str | None:
    """Return a branch's hash from the packed refs; "" if it is not there."""
    packed = repository.common_dir / "packed-refs"
    if not os.path.lexists(packed):
        return ""
    data = _data(packed)
    # Unreadable, or cut at the limit: a missing branch would prove nothing.
    if not data or len(data) >= _MAX_CONFIG_BYTES:
        return None
    name = re.escape(os.fsencode(ref))
    found = re.search(rb"^([0-9a-f]{40,64}) " + name + rb"$", data, re.MULTILINE)
    return found[1].decode() if found else ""


def find_operation(repository: Repository) -> Operation | None:
    """Return the operation that was started in this worktree and not finished."""
    for name, operation in _MARKS:
        if (repository.git_dir / name).exists():
            return operation
    # Between two picks the marks are gone; only the list of remaining picks is there.
    todo = _read_first_line(repository.git_dir / "sequencer" / "todo")
    if todo is None:
        return None
    return "revert" if todo.startswith("revert") else "cherry-pick"


def parse_repository_name(url: str) -> str | None:
    """Return `owner/name` from a remote's URL; None for a folder."""
    # A local clone has no owner.
    if url.startswith("file:"):
        return None
    found = re.fullmatch(_ADDRESS, url.strip())
    return found["slug"] if found else None


def find_current_branch(folder: Path) -> str | None:
    """Return a folder's branch; None if HEAD is detached or there is no repository."""
    ref = find_ref(folder)
    return printable(ref.removeprefix(_BRANCHES)) if ref else None


def find_ref(folder: Path) -> str:
    """Return the ref that HEAD points to; "" if it is detached or there is no repository."""
    repository = find_readable_repository(folder)
    ref = find_head_ref(repository) if repository is not None else None
    # The file is a placeholder, so only git knows the branch.
    if repository is not None and ref == NO_BRANCH:
        ref = ask_line(folder, repository, "symbolic-ref", "--quiet", "HEAD")
    return ref or ""


def is_branch_gone(folder: Path, branch: str) -> bool:
    """Return whether git is sure that there is no such branch."""
    repository = find_readable_repository(folder)
    if repository is None:
        return False
    ref = f"{_BRANCHES}{branch}"
    # The files are placeholders in a newer format, and git allows no such name.
    is_in_files = find_head_ref(repository) != NO_BRANCH and ".." not in branch
    found = _read_ref(repository, ref) if is_in_files else None
    if found is not None:
        return not found
    sha = ask_line(folder, repository, "rev-parse", "--quiet", "--verify", ref)
    # Without an answer to any question, git cannot run here.
    return sha is None and ask_line(folder, repository, "rev-parse", "--git-dir") is not None


def is_full_sha(text: str) -> bool:
    """Return whether a text is the full hash of a commit, and not an option for git."""
    return _FULL_SHA.fullmatch(text) is not None


def find_head_sha(folder: Path) -> str | None:
    """Return the full hash of HEAD; None if there is no commit or no repository."""
    repository = find_readable_repository(folder)
    if repository is None:
        return None
    found = read_head(repository)
    if found is None:
        return ask_line(folder, repository, "rev-parse", "--quiet", "--verify", "HEAD^{commit}")
    return found or None


class HeadThen(msgspec.Struct, frozen=True, kw_only=True):
    """Where HEAD was at an earlier moment; `branch` is None if it was detached or is not known."""

    sha: str
    branch: str | None = None


def find_head_at(folder: Path, moment: float) -> HeadThen | None:
    """Return where HEAD of a worktree was at a time, by git's own log; None if it does not say."""
    repository = find_readable_repository(folder)
    if repository is None:
        return None
    lines = _tail(repository.git_dir / "logs" / "HEAD").splitlines()
    moves = [move for line in lines if (move := re.match(_HEAD_MOVE, line)) is not None]
    before = [move for move in moves if int(move["at"]) <= moment]
    if not before:
        return None
    # The next checkout says which branch it left. Without one, the branch is the one of today.
    later = (move["left"] for move in moves[len(before) :])
    left = next((decode_path(each) for each in later if each), None)
    branch = printable(left) if left is not None else find_current_branch(folder)
    is_detached = branch is None or _FULL_SHA.fullmatch(branch) is not None
    return HeadThen(sha=before[-1]["sha"].decode(), branch=None if is_detached else branch)


def _tail(path: Path) -> bytes:
    try:
        # Opening a FIFO that was planted here would block forever.
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _MAX_CONFIG_BYTES))
            return file.read()
    except OSError:
        return b""


def find_readable_repository(folder: Path) -> Repository | None:
    """Return the repository around a folder; None if there is none or it is unreadable."""
    try:
        return find_repository(folder)
    except OSError:
        return None


def ask_line(folder: Path, repository: Repository, *arguments: str) -> str | None:
    """Return git's answer of one line; None if it has none."""
    try:
        with ask_git(folder, repository, *arguments) as git:
            text = decode_path(b"".join(git.chunks())).strip()
            return text if text and git.trouble() is None else None
    except OSError:
        return None


def is_tracked(path: Path) -> bool:
    """Return whether git may have written a file: it is in the index, or nobody may look."""
    try:
        repository = find_repository(path.parent)
    except OSError:
        return True
    if repository is None:
        return False
    place = f":(literal){os.path.realpath(path.parent)}/{path.name}"
    return ask_line(path.parent, repository, "ls-files", "--", place) is not None


def ask_git(
    folder: Path, repository: Repository, *arguments: str, deadline: float | None = None
) -> "Git":
    """Run git to read something about a repository."""
    from leftoff.git.process import ask  # noqa: PLC0415 - 2 ms, and files often suffice

    return ask(folder, repository, *arguments, deadline=deadline)


def decode_path(record: bytes) -> str:
    """Decode the bytes of a path to text that can be converted back."""
    return record.decode("utf-8", "surrogateescape")


def find_repository_name(repository: Repository) -> str | None:
    """Return `owner/name` of origin, or of the only remote, from the repository's settings."""
    text = _data(repository.common_dir / "config").decode("utf-8", "replace")
    remotes = [(found[1], re.search(_URL, found[2])) for found in re.finditer(_REMOTE, f"{text}\n")]
    urls = {name: url[1] for name, url in remotes if url is not None}
    only = next(iter(urls.values())) if len(urls) == 1 else ""
    return parse_repository_name(urls.get("origin", only))


def own_settings(repository: Repository) -> bytes:
    """Return the text of the repository's own settings, without included files."""
    places = (repository.common_dir / "config", repository.git_dir / "config.worktree")
    return b"\n".join(_read_settings(place) for place in places if os.path.lexists(place))


def _read_settings(place: Path) -> bytes:
    if not place.is_file() or place.stat().st_size > _MAX_CONFIG_BYTES:
        raise OSError(errno.EPERM, f"{place} is not a settings file")
    return place.read_bytes()


def _data(path: Path) -> bytes:
    try:
        # Opening a FIFO that was planted here would block forever.
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(_MAX_CONFIG_BYTES)
    except OSError:
        return b""


def _build_repository(worktree: Path | None, git_dir: Path) -> Repository:
    return Repository(worktree=worktree, git_dir=git_dir, common_dir=_find_common_dir(git_dir))


def _find_common_dir(git_dir: Path) -> Path:
    place = _read_path(git_dir / "commondir")
    return Path(os.path.realpath(git_dir / place)) if place else git_dir


def _find_git_dir(dot_git: Path) -> Path | None:
    try:
        found = dot_git.stat()
    except (OSError, ValueError):
        return None
    if stat.S_ISDIR(found.st_mode):
        place = Path(os.path.realpath(dot_git))
        return place if _is_git_dir(place) else None
    # Linked worktrees and submodules have a file here that names the real folder.
    text = _read_path(dot_git) or ""
    if not text.startswith(_GITDIR):
        return None
    place = Path(os.path.realpath(dot_git.parent / text.removeprefix(_GITDIR)))
    return place if _is_git_dir(place) else None


def _is_git_dir(place: Path) -> bool:
    """Apply git's own rule: a valid HEAD, and the folders `objects` and `refs`."""
    if not _is_head(place / "HEAD"):
        return False
    common = _find_common_dir(place)
    # The git folder of a linked worktree is inside the common one. Any other folder that names a
    # common folder could use it to read another repository's store.
    if common not in {place, place.parent.parent}:
        return False
    return (common / "objects").is_dir() and (common / "refs").is_dir()


def _is_head(path: Path) -> bool:
    try:
        if stat.S_ISLNK(os.lstat(path).st_mode):
            return os.readlink(path).startswith("refs/")  # noqa: PTH115 - Path normalizes it
    except (OSError, ValueError):
        return False
    line = (_read(path) or b"").partition(b"\n")[0].decode("utf-8", "surrogateescape")
    line = line.rstrip("\r\n")
    if line.startswith(_REF):
        return line.removeprefix(_REF).lstrip().startswith("refs/")
    return _FULL_SHA.match(line) is not None


def _read_path(file: Path) -> str | None:
    """Read a path exactly as git does, so that both use the same repository."""
    text = _read(file)
    if text is None:
        return None
    return text.decode("utf-8", "surrogateescape").rstrip("\r\n").partition("\0")[0]


def _read(file: Path) -> bytes | None:
    """Read a file that makes a folder a repository; None if it does not exist.

    Raises if the user's own file exists but is currently unreadable. Treating the folder as no
    repository would show the user another store.
    """
    try:
        if not file.is_file():
            return None
        is_own = file.stat().st_uid == os.geteuid()
    except (OSError, ValueError):
        return None
    try:
        with file.open("rb") as opened:
            return opened.read(_MAX_LINE_BYTES)
    except FileNotFoundError:
        return None
    except OSError:
        if is_own:
            raise
        return None


def _read_first_line(path: Path) -> str | None:
    try:
        # Opening a FIFO that was planted here would block forever.
        if not path.is_file():
            return None
        with path.open("rb") as file:
            line = file.readline(_MAX_LINE_BYTES)
    except (OSError, ValueError):
        return None
    return line.decode("utf-8", "surrogateescape").rstrip("\r\n")

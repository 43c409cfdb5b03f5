"""Choose what goes into a commit: every change except secrets and files of a single session."""

import io
import os
import stat
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

import msgspec

from leftoff.errors import LeftoffError
from leftoff.git import query
from leftoff.git.query import GitState, PathChange
from leftoff.git.write import Repo
from leftoff.profiles import SESSION_FOLDERS, STATE_FOLDERS
from leftoff.redact import redact, secret_files

_STATUS_SECONDS = 120.0
_MAX_PATHS = 1_000_000
# Another git process, perhaps one left running by an interrupted ship, gets this long to finish.
_LOCK_SECONDS = 20.0
_PAUSE_SECONDS = 0.1
_UNREADABLE = "it cannot be read"
_CHANGING = "files keep changing while they are staged"
_MEDDLING = "another program stages files"
_CONFLICTS = frozenset({"DD", "AU", "UD", "UA", "DU", "AA", "UU"})


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """A changed file that is not committed, and why."""

    path: str
    why: str

    @property
    def is_unreadable(self) -> bool:
        """Whether nobody can check its contents because it cannot be read."""
        return self.why.startswith(_UNREADABLE)

    @property
    def display_path(self) -> str:
        """The path, safe to print."""
        return format_path(self.path)


def format_path(path: str) -> str:
    """Format a path for one line of output, redacted: a file name can hold a secret too."""
    return redact(query.printable(path)).replace("\n", "\\n")


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """The changes to commit (native state first, then the rest) and those left out."""

    state: list[str] = []
    rest: list[str] = []
    left_out: list[LeftOut] = []

    @property
    def files(self) -> list[str]:
        """Every path to commit."""
        return [*self.state, *self.rest]


class Judge:
    """Decides which files may be committed, and remembers the state in which it read each one."""

    def __init__(self, repo: Repo, allowed: Sequence[str] = ()) -> None:
        self._repo, self._allowed = repo, list(allowed)
        self._head: str | None = None
        self._looks: dict[str, tuple[int, ...] | None] = {}
        self._verdicts: dict[tuple[object, ...], str | None] = {}

    def choose(self, state: GitState) -> Chosen:
        """Sort changes into those to commit and those to leave out."""
        self._head = state.head
        chosen = Chosen()
        for change in state.changes:
            why = self._why_not(change)
            if why is not None:
                chosen.left_out.append(LeftOut(path=change.path, why=why))
            elif change.path.startswith(STATE_FOLDERS):
                chosen.state.append(change.path)
            else:
                chosen.rest.append(change.path)
        return chosen

    def find_changed(self, files: Sequence[str]) -> list[str]:
        """List the files that changed after they were read."""
        return [file for file in files if self._looks.get(file) != self._look(file)]

    def _why_not(self, change: PathChange) -> str | None:
        path = change.path
        if path.startswith(SESSION_FOLDERS):
            return "it belongs to one session"
        if path.endswith("/"):
            return "it is a separate repository"
        if change.is_inside:
            return "commit the changes inside this submodule first"
        look = self._looks[path] = self._look(path)
        if look is None or secret_files.is_allowed(path, self._allowed):
            # A deleted file cannot leak anything.
            return None
        case = (self._head, change, look)
        if case not in self._verdicts:
            self._verdicts[case] = self._why_by_content(change, look[0])
        return self._verdicts[case]

    def _why_by_content(self, change: PathChange, mode: int) -> str | None:
        named = secret_files.why_by_name(change.path)
        if not (stat.S_ISLNK(mode) or stat.S_ISREG(mode)):
            return named
        try:
            with _open_content(self._repo.worktree / change.path, mode) as file:
                if named is not None:
                    return None if secret_files.is_public(change.path, file.read()) else named
                found = secret_files.secrets_of(file)
        except OSError as error:
            return f"{_UNREADABLE}: {error.strerror}"
        known = self._find_known_secrets(change) if found else {}
        if found and change.path.startswith(STATE_FOLDERS):
            known |= dict.fromkeys(self._list_sessions(), "session")
        return _explain_secret(found, known) if found else None

    def _list_sessions(self) -> list[str]:
        """Return the ids of sessions, which native state names and which are not secrets."""
        folders = [self._repo.worktree / each for each in SESSION_FOLDERS]
        return [path.name for each in folders if each.is_dir() for path in each.iterdir()]

    def _find_known_secrets(self, change: PathChange) -> dict[str, str]:
        """Return the secrets that the last commit already holds: hiding those gains nothing."""
        if self._head is None or change.code == "??":
            return {}
        data = self._repo.blob(self._head, change.from_path or change.path)
        return secret_files.secrets_in(data) if data else {}

    def _look(self, path: str) -> tuple[int, ...] | None:
        try:
            found = (self._repo.worktree / path).lstat()
        except OSError:
            return None
        return (found.st_mode, found.st_ino, found.st_size, found.st_mtime_ns)


def _open_content(path: Path, mode: int) -> IO[bytes]:
    if stat.S_ISREG(mode):
        return path.open("rb")
    # git commits a link as its target, byte for byte.
    return io.BytesIO(os.readlink(os.fsencode(path)))  # noqa: PTH115 - Path normalizes it


def _explain_secret(found: dict[str, str], known: dict[str, str]) -> str | None:
    kinds = sorted({kind for secret, kind in found.items() if secret not in known})
    return f"it contains a secret ({', '.join(kinds)})" if kinds else None


def read_changes(worktree: Path) -> GitState:
    """Read the state of the worktree, or raise with the reason why git cannot report it."""
    state = query.inspect(worktree, timeout=_STATUS_SECONDS, limit=_MAX_PATHS)
    if isinstance(state, query.UnreadableRepository):
        raise LeftoffError(state.reason, hint="Run `git status` here to see what git says.")
    if state.trouble:
        raise LeftoffError(
            f"git cannot report what changed: {state.trouble}",
            hint="Run `git status` here, fix what it reports, then run `leftoff ship` again.",
        )
    return state


def read_worktree(worktree: Path) -> GitState:
    """Read as much of the worktree's state as possible; `trouble` says what is missing and why."""
    try:
        return read_changes(worktree)
    except LeftoffError as error:
        branch, head = query.find_current_branch(worktree), query.find_head_sha(worktree)
        return GitState(worktree=worktree, branch=branch, head=head, trouble=error.message)


def list_conflicts(state: GitState) -> list[str]:
    """List the files with unresolved merge conflicts."""
    return [change.path for change in state.changes if change.code in _CONFLICTS]


def has_state(worktree: Path) -> bool:
    """Return whether the worktree contains native state of a profile."""
    return any((worktree / folder).is_dir() for folder in STATE_FOLDERS)


def stage(
    repo: Repo,
    judge: Judge,
    *,
    only: Callable[[str], bool] | None = None,
    known: GitState | None = None,
) -> Chosen:
    """Stage all that may be committed; return what was chosen. `known` saves the first look.

    What another program writes or stages meanwhile is checked again before it counts.
    """
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        state, known = known or read_changes(repo.worktree), None
        changes = [each for each in state.changes if only is None or only(each.path)]
        chosen = judge.choose(msgspec.structs.replace(state, changes=changes))
        trouble = _stage(repo, chosen, changes)
        staged = set(repo.list_staged()) if trouble is None else set()
        # A commit of selected files ignores whatever else is staged.
        looked_at = staged & set(chosen.files) if only else staged
        trouble = trouble or _check_unchanged(judge, chosen, changes, looked_at)
        if trouble is None:
            return _keep_different(chosen, staged)
        if not _may_pass(trouble) or time.monotonic() > deadline:
            raise _refuse_staging(trouble)
        time.sleep(_PAUSE_SECONDS)


def _stage(repo: Repo, chosen: Chosen, changes: Sequence[PathChange]) -> str | None:
    known = {change.path: change for change in changes}
    for files in (chosen.state, chosen.rest):
        # Files staged in their current state need no second `git add`; a staged removal would fail.
        unstaged = [file for file in files if known[file].code[1] != "."]
        if unstaged and not (ended := repo.stage(unstaged)).is_done:
            return _pick_reason(ended.trouble_lines)
    out = [known[each.path] for each in chosen.left_out]
    staged = [each for each in out if each.code[0] not in ".?"]
    names = [name for each in staged for name in (each.path, each.from_path) if name]
    if names and not (ended := repo.unstage(names)).is_done:
        return _pick_reason(ended.trouble_lines)
    return None


def _keep_different(chosen: Chosen, staged: set[str]) -> Chosen:
    """Drop files that git finds identical once staged, such as those with other line endings."""
    state, rest = (
        [each for each in part if each in staged] for part in (chosen.state, chosen.rest)
    )
    return msgspec.structs.replace(chosen, state=state, rest=rest)


def _check_unchanged(
    judge: Judge, chosen: Chosen, changes: Sequence[PathChange], staged: set[str]
) -> str | None:
    """Return what changed meanwhile: only what was checked may be staged, exactly as checked."""
    if judge.find_changed(chosen.files):
        return _CHANGING
    # git also stages the old name of a renamed file, as a deletion.
    looked_at = {name for each in changes for name in (each.path, each.from_path) if name}
    out = {each.path for each in chosen.left_out}
    return None if staged <= looked_at - out else _MEDDLING


def _pick_reason(lines: Sequence[str]) -> str:
    return lines[0] if lines else "git did not say why"


def _may_pass(trouble: str) -> bool:
    """Return whether trying again can help: another program is writing, or removed a file."""
    return (
        trouble in {_CHANGING, _MEDDLING}
        or is_locked_by_other(trouble)
        or "did not match any files" in trouble
    )


def is_locked_by_other(trouble: str) -> bool:
    """Return whether another git process holds the index lock, or crashed while holding it."""
    return "index.lock" in trouble and "File exists" in trouble


def _refuse_staging(trouble: str) -> LeftoffError:
    if is_locked_by_other(trouble):
        return LeftoffError(
            "Another git process is running here, or a crashed one left its lock behind.",
            hint=f"{trouble} If no git is running, remove it, then run `leftoff ship` again.",
        )
    return LeftoffError(
        f"Changes cannot be staged: {trouble}",
        hint="Fix that (in a sandbox, run it outside), then run `leftoff ship` again.",
    )

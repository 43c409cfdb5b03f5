"""Stage, commit and push with the user's own git and hooks."""

import re
import tempfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal

import msgspec

from leftoff.errors import LeftoffError
from leftoff.git.repository import decode_path, find_repository
from leftoff.subprocesses import Ended, Program, environment, run

# Git's messages must be in English to be recognized.
_SET_VARIABLES = {"LC_ALL": "C.UTF-8"}
_ASKING = {"GIT_OPTIONAL_LOCKS": "0"}
# No one can answer a prompt, so fail instead of waiting forever.
_SILENT = {"GIT_TERMINAL_PROMPT": "0", "SSH_ASKPASS_REQUIRE": "force"}
# On the command line and not in the environment, which the user's hooks would inherit.
_LITERAL = "--literal-pathspecs"
_FROM_STDIN = ("--pathspec-from-file=-", "--pathspec-file-nul")
_COMMIT = ("commit", "--quiet", "--cleanup=whitespace")
_QUESTION_SECONDS = 60.0

PushState = Literal["pushed", "unchanged", "behind", "refused", "hook", "login", "failed"]

MAIN_BRANCHES = ("main", "master", "trunk")
"""What main branches are called where the remote does not say which one is its default."""


class Pushed(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a push, and what git or a hook printed."""

    state: PushState
    output: list[str] = []


class Remote(msgspec.Struct, frozen=True, kw_only=True):
    """Where a branch is pushed to."""

    name: str
    url: str = ""
    has_upstream: bool = False
    """Whether the branch already has an upstream."""


class Repo:
    """A worktree that may be changed; `may_ask` lets git prompt for passwords on the terminal."""

    def __init__(self, worktree: Path, *, may_ask: bool = False) -> None:
        self.worktree = worktree
        self._may_ask = may_ask

    # Staging

    def stage(self, files: Sequence[str]) -> Ended:
        """Stage files as they are now; a missing file is staged as deleted."""
        return self._run(_LITERAL, "add", "--all", *_FROM_STDIN, given=_join_nul(files))

    def unstage(self, files: Sequence[str]) -> Ended:
        """Unstage files without changing them in the worktree."""
        return self._run(_LITERAL, "reset", "--quiet", *_FROM_STDIN, given=_join_nul(files))

    def list_staged(self) -> list[str]:
        """List the files that a commit would change now."""
        asked = self._run("diff", "--cached", "--name-only", "--no-renames", "-z", asks=True)
        if not asked.is_done:
            reason = asked.trouble_lines[0] if asked.trouble_lines else "it gave no reason"
            raise LeftoffError(
                f"git cannot list what is staged: {reason}",
                hint="Run `git status` here, fix what it reports, then try again.",
            )
        return [decode_path(each) for each in asked.out.split(b"\0") if each]

    def blob(self, revision: str, path: str) -> bytes | None:
        """Return a file's content in a commit, or None."""
        asked = self._run("cat-file", "blob", f"{revision}:{path}", asks=True)
        return asked.out if asked.is_done else None

    def stage_content(self, path: str, mode: str, content: bytes) -> Ended:
        """Stage a content for a path, whatever the file in the worktree has."""
        stored = self._run("hash-object", "-w", "--no-filters", "--stdin", given=content)
        blob = stored.text.strip()
        entry = f"{mode} {blob}\t{path}\0".encode("utf-8", "surrogateescape")
        return self._run("update-index", "-z", "--index-info", given=entry)

    def list_ignored(self, paths: Sequence[str]) -> set[str]:
        """Return those of some paths that git ignores; tracked files are never ignored."""
        asked = self._run("check-ignore", "-z", "--stdin", given=_join_nul(paths), asks=True)
        return {decode_path(each) for each in asked.out.split(b"\0") if each}

    def write_missing(self, paths: Sequence[str]) -> Ended:
        """Write missing files as they are committed; the index and other files stay as they are.

        The user's index may not have them any more, so git reads the commit into another one.
        """
        with tempfile.TemporaryDirectory(prefix="leftoff-") as folder:
            apart = {"GIT_INDEX_FILE": f"{folder}/index"}
            read = self._run("read-tree", "--no-sparse-checkout", "HEAD", more=apart)
            if not read.is_done:
                return read
            given = _join_nul(paths)
            return self._run("checkout-index", "--quiet", "-z", "--stdin", given=given, more=apart)

    # Committing

    def commit(self, message: str) -> Ended:
        """Commit what is staged."""
        return self._run(*_COMMIT, "--file=-", given=message.encode("utf-8", "replace"))

    def commit_only(self, files: Sequence[str], subject: str) -> Ended:
        """Commit only these files, whatever else is staged."""
        # Not --literal-pathspecs: git would pass it on to the user's hooks.
        literal = _join_nul([f":(literal){file}" for file in files])
        return self._run(*_COMMIT, "--only", f"--message={subject}", *_FROM_STDIN, given=literal)

    def message(self, revision: str) -> str:
        """Return the whole message of a commit."""
        return self._answer("log", "-1", "--no-show-signature", "--format=%B", revision) or ""

    def messages(self, base: str | None, *, limit: int) -> list[str]:
        """Return the messages of the commits since `base`, oldest first; without one, of none."""
        if base is None:
            return []
        asked = self._run(
            "log", "-z", f"--max-count={limit}", "--no-show-signature", "--format=%B",
            f"{base}..HEAD", asks=True,
        )  # fmt: skip
        texts = asked.text.split("\0") if asked.is_done else []
        return [each.strip() for each in reversed(texts) if each.strip()]

    def find_base(self, remote: str | None, branch: str) -> str | None:
        """Return the commit at which a branch left the one that it will be merged into."""
        default = self.default_branch(remote) if remote else None
        names = [default] if default else [*MAIN_BRANCHES]
        far = [f"refs/remotes/{remote}/{name}" for name in names] if remote else []
        near = [f"refs/heads/{name}" for name in names if name != branch]
        for ref in (*far, *near):
            if (base := self._answer("merge-base", "HEAD", ref)) is not None:
                return base
        return None

    def current_commit(self) -> str | None:
        """Return the commit that HEAD is at."""
        return self._answer("rev-parse", "--quiet", "--verify", "HEAD")

    def add_worktree(self, folder: Path, branch: str, start: str) -> Ended:
        """Create a worktree with a new branch."""
        return self._run("worktree", "add", "--quiet", "-b", branch, str(folder), start)

    def parent(self, revision: str) -> str | None:
        """Return the parent of a commit."""
        return self._answer("rev-parse", "--quiet", "--verify", f"{revision}^")

    def has_hooks(self) -> bool:
        """Return whether the user has any hooks; samples do not count."""
        if "core.hookspath" in self._settings:
            return True
        try:
            repository = find_repository(self.worktree)
            folder = repository.common_dir / "hooks" if repository else self.worktree
            return any(each.suffix != ".sample" for each in folder.iterdir())
        except FileNotFoundError:
            return False
        except OSError:
            # Unknown at the moment. Assume hooks: then the result of a commit is checked again.
            return True

    def has_hook(self, name: str) -> bool:
        """Return whether the user has a hook with this name."""
        asked = self._run("rev-parse", "--git-path", f"hooks/{name}", asks=True)
        return (self.worktree / asked.text.rstrip("\n")).is_file() if asked.is_done else False

    # Pushing

    def remotes(self) -> list[str]:
        """List the names of all remotes."""
        return _list_names(self._settings)

    def push_remote(self, branch: str) -> Remote | None:
        """Return where git would push a branch; None if git does not say."""
        section = f"branch.{branch}"
        found = self._settings
        chosen = (
            found.get(f"{section}.pushremote")
            or found.get("remote.pushdefault")
            or found.get(f"{section}.remote")
        )
        names = _list_names(found)
        name = chosen if chosen in names else _pick_only(names)
        if name is None:
            return None
        url = found.get(f"remote.{name}.pushurl") or found.get(f"remote.{name}.url") or ""
        return Remote(name=name, url=url, has_upstream=f"{section}.merge" in found)

    def url_of(self, remote: str) -> str | None:
        """Return the URL of a remote."""
        return self._settings.get(f"remote.{remote}.url")

    def remote_head(self, remote: str, branch: str) -> str | None:
        """Return the last known commit of the remote's branch."""
        return self._answer("rev-parse", "--quiet", "--verify", f"refs/remotes/{remote}/{branch}")

    def default_branch(self, remote: str) -> str | None:
        """Return the default branch of a remote, if it is known locally."""
        found = self._answer("symbolic-ref", "--quiet", f"refs/remotes/{remote}/HEAD")
        return found.removeprefix(f"refs/remotes/{remote}/") if found else None

    def push(self, remote: Remote, branch: str) -> Pushed:
        """Push a branch under its own name, never with force."""
        follow = () if remote.has_upstream else ("--set-upstream",)
        ref = f"refs/heads/{branch}:refs/heads/{branch}"
        pushed = self._read_push_result(self._run("push", "--porcelain", *follow, remote.name, ref))
        # An interrupted run may have left a push running that was faster; only one of the two
        # succeeds.
        is_there = pushed.state in {"refused", "failed"} and self._has(remote, branch)
        return Pushed(state="unchanged") if is_there else pushed

    def _has(self, remote: Remote, branch: str) -> bool:
        """Return whether the remote's branch is at the same commit as the local one."""
        asked = self._answer("ls-remote", "--heads", remote.name, f"refs/heads/{branch}")
        here = self._answer("rev-parse", "--quiet", "--verify", f"refs/heads/{branch}")
        return asked is not None and asked.split()[0] == here

    def _read_push_result(self, ended: Ended) -> Pushed:
        output = [
            line for line in ended.trouble_lines if not line.startswith(("To ", "Done", "hint:"))
        ]
        flags = re.findall(r"^([ *+=!-])\t\S+\t(.*)$", ended.text, re.MULTILINE)
        if ended.is_done:
            is_same = any(flag == "=" for flag, _ in flags)
            return Pushed(state="unchanged" if is_same else "pushed", output=output)
        reasons = [reason for flag, reason in flags if flag == "!"]
        if any("fetch first" in reason or "non-fast-forward" in reason for reason in reasons):
            return Pushed(state="behind", output=output)
        if reasons:
            return Pushed(state="refused", output=[*reasons, *output])
        if any(_LOGIN.search(line) for line in output):
            return Pushed(state="login", output=output)
        # Git reports a rejecting hook only as "failed to push", before it contacts the remote.
        has_refused = any("failed to push some refs" in line for line in output)
        if has_refused and self.has_hook("pre-push"):
            # Git passes the hook's output on unchanged, beside its own messages.
            said = [line.rstrip() for line in ended.text.splitlines() if line.strip()]
            return Pushed(state="hook", output=[*said, *(x for x in output if x not in said)])
        return Pushed(state="failed", output=output)

    # Running

    @cached_property
    def _settings(self) -> dict[str, str]:
        wanted = r"^(branch|remote)\.|^core\.hookspath$"
        asked = self._run("config", "--null", "--get-regexp", wanted, asks=True)
        pairs = (decode_path(each).partition("\n") for each in asked.out.split(b"\0") if each)
        return {key: value for key, _, value in pairs}

    def _answer(self, *arguments: str) -> str | None:
        asked = self._run(*arguments, asks=True)
        return asked.text.strip() or None if asked.is_done else None

    def _run(
        self,
        *arguments: str,
        given: bytes = b"",
        asks: bool = False,
        more: Mapping[str, str] | None = None,
    ) -> Ended:
        """Run git; a query has a short time limit, other commands may take longer."""
        return run(
            Program(
                arguments=("git", "--no-pager", *arguments),
                folder=self.worktree,
                environment={**self._environment(), **(_ASKING if asks else {}), **(more or {})},
                given=given,
                may_ask=self._may_ask and not asks,
                seconds=_QUESTION_SECONDS if asks else None,
                needs_files=True,
            )
        )

    def _environment(self) -> dict[str, str]:
        kept = environment()
        silent = (
            {} if self._may_ask else {"SSH_ASKPASS": kept.get("SSH_ASKPASS", "false"), **_SILENT}
        )
        return {**kept, **_SET_VARIABLES, **silent}


_LOGIN = re.compile(
    r"Authentication failed|could not read (Username|Password)|Permission denied \(|"
    r"Host key verification failed|terminal prompts disabled"
)


def _list_names(settings: dict[str, str]) -> list[str]:
    urls = (key for key in settings if key.startswith("remote.") and key.endswith(".url"))
    return [key.removeprefix("remote.").removesuffix(".url") for key in urls]


def _pick_only(names: Sequence[str]) -> str | None:
    if "origin" in names:
        return "origin"
    return names[0] if len(names) == 1 else None


def _join_nul(files: Sequence[str]) -> bytes:
    return b"".join(file.encode("utf-8", "surrogateescape") + b"\0" for file in files)

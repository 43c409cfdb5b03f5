"""No query to git runs a program from the repository, whatever its settings name."""

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType

import pytest

from gitrepo import Repo
from leftoff.git import process as git_process
from leftoff.git import query
from leftoff.git.query import GitState, PathChange, UnreadableRepository, find_repository

ATTRIBUTES = "*.txt filter=evil diff=evil merge=evil\n"


class Hostile:
    """A repository in which everything that git could run leaves a mark."""

    def __init__(self, folder: Path) -> None:
        self.repo = Repo(folder / "hostile")
        self.mark = folder / "mark"
        self.trap = folder / "trap"
        # The mark goes to where no attribute counts; the answer keeps a filter's caller content.
        self.trap.write_text(f'#!/bin/sh\necho "$0 $*" >>"{self.mark}"\ncat\n', encoding="utf-8")
        self.trap.chmod(0o755)
        self.first = self.repo.commit("First", {"kept.txt": "kept\n", "in/deep.txt": "deep\n"})
        self.repo.commit("Second", {"kept.txt": "more\n"})
        self.repo.git("pack-refs", "--all", "--prune")

    @property
    def config(self) -> Path:
        return self.repo.folder / ".git" / "config"

    def spring(self) -> None:
        """Let attributes name the drivers, and make git hash every file."""
        self.repo.write(".gitattributes", ATTRIBUTES)
        for path in self.repo.folder.rglob("*.txt"):
            os.utime(path, (1, 1))
        self.mark.unlink(missing_ok=True)

    def ran(self, folder: Path | None = None) -> dict[str, str]:
        """Ask everything there is to ask; return what was run, by question."""
        found: dict[str, str] = {}
        for name, question in QUESTIONS.items():
            question(folder or self.repo.folder, self.first)
            if self.mark.exists():
                found[name] = self.mark.read_text(encoding="utf-8")
                self.mark.unlink()
        return found


QUESTIONS: dict[str, Callable[[Path, str], object]] = {
    "find_current_branch": lambda folder, _: query.find_current_branch(folder),
    "find_head_sha": lambda folder, _: query.find_head_sha(folder),
    "find_head_at": lambda folder, _: query.find_head_at(folder, time.time()),
    "inspect": lambda folder, _: query.inspect(folder),
    "read_state": lambda folder, _: query.read_state(folder),
    "list_newest_commits": lambda folder, _: query.list_newest_commits(folder, 5),
    "is_branch_gone": lambda folder, _: query.is_branch_gone(folder, "no..branch"),
    "read_commits_since": query.read_commits_since,
    "read_commits_since a branch": lambda folder, sha: query.read_commits_since(
        folder, sha, until="main"
    ),
    "list_changed_paths": lambda folder, sha: query.list_changed_paths(
        folder, sha, query.find_head_sha(folder) or sha
    ),
    "bare": lambda folder, _: query.inspect(folder / ".git"),
}

# Every setting that names a program, as the manual of git 2.39 has them.
PROGRAMS = """
    filter.evil.clean filter.evil.smudge filter.evil.process
    diff.external diff.evil.command diff.evil.textconv merge.evil.driver interactive.diffFilter
    core.fsmonitor core.sshCommand core.pager pager.log pager.status pager.diff core.editor
    core.askPass core.gitProxy core.alternateRefsCommand sequence.editor
    gpg.program gpg.openpgp.program gpg.ssh.program gpg.x509.program gpg.ssh.defaultKeyCommand
    credential.helper uploadpack.packObjectsHook trailer.evil.cmd trailer.evil.command
    alias.status alias.log alias.rev-list alias.diff-tree alias.symbolic-ref alias.config
    remote.origin.uploadpack remote.origin.receivepack remote.origin.vcs
    mergetool.evil.cmd difftool.evil.cmd sendemail.smtpServer man.evil.cmd browser.evil.cmd
    tar.evil.command submodule.evil.update init.templateDir
""".split()
SETTINGS_THAT_HELP = {
    "log.showSignature": "true",
    "status.submoduleSummary": "true",
    "diff.ignoreSubmodules": "none",
    "core.untrackedCache": "true",
    "filter.evil.required": "true",
    "extensions.partialClone": "origin",
    "remote.origin.promisor": "true",
    "remote.origin.url": "ext::false",
    "protocol.allow": "always",
    "submodule.recurse": "true",
    "core.repositoryFormatVersion": "1",
}


@pytest.fixture
def hostile(tmp_path: Path) -> Hostile:
    return Hostile(tmp_path)


def test_every_question_is_tried() -> None:
    functions = {name for name in query.__all__ if isinstance(getattr(query, name), FunctionType)}
    without_git = {"find_repository", "printable"}

    assert functions - without_git == {name.split()[0] for name in QUESTIONS} - {"bare"}


@pytest.mark.parametrize("key", PROGRAMS)
def test_a_program_named_by_the_repository_is_never_run(hostile: Hostile, key: str) -> None:
    for name, value in SETTINGS_THAT_HELP.items():
        hostile.repo.git("config", name, value)
    hostile.repo.git("config", key, os.fspath(hostile.trap))
    hostile.spring()

    assert hostile.ran() == {}


def test_a_hook_of_the_repository_is_never_run(hostile: Hostile) -> None:
    elsewhere = hostile.repo.folder / "hooks"
    for folder in (hostile.repo.folder / ".git" / "hooks", elsewhere):
        folder.mkdir(exist_ok=True)
        for hook in ("post-index-change", "fsmonitor-watchman", "reference-transaction"):
            shutil.copy(hostile.trap, folder / hook)
    hostile.repo.git("config", "core.hooksPath", os.fspath(elsewhere))
    hostile.spring()

    assert hostile.ran() == {}


def test_the_trap_springs_for_a_plain_git(hostile: Hostile) -> None:
    hostile.repo.git("config", "filter.evil.clean", os.fspath(hostile.trap))
    hostile.spring()

    hostile.repo.git("status")

    assert hostile.mark.exists()


def test_objects_that_are_missing_are_not_fetched(hostile: Hostile) -> None:
    for name, value in SETTINGS_THAT_HELP.items():
        hostile.repo.git("config", name, value)
    hostile.repo.git("config", "remote.origin.url", f"ext::{hostile.trap}")
    hostile.spring()
    shutil.rmtree(hostile.repo.folder / ".git" / "objects")
    (hostile.repo.folder / ".git" / "objects").mkdir()

    assert hostile.ran() == {}


# --- the ways by which a filter gets in ---


def _section(hostile: Hostile, head: str = '[filter "evil"]\n') -> str:
    return f"\n{head}\tclean = {hostile.trap}\n"


def _written(head: str) -> Callable[[Hostile], None]:
    def write(hostile: Hostile) -> None:
        with hostile.config.open("a", encoding="utf-8") as file:
            file.write(_section(hostile, head))

    return write


def _included(head: str) -> Callable[[Hostile], None]:
    def write(hostile: Hostile) -> None:
        (hostile.repo.folder / ".git" / "more").write_text(_section(hostile), encoding="utf-8")
        with hostile.config.open("a", encoding="utf-8") as file:
            file.write(f"\n{head}\n\tpath = more\n")

    return write


def _included_twice(hostile: Hostile) -> None:
    _included("[include]")(hostile)
    more = hostile.repo.folder / ".git" / "more"
    more.rename(more.with_name("most"))
    more.write_text("[include]\npath = most\n", encoding="utf-8")


def _of_the_worktree(hostile: Hostile) -> None:
    hostile.repo.git("config", "extensions.worktreeConfig", "true")
    hostile.repo.git("config", "--worktree", "filter.evil.clean", os.fspath(hostile.trap))


def _by_name(name: str) -> Callable[[Hostile], None]:
    def write(hostile: Hostile) -> None:
        hostile.repo.git("config", f"filter.{name}.clean", os.fspath(hostile.trap))
        info = hostile.repo.folder / ".git" / "info" / "attributes"
        info.write_bytes(b"*.txt filter=" + os.fsencode(name) + b"\n")

    return write


def _racy(hostile: Hostile) -> None:
    """Make every entry of the index as young as the index, so that git must compare content."""
    _written('[filter "evil"]\n')(hostile)
    hostile.repo.write(".gitattributes", ATTRIBUTES)
    index = hostile.repo.folder / ".git" / "index"
    moment = (kept := hostile.repo.folder / "kept.txt").stat().st_mtime_ns
    kept.write_text("evil\n", encoding="utf-8")
    for path in (kept, index):
        os.utime(path, ns=(moment, moment))


WAYS: dict[str, Callable[[Hostile], None]] = {
    "plain": _written('[filter "evil"]\n'),
    "upper case": _written('[FILTER "evil"]\n'),
    "dotted": _written("[filter.evil]\n"),
    "on one line": _written('[core] bare = false\n[filter "evil"]'),
    "after a comment": _written('; [core]\n# "\n[filter "evil"] # so\n'),
    "after spaces": _written(' \t [filter\t "evil"]\n'),
    "included": _included("[include]"),
    "included if": _included('[includeIf "gitdir:**"]'),
    "included on a branch": _included('[INCLUDEIF "onbranch:main"]'),
    "included twice": _included_twice,
    "settings of a worktree": _of_the_worktree,
    "equals sign in its name": _by_name("e=vil"),
    "dots and odd letters in its name": _by_name("ev.il.clean\udcff"),
    "racy": _racy,
}


@pytest.mark.parametrize("way", WAYS)
def test_a_filter_is_not_run_however_it_got_in(hostile: Hostile, way: str) -> None:
    WAYS[way](hostile)
    if way != "racy":
        hostile.spring()

    assert hostile.ran() == {}
    assert hostile.ran(hostile.repo.folder / "in") == {}


def test_a_filter_is_not_run_in_a_linked_worktree(hostile: Hostile, tmp_path: Path) -> None:
    linked = hostile.repo.worktree(tmp_path / "linked", "side")
    hostile.repo.git("config", "filter.evil.clean", os.fspath(hostile.trap))
    linked.write(".gitattributes", ATTRIBUTES)
    os.utime(linked.folder / "kept.txt", (1, 1))
    hostile.mark.unlink(missing_ok=True)

    assert hostile.ran(linked.folder) == {}


@pytest.mark.parametrize("how", ["submodule add", "clone"])
def test_a_filter_of_a_submodule_is_not_run(hostile: Hostile, tmp_path: Path, how: str) -> None:
    inner = _submodule(hostile.repo, tmp_path / "part", how)
    inner.git("config", "filter.evil.clean", os.fspath(hostile.trap))
    inner.git("config", "core.fsmonitor", os.fspath(hostile.trap))
    inner.write(".gitattributes", ATTRIBUTES)
    os.utime(inner.folder / "part.txt", (1, 1))
    hostile.mark.unlink(missing_ok=True)

    assert hostile.ran() == {}


def _submodule(outer: Repo, source: Path, how: str = "submodule add") -> Repo:
    part = Repo(source)
    part.commit("A part", {"part.txt": "part\n"})
    outer.git(*how.split(), os.fspath(part.folder), "sub")
    outer.commit("Take the part in")
    return Repo(outer.folder / "sub", init=False)


# --- git must not look at another repository than the one that was examined ---


def _looks_valid_to_git_only(hostile: Hostile, inner: Path) -> None:
    """git is content when it may execute `objects`; that it is a folder it does not ask."""
    shutil.copytree(hostile.repo.folder / ".git", inner / ".git")
    shutil.rmtree(inner / ".git" / "objects")
    shutil.copy(hostile.trap, inner / ".git" / "objects")


def _lies_beside_its_files(hostile: Hostile, inner: Path) -> None:
    """`.git` is a repository for a careless reader only; the folder itself is one for git."""
    shutil.copytree(hostile.repo.folder / ".git", inner, dirs_exist_ok=True)
    with (inner / "config").open("a", encoding="utf-8") as file:
        file.write("[core]\nbare = false\nworktree = .\n")
    (inner / ".git" / "objects").mkdir(parents=True)
    (inner / ".git" / "HEAD").write_text("nothing\n", encoding="utf-8")


def _has_two_lines(hostile: Hostile, inner: Path) -> None:
    git_dir = inner / ".git"
    Repo(inner).commit("Harmless", {"kept.txt": "kept\n"})
    shutil.copytree(git_dir, git_dir / "a")
    shutil.copytree(hostile.repo.folder / ".git", git_dir / "a\nb")
    (git_dir / "commondir").write_text("a\nb\n", encoding="utf-8")


def _ends_in_a_space(hostile: Hostile, inner: Path) -> None:
    Repo(inner).commit("Harmless", {"kept.txt": "kept\n"})
    (inner / ".git").rename(inner / "place")
    shutil.copytree(hostile.repo.folder / ".git", inner / "place ")
    (inner / ".git").write_text("gitdir: place \n", encoding="utf-8")


@pytest.mark.parametrize(
    "plant",
    [_looks_valid_to_git_only, _lies_beside_its_files, _has_two_lines, _ends_in_a_space],
)
def test_git_looks_at_the_repository_that_was_examined(
    hostile: Hostile, tmp_path: Path, plant: Callable[[Hostile, Path], None]
) -> None:
    hostile.repo.git("config", "filter.evil.clean", os.fspath(hostile.trap))
    hostile.spring()
    outer = Repo(tmp_path / "outer")
    outer.commit("Harmless", {"kept.txt": "kept\n"})
    inner = outer.folder / "inner"
    inner.mkdir()
    plant(hostile, inner)
    for path in ("kept.txt", "in/deep.txt"):
        Repo(inner, init=False).write(path, hostile.repo.folder.joinpath(path).read_text("utf-8"))
    Repo(inner, init=False).write(".gitattributes", ATTRIBUTES)
    hostile.mark.unlink(missing_ok=True)

    assert hostile.ran(inner) == {}


@pytest.mark.parametrize("name", ["plain", "with:colon"])
def test_git_does_not_look_further_up_than_the_repository_that_was_found(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / name).mkdir()
    hostile = Hostile(tmp_path / name)
    hostile.repo.git("config", "filter.evil.clean", os.fspath(hostile.trap))
    inner = hostile.repo.folder / "in" / ".git"
    (inner / "objects").mkdir(parents=True)
    (inner / "HEAD").write_text("git does not take this for a repository\n", encoding="utf-8")
    hostile.spring()

    assert hostile.ran(inner.parent) == {}


def test_a_repository_with_a_colon_in_its_path_is_seen(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "a:b")
    repo.commit("First", {"app.py": "x\n"})
    repo.write("app.py", "y\n")

    assert _state(repo).dirty == ["app.py"]


def test_a_setting_does_not_lead_to_a_folder_elsewhere(hostile: Hostile, tmp_path: Path) -> None:
    home = tmp_path / "elsewhere"
    home.mkdir()
    (home / "letter.txt").touch()
    hostile.repo.git("config", "core.worktree", os.fspath(home))

    state = query.inspect(hostile.repo.folder)

    assert isinstance(state, GitState)
    assert state.dirty == []


@pytest.mark.parametrize("shape", ["fifo", "folder", "huge"])
def test_settings_that_cannot_be_examined_leave_no_state(hostile: Hostile, shape: str) -> None:
    hostile.config.unlink()
    if shape == "fifo":
        os.mkfifo(hostile.config)
    elif shape == "folder":
        hostile.config.mkdir()
    else:
        hostile.config.write_text("#\n" * 600_000 + _section(hostile), encoding="utf-8")
    hostile.spring()

    assert isinstance(query.inspect(hostile.repo.folder), UnreadableRepository)
    assert hostile.ran() == {}


# --- what still holds ---


def test_a_filter_of_the_user_runs_and_makes_the_answer_right(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _user_has_a_filter(tmp_path, monkeypatch)
    repo.commit("Let it be filtered", {".gitattributes": "*.txt filter=caps\n"})
    repo.git("-c", "filter.caps.clean=tr a-z A-Z", "add", repo.write("a.txt", "abc\n").name)
    repo.git("-c", "filter.caps.clean=tr a-z A-Z", "commit", "--quiet", "--message=Filtered")
    os.utime(repo.folder / "a.txt", (1, 1))

    assert _state(repo).dirty == []


def test_where_both_define_a_filter_the_users_own_runs(
    hostile: Hostile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _user_has_a_filter(tmp_path, monkeypatch)
    repo = hostile.repo
    repo.commit("Let it be filtered", {".gitattributes": "*.txt filter=caps\n"})
    repo.git("config", "filter.caps.clean", "tr a-z A-Z")
    repo.commit("Filtered", {"a.txt": "abc\n"})
    repo.git("config", "filter.caps.clean", os.fspath(hostile.trap))
    for path in repo.folder.glob("a.txt"):
        os.utime(path, (1, 1))

    assert _state(repo).dirty == []
    assert not hostile.mark.exists()


def test_a_filter_of_the_repository_leaves_unchanged_files_unchanged(repo: Repo) -> None:
    repo.git("config", "filter.caps.clean", "tr a-z A-Z")
    repo.commit("Filtered", {".gitattributes": "*.txt filter=caps\n", "a.txt": "abc\n"})
    # Older than the index, so that git takes the file's times for an answer.
    os.utime(repo.folder / "a.txt", (1, 1))
    repo.git("status")
    repo.write("app.py", "print('changed')\n")

    assert _state(repo).dirty == ["app.py"]


def test_extensions_of_git_lfs_are_not_run_by_the_users_own_git_lfs(
    hostile: Hostile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "gitconfig"
    settings.write_text(f'[filter "lfs"]\nclean = {hostile.trap}\nrequired\n', encoding="utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.fspath(settings))
    hostile.spring()
    hostile.repo.write(".gitattributes", "*.txt filter=lfs\n")
    assert list(hostile.ran()) == ["inspect", "read_state"]

    with hostile.config.open("a", encoding="utf-8") as file:
        file.write('[lfs "e\\xtension.evil"]\nclean = evil\n')

    assert hostile.ran() == {}


def _user_has_a_filter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = tmp_path / "gitconfig"
    settings.write_text('[filter "caps"]\nclean = tr a-z A-Z\nrequired\n', encoding="utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.fspath(settings))


def _state(repo: Repo) -> GitState:
    state = query.inspect(repo.folder)
    assert isinstance(state, GitState), state
    assert state.trouble is None
    return state


@pytest.mark.parametrize(("key", "asked"), [("user.name", 2), ("filter.evil.clean", 4)])
def test_only_settings_that_may_name_a_filter_cost_another_git(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, asked: int
) -> None:
    repo.git("config", key, "Ada")
    real, calls = shutil.which("git"), tmp_path / "calls"
    counting = tmp_path / "bin" / "git"
    counting.parent.mkdir()
    counting.write_text(f'#!/bin/sh\necho >>"{calls}"\nexec {real} "$@"\n', encoding="utf-8")
    counting.chmod(0o755)
    monkeypatch.setenv("PATH", os.fspath(counting.parent), prepend=os.pathsep)

    _state(repo)

    assert calls.read_text(encoding="utf-8").count("\n") == asked


# --- submodules, into which we look ourselves ---


def test_a_change_in_a_submodule_of_a_submodule_is_seen(repo: Repo, tmp_path: Path) -> None:
    inner = _submodule(repo, tmp_path / "part")
    innermost = _submodule(inner, tmp_path / "particle")
    repo.commit("Take both in")
    assert _state(repo).changes == []

    innermost.write("part.txt", "new\n")

    assert _state(repo).changes == [PathChange(path="sub", code=".M", is_inside=True)]


@pytest.mark.parametrize(("ignore", "seen"), [("all", []), ("dirty", []), ("none", ["sub"])])
def test_a_submodule_that_the_project_ignores_is_left_alone(
    repo: Repo, tmp_path: Path, ignore: str, seen: list[str]
) -> None:
    inner = _submodule(repo, tmp_path / "part")
    repo.git("config", "--file", ".gitmodules", "submodule.sub.ignore", ignore)
    repo.commit("Say so")

    inner.write("new.txt")

    assert _state(repo).dirty == seen


@pytest.mark.parametrize("path", [".", "", "..", "../repo", "link", "/", "no\\\\such", "sub/../."])
def test_a_submodule_that_is_not_a_folder_below_is_passed_by(repo: Repo, path: str) -> None:
    (repo.folder / "link").symlink_to(".")
    repo.commit("Odd", {".gitmodules": f'[submodule "x"]\n\tpath = "{path}"\n'})
    repo.write("app.py", "print('changed')\n")

    assert _state(repo).dirty == ["app.py"]


FIFOS = [
    ".git/index", ".git/packed-refs", ".git/refs/heads/main", ".git/info/exclude", ".git/shallow",
    ".git/info/attributes", ".git/objects/info/commit-graph", ".git/objects/info/alternates",
]  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what a process waits for")
@pytest.mark.parametrize("name", FIFOS)
def test_git_that_waits_for_a_fifo_is_ended_long_before_its_time(
    hostile: Hostile, name: str
) -> None:
    hostile.spring()
    place = hostile.repo.folder / name
    place.unlink(missing_ok=True)
    os.mkfifo(place)

    troubles = [*_troubles(hostile.repo.folder)]

    assert troubles[-1] == "git is waiting for a FIFO in this repository."


def _troubles(folder: Path) -> Iterator[str | None]:
    """Ask git until it says why it cannot answer; nobody waits twice for the same repository."""
    repository = find_repository(folder)
    assert repository is not None
    for words in (["status"], ["log", "-1", "--name-only"]):
        deadline = time.monotonic() + 120
        try:
            with git_process.ask(folder, repository, *words, deadline=deadline) as asked:
                list(asked.chunks())
                yield asked.trouble()
        except OSError as error:
            yield error.strerror

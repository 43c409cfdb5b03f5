import errno
import os
import re
from pathlib import Path

import pytest

from gitrepo import Repo
from leftoff.git import repository
from leftoff.git.repository import (
    find_repository,
    find_repository_at,
    find_repository_name,
    read_head,
)


def read_slug(repo: Repo) -> str | None:
    found = find_repository(repo.folder)
    assert found is not None
    return find_repository_name(found)


@pytest.mark.accept(157)
@pytest.mark.parametrize(
    "url",
    [
        "git@github.com:ada/shop.git",
        "ssh://git@github.com/ada/shop",
        "https://github.com/ada/shop.git",
        "https://ada:word@github.com/ada/shop",
    ],
)
def test_the_settings_of_a_repository_show_owner_and_name(repo: Repo, url: str) -> None:
    repo.git("remote", "add", "origin", url)
    repo.git("remote", "add", "other", "https://github.com/bob/shop")
    repo.git("config", "branch.main.remote", "origin")

    assert read_slug(repo) == "ada/shop"


def test_another_remote_counts_where_it_is_the_only_one(repo: Repo) -> None:
    assert read_slug(repo) is None
    repo.git("remote", "add", "mine", "git@github.com:ada/shop.git")
    assert read_slug(repo) == "ada/shop"
    repo.git("remote", "add", "theirs", "git@github.com:bob/shop.git")
    assert read_slug(repo) is None


def test_a_folder_as_remote_has_no_owner(repo: Repo) -> None:
    repo.git("remote", "add", "origin", "../shop.git")

    assert read_slug(repo) is None


def test_an_address_of_odd_bytes_can_still_be_reported(repo: Repo) -> None:
    with (repo.folder / ".git" / "config").open("ab") as file:
        file.write(b'[remote "origin"]\n\turl = https://github.com/ad\xffa/shop.git\n')

    assert (read_slug(repo) or "").encode() == "ad\ufffda/shop".encode()


# What counts as a repository: the same as for git


def _made(folder: Path, head: bytes | str | None, folders: tuple[str, ...]) -> Path:
    folder.mkdir()
    for name in folders:
        (folder / name).mkdir()
    if isinstance(head, str):
        (folder / "HEAD").symlink_to(head)
    elif head is not None:
        (folder / "HEAD").write_bytes(head)
    return folder


@pytest.mark.parametrize(
    ("head", "folders", "is_one"),
    [
        (b"ref: refs/heads/main\n", ("objects", "refs"), True),
        (b"ref:   refs/heads/main", ("objects", "refs"), True),
        (b"a" * 40 + b"\n", ("objects", "refs"), True),
        (b"a" * 64 + b"\n", ("objects", "refs"), True),
        ("refs/heads/main", ("objects", "refs"), True),
        (b"ref: refs/heads/main\n", ("objects",), False),
        (b"ref: refs/heads/main\n", ("refs",), False),
        (b"ref: heads/main\n", ("objects", "refs"), False),
        (b"a" * 39 + b"\n", ("objects", "refs"), False),
        (b"", ("objects", "refs"), False),
        (b"anything\n", ("objects", "refs"), False),
        ("../elsewhere", ("objects", "refs"), False),
        (None, ("objects", "refs"), False),
    ],
)
def test_what_counts_as_a_repository_is_what_git_takes_for_one(
    tmp_path: Path, head: bytes | str | None, folders: tuple[str, ...], *, is_one: bool
) -> None:
    place = _made(tmp_path / "x.git", head, folders)
    asked = Repo(tmp_path, init=False).git("--git-dir=x.git", "rev-parse", "--git-dir", check=False)

    assert (find_repository_at(place) is not None) == is_one
    assert (asked != "") == is_one


@pytest.mark.parametrize(
    ("line", "is_one"),
    [
        ("gitdir: ./.bare\n", True),
        ("gitdir: .bare", True),
        ("gitdir: .bare\r\n", True),
        ("gitdir:.bare\n", False),
        ("GITDIR: .bare\n", False),
        ("gitdir: .bare/objects\n", False),
        ("gitdir: \n", False),
        ("\n", False),
    ],
)
def test_a_git_file_is_read_as_git_reads_it(tmp_path: Path, line: str, *, is_one: bool) -> None:
    _made(tmp_path / ".bare", b"ref: refs/heads/main\n", ("objects", "refs"))
    (tmp_path / ".git").write_bytes(line.encode())
    asked = Repo(tmp_path, init=False).git("rev-parse", "--git-dir", check=False)

    assert (find_repository_at(tmp_path) is not None) == is_one
    assert (asked != "") == is_one


def test_worktrees_inside_and_beside_a_bare_repository_share_its_store(tmp_path: Path) -> None:
    origin = Repo(tmp_path / "origin")
    origin.commit("First")
    bare = Repo(tmp_path / "app" / ".bare", bare=True)
    bare.git("fetch", "--quiet", str(origin.folder), "main:main")
    (tmp_path / "app" / ".git").write_text("gitdir: ./.bare\n", encoding="utf-8")
    inside = bare.worktree(tmp_path / "app" / "topic", "topic")
    nested = bare.worktree(bare.folder / "nested", "nested")

    for folder in (inside.folder, nested.folder):
        found = find_repository(folder)
        assert found is not None
        assert (found.worktree, found.common_dir) == (folder, bare.folder)


@pytest.mark.parametrize("kind", ["fifo", "loop", "folder"])
def test_an_odd_head_neither_hangs_nor_counts(tmp_path: Path, kind: str) -> None:
    place = _made(tmp_path / "x.git", None, ("objects", "refs"))
    head = place / "HEAD"
    if kind == "fifo":
        os.mkfifo(head)
    elif kind == "loop":
        head.symlink_to("HEAD")
    else:
        head.mkdir()

    assert find_repository_at(place) is None


@pytest.mark.parametrize("error", [errno.EIO, errno.EACCES, errno.EMFILE])
def test_a_repository_that_cannot_be_read_now_is_not_taken_for_none(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    def refuse(path: Path, *_: object) -> None:
        raise OSError(error, os.strerror(error), str(path))

    monkeypatch.setattr(Path, "open", refuse)

    with pytest.raises(OSError, match="HEAD"):
        find_repository(repo.folder)


def head_of(folder: Path) -> str | None:
    found = find_repository(folder)
    assert found is not None
    return read_head(found)


@pytest.mark.parametrize("branch", ["main", "feat/one.two", os.fsdecode(b"bad-\xff"), "ünï"])
@pytest.mark.parametrize("packed", [False, True])
def test_files_show_the_head_of_any_branch(repo: Repo, branch: str, *, packed: bool) -> None:
    repo.git("checkout", "--quiet", "-B", branch)
    # A name that another one begins with must not be taken for it.
    repo.git("branch", "feat/one-two.more")
    if packed:
        repo.git("pack-refs", "--all", "--prune")

    assert head_of(repo.folder) == repo.head()


def test_files_show_the_head_of_a_linked_worktree_whose_branch_is_packed(
    repo: Repo, tmp_path: Path
) -> None:
    repo.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    repo.git("pack-refs", "--all", "--prune")

    assert head_of(tmp_path / "side") == repo.head()


@pytest.mark.parametrize("packed", [False, True])
def test_files_show_that_a_branch_has_no_commit_yet(repo: Repo, *, packed: bool) -> None:
    if packed:
        repo.git("pack-refs", "--all", "--prune")
    repo.git("checkout", "--quiet", "--orphan", "new")

    assert head_of(repo.folder) == ""


@pytest.mark.parametrize(
    ("head", "ref"),
    [("refs/heads/alias", "ref: refs/heads/main\n"), ("refs/bisect/bad", None)],
)
def test_what_only_git_can_resolve_is_left_to_git(repo: Repo, head: str, ref: str | None) -> None:
    folder = repo.folder / ".git"
    if ref is not None:
        (folder / head).write_text(ref, encoding="utf-8")
    (folder / "HEAD").write_text(f"ref: {head}\n", encoding="utf-8")

    assert head_of(repo.folder) is None


def test_a_fifo_instead_of_packed_refs_is_left_to_git(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "--orphan", "new")
    os.mkfifo(repo.folder / ".git" / "packed-refs")

    assert head_of(repo.folder) is None


def test_where_head_was_is_known_from_gits_own_log(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    first = repo.commit("First", {"a": "1"})
    repo.git("checkout", "-q", "-b", "topic")
    second = repo.commit("Second", {"a": "2"})
    repo.git("checkout", "-q", "main")
    log = (repo.folder / ".git/logs/HEAD").read_text(encoding="utf-8").splitlines()
    assert len(log) == 4
    moments = [int(line.partition("> ")[2].split()[0]) for line in log]
    # The dates of commits are fixed, those of checkouts are not.
    moments[1], moments[3] = moments[0] + 30, moments[2] + 30
    lines = [
        re.sub(r"> \d+", f"> {moment}", line) for line, moment in zip(log, moments, strict=True)
    ]
    (repo.folder / ".git/logs/HEAD").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def then(moment: float) -> tuple[str, str | None] | None:
        found = repository.find_head_at(repo.folder, moment)
        return (found.sha, found.branch) if found else None

    assert then(moments[0] - 1) is None
    assert then(moments[0]) == (first, "main")
    assert then(moments[1]) == (first, "topic")
    assert then(moments[2] + 1) == (second, "topic")
    assert then(moments[3] + 1) == (first, "main")


@pytest.mark.parametrize("log", [b"", b"\xff\n", b"0 0 x\n", None])
def test_a_log_that_says_nothing_is_not_an_answer(tmp_path: Path, log: bytes | None) -> None:
    repo = Repo(tmp_path / "repo")
    repo.commit("First", {"a": "1"})
    path = repo.folder / ".git/logs/HEAD"
    path.unlink()
    if log is not None:
        path.write_bytes(log)

    assert repository.find_head_at(repo.folder, 2e9) is None

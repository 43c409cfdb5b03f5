import hashlib
import os
import shutil
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitrepo import ISOLATED_ENVIRONMENT, Repo
from leftoff.git import query
from leftoff.git.query import GitState, PathChange, UnreadableRepository, parse_log, parse_status


@pytest.fixture(autouse=True)
def _isolated(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ISOLATED_ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "repo")
    repo.commit("First words", {"kept.txt": "kept\n", "old.txt": "a b c d e f\n" * 9})
    return repo


def state_of(folder: Path) -> GitState:
    state = query.inspect(folder)
    assert isinstance(state, GitState), state
    return state


def list_changed(state: GitState, side: int) -> list[str]:
    """List the tracked paths that differ: in the index (side 0), or in the worktree (side 1)."""
    return [change.path for change in state.changes if change.code[side] not in ".?"]


def list_new(state: GitState) -> list[str]:
    return [change.path for change in state.changes if change.code == "??"]


def fingerprint(folder: Path) -> dict[str, tuple[int, str]]:
    return {
        os.fspath(path.relative_to(folder)): (
            path.stat().st_mtime_ns,
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
        )
        for path in folder.rglob("*")
    }


# --- the state of a worktree ---


def test_a_clean_worktree_has_branch_head_and_last_commit(repo: Repo) -> None:
    state = state_of(repo.folder)

    assert (state.branch, state.head) == ("main", repo.head())
    assert state.last_commit is not None
    assert (state.last_commit.sha, state.last_commit.subject) == (repo.head(), "First words")
    assert state.worktree == repo.folder
    assert (state.dirty, state.operation, state.is_truncated, state.trouble) == (
        [],
        None,
        False,
        None,
    )


def test_staged_unstaged_and_untracked_paths_are_kept_apart(repo: Repo) -> None:
    repo.write("kept.txt", "changed\n")
    repo.write("new/deep/file.txt")
    repo.write("added.txt")
    repo.git("add", "added.txt")
    repo.git("mv", "old.txt", "moved.txt")

    state = state_of(repo.folder)

    assert state.changes == [
        PathChange(path="added.txt", code="A."),
        PathChange(path="kept.txt", code=".M"),
        PathChange(path="moved.txt", code="R.", from_path="old.txt"),
        PathChange(path="new/deep/file.txt", code="??"),
    ]
    assert state.dirty == ["added.txt", "kept.txt", "moved.txt", "new/deep/file.txt"]
    assert list_changed(state, 0) == ["added.txt", "moved.txt"]
    assert list_changed(state, 1) == ["kept.txt"]
    assert list_new(state) == ["new/deep/file.txt"]


def test_a_subfolder_shows_the_whole_worktree_with_paths_from_its_root(repo: Repo) -> None:
    repo.git("config", "status.relativePaths", "true")
    repo.write("kept.txt", "changed\n")
    repo.write("sub/new.txt")

    assert state_of(repo.folder / "sub").dirty == ["kept.txt", "sub/new.txt"]


def test_a_symlink_into_the_worktree_leads_to_it(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(repo.folder)

    assert state_of(tmp_path / "link").worktree == repo.folder


def test_settings_of_the_user_do_not_change_what_is_seen(repo: Repo) -> None:
    for name, value in {
        "status.showUntrackedFiles": "no",
        "status.short": "true",
        "status.showStash": "true",
        "status.renames": "false",
        "color.ui": "always",
        "core.quotePath": "true",
        "log.date": "relative",
        "log.decorate": "full",
        "log.showSignature": "true",
        "format.pretty": "fuller",
    }.items():
        repo.git("config", name, value)
    repo.git("mv", "old.txt", "moved.txt")
    repo.write("é.txt")

    state = state_of(repo.folder)

    assert state.dirty == ["moved.txt", "é.txt"]
    assert state.last_commit is not None
    assert state.last_commit.subject == "First words"


def test_no_commit_yet_means_no_head(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    repo.write("new.txt")

    state = state_of(tmp_path)

    assert (state.branch, state.head, state.last_commit) == ("main", None, None)
    assert (state.dirty, state.trouble) == (["new.txt"], None)
    assert (query.find_current_branch(tmp_path), query.find_head_sha(tmp_path)) == ("main", None)


def test_a_detached_head_has_no_branch(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "--detach")

    state = state_of(repo.folder)

    assert (state.branch, state.head) == (None, repo.head())
    assert (query.find_current_branch(repo.folder), query.find_head_sha(repo.folder)) == (
        None,
        repo.head(),
    )


@pytest.mark.parametrize("operation", ["rebase", "merge", "cherry-pick", "revert"])
def test_an_operation_stopped_by_a_conflict_is_named(repo: Repo, operation: str) -> None:
    repo.git("checkout", "--quiet", "-b", "side")
    repo.commit("Side", {"kept.txt": "side\n"})
    repo.git("checkout", "--quiet", "main")
    repo.commit("Main", {"kept.txt": "main\n"})
    repo.commit("More", {"kept.txt": "more\n"})
    repo.git(operation, "main~1" if operation == "revert" else "side", check=False)

    state = state_of(repo.folder)

    assert state.operation == operation
    assert state.changes == [PathChange(path="kept.txt", code="UU")]


def test_a_rebase_stopped_to_edit_is_named_though_nothing_is_dirty(repo: Repo) -> None:
    repo.commit("Second")
    repo.git("-c", "sequence.editor=sed -i s/^pick/edit/", "rebase", "-i", "--root", check=False)

    assert state_of(repo.folder).operation == "rebase"


def test_a_bisection_is_named(repo: Repo) -> None:
    repo.git("bisect", "start")

    assert state_of(repo.folder).operation == "bisect"


def test_a_series_of_picks_between_two_picks_is_named(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "-b", "side")
    repo.commit("Side one", {"kept.txt": "one\n"})
    repo.commit("Side two", {"kept.txt": "two\n"})
    repo.git("checkout", "--quiet", "main")
    repo.commit("Main", {"kept.txt": "main\n"})
    repo.git("cherry-pick", "main..side", check=False)
    repo.commit("Settled by hand", {"kept.txt": "settled\n"})

    assert state_of(repo.folder).operation == "cherry-pick"


def test_a_mail_that_does_not_apply_is_named(repo: Repo, tmp_path: Path) -> None:
    repo.commit("Second", {"kept.txt": "second\n"})
    patch = repo.git("format-patch", "-1", "--stdout")
    (tmp_path / "mail").write_text(patch + "\n", encoding="utf-8")
    repo.git("am", os.fspath(tmp_path / "mail"), check=False)

    assert state_of(repo.folder).operation == "am"


# --- hostile names ---

HOSTILE = [
    b"line\nbreak.txt",
    b"quote\"and'tick.txt",
    b"-rf",
    b" leading and trailing ",
    b"tab\tand\\backslash",
    "emoji \N{ROCKET}.txt".encode(),
    b"invalid \xff\xfe utf-8",
    b"# branch.oid fake",
    b"1 .M N... 100644 fake",
    b"? fake",
    b"a -> b",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_any_name_a_file_can_have_comes_back_whole(repo: Repo, name: bytes) -> None:
    folder = os.fsencode(repo.folder)
    place = os.path.join(folder, name)  # noqa: PTH118 - pathlib has no bytes
    Path(os.fsdecode(place)).write_bytes(b"one two three four five\n" * 5)
    assert [os.fsencode(path) for path in list_new(state_of(repo.folder))] == [name]

    repo.commit("Add it")
    os.rename(place, os.path.join(folder, b"renamed"))  # noqa: PTH104, PTH118 - same
    repo.git("add", "--all")

    (change,) = state_of(repo.folder).changes
    assert change.code == "R."
    assert os.fsencode(change.from_path or "") == name


def test_a_printable_path_can_be_written_as_json(repo: Repo) -> None:
    Path(os.fsdecode(os.fsencode(repo.folder) + b"/bad \xff \xc3\xa9")).touch()
    (path,) = state_of(repo.folder).dirty

    assert query.printable(path) == "bad \\xff é"
    assert msgspec.json.decode(msgspec.json.encode(query.printable(path))) == query.printable(path)


@given(st.text(st.characters(exclude_categories=())))
def test_printable_text_is_always_valid(name: str) -> None:
    query.printable(name).encode("utf-8")


@given(st.lists(st.binary(max_size=60)), st.integers(0, 5))
def test_any_answer_is_read_without_a_crash_and_within_the_limit(
    records: list[bytes], limit: int
) -> None:
    _, changes = parse_status(iter(records), limit)

    assert len(changes) <= limit + 1
    parse_log(records)


def raw_commit(repo: Repo, rest: bytes) -> None:
    """Make a commit on top of HEAD with any bytes after its author."""
    who = b" Ada <ada@example.org> 1 +0000\n"
    tree, head = repo.git("rev-parse", "HEAD^{tree}").encode(), repo.head().encode()
    place = repo.folder.parent / "commit"
    place.write_bytes(b"tree %s\nparent %s\nauthor%scommitter%s%s" % (tree, head, who, who, rest))
    sha = repo.git("hash-object", "-t", "commit", "-w", os.fspath(place))
    repo.git("reset", "--quiet", "--hard", sha)


def test_a_subject_is_text_whatever_its_bytes_and_bounded(repo: Repo) -> None:
    raw_commit(repo, b"\nbad \xff byte %s\n\nbody\n" % (b"x" * 5000))

    commit = state_of(repo.folder).last_commit

    assert commit is not None
    assert commit.subject.startswith("bad � byte xxx")
    assert len(commit.subject) == 500


# --- shapes of repositories ---


def test_a_linked_worktree_has_its_own_branch_and_changes(repo: Repo, tmp_path: Path) -> None:
    linked = repo.worktree(tmp_path / "linked", "side")
    linked.commit("On the side", {"side.txt": "side\n"})
    linked.write("dirty.txt")

    state = state_of(linked.folder)

    assert (state.branch, state.head, state.dirty) == ("side", linked.head(), ["dirty.txt"])
    assert state.worktree == linked.folder
    assert (query.find_current_branch(linked.folder), query.find_head_sha(linked.folder)) == (
        "side",
        linked.head(),
    )
    assert state_of(repo.folder).dirty == []


def test_a_rebase_in_one_worktree_is_not_one_in_another(repo: Repo, tmp_path: Path) -> None:
    linked = repo.worktree(tmp_path / "linked", "side")
    linked.git("-c", "sequence.editor=sed -i s/^pick/edit/", "rebase", "-i", "--root")

    assert state_of(linked.folder).operation == "rebase"
    assert state_of(repo.folder).operation is None


def test_a_submodule_is_one_path_outside_and_a_repository_inside(
    repo: Repo, tmp_path: Path
) -> None:
    part = Repo(tmp_path / "part")
    part.commit("A part", {"part.txt": "part\n"})
    repo.git("submodule", "--quiet", "add", os.fspath(part.folder), "sub")
    repo.commit("Take the part in")
    repo.write("sub/part.txt", "changed\n")

    assert state_of(repo.folder).changes == [PathChange(path="sub", code=".M", is_inside=True)]
    inside = state_of(repo.folder / "sub")
    assert (inside.worktree, inside.dirty) == (repo.folder / "sub", ["part.txt"])
    assert inside.head == part.head()


def test_a_bare_repository_has_branch_and_head_and_no_worktree(repo: Repo, tmp_path: Path) -> None:
    bare = Repo(tmp_path / "bare.git", bare=True)
    repo.git("push", "--quiet", os.fspath(bare.folder), "main")

    state = state_of(bare.folder / "objects")

    assert (state.worktree, state.branch, state.head) == (None, "main", repo.head())
    assert state.last_commit is not None
    assert (state.dirty, state.trouble) == ([], None)


def test_the_git_folder_itself_is_nobodys_worktree(repo: Repo) -> None:
    state = state_of(repo.folder / ".git")

    assert (state.worktree, state.branch, state.dirty) == (None, "main", [])


def test_a_folder_that_holds_a_bare_repository_and_its_worktrees_is_fine(
    repo: Repo, tmp_path: Path
) -> None:
    holder = tmp_path / "holder"
    holder.mkdir()
    repo.git("clone", "--quiet", "--bare", ".", os.fspath(holder / ".bare"))
    (holder / ".git").write_text("gitdir: ./.bare\n", encoding="utf-8")

    state = state_of(holder)

    assert (state.worktree, state.branch, state.head) == (None, "main", repo.head())
    assert state.trouble is None


def test_packed_refs_are_understood(repo: Repo) -> None:
    repo.git("pack-refs", "--all", "--prune")

    assert query.find_current_branch(repo.folder) == "main"
    assert query.find_head_sha(repo.folder) == repo.head()


def test_a_branch_with_slashes_and_odd_letters_is_whole(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "-b", "feat/ünïcode#1")

    assert query.find_current_branch(repo.folder) == "feat/ünïcode#1"
    assert state_of(repo.folder).branch == "feat/ünïcode#1"


def test_a_branch_is_valid_text_whatever_its_bytes(repo: Repo) -> None:
    repo.git("checkout", "--quiet", "-b", os.fsdecode(b"bad-\xff"))

    assert query.find_current_branch(repo.folder) == "bad-\\xff"
    assert state_of(repo.folder).branch == "bad-\\xff"


def test_hashes_of_sha256_repositories_are_whole(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo", init=False)
    repo.git("init", "--quiet", "--object-format=sha256", "--initial-branch=main")
    first = repo.commit("First")
    repo.commit("Second")

    assert query.find_head_sha(repo.folder) == repo.head()
    assert len(state_of(repo.folder).head or "") == 64
    assert query.read_commits_since(repo.folder, first).count == 1


def test_the_reftable_backend_is_understood(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo", init=False)
    repo.git("init", "--quiet", "--ref-format=reftable", "--initial-branch=main", check=False)
    if not (repo.folder / ".git" / "reftable").is_dir():
        pytest.skip("this git has no reftable backend")
    repo.commit("First")

    assert query.find_current_branch(repo.folder) == "main"
    assert query.find_head_sha(repo.folder) == repo.head()


def is_gone(folder: Path, *branches: str) -> list[bool]:
    return [query.is_branch_gone(folder, branch) for branch in branches]


def test_a_branch_is_gone_if_no_file_of_git_names_it(repo: Repo) -> None:
    """Loose or packed; a folder of branches and a name that git refuses are not branches."""
    repo.git("branch", "feat/packed")
    repo.git("pack-refs", "--all", "--prune")
    repo.git("branch", "fix/loose")
    repo.git("symbolic-ref", "refs/heads/other-name", "refs/heads/fix/loose")

    assert not any(is_gone(repo.folder, "main", "feat/packed", "fix/loose", "other-name"))
    assert all(is_gone(repo.folder, "feat", "feat/pack", "fix/loose/more", "../../HEAD"))


def test_a_branch_of_the_reftable_backend_is_asked_for(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo", init=False)
    repo.git("init", "--quiet", "--ref-format=reftable", "--initial-branch=main", check=False)
    if not (repo.folder / ".git" / "reftable").is_dir():
        pytest.skip("this git has no reftable backend")
    repo.commit("First")

    assert is_gone(repo.folder, "main", "other") == [False, True]


def test_without_a_repository_no_branch_is_gone(tmp_path: Path) -> None:
    assert is_gone(tmp_path, "main") == [False]


def test_a_nested_repository_is_named_as_a_folder(repo: Repo) -> None:
    Repo(repo.folder / "nested").commit("Inside", {"in.txt": "in\n"})

    assert list_new(state_of(repo.folder)) == ["nested/"]


def test_a_partial_clone_fetches_nothing(repo: Repo, tmp_path: Path) -> None:
    repo.git("config", "uploadpack.allowFilter", "true")
    origin = repo.folder.as_uri()
    repo.git("clone", "--quiet", "--filter=blob:none", origin, os.fspath(tmp_path / "partial"))
    partial = Repo(tmp_path / "partial", init=False)
    repo.commit("Much later", {"old.txt": "a b c d e f\n" * 8, "more.txt": "more\n"})
    partial.git("fetch", "--quiet")
    partial.git("reset", "--quiet", "--soft", "origin/main")
    partial.git("rm", "--quiet", "--cached", "more.txt", check=False)
    partial.write("elsewhere.txt", "a b c d e f\n" * 8)
    partial.git("add", "elsewhere.txt")
    packs_before = fingerprint(partial.folder / ".git" / "objects")

    state = state_of(partial.folder)

    assert fingerprint(partial.folder / ".git" / "objects") == packs_before
    assert (state.head, state.trouble) == (partial.head(), None)
    assert "elsewhere.txt" in list_changed(state, 0)


# --- nothing to report ---


def test_outside_a_repository_there_is_no_state(tmp_path: Path) -> None:
    assert query.read_state(tmp_path) is None
    assert query.inspect(tmp_path) == UnreadableRepository(f"{tmp_path} is not in a git repository")
    assert query.find_current_branch(tmp_path) is None
    assert query.find_head_sha(tmp_path) is None
    assert query.read_commits_since(tmp_path, "a" * 40) == query.CommitsSince()
    assert query.list_changed_paths(tmp_path, "a" * 40, "b" * 40) == []


def test_a_folder_that_is_gone_has_no_state(repo: Repo) -> None:
    assert query.read_state(repo.folder / "gone") is None


def test_without_git_there_is_no_state_but_still_a_branch(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = repo.head()
    monkeypatch.setenv("PATH", os.fspath(tmp_path))

    assert query.read_state(repo.folder) is None
    assert isinstance(query.inspect(repo.folder), UnreadableRepository)
    assert (query.find_current_branch(repo.folder), query.find_head_sha(repo.folder)) == (
        "main",
        head,
    )
    assert query.read_commits_since(repo.folder, head) == query.CommitsSince()
    assert query.list_changed_paths(repo.folder, head, head) == []


def test_a_repository_of_someone_else_is_refused_with_the_reason(repo: Repo) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can give a folder away")
    for path in (repo.folder, repo.folder / ".git"):
        os.chown(path, 65534, 65534)

    found = query.inspect(repo.folder)

    assert isinstance(found, UnreadableRepository)
    assert "dubious ownership" in found.reason
    assert query.read_state(repo.folder) is None


def test_a_broken_index_leaves_a_partial_state_with_its_trouble(repo: Repo) -> None:
    (repo.folder / ".git" / "index").write_bytes(b"not an index")

    state = state_of(repo.folder)

    assert (state.branch, state.head, state.dirty) == ("main", repo.head(), [])
    assert state.trouble is not None
    assert state.trouble


def test_a_git_that_is_late_leaves_a_partial_state(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nsleep 60 & sleep 60\n", encoding="utf-8")
    slow.chmod(0o755)
    head = repo.head()
    monkeypatch.setenv("PATH", os.fspath(slow.parent), prepend=os.pathsep)

    state = query.read_state(repo.folder, timeout=0.05)

    assert state is not None
    assert (state.branch, state.head, state.dirty) == ("main", head, [])
    assert state.trouble == "git did not answer in time."


@pytest.mark.parametrize("shape", ["fifo", "folder", "garbage", "dangling", "empty"])
def test_a_dot_git_that_is_not_a_repository_is_passed_by(tmp_path: Path, shape: str) -> None:
    dot_git = tmp_path / ".git"
    if shape == "fifo":
        os.mkfifo(dot_git)
    elif shape == "folder":
        dot_git.mkdir()
    else:
        texts = {"garbage": "\0\xff gitdir", "dangling": "gitdir: nowhere\n", "empty": ""}
        dot_git.write_text(texts[shape], encoding="latin-1")

    assert query.read_state(tmp_path) is None
    assert query.find_current_branch(tmp_path) is None


def test_a_head_that_is_a_fifo_does_not_hang(repo: Repo) -> None:
    (repo.folder / ".git" / "HEAD").unlink()
    os.mkfifo(repo.folder / ".git" / "HEAD")

    assert query.find_current_branch(repo.folder) is None


# --- harmless ---


def test_reading_writes_nothing(repo: Repo) -> None:
    # A touched file makes git want to refresh its index, which it must not do here.
    os.utime(repo.folder / "kept.txt", (1, 1))
    repo.write("old.txt", "changed\n")
    before = fingerprint(repo.folder)

    state_of(repo.folder)
    query.read_commits_since(repo.folder, repo.head())

    assert fingerprint(repo.folder) == before


def test_reading_works_while_someone_holds_the_index_lock(repo: Repo) -> None:
    (repo.folder / ".git" / "index.lock").touch()
    repo.write("kept.txt", "changed\n")

    assert state_of(repo.folder).dirty == ["kept.txt"]


def test_no_program_of_the_repository_is_run(repo: Repo, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n", encoding="utf-8")
    trap.chmod(0o755)
    settings = ("core.fsmonitor", "core.pager", "diff.external", "gpg.program", "core.sshCommand")
    for name in settings:
        repo.git("config", name, os.fspath(trap))
    repo.git("config", "log.showSignature", "true")
    first = repo.head()
    raw_commit(repo, b"gpgsig -----BEGIN PGP SIGNATURE-----\n -----END\n\nSigned\n")
    (tmp_path / "sprung").unlink(missing_ok=True)
    for hook in ("post-index-change", "fsmonitor-watchman"):
        shutil.copy(trap, repo.folder / ".git" / "hooks" / hook)
    repo.write("kept.txt", "changed\n")

    state_of(repo.folder)
    since = query.read_commits_since(repo.folder, first)
    query.list_changed_paths(repo.folder, first, since.subjects[0].sha)

    assert not (tmp_path / "sprung").exists()


def test_inside_a_git_hook_the_folder_asked_about_counts(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Repo(tmp_path / "other")
    other.commit("Elsewhere", {"other.txt": "other\n"})
    trace = tmp_path / "trace"
    for name, value in {
        "GIT_DIR": other.folder / ".git",
        "GIT_WORK_TREE": other.folder,
        "GIT_INDEX_FILE": other.folder / ".git" / "index",
        "GIT_OBJECT_DIRECTORY": other.folder / ".git" / "objects",
        "GIT_TRACE": trace,
    }.items():
        monkeypatch.setenv(name, os.fspath(value))
    repo.write("mine.txt")

    state = state_of(repo.folder)

    assert (state.worktree, state.head, state.dirty) == (repo.folder, repo.head(), ["mine.txt"])
    assert not trace.exists()


# --- many files ---


def test_five_thousand_files_are_cut_at_the_limit_and_said_to_be(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    for folder in range(50):
        (repo.folder / f"{folder:02}").mkdir()
        for file in range(100):
            (repo.folder / f"{folder:02}" / f"{file:02}").touch()

    state = state_of(repo.folder)
    assert (len(state.dirty), state.is_truncated, state.trouble) == (2000, True, None)
    assert state.dirty[0] == "00/00"

    exact = query.read_state(repo.folder, limit=5000)
    assert exact is not None
    assert (len(exact.dirty), exact.is_truncated) == (5000, False)


# --- commits ---


def test_commits_since_are_counted_and_the_newest_named_first(repo: Repo) -> None:
    first = repo.head()
    for number in range(2, 6):
        repo.commit(f"Commit {number}")

    since = query.read_commits_since(repo.folder, first, limit=3)

    assert (since.count, since.known, since.diverged) == (4, True, False)
    assert [commit.subject for commit in since.subjects] == ["Commit 5", "Commit 4", "Commit 3"]
    assert since.subjects[0].sha == repo.head()


def test_nothing_came_after_head(repo: Repo) -> None:
    assert query.read_commits_since(repo.folder, repo.head()) == query.CommitsSince(known=True)


def test_an_amended_commit_is_known_to_have_diverged(repo: Repo) -> None:
    saved = repo.commit("Draft")
    repo.git("commit", "--quiet", "--allow-empty", "--amend", "--message=Final")

    since = query.read_commits_since(repo.folder, saved)

    assert (since.count, since.known, since.diverged) == (1, False, True)
    assert [commit.subject for commit in since.subjects] == ["Final"]


@pytest.mark.parametrize("sha", ["f" * 40, "", "HEAD", "--all", "-n1", "zz" * 20, "main"])
def test_what_is_not_a_commit_of_this_repository_is_unknown(repo: Repo, sha: str) -> None:
    assert query.read_commits_since(repo.folder, sha) == query.CommitsSince()
    assert query.list_changed_paths(repo.folder, sha, repo.head()) == []


def test_the_end_of_the_span_is_a_name_and_never_an_option(repo: Repo, tmp_path: Path) -> None:
    target = tmp_path / "target"
    since = query.read_commits_since(repo.folder, repo.head(), until=f"--output={target}")

    assert since == query.CommitsSince()
    assert not target.exists()


def test_paths_changed_between_two_commits_are_those_of_all_commits(repo: Repo) -> None:
    first = repo.head()
    repo.commit("Second", {"kept.txt": "second\n", "line\nbreak": "x\n"})
    repo.git("mv", "old.txt", "moved.txt")
    last = repo.commit("Third")

    assert query.list_changed_paths(repo.folder / ".git" / "..", first, last) == [
        "kept.txt",
        "line\nbreak",
        "moved.txt",
        "old.txt",
    ]
    assert query.list_changed_paths(repo.folder, first, last, limit=2) == [
        "kept.txt",
        "line\nbreak",
    ]

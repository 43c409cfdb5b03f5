"""What a snapshot holds comes back byte for byte, and nothing is lost on the way."""

import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitrepo import Repo
from leftoff.context import find_project
from leftoff.errors import UsageError
from leftoff.projects.project import Project
from leftoff.snapshots.restore import (
    FOLDER_IN_PLACE,
    list_conflicts,
    restore_apart,
    restore_here,
    select_paths,
)
from leftoff.snapshots.shelf import StoredSnapshot, find_snapshot
from leftoff.snapshots.take import MAX_FILE_BYTES, Reason, take_snapshot
from snapshots.repository_state import describe_repository

State = dict[str, tuple[str, bytes]]


@pytest.fixture
def project(repo: Repo) -> Project:
    return find_project(repo.folder)


def take(project: Project) -> StoredSnapshot:
    taken = take_snapshot(project, Reason(trigger="manual"))
    assert taken is not None
    stored = find_snapshot(project, taken.id)
    assert stored is not None
    return stored


def read_tree(folder: Path) -> State:
    """Describe all files of a worktree by mode and content."""
    found: State = {}
    for parent, folders, names in os.walk(folder):
        if ".git" in folders:
            folders.remove(".git")
        links = [each for each in folders if (Path(parent) / each).is_symlink()]
        for name in [*names, *links]:
            place = Path(parent) / name
            if name == ".git":
                continue
            mode = place.lstat().st_mode
            if stat.S_ISLNK(mode):
                found[str(place.relative_to(folder))] = ("link", os.fsencode(place.readlink()))
            else:
                kind = "run" if mode & stat.S_IXUSR else "file"
                found[str(place.relative_to(folder))] = (kind, place.read_bytes())
    return found


DESTROYERS = {
    "reset": ("reset", "--quiet", "--hard"),
    "checkout": ("checkout", "--quiet", "--force", "HEAD", "--", "."),
    "clean": ("clean", "-fdxq"),
    "stash": ("stash", "--include-untracked", "--quiet"),
    # The index does not have the files any more, not even those that were as committed.
    "removal": ("rm", "-rf", "--quiet", "."),
}


@pytest.mark.parametrize("destroyer", DESTROYERS.values(), ids=DESTROYERS)
def test_destroyed_work_comes_back_into_the_worktree(
    repo: Repo, project: Project, destroyer: tuple[str, ...]
) -> None:
    files = {"a.txt": "a\n", "gone.txt": "x\n", "folder/deep.txt": "d\n", "clean.txt": "c\n"}
    repo.commit("Add files", files)
    repo.write("a.txt", "changed\n")
    (repo.folder / "gone.txt").unlink()
    repo.write("folder/new.sh", "new\n").chmod(0o755)
    (repo.folder / "link").symlink_to("a.txt")
    before = read_tree(repo.folder)
    stored = take(project)
    repo.git(*destroyer)

    restored = restore_here(project, stored)

    assert read_tree(repo.folder) == before
    assert restored.left == []


def test_a_restore_can_be_taken_back(repo: Repo, project: Project) -> None:
    repo.commit("Add files", {"a.txt": "a\n", "b.txt": "b\n"})
    repo.write("a.txt", "old work\n")
    repo.write("new.txt", "new\n")
    (repo.folder / "b.txt").unlink()
    stored = take(project)
    repo.git("reset", "--quiet", "--hard")
    repo.git("clean", "-fdq")
    repo.write("a.txt", "newer work\n")
    before = read_tree(repo.folder)

    done = restore_here(project, stored)

    assert done.before is not None
    present = find_snapshot(project, done.before.id)
    assert present is not None
    restore_here(project, present)
    assert read_tree(repo.folder) == before


def test_only_newer_edits_are_a_conflict(repo: Repo, project: Project) -> None:
    repo.commit("Add files", {"a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n"})
    for name in ("a.txt", "b.txt", "c.txt"):
        repo.write(name, "work\n")
    stored = take(project)
    repo.git("reset", "--quiet", "--hard")
    repo.write("b.txt", "newer\n")
    repo.write("c.txt", "work\n")

    assert list_conflicts(repo.folder, stored.content) == ["b.txt"]


def test_some_files_or_a_folder_can_be_named(repo: Repo, project: Project) -> None:
    repo.write("one/a.txt", "a\n")
    repo.write("one/b.txt", "b\n")
    repo.write("one-more.txt", "c\n")
    stored = take(project)

    chosen = select_paths(stored.content, ["one"])

    assert [each.path for each in chosen.work] == ["one/a.txt", "one/b.txt"]
    with pytest.raises(UsageError, match="does not have two"):
        select_paths(stored.content, ["two"])


def test_a_new_worktree_is_exactly_as_it_was(repo: Repo, project: Project, tmp_path: Path) -> None:
    repo.commit("Add files", {"a.txt": "a\n", "gone.txt": "x\n"})
    repo.write("a.txt", "staged\n")
    repo.git("add", "a.txt")
    repo.write("a.txt", "work\n")
    (repo.folder / "gone.txt").unlink()
    before, staged = read_tree(repo.folder), repo.git("diff", "--cached")
    stored = take(project)
    repo.git("reset", "--quiet", "--hard")

    done = restore_apart(project, stored, tmp_path / "apart", "restored/work")

    assert read_tree(tmp_path / "apart") == before
    assert Repo(tmp_path / "apart", init=False).git("diff", "--cached") == staged
    assert (done.branch, done.is_base_gone) == ("restored/work", False)
    assert repo.git("status", "--porcelain") == ""


def test_without_its_commit_the_files_still_come_back(
    repo: Repo, project: Project, tmp_path: Path
) -> None:
    repo.commit("Add a file", {"a.txt": "a\n"})
    repo.write("a.txt", "work\n")
    stored = take(project)
    repo.git("reset", "--quiet", "--hard", "HEAD~1")
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "--quiet", "--prune=now")

    done = restore_apart(project, stored, tmp_path / "apart", "restored/work")

    assert done.is_base_gone
    assert (tmp_path / "apart" / "a.txt").read_text(encoding="utf-8") == "work\n"


def test_what_is_in_the_way_of_a_folder_is_replaced_and_kept(repo: Repo, project: Project) -> None:
    repo.write("place/a.txt", "a\n")
    stored = take(project)
    (repo.folder / "place" / "a.txt").unlink()
    (repo.folder / "place").rmdir()
    repo.write("place", "now a file\n")

    done = restore_here(project, stored)

    assert (repo.folder / "place" / "a.txt").read_text(encoding="utf-8") == "a\n"
    assert done.before is not None
    before = find_snapshot(project, done.before.id)
    assert before is not None
    assert "place" in [each.path for each in before.content.work]


def test_a_folder_with_newer_files_is_left_alone(repo: Repo, project: Project) -> None:
    repo.write("place", "a file\n")
    repo.write("other.txt", "other\n")
    stored = take(project)
    (repo.folder / "place").unlink()
    (repo.folder / "other.txt").unlink()
    repo.write("place/new.txt", "new\n")

    done = restore_here(project, stored)

    assert [(each.path, each.why) for each in done.left] == [("place", FOLDER_IN_PLACE)]
    assert done.written == ["other.txt"]
    assert (repo.folder / "place/new.txt").read_text(encoding="utf-8") == "new\n"


def test_nothing_behind_a_link_is_read_or_removed(
    repo: Repo, project: Project, tmp_path: Path
) -> None:
    repo.commit("Add files", {"place/a.txt": "a\n", "place/b.txt": "b\n"})
    (repo.folder / "place/a.txt").unlink()
    repo.write("place/b.txt", "changed\n")
    stored = take(project)
    away = tmp_path / "away"
    (repo.folder / "place").rename(away)
    (away / "a.txt").write_text("mine\n", encoding="utf-8")
    (repo.folder / "place").symlink_to(away)

    linked = take(project)
    restore_here(project, stored)

    assert [each.path for each in linked.content.work] == ["place"]
    assert sorted(linked.content.absent) == ["place/a.txt", "place/b.txt"]
    assert (away / "a.txt").read_text(encoding="utf-8") == "mine\n"
    assert read_tree(repo.folder / "place") == {"b.txt": ("file", b"changed\n")}


def change_kinds(repo: Repo) -> None:
    """Files become folders, folders become files and links."""
    files = {"file": "f\n", "folder/deep/x.txt": "x\n", "moved/y.txt": "y\n", "kept/z.txt": "z\n"}
    repo.commit("Add files", files)
    (repo.folder / "file").unlink()
    repo.write("file/inside.txt", "inside\n")
    shutil.rmtree(repo.folder / "folder")
    repo.write("folder", "now a file\n")
    (repo.folder / "moved").rename(repo.folder / "target")
    (repo.folder / "moved").symlink_to("target")


def use_odd_names(repo: Repo) -> None:
    for name in (
        b"new\nline",
        b"not utf-8 \xff",
        b"back\\slash",
        b"git~1",
        b" space ",
        b'"quoted"',
    ):
        (repo.folder / os.fsdecode(name)).write_bytes(name)


def rename_case(repo: Repo) -> None:
    repo.commit("Add files", {"readme.md": "r\n", "src/a.py": "a\n"})
    (repo.folder / "readme.md").rename(repo.folder / "README.md")
    repo.git("mv", "src/a.py", "src/A.py")


def use_large_files(repo: Repo) -> None:
    """Some files are pointers; others have their content, which git sees as a pointer."""
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 4\n"
    repo.git("config", "filter.lfs.clean", "printf 'version 1\\n'")
    repo.git("config", "filter.lfs.smudge", "cat")
    repo.write(".gitattributes", "*.bin filter=lfs -text\n")
    repo.commit("Add large files", {"kept.bin": "real content\n", "edited.bin": "old\n"})
    repo.write("edited.bin", "new content\n")
    repo.write("new.bin", pointer)


def check_out_a_part(repo: Repo) -> None:
    repo.commit("Add folders", {"in/a.txt": "a\n", "out/b.txt": "b\n"})
    repo.git("sparse-checkout", "set", "in")
    repo.write("in/a.txt", "changed\n")
    repo.write("in/new.txt", "new\n")


def convert_line_ends(repo: Repo) -> None:
    repo.git("config", "core.autocrlf", "true")
    repo.commit("Add text", {".gitattributes": "*.txt text=auto\n", "a.txt": "1\n2\n"})
    (repo.folder / "a.txt").write_bytes(b"1\r\ntwo\r\n")
    (repo.folder / "mixed.txt").write_bytes(b"1\r\n2\n")


def add_a_submodule(repo: Repo) -> None:
    library = repo.folder.parent / "library"
    Repo.begun(library)
    repo.git("submodule", "--quiet", "add", str(library), "lib")
    repo.commit("Add a library")
    Repo(repo.folder / "lib", init=False).commit("Change it", {"x.txt": "x\n"})
    repo.write("own.txt", "own\n")


UNUSUAL = (
    change_kinds,
    use_odd_names,
    rename_case,
    use_large_files,
    check_out_a_part,
    convert_line_ends,
    add_a_submodule,
)


@pytest.mark.parametrize("prepare", UNUSUAL, ids=lambda each: each.__name__)
def test_it_comes_back_in_unusual_repositories_too(
    repo: Repo, project: Project, prepare: Callable[[Repo], None]
) -> None:
    prepare(repo)
    seen, before = describe_repository(repo), read_tree(repo.folder)
    stored = take(project)
    assert describe_repository(repo) == seen
    repo.git("reset", "--quiet", "--hard")
    repo.git("clean", "-fdq")

    restore_here(project, stored)

    assert read_tree(repo.folder) == before


def test_newer_work_that_no_snapshot_can_hold_is_left_alone(repo: Repo, project: Project) -> None:
    repo.commit("Add a file", {"server.pem": "key\n"})
    (repo.folder / "server.pem").unlink()
    for name in ("large.txt", "place/deep.txt", "ignored.txt", "fine.txt"):
        repo.write(name, "work\n")
    stored = take(project)
    newer = {
        "large.txt": b"x" * (MAX_FILE_BYTES + 1),
        "server.pem": b"new key\n",
        "ignored.txt": b"newer\n",
        "place": b"ignored too\n",
        "fine.txt": b"newer\n",
    }
    (repo.folder / "place/deep.txt").unlink()
    (repo.folder / "place").rmdir()
    for name, data in newer.items():
        (repo.folder / name).write_bytes(data)
    repo.write(".gitignore", "ignored.txt\nplace\n")

    done = restore_here(project, stored)

    assert done.written == ["fine.txt"]
    assert {each.path for each in done.left} == {
        "large.txt", "server.pem", "ignored.txt", "place/deep.txt",
    }  # fmt: skip
    del newer["fine.txt"]
    assert {name: (repo.folder / name).read_bytes() for name in newer} == newer


def test_ignored_files_are_never_touched(repo: Repo, project: Project) -> None:
    repo.commit("Ignore", {".gitignore": "*.log\n"})
    repo.write("run.log", "mine\n")
    repo.write("a.txt", "a\n")
    stored = take(project)
    (repo.folder / "a.txt").unlink()

    restore_here(project, stored)

    assert (repo.folder / "run.log").read_text(encoding="utf-8") == "mine\n"


COMMANDS: dict[str, list[tuple[str, ...]]] = {
    "amend": [("commit", "--quiet", "--amend", "--all", "--message=Amended", "--allow-empty")],
    "gc": [("reflog", "expire", "--expire=now", "--all"), ("gc", "--quiet", "--prune=now")],
    "reset": [("reset", "--quiet", "--hard")],
    "clean": [("clean", "-fdxq")],
    "rebase": [("rebase", "--quiet", "--root", "--autostash", "--force-rebase")],
}
NAMES = st.sampled_from(["a.txt", "b.txt", "folder/c.txt", "folder/d e.txt", "ü.txt"])
STEPS = st.one_of(
    st.tuples(st.just("write"), NAMES, st.sampled_from(["1\n", "2\r\n", "3", ""])),
    st.tuples(st.just("remove"), NAMES, st.just("")),
    st.tuples(st.just("mode"), NAMES, st.just("")),
    st.tuples(st.just("stage"), NAMES, st.just("")),
    st.tuples(
        st.sampled_from(["commit", "take", "worktree", *COMMANDS]),
        st.just(""),
        st.just(""),
    ),
)


@pytest.mark.slow("runs git some thousand times")
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(STEPS, min_size=3, max_size=14))
def test_every_snapshot_restores_exactly_what_was_there(
    steps: list[tuple[str, str, str]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        main = Repo.begun(Path(folder) / "repo")
        project = find_project(main.folder)
        taken: list[tuple[StoredSnapshot, State]] = []
        repo, trees = main, 0
        for act, name, text in [*steps, ("take", "", "")]:
            if act == "worktree" and repo is main:
                trees += 1
                repo = main.worktree(Path(folder) / f"tree-{trees}", f"tree-{trees}")
            elif act == "worktree":
                main.git("worktree", "remove", "--force", str(repo.folder))
                repo = main
            play(repo, act, name, text)
            if act == "take" and repo.git("status", "--porcelain"):
                taken.append((take(find_project(repo.folder)), read_tree(repo.folder)))
        for number, (stored, state) in enumerate(taken):
            apart = Path(folder) / f"apart-{number}"
            done = restore_apart(project, stored, apart, f"apart-{number}")
            if not done.is_base_gone:
                assert read_tree(apart) == state
            for path in done.written:
                assert read_tree(apart)[path] == state[path]


def play(repo: Repo, act: str, name: str, text: str) -> None:
    """Do one thing that a person or an agent does to a repository."""
    place = repo.folder / name
    if act == "write":
        repo.write(name, text)
    elif act == "remove":
        place.unlink(missing_ok=True)
    elif act == "mode" and place.is_file():
        place.chmod(0o755)
    elif act == "stage":
        repo.git("add", "--all", "--", name, check=False)
    elif act == "commit":
        repo.commit("Work")
    for command in COMMANDS.get(act, ()):
        repo.git(*command, check=False)

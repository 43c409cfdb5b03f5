"""If another user could take a save away, nothing is saved and an error says so."""

import os
import subprocess
from pathlib import Path

import msgspec
import pytest

from cli.runs import Cli
from gitrepo import Repo
from leftoff.context import find_project
from leftoff.errors import StoreRefused
from leftoff.projects.project import Project
from leftoff.store import Store
from stores import block, draft, names_listed, project_at

OTHER_USER = 12345
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders to others")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = project_at(tmp_path)
    return msgspec.structs.replace(project, fallback=tmp_path / "state" / "fallback" / "key")


def give_away(folder: Path) -> None:
    folder.mkdir(parents=True, mode=0o777)
    os.chown(folder, OTHER_USER, OTHER_USER)
    folder.chmod(0o777)


def link_away(folder: Path) -> None:
    elsewhere = folder.parent.parent / "elsewhere"
    elsewhere.mkdir(parents=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.symlink_to(elsewhere)


def let_others_write(folder: Path) -> None:
    folder.mkdir(parents=True)
    folder.chmod(0o777)


def let_others_write_with_a_sticky_bit(folder: Path) -> None:
    folder.mkdir(parents=True)
    folder.chmod(0o1777)


def put_a_file(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("in the way", encoding="utf-8")


PLANTED = [
    pytest.param(give_away, marks=as_root),
    link_away,
    let_others_write,
    let_others_write_with_a_sticky_bit,
    put_a_file,
]


@pytest.mark.parametrize("plant", PLANTED)
@pytest.mark.parametrize("place", ["fallback", "fallback/key"])
def test_a_fallback_that_others_can_change_is_refused_loudly(
    project: Project, plant: object, place: str
) -> None:
    plant(project.fallback.parent.parent / place)  # type: ignore[operator]
    block(project)
    store = Store(project)

    with pytest.raises(StoreRefused) as refused:
        store.save(draft("login-form"))

    assert str(project.fallback.parent) in refused.value.message
    assert "nothing was saved" in refused.value.hint
    assert names_listed(store) == []
    assert not list(project.fallback.parent.parent.rglob("2*.json"))
    store.close()


def test_a_state_folder_that_anyone_can_write_is_refused(project: Project) -> None:
    state = project.fallback.parent.parent
    state.mkdir(parents=True)
    state.chmod(0o777)
    block(project)

    with pytest.raises(StoreRefused, match="can be changed by other users"):
        Store(project).save(draft("login-form"))


def earlier(project: Project, folder: Path) -> Project:
    """Save as an earlier version did, to a temp folder; return a project that looks there."""
    kept = msgspec.structs.replace(project, fallback=folder / "leftoff-0" / "key")
    block(project)
    store = Store(kept)
    store.save(draft("login-form"))
    store.close()
    return msgspec.structs.replace(project, strays=(kept.fallback,))


def test_what_an_earlier_version_left_in_a_temp_folder_is_imported(
    project: Project, tmp_path: Path
) -> None:
    project = earlier(project, tmp_path / "tmp")
    project.store.unlink()

    store = Store(project)

    assert names_listed(store) == ["login-form"]
    assert store.path_of(store.find("login-form")).is_relative_to(project.store)
    store.close()


def test_what_an_earlier_version_left_is_seen_while_the_store_cannot_be_written(
    project: Project, tmp_path: Path
) -> None:
    project = earlier(project, tmp_path / "tmp")

    store = Store(project)

    assert names_listed(store) == ["login-form"]
    assert store.path_of(store.find("login-form")).is_relative_to(project.fallback)
    store.close()


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o707])
@pytest.mark.parametrize("above", [0, 1])
def test_a_temp_folder_that_others_could_reach_into_is_left_alone(
    project: Project, tmp_path: Path, mode: int, above: int
) -> None:
    project = earlier(project, tmp_path / "tmp")
    (stray,) = project.strays
    (stray, stray.parent)[above].chmod(mode)
    project.store.unlink()

    store = Store(project)

    assert names_listed(store) == []
    assert list(stray.rglob("2*.json"))
    store.close()


@as_root
@pytest.mark.parametrize("above", [0, 1])
def test_a_temp_folder_of_another_user_is_left_alone(
    project: Project, tmp_path: Path, above: int
) -> None:
    project = earlier(project, tmp_path / "tmp")
    (stray,) = project.strays
    os.chown((stray, stray.parent)[above], OTHER_USER, OTHER_USER)
    project.store.unlink()

    store = Store(project)

    assert names_listed(store) == []
    store.close()


def test_a_link_in_a_temp_folder_is_not_followed(project: Project, tmp_path: Path) -> None:
    project = earlier(project, tmp_path / "tmp")
    (stray,) = project.strays
    stray.rename(tmp_path / "moved")
    stray.symlink_to(tmp_path / "moved")
    project.store.unlink()

    store = Store(project)

    assert names_listed(store) == []
    store.close()


# --- the command line ---


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    made = Repo(tmp_path / "repo")
    made.commit("Begin", {"app.py": "print('hello')\n"})
    monkeypatch.chdir(made.folder)
    return made


@pytest.fixture
def cli(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Cli:
    del repo
    return Cli(monkeypatch)


def block_store(repo: Repo) -> None:
    store = find_project(repo.folder).store
    subprocess.run(["rm", "-rf", str(store)], check=True)
    store.write_text("in the way", encoding="utf-8")


def test_a_save_to_the_fallback_is_found_at_once_from_any_environment(
    cli: Cli, repo: Repo, tmp_path: Path
) -> None:
    block_store(repo)
    cli.ok("save", "login-form", "--summary", "Validate the form")
    elsewhere = {"TMPDIR": str(tmp_path / "elsewhere")}

    for words in (["list"], ["show", "login-form"], ["resume", "login-form"]):
        done = cli.process(*words, env=elsewhere)
        assert done.returncode == 0, done
        assert "login-form" in done.stdout


def test_a_save_that_can_go_nowhere_fails_with_a_sentence_and_the_way_out(
    cli: Cli, repo: Repo
) -> None:
    block_store(repo)
    fallback = find_project(repo.folder).fallback
    fallback.parent.mkdir(parents=True)
    fallback.parent.chmod(0o777)

    done = cli.process("save", "login-form", "--summary", "Validate the form")

    assert done.returncode == 1
    assert done.stdout == ""
    assert "Nothing could be written" in done.stderr
    assert "nothing was saved" in done.stderr
    assert "login-form" not in cli.process("list").stdout


def test_a_shared_temp_folder_is_never_written(cli: Cli, repo: Repo, tmp_path: Path) -> None:
    block_store(repo)

    cli.ok("save", "login-form", "--summary", "Validate the form")

    assert list((tmp_path / "tmp").iterdir()) == []


@as_root
def test_a_plain_folder_s_store_is_not_kept_in_a_state_folder_of_another_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared"
    give_away(shared / "leftoff")
    monkeypatch.setenv("XDG_STATE_HOME", str(shared))
    folder = tmp_path / "plain"
    folder.mkdir()
    store = Store(find_project(folder))

    with pytest.raises(StoreRefused, match=r"can be changed by other users|belongs to another"):
        store.save(draft("mine", "Keep it"))
    store.close()

"""A store stays visible after its project becomes a repository or its folder is renamed."""

import os
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from gitrepo import Repo
from leftoff import context
from leftoff.context import find_project, read_environment
from leftoff.projects.project import list_stores_elsewhere
from leftoff.projects.store_places import find_marks_folder, list_lost
from leftoff.store import Store
from leftoff.store.adoption import list_conflicts
from leftoff.wiring.findings import World
from leftoff.wiring.inspect_project import check_kept_apart
from leftoff.wiring.install_places import find_places
from stores import contents, draft, names_listed


@contextmanager
def opened(folder: Path) -> Iterator[Store]:
    with closing(Store(find_project(folder))) as store:
        yield store


def listed(folder: Path) -> set[str | None]:
    with opened(folder) as store:
        return {*names_listed(store)}


def save(folder: Path, *names: str) -> None:
    with opened(folder) as store:
        for name in names:
            store.save(draft(name))


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """Make a plain folder with two checkpoints and everything else that a store may hold."""
    folder = tmp_path / "plain"
    (folder / "src").mkdir(parents=True)
    save(folder, "one", "two")
    place = find_project(folder).store
    for name in ("config.toml", "features.json", "SESSION-STATE.md"):
        (place / name).write_text(f"# {name}\n", encoding="utf-8")
    with opened(folder) as store:
        store.append_line("memory", b'{"kind":"decision"}')
    return folder


def test_checkpoints_stay_when_a_folder_becomes_a_repository(plain: Path) -> None:
    old = find_project(plain).store

    Repo(plain)

    assert find_project(plain).earlier == (old,)
    assert listed(plain) == {"one", "two"}
    assert find_project(plain).earlier == ()
    store = plain / ".git" / "leftoff"
    for name in ("config.toml", "features.json", "SESSION-STATE.md", "memory.jsonl"):
        assert (store / name).is_file()
    assert not old.exists()


def test_the_next_save_in_the_new_repository_moves_them_too(plain: Path) -> None:
    Repo(plain)

    save(plain, "three")

    assert listed(plain) == {"one", "two", "three"}


def test_a_repository_with_checkpoints_takes_those_of_the_folder_in(plain: Path) -> None:
    old = find_project(plain).store
    shutil.move(old, old.with_name("aside"))
    repo = Repo(plain)
    save(plain, "three")
    (plain / ".git" / "leftoff" / "config.toml").write_text("budget = 900\n", encoding="utf-8")
    shutil.move(old.with_name("aside"), old)

    assert listed(repo.folder) == {"one", "two", "three"}
    store = plain / ".git" / "leftoff"
    assert (store / "config.toml").read_text(encoding="utf-8") == "budget = 900\n"
    kept = store / "earlier" / old.name / "config.toml"
    assert kept.read_text(encoding="utf-8") == "# config.toml\n"
    assert (store / "features.json").is_file()
    assert (store / "memory.jsonl").is_file()
    assert not old.exists()


def test_a_repository_above_a_plain_project_takes_it_in_from_there(plain: Path) -> None:
    Repo(plain.parent)

    assert listed(plain / "src") == {"one", "two"}
    assert listed(plain.parent) == {"one", "two"}


def test_a_look_that_leaves_no_trace_sees_them_where_they_are(plain: Path) -> None:
    Repo(plain)
    project = find_project(plain)

    with closing(Store(project, leaves_no_trace=True)) as store:
        assert {*names_listed(store)} == {"one", "two"}
    assert not project.store.exists()


@pytest.mark.parametrize("place", ["renamed", "deeper/down/plain"])
def test_a_plain_folder_is_known_by_another_name(plain: Path, place: str) -> None:
    new = plain.parent / place
    new.parent.mkdir(parents=True, exist_ok=True)
    plain.rename(new)

    assert listed(new / "src") == {"one", "two"}
    assert find_project(new).store.is_dir()
    assert list_lost(context.read_environment()) == []


def test_a_folder_that_was_renamed_and_then_became_a_repository_is_known(plain: Path) -> None:
    new = plain.with_name("renamed")
    plain.rename(new)
    Repo(new)

    assert listed(new) == {"one", "two"}


def test_a_copy_does_not_take_the_store_away(plain: Path) -> None:
    copy = plain.with_name("copy")
    shutil.copytree(plain, copy)

    assert listed(copy) == set()
    assert listed(plain) == {"one", "two"}


def test_a_folder_that_only_got_the_number_of_another_is_not_taken_for_it(plain: Path) -> None:
    found = plain.stat()
    shutil.rmtree(plain)
    stranger = plain.with_name("stranger")
    stranger.mkdir()
    mark = find_marks_folder(context.read_environment()) / f"{found.st_dev}-{found.st_ino}.json"
    seen = stranger.stat()
    mark.rename(mark.with_name(f"{seen.st_dev}-{seen.st_ino}.json"))

    assert listed(stranger) == set()
    assert [folder for folder, _ in list_lost(context.read_environment())] == [plain]


def test_a_renamed_folder_has_its_store_whatever_has_its_old_path(plain: Path) -> None:
    new = plain.with_name("renamed")
    plain.rename(new)
    plain.mkdir()

    assert listed(plain) == {"one", "two"}
    assert listed(new) == {"one", "two"}
    assert listed(plain) == set()


@pytest.mark.parametrize(
    "data", [b"", b"{", b'{"folder": "../x"}', b'{"folder": "\\ud83d\\ude00"}']
)
def test_a_garbled_mark_does_not_count(plain: Path, data: bytes) -> None:
    (mark,) = find_marks_folder(context.read_environment()).iterdir()
    mark.write_bytes(data)
    new = plain.with_name("renamed")
    plain.rename(new)

    assert listed(new) == set()


def test_a_repository_that_is_moved_keeps_its_store_under_leftoff_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEFTOFF_HOME", str(tmp_path / "elsewhere"))
    repo = Repo(tmp_path / "repo")
    save(repo.folder, "one")
    repo.folder.rename(tmp_path / "moved")

    assert listed(tmp_path / "moved") == {"one"}


def test_what_was_planted_in_the_old_store_is_not_followed(plain: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret", encoding="utf-8")
    old = find_project(plain).store
    Repo(plain)
    save(plain, "three")
    old.mkdir()
    (old / "link.json").symlink_to(secret)
    os.link(secret, old / "hard.json")
    os.mkfifo(old / "fifo.json")

    assert listed(plain) == {"one", "two", "three"}
    assert "secret" not in {
        path.read_text() for path in (plain / ".git/leftoff").rglob("*.json") if path.is_file()
    }
    assert contents(tmp_path)["secret"]


def test_a_repository_above_takes_the_stores_of_all_plain_folders_in_it(tmp_path: Path) -> None:
    above = tmp_path / "above"
    for name in ("a", "b/c", "nested", "nested/d"):
        folder = above / name
        (folder / "src").mkdir(parents=True)
        save(folder, name.replace("/", "-"))
    Repo(above / "nested")
    Repo(above)

    assert listed(above) == {"a", "b-c"}
    assert listed(above / "b" / "c") == {"a", "b-c"}
    assert listed(above / "nested") == {"nested", "nested-d"}


def test_a_repository_that_has_a_store_takes_a_folder_below_when_someone_works_there(
    tmp_path: Path,
) -> None:
    above = tmp_path / "above"
    repo = Repo(above)
    save(above, "mine")
    (above / ".git").rename(tmp_path / "away")
    (above / "sub" / "src").mkdir(parents=True)
    save(above / "sub", "theirs")
    (tmp_path / "away").rename(above / ".git")

    assert listed(repo.folder) == {"mine"}
    assert list_stores_elsewhere(find_project(above)) != []
    assert listed(above / "sub") == {"mine", "theirs"}
    assert list_stores_elsewhere(find_project(above)) == []


def test_a_copy_that_a_killed_process_left_is_removed_by_the_next_one(plain: Path) -> None:
    old = find_project(plain).store
    dead = old.with_name(f"{old.name}.copy-{2**22 + 1}")
    alive = old.with_name(f"{old.name}.copy-{os.getppid()}")
    for place in (dead, alive):
        shutil.copytree(old, place)
    new = plain.with_name("new")
    plain.rename(new)
    (plain / "src").mkdir(parents=True)
    save(plain, "other")

    assert {"one", "two"} <= listed(new)

    assert not dead.exists()
    assert alive.is_dir()


def test_a_file_that_both_stores_have_is_named_by_doctor(plain: Path) -> None:
    repo = Repo(plain)
    place = repo.folder / ".git" / "leftoff"
    place.mkdir(mode=0o700)
    (place / "features.json").write_text("{}", encoding="utf-8")

    assert listed(plain) == {"one", "two"}

    [found] = list_conflicts(place)
    assert found.name == "features.json"
    assert found.read_text(encoding="utf-8") == "# features.json\n"
    world = World(places=find_places(read_environment()), project=find_project(plain))
    [finding] = check_kept_apart(world)
    assert str(found) in finding.what

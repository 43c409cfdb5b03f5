"""A store belongs to the folder that saved it, even if the folder moves or is replaced."""

import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from gitrepo import Repo
from leftoff import context
from leftoff.context import find_project
from leftoff.projects.project import list_stores_elsewhere
from leftoff.projects.store_places import find_marks_folder, find_plain_store
from leftoff.store import Store, disk
from stores import draft, names_listed


@contextmanager
def opened(folder: Path) -> Iterator[Store]:
    with closing(Store(find_project(folder))) as store:
        yield store


def listed(folder: Path) -> set[str | None]:
    with opened(folder) as store:
        return {*names_listed(store)}


def save(folder: Path, name: str) -> None:
    with opened(folder) as store:
        store.save(draft(name))


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """Make a plain folder with a file and a checkpoint."""
    folder = tmp_path / "around" / "p"
    folder.mkdir(parents=True)
    (folder / "f").write_text("a", encoding="utf-8")
    save(folder, "one")
    return folder


def test_a_repository_at_the_path_of_a_renamed_folder_takes_nothing(plain: Path) -> None:
    old = plain.rename(plain.with_name("old"))
    Repo(plain)

    assert listed(plain) == set()
    elsewhere = list_stores_elsewhere(find_project(plain))
    assert elsewhere == [(plain, find_plain_store(context.read_environment(), plain))]
    save(plain, "two")
    assert listed(plain) == {"two"}
    assert listed(old) == {"one"}
    assert list_stores_elsewhere(find_project(plain)) == []


def test_the_renamed_folder_is_known_when_that_repository_is_gone(plain: Path) -> None:
    old = plain.rename(plain.with_name("old"))
    Repo(plain)
    listed(plain)
    shutil.rmtree(plain)

    assert listed(old) == {"one"}


@pytest.mark.parametrize("names", [["q", "r"], ["q", "p"], ["q", "p", "q", "r"]])
def test_a_folder_is_known_after_each_of_many_renames(plain: Path, names: list[str]) -> None:
    folder = plain
    for name in names:
        folder = folder.rename(folder.with_name(name))
        assert listed(folder) == {"one"}
    save(folder, "two")
    assert listed(folder) == {"one", "two"}


def test_a_new_folder_at_the_old_path_keeps_nothing_from_the_renamed_one(plain: Path) -> None:
    new = plain.rename(plain.with_name("q"))
    plain.mkdir()
    listed(plain)

    assert listed(new) == {"one"}
    assert listed(plain) == set()
    save(plain, "two")
    assert (listed(plain), listed(new)) == ({"two"}, {"one"})


def test_what_a_new_folder_added_stays_with_it_and_the_renamed_one_has_its_own(plain: Path) -> None:
    new = plain.rename(plain.with_name("q"))
    plain.mkdir()
    save(plain, "two")

    assert "one" in listed(new)
    assert "two" in listed(plain)
    save(new, "three")
    assert "three" not in listed(plain)
    assert {"one", "three"} <= listed(new)
    assert "two" in listed(plain)


def test_a_folder_that_was_made_anew_shows_what_was_saved_at_its_path(plain: Path) -> None:
    shutil.rmtree(plain)
    (plain.with_name("taken")).mkdir()
    plain.mkdir()

    assert listed(plain) == {"one"}


def test_a_link_at_the_old_path_leads_to_the_same_checkpoints(plain: Path) -> None:
    new = plain.rename(plain.with_name("q"))
    plain.symlink_to(new)

    assert listed(new) == {"one"}
    assert listed(plain) == {"one"}


def test_a_folder_renamed_to_a_path_that_had_a_store_has_both(plain: Path) -> None:
    other = plain.with_name("q")
    other.mkdir()
    save(other, "two")
    shutil.rmtree(other)
    plain.rename(other)

    assert listed(other) == {"one", "two"}


def test_a_repository_above_a_plain_project_names_its_store(plain: Path) -> None:
    repo = Repo(plain.parent)
    # One that has a store already looks for others only where somebody works.
    (repo.folder / ".git" / "leftoff").mkdir()

    elsewhere = list_stores_elsewhere(find_project(plain.parent))
    assert elsewhere == [(plain, find_plain_store(context.read_environment(), plain))]
    assert listed(plain) == {"one"}


def test_a_store_without_a_mark_goes_to_the_repository_at_its_path(plain: Path) -> None:
    shutil.rmtree(find_marks_folder(context.read_environment()))
    Repo(plain)

    assert listed(plain) == {"one"}


def test_a_disk_with_another_number_changes_nothing(plain: Path) -> None:
    (mark,) = find_marks_folder(context.read_environment()).iterdir()
    mark.rename(mark.with_name(f"1-{mark.name.split('-')[1]}"))
    Repo(plain)

    assert listed(plain) == {"one"}


@pytest.mark.parametrize("is_shared", [False, True])
def test_a_store_that_is_being_written_is_found_by_a_later_command(
    plain: Path, *, is_shared: bool
) -> None:
    store = find_project(plain).store
    new = plain.rename(plain.with_name("q"))
    if is_shared:
        plain.mkdir()
        save(plain, "two")
    with disk.lock(store / "lock"):
        save(new, "three")
        listed(new)

    assert listed(new) == {"one", "three", *(["two"] if is_shared else [])}
    last = new.rename(plain.with_name("r"))
    assert {"one", "three"} <= listed(last)
    assert not [each for each in store.parent.iterdir() if ".copy-" in each.name]


def test_who_is_killed_between_the_move_and_the_mark_is_made_up_for(plain: Path) -> None:
    store = find_project(plain).store
    new = plain.rename(plain.with_name("q"))
    store.rename(find_project(new).store)

    assert listed(new) == {"one"}
    assert listed(new.rename(plain.with_name("r"))) == {"one"}


def test_two_folders_that_change_names_lose_nothing(plain: Path) -> None:
    other = plain.with_name("q")
    (other / "src").mkdir(parents=True)
    save(other, "two")
    aside = plain.rename(plain.with_name("aside"))
    other.rename(plain)
    aside.rename(other)

    assert "one" in listed(other)
    assert "two" in listed(plain)
    assert "one" in listed(other)


def test_a_repository_that_took_its_store_in_has_no_claim_on_its_old_path(plain: Path) -> None:
    new = plain.rename(plain.with_name("q"))
    Repo(new)
    assert listed(new) == {"one"}
    plain.mkdir()
    save(plain, "two")

    assert listed(new) == {"one"}
    assert listed(plain) == {"two"}

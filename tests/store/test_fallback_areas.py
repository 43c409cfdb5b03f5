"""A store that stays open writes to its current folders, even if they were moved or replaced."""

import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from leftoff.checkpoint import new_id
from leftoff.projects.project import Project
from leftoff.store import Store
from stores import draft, names_listed, project_at


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return project_at(tmp_path)


def test_a_store_that_was_taken_away_between_two_saves_is_made_anew(
    store: Store, project: Project
) -> None:
    store.save(draft("login-form"))
    shutil.rmtree(project.store)

    saved = store.save(draft("search-page"))

    assert saved.notice is None
    assert saved.path.is_relative_to(project.store)
    assert names_listed(store) == ["search-page"]


@pytest.mark.parametrize("part", ["checkpoints", "tmp"])
def test_a_folder_of_the_store_that_was_taken_away_is_made_anew(
    store: Store, project: Project, part: str
) -> None:
    store.save(draft("login-form"))
    shutil.rmtree(project.store / part)

    saved = store.save(draft("search-page"))

    assert saved.path.is_file()
    assert "search-page" in names_listed(store)


def test_nothing_is_written_into_a_folder_that_was_moved_away(
    store: Store, project: Project
) -> None:
    first = store.save(draft("login-form"))
    shard = first.path.parent
    moved = shard.rename(project.store.parent / "moved")
    shutil.copytree(moved, shard)

    saved = store.save(draft("search-page"))

    assert saved.path.is_file()
    assert os.listdir(moved) == [first.path.name]  # noqa: PTH208 - names are what is compared
    assert sorted(map(str, names_listed(store))) == ["login-form", "search-page"]


def test_a_link_put_in_the_place_of_a_folder_that_is_open_is_not_followed(
    store: Store, project: Project
) -> None:
    shard = store.save(draft("login-form")).path.parent
    elsewhere = project.store.parent / "elsewhere"
    shutil.move(shard, elsewhere)
    shard.symlink_to(elsewhere)

    saved = store.save(draft("search-page"))

    assert saved.path.is_relative_to(project.fallback)
    assert len(list(elsewhere.iterdir())) == 1


def test_the_fallback_is_imported_by_a_store_that_had_to_use_it(
    store: Store, project: Project
) -> None:
    store.save(draft("login-form"))
    shard = project.store / "checkpoints"
    shard.rename(project.store / "aside")
    shard.write_text("in the way", encoding="utf-8")
    assert store.save(draft("search-page")).notice is not None

    shard.unlink()
    (project.store / "aside").rename(shard)
    store.save(draft("cart-totals"))

    assert not any(project.fallback.rglob("*.json"))
    assert len(names_listed(store)) == 3


def test_a_write_leaves_no_folder_open_once_the_store_is_gone(project: Project) -> None:
    before = _open_folders(project)
    store = Store(project)
    store.save(draft("login-form"))
    assert _open_folders(project) > before

    store.close()
    del store

    assert _open_folders(project) == before


def test_checkpoints_of_many_months_hold_one_folder_open(project: Project) -> None:
    store = Store(project)
    for month in range(1, 13):
        moment = datetime(2025, month, 1, tzinfo=UTC)
        store.add(msgspec.structs.replace(draft(f"month-{month}"), id=new_id(moment)))

    assert _open_folders(project) == 1
    assert len(names_listed(store)) == 12
    store.close()


def _open_folders(project: Project) -> int:
    links = [os.path.realpath(link) for link in Path("/proc/self/fd").iterdir()]
    return sum(link.startswith(str(project.store)) and Path(link).is_dir() for link in links)

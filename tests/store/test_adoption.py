"""The store can be written, whatever the fallback contains."""

import os
import tracemalloc
from pathlib import Path

import pytest

from leftoff.projects.project import Project
from leftoff.store import Store
from leftoff.store.adoption import adopt
from leftoff.store.layout import Area
from stores import Clock, draft, names_listed, project_at, view


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return project_at(tmp_path)


@pytest.fixture
def fallback(project: Project, clock: Clock) -> Area:
    """Fill a fallback as a store that could not be written would have."""
    elsewhere = Project(
        environment=project.environment,
        root=project.root,
        worktree=project.worktree,
        store=project.fallback,
        fallback=project.fallback.with_name("unused"),
    )
    store = Store(elsewhere, now=clock)
    saved = store.save(draft("login-form"))
    store.record("resumed", [saved.checkpoint.id])
    store.append_line("prompts", b'{"n": 1}')
    store.keep_session("claude", "s1", b"learnt")
    store.close()
    return Area(project.fallback)


def a_checkpoint(area: Area) -> Path:
    return next(area.checkpoints.rglob("*.json"))


def test_adopting_twice_changes_nothing(project: Project, fallback: Area, clock: Clock) -> None:
    log = fallback.log.read_bytes()
    store = Store(project, now=clock)
    store.save(draft("search-page"))
    seen = view(store)
    fallback.log.write_bytes(log)

    adopt(fallback, Area(project.store))

    assert view(store) == seen
    assert (project.store / "events.jsonl").read_bytes().count(b'"resumed"') == 1
    store.close()


@pytest.mark.parametrize("odd", ["shard", "checkpoint", "log", "prompts", "session", "sessions"])
def test_what_is_odd_in_the_fallback_is_left_there(
    project: Project, fallback: Area, clock: Clock, odd: str
) -> None:
    path = {
        "shard": a_checkpoint(fallback).parent,
        "checkpoint": a_checkpoint(fallback),
        "log": fallback.log,
        "prompts": fallback.root / "prompts.jsonl",
        "session": fallback.session_file("claude", "s1"),
        "sessions": fallback.root / "sessions",
    }[odd]
    path.rename(fallback.root / "away")
    os.mkfifo(path)
    store = Store(project, now=clock)

    assert store.save(draft("search-page")).notice is None

    assert path.is_fifo()
    assert "search-page" in names_listed(store)
    store.close()


def test_a_checkpoint_the_store_refuses_to_read_stays_in_the_fallback(
    project: Project, fallback: Area, clock: Clock
) -> None:
    original = a_checkpoint(fallback)
    target = project.store / original.relative_to(fallback.root)
    target.parent.mkdir(parents=True)
    os.mkfifo(target)
    store = Store(project, now=clock)

    assert store.save(draft("search-page")).notice is None

    assert original.exists()
    assert target.is_fifo()
    store.close()


def test_zeros_in_place_of_a_log_are_not_held_in_memory(
    project: Project, fallback: Area, clock: Clock
) -> None:
    prompts = fallback.root / "prompts.jsonl"
    with prompts.open("ab") as file:
        file.truncate(300_000_000)
    with prompts.open("ab") as file:
        file.write(b"\n" + b'{"n": 2}\n')
    store = Store(project, now=clock)

    tracemalloc.start()
    try:
        store.save(draft("search-page"))
        assert tracemalloc.get_traced_memory()[1] < 200_000_000
    finally:
        tracemalloc.stop()

    assert (project.store / "prompts.jsonl").read_bytes() == b'{"n": 1}\n{"n": 2}\n'
    assert not prompts.exists()
    store.close()

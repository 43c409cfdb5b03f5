"""Checkpoints, stores and a clock for tests."""

import hashlib
import os
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from leftoff import config
from leftoff.checkpoint import SCHEMA, Checkpoint, NextAction
from leftoff.context import read_environment
from leftoff.knowledge import features
from leftoff.knowledge.features import board_files
from leftoff.knowledge.features.edit_board import with_board
from leftoff.knowledge.features.loop_owner import place_of
from leftoff.knowledge.features.loop_steps import with_loop
from leftoff.projects.project import Project
from leftoff.store import Store
from leftoff.threads.compose import compose as compose_checkpoint

# Where files are in memory, if there is such a place: tests that kill or race need no disk.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


class Clock:
    """A clock that moves by one second at each look, and on request."""

    def __init__(self, now: datetime = NOON) -> None:
        self.now = now

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    def move(self, **amount: float) -> None:
        """Move the clock, forward or back."""
        self.now += timedelta(**amount)


def draft(name: str | None = None, summary: str | None = None, **values: Any) -> Checkpoint:
    """Make a checkpoint that is not saved yet."""
    return Checkpoint(
        schema=SCHEMA,
        id="",
        saved_at=NOON,
        trigger="manual",
        name=name,
        summary=summary or f"Summary of {name}",
        next_action=NextAction(text=f"Run pytest tests/{name}"),
        **values,
    )


def project_at(folder: Path) -> Project:
    """Make a project whose store and fallback are inside one folder, and an earlier store too."""
    earlier = folder / "state" / "earlier"
    return Project(
        environment=read_environment(),
        root=folder / "project",
        worktree=folder / "project",
        store=folder / "state" / "store",
        fallback=folder / "tmp" / "leftoff-user" / "store",
        earlier=(earlier,) if earlier.is_dir() else (),
    )


def compose(fields: Mapping[str, Any], store: Store, **given: Any) -> Checkpoint:
    """Make a checkpoint that is not saved yet, by the settings in force."""
    return compose_checkpoint(fields, store, config.load(store.project).settings, **given)


def block(project: Project) -> None:
    """Put a file where the store's folder should be."""
    project.store.parent.mkdir(parents=True, exist_ok=True)
    project.store.write_text("in the way", encoding="utf-8")


Row = tuple[str | None, str | None, str, bool]


def view(store: Store) -> list[Row]:
    """Tell all that a reader can see: name, task, state and head of every checkpoint."""
    entries = store.index().newest(10_000)
    return sorted(((each.name, each.task, each.state, each.is_head) for each in entries), key=repr)


def fresh_view(project: Project) -> list[Row]:
    """Tell what a reader sees who opens the store just now."""
    store = Store(project)
    try:
        return view(store)
    finally:
        store.close()


def rebuilt_view(project: Project) -> list[Row]:
    """Tell what a reader sees who has no index."""
    for area in (project.store, project.fallback):
        for left in area.glob("index.sqlite*"):
            left.unlink()
    return fresh_view(project)


def names_listed(store: Store) -> list[str | None]:
    """Tell the names that `list` shows, newest first."""
    return [each.name for each in store.index().heads(["open", "resumed", "declined"], 1000)]


def contents(folder: Path) -> dict[str, str]:
    """Tell every file below a folder and the hash of what it holds."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


def set_orchestration(store: Store, orchestration: features.Orchestration) -> None:
    """Replace the state of the agents that work together."""
    board_files.change(store, lambda state: with_board(state, orchestration=orchestration))


def set_loop(store: Store, loop: features.Loop) -> None:
    """Replace the loop of this worktree."""
    place = place_of(store, None)
    mine = msgspec.structs.replace(loop, worktree=place.worktree)
    board_files.change(store, lambda state: with_loop(state, place.key, mine))

"""Save sessions that ended without a checkpoint."""

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from leftoff import config
from leftoff.checkpoint import Checkpoint, new_id
from leftoff.git import query
from leftoff.projects.project import find_project
from leftoff.session.sessions import KnownSession
from leftoff.store import SavedCheckpoint, Store
from leftoff.threads import autosaves
from leftoff.threads.compose import compose


def recover_sessions(
    store: Store, sessions: Iterable[KnownSession], *, trigger: str = "recovered"
) -> list[SavedCheckpoint]:
    """Save where sessions left off, as one act that `undo` takes back."""
    act = new_id(store.now())
    saved = [recover_session(store, each, act=act, trigger=trigger) for each in sessions]
    return [each for each in saved if each is not None]


def recover_session(
    store: Store, session: KnownSession, *, act: str | None = None, trigger: str = "recovered"
) -> SavedCheckpoint | None:
    """Save where a session left off; None if there was only small talk.

    `act` is what somebody did to recover it; without one, leftoff recovers it unasked.
    """
    draft = compose_recovered(store, session.facts.cwd, {"trigger": trigger}, session)
    return autosaves.autosave(store, msgspec.structs.replace(draft, act=act), session.facts)


def compose_recovered(
    store: Store, folder: str, fields: dict[str, Any], session: KnownSession | None
) -> Checkpoint:
    """Compose the checkpoint of a dead session in the worktree where it worked.

    The session that recovers it may be in another worktree, on another branch. The worktree of the
    dead one may be gone; then its path is all that is left of it.
    """
    fields = {"trigger": "recovered", **fields}
    project = store.project
    if session is not None and session.facts.branch:
        fields = {"branch": session.facts.branch, **fields}
    if folder and not Path(folder).is_dir() and not Path(folder).is_relative_to(project.worktree):
        fields = {"worktree": query.printable(folder), **fields}
    if not folder or not Path(folder).is_dir():
        return compose(fields, store, config.load(project).settings, session=session)
    there = find_project(project.environment, Path(folder))
    with contextlib.closing(Store(there, now=store.now)) as place:
        return compose(fields, place, config.load(there).settings, session=session)

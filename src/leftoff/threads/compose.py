"""Compose a checkpoint from the caller's input, the project's state and the session."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from leftoff.checkpoint import (
    MANUAL,
    SCHEMA,
    Checkpoint,
    FileRef,
    cut_to_limits,
    from_plain,
    to_plain,
)
from leftoff.config import Settings
from leftoff.errors import UsageError
from leftoff.fingerprints import state_of
from leftoff.profiles import sail_plans
from leftoff.projects.project import Project
from leftoff.redact import redact_value
from leftoff.session import state_file
from leftoff.session.sessions import KnownSession, checkpoint_of
from leftoff.store import SavedCheckpoint, Store
from leftoff.threads.observe import (
    feature,
    git_state,
    place_of,
    with_files,
    with_found_plan,
    with_shell_edits,
    with_step,
)
from leftoff.threads.parse_input import OURS, SCHEMA_HINT
from leftoff.wal.notes_place import place


def compose(
    told: Mapping[str, Any],
    store: Store,
    settings: Settings,
    *,
    session: KnownSession | None = None,
    with_plan: bool = True,
) -> Checkpoint:
    """Compose a checkpoint: input overrides what is observed, which overrides the session."""
    project = store.project
    told = {**_read_notes(project, settings), **told}
    whose = _whose(session, project)
    plain = {"trigger": MANUAL, **place_of(project), **whose, **feature(store, whose), **told}
    if session is None or _is_here(session, project):
        plain = {**git_state(project, settings), **plain}
    if session is not None:
        plain = _merge_values(_read_session_values(store, session), plain)
    plain |= {"schema": SCHEMA, "id": "", "saved_at": store.now().isoformat()}
    try:
        draft = from_plain(plain, Checkpoint)
    except msgspec.ValidationError as error:
        raise UsageError(f"Invalid checkpoint: {error}", hint=SCHEMA_HINT) from error
    draft = with_shell_edits(draft, session, project, settings)
    if with_plan:
        draft = with_step(with_found_plan(draft, project), project.worktree)
    return with_files(draft, project.worktree)


def _read_notes(project: Project, settings: Settings) -> dict[str, Any]:
    """Return what notes in files say about the work, if the user chose to use such files."""
    staged = sail_plans.observe(project.worktree) if settings.follows("sail") else {}
    return {**staged, **state_file.read(place(project, settings))}


def _whose(session: KnownSession | None, project: Project) -> dict[str, Any]:
    """Return agent and session: those of the saved session, or of the one that runs leftoff."""
    if session is not None:
        found = (session.agent, session.session_id)
    else:
        found = project.environment.find_session() or ("", "")
    return {key: value for key, value in zip(("agent", "session_id"), found, strict=True) if value}


def _read_session_values(store: Store, session: KnownSession) -> dict[str, Any]:
    """Return what a session says about itself, without the keys that the store sets."""
    learnt = to_plain(checkpoint_of(store, session, trigger=MANUAL))
    return {key: value for key, value in learnt.items() if key not in {*OURS, "trigger"}}


def _merge_values(learnt: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    """Prefer the caller's values; a step without a plan belongs to the session's plan."""
    joined = {**learnt, **told}
    if isinstance(told.get("plan"), dict) and isinstance(learnt.get("plan"), dict):
        joined["plan"] = {**learnt["plan"], **told["plan"]}
    return joined


def _is_here(session: KnownSession, project: Project) -> bool:
    """Return whether the session worked in this worktree, so that git's state here applies."""
    cwd = session.facts.cwd
    return not cwd or Path(cwd).is_relative_to(project.worktree)


def refresh(store: Store, checkpoint: Checkpoint, settings: Settings) -> SavedCheckpoint:
    """Save a checkpoint again with the current state of git, its files and its plan.

    Files that are gone are removed from it, and a note names them.
    """
    root = store.project.worktree
    plan = checkpoint.plan
    planned = [plan.path] if plan and plan.path else []
    named = [*(file.path for file in checkpoint.files), *checkpoint.files_modified, *planned]
    gone = {path for path in named if state_of(FileRef(path=path), root) == "missing"}
    now = {**place_of(store.project), **git_state(store.project, settings)}
    seen = {**to_plain(checkpoint), **now}
    # `with_step` reads the step again from the plan file.
    unread = msgspec.structs.replace(plan, step=None, total=None) if plan else None
    draft = msgspec.structs.replace(
        from_plain(seen, Checkpoint),
        # It now describes this worktree, no longer the file that it was imported from.
        source=None,
        files=[file for file in checkpoint.files if file.path not in gone],
        files_modified=[path for path in checkpoint.files_modified if path not in gone],
        plan=None if gone.intersection(planned) else unread,
        notes=[*checkpoint.notes, *(f"Gone when it was refreshed: {path}" for path in gone)],
    )
    kept, _ = cut_to_limits(redact_value(with_files(with_step(draft, root), root)))
    return store.save(kept, overwrite=True)

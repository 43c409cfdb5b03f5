"""Observe the state of the work: git, the current feature, the plan and the files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from leftoff import knowledge, profiles
from leftoff.checkpoint import Checkpoint, Plan, to_plain
from leftoff.config import Settings
from leftoff.fingerprints import fingerprints, is_modified_since, locate_file
from leftoff.git import query
from leftoff.projects.project import Project
from leftoff.session import plans
from leftoff.session.sessions import KnownSession
from leftoff.store import Store
from leftoff.text import times

# A folder full of build output must not fill the checkpoint.
_DIRTY_LIMIT = 200


def place_of(project: Project) -> dict[str, Any]:
    """Return the project and the worktree, as keys of a checkpoint."""
    return {
        "project": query.printable(str(project.root)),
        "worktree": query.printable(str(project.worktree)),
    }


def git_state(project: Project, settings: Settings) -> dict[str, Any]:
    """Return the branch, HEAD, changed files and last commit, as far as git knows them.

    Files that leftoff mirrors do not count as changed: leftoff wrote them, not the user.
    """
    if not project.is_git:
        return {}
    seen: dict[str, Any] = {}
    state = query.read_state(project.worktree)
    if state is None:
        # If git cannot run, its files still show the branch.
        seen |= {
            "branch": query.current_branch(project.worktree),
            "head": query.head_sha(project.worktree),
        }
    else:
        seen |= {"branch": state.branch, "head": state.head}
        is_native = profiles.natives_in(project, settings.mirror)
        dirty = [path for path in map(query.printable, state.dirty) if not is_native(path)]
        seen["dirty"] = dirty[:_DIRTY_LIMIT]
        if state.last_commit is not None:
            seen["last_commit"] = to_plain(state.last_commit)
    return {key: value for key, value in seen.items() if value is not None}


def feature(store: Store, whose: Mapping[str, str]) -> dict[str, str]:
    """Return the feature in progress, if the project has any."""
    if not (store.project.store / "features.json").exists():
        return {}
    loop = knowledge.features.loop(store, whose.get("session_id"))
    if loop is None or loop.feature is None or loop.status != "in_progress":
        return {}
    return {"feature": loop.feature}


def with_shell_edits(
    draft: Checkpoint, session: KnownSession | None, project: Project, settings: Settings
) -> Checkpoint:
    """Add the files that git shows as changed since the session began: tools do not show all."""
    started = times.parse(session.facts.started_at, zone=None) if session else None
    if started is None:
        return draft
    began = started.timestamp()
    known = set(draft.files_modified)
    # leftoff writes the mirrored files itself; they are not the session's work.
    is_native = profiles.natives_in(project, settings.mirror)
    unseen = [path for path in draft.dirty if path not in known and not is_native(path)]
    changed = [path for path in unseen if is_modified_since(path, project.worktree, began)]
    return msgspec.structs.replace(draft, files_modified=[*draft.files_modified, *changed])


def with_found_plan(draft: Checkpoint, project: Project) -> Checkpoint:
    """Find the plan in use if none was named; without a match, the draft gets none."""
    if draft.plan is not None and draft.plan.path is not None:
        return draft
    task = " ".join(text for text in (draft.summary, draft.intent) if text)
    title = draft.plan.title if draft.plan else None
    root = project.worktree
    clues = plans.PlanClues(
        plans_folders=project.environment.list_plans_folders(), folder=root, task=title or task
    )
    found = plans.find_plan(clues)
    if found is None or found.path is None:
        return draft
    plan = msgspec.structs.replace(draft.plan or Plan(), path=found.path)
    return msgspec.structs.replace(draft, plan=plan)


def with_step(draft: Checkpoint, root: Path) -> Checkpoint:
    """Add the plan's title and current step, unless the draft has them."""
    plan = draft.plan
    if plan is None or plan.path is None:
        return draft
    read = plans.read_plan(locate_file(plan.path, root))
    if read is None:
        return draft
    # Ticked boxes in the plan show its step better than the agent's todos.
    ticked = (read.step, read.total) if read.step is not None else None
    step, total = ticked or plans.step_of(read, draft.todos) or (None, None)
    filled = Plan(
        path=plan.path,
        title=plan.title or read.title,
        step=plan.step or step,
        total=plan.total or total,
        stage=plan.stage,
        extra=plan.extra,
    )
    return msgspec.structs.replace(draft, plan=filled)


def with_files(draft: Checkpoint, root: Path) -> Checkpoint:
    """Fingerprint the files that the checkpoint names, so that changes can be found later."""
    named = [*draft.files]
    known = {file.path for file in named}
    files = [
        msgspec.structs.replace(seen, role=file.role, extra=file.extra)
        for file in named
        for seen in fingerprints([file.path], root)
    ]
    known |= {file.path for file in files}
    modified = [path for path in draft.files_modified if path not in known]
    files += fingerprints(modified, root, role="modified")
    if draft.plan is not None and draft.plan.path is not None and draft.plan.path not in known:
        refs = fingerprints([draft.plan.path], root, role="plan")
        files += [msgspec.structs.replace(ref, path=draft.plan.path) for ref in refs]
    return msgspec.structs.replace(draft, files=files)

"""Compose a checkpoint from the caller's input, the session, git, files and settings."""

import os
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from leftoff import config, knowledge, profiles
from leftoff.checkpoint import (
    DELETED,
    EXPECTED,
    MANUAL,
    SCHEMA,
    STATABLE,
    Checkpoint,
    FileRef,
    Plan,
    explain_error,
    from_plain,
    split_reason,
    to_plain,
)
from leftoff.config import Settings
from leftoff.errors import UsageError
from leftoff.fingerprints import (
    can_be_path,
    fingerprints,
    is_modified_since,
    list_mentioned,
    locate_file,
)
from leftoff.git import query
from leftoff.profiles import sail_plans
from leftoff.projects.project import Project
from leftoff.session import plans, state_file
from leftoff.session.plan_text import PlanText
from leftoff.session.sessions import KnownSession, checkpoint_of, has_company
from leftoff.store import Store
from leftoff.text import times
from leftoff.wal.notes_place import place

_MOST_SAVES = 20
# Files that tools write when they run, and that no one edits.
_CACHED = re.compile(
    r"/(?:__pycache__|node_modules|site-packages|\.venv|venv|\.tox|\.nox|\.cache|\.mypy_cache"
    r"|\.pytest_cache|\.ruff_cache|\.hypothesis|\.turbo|\.next|\.gradle)/"
)


def compose(
    fields: Mapping[str, Any],
    store: Store,
    settings: Settings,
    *,
    session: KnownSession | None = None,
    with_plan: bool = True,
) -> Checkpoint:
    """Compose a checkpoint: input overrides what is observed, which overrides the session."""
    project = store.project
    fields = {**_read_notes(project, settings), **fields}
    whose = _find_owner(session, project)
    plain = {
        "trigger": MANUAL,
        **place_of(project),
        **whose,
        **read_feature(store, settings, whose),
        **fields,
    }
    plain |= {"stated": _list_stated(fields, plain["trigger"])}
    plain |= _date_work(fields, session, plain["trigger"], store.now())
    is_elsewhere = plain["worktree"] != place_of(project)["worktree"]
    if plain["trigger"] == "recovered":
        plain = {
            **_find_git_then(plain, project, session, settings, is_elsewhere=is_elsewhere),
            **plain,
        }
    elif session is None or _is_here(session, project):
        plain = {**read_git_state(project, settings), **plain}
    if session is not None:
        plain = _merge_values(_read_session_values(store, session), plain)
    draft = _build_draft(plain, store)
    if is_elsewhere:
        # Files and plans of another worktree say nothing about this one.
        return draft
    draft = with_shell_edits(draft, session, store, settings)
    if with_plan:
        draft = with_step(with_found_plan(draft, project), project.worktree)
    if settings.follows("openclaw"):
        draft = with_mentioned_files(draft)
    return with_files(draft, project.worktree)


def _build_draft(plain: dict[str, Any], store: Store) -> Checkpoint:
    """Build a checkpoint that has no id yet; raise if a key has a wrong value."""
    named = {"schema": SCHEMA, "id": "", "saved_at": store.now().isoformat()}
    try:
        return from_plain({**plain, **named}, Checkpoint)
    except msgspec.ValidationError as error:
        raise UsageError(
            f"Invalid checkpoint: {explain_error(error)}.", hint=SCHEMA_HINT
        ) from error


def _list_stated(fields: Mapping[str, Any], trigger: str) -> list[str]:
    """Return the keys that the caller stated."""
    # A save on purpose says where the work left off; otherwise these are the agent's last words.
    keys = (*STATABLE, "left_off") if trigger == MANUAL else STATABLE
    return [key for key in keys if _is_stated(fields.get(key))]


def _is_stated(value: object) -> bool:
    """Return whether the caller gave a key a value that is not marked as inferred."""
    return bool(value) and not (isinstance(value, dict) and value.get("origin") == "inferred")


def _date_work(
    fields: Mapping[str, Any], session: KnownSession | None, trigger: str, now: datetime
) -> dict[str, str]:
    """Return the last activity of a session, unless it is being saved on purpose right now."""
    if session is None or (trigger == MANUAL and session.may_be_alive(now)):
        return {}
    last = times.parse(fields.get("as_of") or session.facts.last_at)
    return {"as_of": min(last, now).isoformat()} if last is not None else {}


def _find_git_then(
    plain: dict[str, Any],
    project: Project,
    session: KnownSession | None,
    settings: Settings,
    *,
    is_elsewhere: bool,
) -> dict[str, Any]:
    """Return what is known about git when a session died, which may be long ago."""
    head = session.head if session is not None else ""
    if is_elsewhere or session is None:
        return {"head": head} if head else {}
    moment = times.parse(plain.get("as_of", ""))
    branch = session.facts.branch
    if not head and moment is not None:
        # No hook saw HEAD, but git's own log does.
        then = query.find_head_at(project.worktree, moment.timestamp())
        head, branch = (then.sha, branch or then.branch or "") if then else ("", branch)
    seen = read_git_state(project, settings)
    found = _find_git_state_at(seen, project, moment, head=head, branch=branch)
    return {"branch": branch, **found} if branch else found


def _read_notes(project: Project, settings: Settings) -> dict[str, Any]:
    """Return what notes in files say about the work, if the user chose to use such files."""
    staged = sail_plans.observe(project.worktree) if settings.follows("sail") else {}
    path = place(project, settings)
    return {**staged, **state_file.read(path)} if os.path.lexists(path) else staged


def _find_owner(session: KnownSession | None, project: Project) -> dict[str, Any]:
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


def _merge_values(learnt: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    """Prefer the caller's values; a step without a plan belongs to the session's plan."""
    joined = {**learnt, **fields}
    if isinstance(fields.get("plan"), dict) and isinstance(learnt.get("plan"), dict):
        joined["plan"] = {**learnt["plan"], **fields["plan"]}
    return joined


def _is_here(session: KnownSession, project: Project) -> bool:
    """Return whether the session worked in this worktree, so that git's state here applies."""
    cwd = session.facts.cwd
    return not cwd or Path(cwd).is_relative_to(project.worktree)


# --- the caller's fields ---


OURS = ("schema", "id", "saved_at", "act")
"""Keys that the store sets, never the caller."""
SCHEMA_HINT = "Run `leftoff schema` to see the allowed keys and values."
# What people and agents write into a list that should be empty.
_NOTHING = frozenset({"", "-", "none", "none.", "n/a"})


def parse_fields(plain: object) -> dict[str, Any]:
    """Check the caller's fields, and expand the short forms that people write."""
    if not isinstance(plain, dict):
        raise UsageError(
            "The JSON must be an object with the keys of a checkpoint.", hint=SCHEMA_HINT
        )
    fields: dict[str, Any] = {
        key: _drop_nothing(value) for key, value in plain.items() if key not in OURS
    }
    if isinstance(actions := fields.get("next_action"), list):
        # The first one is the next action, and the others follow it.
        fields |= {"next_action": actions[0] if actions else None, "next_steps": actions[1:]}
    for key, inner in (("next_action", "text"), ("plan", "path")):
        if isinstance(fields.get(key), str):
            fields[key] = {inner: fields[key]}
    for key in ("decisions", "failed"):
        if isinstance(fields.get(key), list):
            fields[key] = [_parse_reason(each) for each in fields[key]]
    if isinstance(fields.get("files"), list):
        fields["files"] = [
            {"path": each} if isinstance(each, str) else each for each in fields["files"]
        ]
    _check_paths(fields)
    return fields


def _drop_nothing(value: object) -> object:
    """Remove the entries of a list that only say that it is empty."""
    if not isinstance(value, list):
        return value
    return [each for each in value if str(each).strip().lower() not in _NOTHING]


def _check_paths(fields: Mapping[str, Any]) -> None:
    for each in [*_as_list(fields.get("files")), fields.get("plan")]:
        path = each.get("path") if isinstance(each, dict) else None
        if isinstance(path, str) and not can_be_path(path):
            raise UsageError(f"{path[:60]!r} cannot be the path of a file.")


def _as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _parse_reason(each: object) -> object:
    """Read `what :: why`."""
    if not isinstance(each, str):
        return each
    what, why = split_reason(each)
    return {"what": what, "why": why}


# --- git, the current feature, the plan and the files ---


# A folder full of build output must not fill the checkpoint.
_DIRTY_LIMIT = 200
_MOST_WATCHED = 6
# An agent may write its transcript a moment before the file that it mentions.
_CLOCK_SLACK_SECONDS = 2.0


def place_of(project: Project) -> dict[str, Any]:
    """Return the project and the worktree, as keys of a checkpoint."""
    return {
        "project": query.printable(str(project.root)),
        "worktree": query.printable(str(project.worktree)),
    }


def read_git_state(project: Project, settings: Settings) -> dict[str, Any]:
    """Return the branch, HEAD, changed files and last commit, those that git knows.

    Files that leftoff mirrors do not count as changed: leftoff wrote them, not the user.
    """
    if not project.is_git:
        return {}
    seen: dict[str, Any] = {}
    state = query.read_state(project.worktree)
    if state is None:
        # If git cannot run, its files still show the branch.
        seen |= {
            "branch": query.find_current_branch(project.worktree),
            "head": query.find_head_sha(project.worktree),
        }
    else:
        seen |= {"branch": state.branch, "head": state.head}
        dirty = _drop_native([query.printable(path) for path in state.dirty], project, settings)
        seen["dirty"] = dirty[:_DIRTY_LIMIT]
        if state.last_commit is not None:
            seen["last_commit"] = to_plain(state.last_commit)
    return {key: value for key, value in seen.items() if value is not None}


def _drop_native(paths: list[str], project: Project, settings: Settings) -> list[str]:
    """Drop the mirrored files: leftoff writes them itself, so they are nobody's work."""
    if not settings.mirror:
        return paths
    is_native = profiles.natives_in(project, settings.mirror)
    return [path for path in paths if not is_native(path)]


def _find_git_state_at(
    seen: dict[str, Any], project: Project, moment: datetime | None, *, head: str, branch: str
) -> dict[str, Any]:
    """Return what is known about git at an earlier moment, when a session died.

    `head` and `branch` are what the session saw. If HEAD has moved since, nothing else is claimed.
    A file counts as changed only if it was changed before that moment.
    """
    is_moved = not head or seen.get("head") != head or branch not in {"", seen.get("branch")}
    if moment is None or is_moved:
        return {"head": head} if head else {}
    until = moment.timestamp() + _CLOCK_SLACK_SECONDS
    dirty = [
        path
        for path in seen.get("dirty", [])
        if locate_file(path, project.worktree).exists()
        and not is_modified_since(path, project.worktree, until)
    ]
    return {**seen, "dirty": dirty}


def read_feature(store: Store, settings: Settings, whose: Mapping[str, str]) -> dict[str, str]:
    """Return the feature or fix at hand, if the project has any."""
    if not (store.project.store / "features.json").exists():
        return {}
    loop = knowledge.features.load_loop(store, whose.get("session_id"))
    if loop is not None and loop.feature is not None:
        return {"feature": loop.feature}
    # claude-harness works on its features one after the other, with or without a loop.
    is_ordered = settings.follows("harness")
    first = knowledge.features.glance(store).active_feature if is_ordered else None
    return {"feature": first.id} if first else {}


def with_shell_edits(
    draft: Checkpoint, session: KnownSession | None, store: Store, settings: Settings
) -> Checkpoint:
    """Add the files that git shows as changed since the session began: tools do not show all."""
    project = store.project
    started = times.parse(session.facts.started_at, zone=None) if session else None
    if session is None or started is None:
        return draft
    began = started.timestamp()
    known = set(draft.files_modified)
    seen = _drop_native(draft.dirty, project, settings)
    unseen = [path for path in seen if path not in known and not _CACHED.search(f"/{path}")]
    changed = [path for path in unseen if is_modified_since(path, project.worktree, began)]
    if not changed or has_company(store, session):
        return draft
    others = _list_others_edits(store, session, started)
    mine = [path for path in changed if path not in others]
    return msgspec.structs.replace(draft, files_modified=[*draft.files_modified, *mine])


def _list_others_edits(store: Store, session: KnownSession, since: datetime) -> set[str]:
    """Return the files that other sessions have saved as theirs since this one began."""
    others = [
        entry
        for entry in store.index().newest(_MOST_SAVES)
        if entry.session_id not in {None, session.session_id} and entry.as_of >= since
    ]
    loaded = [store.load(entry) for entry in others if not entry.problem]
    return {path for each in loaded for path in each.files_modified}


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
    step, total = ticked or plans.step_of(read, draft.todos) or _guess_step(read, draft)
    filled = Plan(
        path=plan.path,
        title=plan.title or read.title,
        step=plan.step or step,
        total=plan.total or total,
        stage=plan.stage,
        extra=plan.extra,
    )
    return msgspec.structs.replace(draft, plan=filled)


def _guess_step(plan: PlanText, draft: Checkpoint) -> tuple[int | None, int | None]:
    """Return the step that the checkpoint's own words name, and the number of steps."""
    action = draft.next_action.text if draft.next_action else None
    texts = [text for text in (draft.left_off, action, draft.summary) if text]
    return plans.guess_step(plan, texts, draft.done), plan.total or None


def with_files(draft: Checkpoint, root: Path) -> Checkpoint:
    """Fingerprint the files that the checkpoint names, so that changes can be found later."""
    return _as_then(_watch_needed(_with_files_now(draft, root), root))


def _watch_needed(draft: Checkpoint, root: Path) -> Checkpoint:
    """Fingerprint the files that are only named as needed next."""
    action = draft.next_action.text if draft.next_action else ""
    known = {file.path for file in draft.files}
    needed = [path for path in draft.focus_files if path not in known][:_MOST_WATCHED]
    words = [word.strip("`'\".,;:!?()") for word in action.split()]
    # A word that is not an existing file may not be a path at all.
    named = [word for word in words if {".", "/"} & {*word} and locate_file(word, root).is_file()]
    paths = [*needed, *(path for path in named[:_MOST_WATCHED] if path not in known)]
    watched = fingerprints(paths, root, role=EXPECTED) if paths else []
    return msgspec.structs.replace(draft, watched=watched)


def _as_then(draft: Checkpoint) -> Checkpoint:
    """Remove the fingerprints of files that changed after a session died: they were different."""
    if draft.trigger != "recovered" or draft.as_of is None:
        return draft
    until = draft.as_of.timestamp() + _CLOCK_SLACK_SECONDS

    def forget_newer(file: FileRef) -> FileRef:
        if file.mtime is None or file.mtime <= until:
            return file
        return msgspec.structs.replace(file, size=None, mtime=None, sha256=None)

    files, watched = ([*map(forget_newer, each)] for each in (draft.files, draft.watched))
    return msgspec.structs.replace(draft, files=files, watched=watched)


def with_mentioned_files(draft: Checkpoint) -> Checkpoint:
    """Add the files that progress, next action, blockers and notes mention."""
    action = draft.next_action.text if draft.next_action else ""
    texts = [*draft.done, draft.left_off or "", action, *draft.blockers, *draft.notes]
    named = {file.path for file in draft.files} | {*draft.files_modified}
    named |= {draft.plan.path or ""} if draft.plan else set()
    found = list_mentioned(texts, besides=named)
    return msgspec.structs.replace(draft, files=[*draft.files, *found]) if found else draft


def _with_files_now(draft: Checkpoint, root: Path) -> Checkpoint:
    named = [*draft.files]
    known = {file.path for file in named}
    files = [
        msgspec.structs.replace(seen, role=file.role, extra=file.extra)
        for file in named
        for seen in fingerprints([file.path], root)
    ]
    known |= {file.path for file in files}
    gone = {*draft.files_deleted}
    modified = [path for path in draft.files_modified if path not in known]
    for role, paths in (
        ("modified", [path for path in modified if path not in gone]),
        (DELETED, [path for path in modified if path in gone]),
    ):
        files += fingerprints(paths, root, role=role) if paths else []
    if draft.plan is not None and draft.plan.path is not None and draft.plan.path not in known:
        refs = fingerprints([draft.plan.path], root, role="plan")
        files += [msgspec.structs.replace(ref, path=draft.plan.path) for ref in refs]
    # What exists now was made again, perhaps by somebody else.
    back = {file.path for file in files if file.role == DELETED and file.size is not None}
    deleted = [path for path in draft.files_deleted if path not in back]
    return msgspec.structs.replace(draft, files=files, files_deleted=deleted)


# --- what the settings exclude ---


def drop_unwanted(draft: Checkpoint, settings: config.Settings) -> Checkpoint:
    """Remove what the settings exclude from checkpoints."""
    if settings.next_action == "stated":
        draft = without_guess(draft)
    return _without_contents(draft) if settings.content == "paths" else draft


def without_guess(draft: Checkpoint) -> Checkpoint:
    """Remove a next action that nobody stated; questions and decisions stay."""
    if draft.next_action is None or draft.next_action.origin == "stated":
        return draft
    return msgspec.structs.replace(draft, next_action=None)


def _without_contents(draft: Checkpoint) -> Checkpoint:
    """Remove what was read from the artifacts; their paths stay."""
    if draft.plan is None or draft.plan.title is None:
        return draft
    return msgspec.structs.replace(draft, plan=msgspec.structs.replace(draft.plan, title=None))

"""Saving: from what was told and what can be seen to a checkpoint on disk."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from leftoff import (
    autosaving,
    config,
    git,
    paths,
    plans,
    profiles,
    sessionstate,
    stages,
    statusline,
)
from leftoff.checkpoint import (
    MANUAL,
    SCHEMA,
    Checkpoint,
    FileRef,
    Plan,
    bounded,
    encode,
    from_plain,
    to_plain,
)
from leftoff.errors import BelowQualityBar, Usage
from leftoff.fingerprints import can_be_path, fingerprints, located, modified_since, state_of
from leftoff.names import FORBIDDEN, RESERVED, checked_name, kebab, suggested_name, unused_name
from leftoff.quality import SOFT_CAP_BYTES, Finding, lint
from leftoff.redact import redact_value
from leftoff.sessions import KnownSession, checkpoint_of
from leftoff.store import Saved, Store
from leftoff.wal.place import place

# Given by the store or by the moment, never by the caller.
_OURS = ("schema", "id", "saved_at")
_DIRTY_LIMIT = 200


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """A save that is on disk, and what is to be said about it."""

    saved: Saved
    warnings: list[str]


def told_from(plain: object) -> dict[str, Any]:
    """Check what a caller told in canonical keys, and allow the short forms people write."""
    if not isinstance(plain, dict):
        raise Usage("The JSON must be an object with the keys of a checkpoint.", hint=_SCHEMA_HINT)
    told: dict[str, Any] = {
        key: _something(value) for key, value in plain.items() if key not in _OURS
    }
    for key, inner in (("next_action", "text"), ("plan", "path")):
        if isinstance(told.get(key), str):
            told[key] = {inner: told[key]}
    for key in ("decisions", "failed"):
        if isinstance(told.get(key), list):
            told[key] = [_reasoned(each) for each in told[key]]
    if isinstance(told.get("files"), list):
        told["files"] = [
            {"path": each} if isinstance(each, str) else each for each in told["files"]
        ]
    _check_paths(told)
    return told


_SCHEMA_HINT = "`leftoff schema` prints what it may hold."
# What people and agents write in a list that has nothing in it.
_NOTHING = frozenset({"", "-", "none", "none.", "n/a"})


def _something(value: object) -> object:
    """Leave out the entries of a list that say there are none."""
    if not isinstance(value, list):
        return value
    return [each for each in value if str(each).strip().lower() not in _NOTHING]


def _check_paths(told: Mapping[str, Any]) -> None:
    for each in [*_listed(told.get("files")), told.get("plan")]:
        path = each.get("path") if isinstance(each, dict) else None
        if isinstance(path, str) and not can_be_path(path):
            raise Usage(f"{path[:60]!r} cannot be the path of a file.")


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _reasoned(each: object) -> object:
    """Read `what :: why`."""
    if not isinstance(each, str):
        return each
    what, _, why = each.partition("::")
    return {"what": what.strip(), "why": why.strip()}


def compose(
    told: Mapping[str, Any],
    store: Store,
    *,
    session: KnownSession | None = None,
    with_plan: bool = True,
) -> Checkpoint:
    """Make a checkpoint: what was told beats what is seen, and that beats what a session says."""
    project = store.project
    told = {**stages.seen(project.worktree), **sessionstate.read(place(project)), **told}
    whose = _whose(session)
    plain = {"trigger": MANUAL, **_place(project), **whose, **_feature(store, whose), **told}
    if session is None or _is_here(session, project):
        plain = {**_git_state(project), **plain}
    if session is not None:
        plain = _joined(_learnt(store, session), plain)
    plain |= {"schema": SCHEMA, "id": "", "saved_at": store.now().isoformat()}
    try:
        draft = from_plain(plain, Checkpoint)
    except msgspec.ValidationError as error:
        raise Usage(f"This does not make a checkpoint: {error}", hint=_SCHEMA_HINT) from error
    draft = _with_shell_edits(draft, session, project)
    if with_plan:
        draft = _with_step(_with_found_plan(draft, project.worktree), project.worktree)
    return _with_files(draft, project.worktree)


def _place(project: paths.Project) -> dict[str, Any]:
    return {
        "project": git.printable(str(project.root)),
        "worktree": git.printable(str(project.worktree)),
    }


def _feature(store: Store, whose: Mapping[str, str]) -> dict[str, str]:
    """Tell the feature under way, where the project keeps any."""
    if not (store.project.store / "features.json").exists():
        return {}
    from leftoff import features  # noqa: PLC0415 - most projects keep none

    loop = features.loop(store, whose.get("session_id"))
    if loop is None or loop.feature is None or loop.status != "in_progress":
        return {}
    return {"feature": loop.feature}


def _whose(session: KnownSession | None) -> dict[str, Any]:
    """Tell whose state it is: the session's that is saved, or else the one's that runs us."""
    if session is not None:
        found = (session.agent, session.session_id)
    else:
        found = paths.agent_session() or ("", "")
    return {key: value for key, value in zip(("agent", "session_id"), found, strict=True) if value}


def _learnt(store: Store, session: KnownSession) -> dict[str, Any]:
    """Return what a session says of itself, as plain values without what is ours to set."""
    learnt = to_plain(checkpoint_of(store, session, trigger=MANUAL))
    return {key: value for key, value in learnt.items() if key not in {*_OURS, "trigger"}}


def _joined(learnt: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    """Let what was told come first; a step told without a plan is a step of the plan learnt."""
    joined = {**learnt, **told}
    if isinstance(told.get("plan"), dict) and isinstance(learnt.get("plan"), dict):
        joined["plan"] = {**learnt["plan"], **told["plan"]}
    return joined


def _is_here(session: KnownSession, project: paths.Project) -> bool:
    """Say whether the session worked in this worktree, so that git here speaks of its work."""
    cwd = session.facts.cwd
    return not cwd or Path(cwd).is_relative_to(project.worktree)


def _with_shell_edits(
    draft: Checkpoint, session: KnownSession | None, project: paths.Project
) -> Checkpoint:
    """Add the files that git sees changed since the session began: tools do not show them all."""
    if session is None or not session.facts.started_at:
        return draft
    try:
        began = datetime.fromisoformat(session.facts.started_at).timestamp()
    except ValueError:
        return draft
    known = set(draft.files_modified)
    is_native = profiles.natives_in(project, config.load(project).settings.mirror)
    unseen = [path for path in draft.dirty if path not in known and not is_native(path)]
    changed = [path for path in unseen if modified_since(path, project.worktree, began)]
    return msgspec.structs.replace(draft, files_modified=[*draft.files_modified, *changed])


def _with_found_plan(draft: Checkpoint, root: Path) -> Checkpoint:
    """Look for the plan in use where none was named; none is guessed without a match."""
    if draft.plan is not None and draft.plan.path is not None:
        return draft
    task = " ".join(text for text in (draft.summary, draft.intent) if text)
    title = draft.plan.title if draft.plan else None
    clues = plans.PlanClues(plans_folders=paths.plans_folders(), folder=root, task=title or task)
    found = plans.find_plan(clues)
    if found is None or found.path is None:
        return draft
    plan = msgspec.structs.replace(draft.plan or Plan(), path=found.path)
    return msgspec.structs.replace(draft, plan=plan)


def _git_state(project: paths.Project) -> dict[str, Any]:
    if not project.is_git:
        return {}
    seen: dict[str, Any] = {}
    state = git.read_state(project.worktree)
    if state is None:
        # Without a git to run, its files still tell the branch.
        seen |= {
            "branch": git.current_branch(project.worktree),
            "head": git.head_sha(project.worktree),
        }
    else:
        seen |= {"branch": state.branch, "head": state.head}
        seen["dirty"] = [git.printable(path) for path in state.dirty[:_DIRTY_LIMIT]]
        if state.last_commit is not None:
            seen["last_commit"] = to_plain(state.last_commit)
    return {key: value for key, value in seen.items() if value is not None}


def _with_step(draft: Checkpoint, root: Path) -> Checkpoint:
    plan = draft.plan
    if plan is None or plan.path is None:
        return draft
    read = plans.read_plan(located(plan.path, root))
    if read is None:
        return draft
    # A plan that someone ticks off tells its own step better than the agent's todos.
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


def _with_files(draft: Checkpoint, root: Path) -> Checkpoint:
    """Fingerprint what the checkpoint names, so that a change can be told later."""
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


def fitted(draft: Checkpoint, settings: config.Settings) -> Checkpoint:
    """Leave out what the settings do not want kept."""
    if settings.next_action == "stated":
        draft = without_guess(draft)
    return without_contents(draft) if settings.content == "paths" else draft


def without_guess(draft: Checkpoint) -> Checkpoint:
    """Drop a next action that nobody stated; questions and decisions stay."""
    if draft.next_action is None or draft.next_action.origin == "stated":
        return draft
    return msgspec.structs.replace(draft, next_action=None)


def without_contents(draft: Checkpoint) -> Checkpoint:
    """Drop what was read from the artifacts; their paths stay."""
    if draft.plan is None or draft.plan.title is None:
        return draft
    return msgspec.structs.replace(draft, plan=msgspec.structs.replace(draft.plan, title=None))


def refresh(store: Store, checkpoint: Checkpoint) -> Saved:
    """Save a checkpoint anew as things stand now: git, and the files and the plan it names.

    What is gone is no longer claimed to be there; a note tells of it.
    """
    root = store.project.worktree
    plan = checkpoint.plan
    planned = [plan.path] if plan and plan.path else []
    named = [*(file.path for file in checkpoint.files), *checkpoint.files_modified, *planned]
    gone = {path for path in named if state_of(FileRef(path=path), root) == "missing"}
    seen = {**to_plain(checkpoint), **_place(store.project), **_git_state(store.project)}
    unread = msgspec.structs.replace(plan, step=None, total=None) if plan else None
    draft = msgspec.structs.replace(
        from_plain(seen, Checkpoint),
        source=None,
        files=[file for file in checkpoint.files if file.path not in gone],
        files_modified=[path for path in checkpoint.files_modified if path not in gone],
        plan=None if gone.intersection(planned) else unread,
        notes=[*checkpoint.notes, *(f"Gone when it was refreshed: {path}" for path in gone)],
    )
    kept, _ = bounded(redact_value(_with_files(_with_step(draft, root), root)))
    return store.save(kept, overwrite=True)


_DAY = re.compile(r"### Day (\d+) \((\d{4}-\d{2}-\d{2})\)")


def append_day(draft: Checkpoint, store: Store, name: str) -> Checkpoint:
    """Put what was done today after what earlier days did, under a heading for each day.

    It is the same task, and what was decided and what failed in it still holds.
    """
    earlier = store.index().head(checked_name(name))
    if earlier is None or earlier.problem is not None:
        return draft
    before = store.load(earlier)
    done = before.done
    if not any(_DAY.fullmatch(each) for each in done):
        done = [_day(1, earlier.saved_at), *done]
    dates = [found[2] for each in done if (found := _DAY.fullmatch(each))]
    today = _day(len(dates) + 1, store.now())
    heading = [] if f"({dates[-1]})" in today else [today]
    return msgspec.structs.replace(
        draft,
        summary=draft.summary or before.summary,
        done=[*done, *heading, *draft.done],
        decisions=[
            *(each for each in before.decisions if each not in draft.decisions),
            *draft.decisions,
        ],
        failed=[*(each for each in before.failed if each not in draft.failed), *draft.failed],
    )


def _day(number: int, moment: datetime) -> str:
    return f"### Day {number} ({moment.astimezone():%Y-%m-%d})"


def name_for(draft: Checkpoint, store: Store, *, may_revise: bool = False) -> str:
    """Suggest a name of two to four words that is not taken yet.

    Where a name in use may be revised, work on a plan that has a name goes by that.
    """
    plan = draft.plan
    if may_revise and plan is not None and plan.title and plan.path is None:
        name = kebab(plan.title)
        if name and name not in FORBIDDEN | RESERVED:
            return name
    action = draft.next_action.text if draft.next_action else None
    name = suggested_name([draft.summary, draft.intent, draft.left_off, action], draft.branch)
    return unused_name(name, store.index().names_like(name))


def save(
    store: Store, draft: Checkpoint, *, name: str, overwrite: bool = False, strict: bool = False
) -> Outcome:
    """Put a checkpoint on disk under a name, with warnings for what is weak in it."""
    named = msgspec.structs.replace(draft, name=checked_name(name, strict=strict))
    kept, cut = bounded(redact_value(named))
    findings = lint(kept, store.project.worktree)
    if strict and findings:
        raise refused(findings)
    saved = store.save(kept, overwrite=overwrite)
    lessons = autosaving.lessons(store, saved.checkpoint)
    if kept.session_id:
        at = saved.checkpoint.saved_at.timestamp()
        statusline.tell_saved(str(paths.state_folder()), kept.session_id, kept.name or "", at)
    return Outcome(saved=saved, warnings=[*_warnings(saved, findings, cut), *lessons])


def refused(
    findings: Sequence[Finding], *, hint: str = "Say more, or save without --strict."
) -> BelowQualityBar:
    """Say which rules of the quality bar are broken."""
    rules = ", ".join(dict.fromkeys(finding.rule for finding in findings))
    return BelowQualityBar(
        f"The checkpoint is below the quality bar: {rules}",
        findings=[finding.message for finding in findings],
        hint=hint,
    )


def _warnings(saved: Saved, findings: Sequence[Finding], cut: Sequence[str]) -> list[str]:
    warnings = [finding.message for finding in findings]
    warnings += cut
    size = len(encode(saved.checkpoint))
    if size > SOFT_CAP_BYTES:
        warnings.append(f"exceeds 4 KB soft cap ({size} bytes) {saved.path}")
    if saved.notice is not None:
        warnings.append(saved.notice)
    return warnings

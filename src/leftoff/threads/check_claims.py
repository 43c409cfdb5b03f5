"""Choose the checkpoint to resume, and check what has changed since it was saved."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from shlex import quote
from typing import Any

import msgspec

from leftoff.checkpoint import Checkpoint, Commit
from leftoff.errors import ChoiceNeeded, LeftoffError
from leftoff.fingerprints import FileState, locate_file, state_of
from leftoff.git import query
from leftoff.projects.project import Project, is_inside, list_folders, read_start
from leftoff.store import LISTED, CheckpointEntry, State, Store
from leftoff.text.fence import Rendered, say

_TEXT_LIMIT = 16_000
# UTF-8 takes up to four bytes for a character.
_TEXT_BYTES = 4 * _TEXT_LIMIT + 4
_CHOICES = 20
_MOST_HEADS = 1_000_000


class BranchCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The branch at the save and now."""

    saved: str | None
    now: str | None
    same: bool
    is_gone: bool = False
    """Whether the branch at the save no longer exists."""


class HeadCheck(msgspec.Struct, frozen=True, kw_only=True):
    """HEAD at the save and now; `commits_since` is None if the saved one is not an ancestor.

    On another branch, the commits are those of the branch that the work was saved on, which
    `branch` then names.
    """

    saved: str | None
    now: str | None
    commits_since: int | None
    commits: list[Commit] = []
    diverged: bool = False
    branch: str | None = None


class FileCheck(msgspec.Struct, frozen=True, kw_only=True):
    """A file that the checkpoint names, and whether it has changed."""

    path: str
    state: FileState


class PlanCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The plan file now, with its text, so that the next session need not look for it."""

    path: str
    state: FileState
    step: int | None = None
    total: int | None = None
    text: str | None = None


class ArtifactCheck(msgspec.Struct, frozen=True, kw_only=True):
    """A file that the work is about, under its name in the checkpoint."""

    name: str
    path: str
    is_there: bool


class Checks(msgspec.Struct, frozen=True, kw_only=True):
    """The result for every claim of a checkpoint that can be checked."""

    age_seconds: int
    branch: BranchCheck
    head: HeadCheck
    files: list[FileCheck] = []
    plan: PlanCheck | None = None
    artifacts: list[ArtifactCheck] = []
    worktree: str | None = None
    """The worktree it was saved in, if that is another one."""

    @property
    def is_stale(self) -> bool:
        """Whether anything that the checkpoint relies on has changed."""
        return (
            not self.branch.same
            or self.head.commits_since != 0
            or any(file.state != "same" for file in self.files)
            or (self.plan is not None and self.plan.state != "same")
        )


def check(checkpoint: Checkpoint, project: Project, now: datetime) -> Checks:
    """Compare a checkpoint with the current worktree."""
    root = project.worktree
    plan_path = checkpoint.plan.path if checkpoint.plan else None
    branch = _check_branch(checkpoint, project)
    return Checks(
        age_seconds=max(0, int((now - checkpoint.described_at).total_seconds())),
        branch=branch,
        head=_check_head(checkpoint, project, branch),
        files=[
            FileCheck(path=file.path, state=state_of(file, root))
            for file in checkpoint.files
            # The plan has a check of its own.
            if file.path != plan_path
        ],
        plan=_check_plan(checkpoint, project),
        artifacts=[
            ArtifactCheck(name=name, path=path, is_there=_is_file(path, root))
            for name, path in checkpoint.artifacts.items()
        ],
        worktree=None
        if is_here(checkpoint.worktree, checkpoint.branch, project)
        else checkpoint.worktree,
    )


def is_here(worktree: str | None, branch: str | None, project: Project) -> bool:
    """Return whether something was saved in this worktree, whatever its path was then.

    A plain folder is its whole project. In a repository, a checkpoint without a branch whose
    worktree does not exist was saved before `git init`.
    """
    if worktree in {None, query.printable(str(project.worktree))} or not project.is_git:
        return True
    if branch is not None:
        return False
    return worktree not in {query.printable(str(each)) for each in list_folders(project)}


def _check_branch(checkpoint: Checkpoint, project: Project) -> BranchCheck:
    now = query.current_branch(project.worktree) if project.is_git else None
    # A detached HEAD, or a folder without git, has no branch to compare.
    same = checkpoint.branch is None or checkpoint.branch == now
    is_gone = not same and query.is_branch_gone(project.worktree, checkpoint.branch or "")
    return BranchCheck(saved=checkpoint.branch, now=now, same=same, is_gone=is_gone)


def _check_head(checkpoint: Checkpoint, project: Project, branch: BranchCheck) -> HeadCheck:
    now = query.head_sha(project.worktree) if project.is_git else None
    saved = checkpoint.head
    if saved is None or now is None or saved == now:
        return HeadCheck(saved=saved, now=now, commits_since=0)
    since = query.commits_since(project.worktree, saved)
    if not branch.same and not since.known:
        return _check_other_branch(project.worktree, saved, now, branch.saved or "")
    # If git cannot run, nothing is known, and nothing may be claimed.
    is_known = since.known or since.diverged or query.read_state(project.worktree) is not None
    return HeadCheck(
        saved=saved,
        now=now,
        commits_since=since.count if since.known else None,
        commits=since.subjects if since.known else [],
        diverged=is_known and not since.known,
    )


def _check_other_branch(worktree: Path, saved: str, now: str, branch: str) -> HeadCheck:
    """Compare with the branch that the work was saved on: checking out another rewrites nothing."""
    tip = f"refs/heads/{branch}"
    since = query.commits_since(worktree, saved, until=tip)
    is_rewritten = since.diverged
    if not since.known and not since.diverged:
        # Either the branch or the saved commit is gone.
        to_tip = query.commits_since(worktree, now, until=tip)
        is_rewritten = to_tip.known or to_tip.diverged
    return HeadCheck(
        saved=saved,
        now=now,
        commits_since=since.count if since.known else None,
        commits=since.subjects if since.known else [],
        diverged=is_rewritten,
        branch=branch,
    )


def _check_plan(checkpoint: Checkpoint, project: Project) -> PlanCheck | None:
    plan = checkpoint.plan
    if plan is None or plan.path is None:
        return None
    saved = next((file for file in checkpoint.files if file.path == plan.path), None)
    root = project.worktree
    text = read_text(locate_file(plan.path, root), project)
    state: FileState = "same" if _is_file(plan.path, root) else "missing"
    if saved is not None:
        state = state_of(saved, root)
    return PlanCheck(path=plan.path, state=state, step=plan.step, total=plan.total, text=text)


def _is_file(path: str, root: Path) -> bool:
    try:
        return locate_file(path, root).is_file()
    except (OSError, ValueError):
        return False


def read_text(path: Path, project: Project, also: Sequence[Path] = ()) -> str | None:
    """Return the text of a file, up to a limit; None if it cannot be read.

    A checkpoint may come from someone else, in a repository that was unpacked with its `.git`. So
    only the project's own files are read, plans in the folders of agents, and `also` what is in the
    folders of systems that the user chose.
    """
    folders = [
        *also,
        project.worktree,
        project.root,
        project.store,
        *project.environment.list_plans_folders(),
    ]
    try:
        if not is_inside(path, folders):
            return None
        text = read_start(path, _TEXT_BYTES, follow=True).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None
    # Cut at the end of a line, so that no half sentence looks complete.
    if len(text) > _TEXT_LIMIT:
        text = text[:_TEXT_LIMIT].rpartition("\n")[0] + "\n…"
    return text


def newest(store: Store, *, prefers_saved: bool = False) -> CheckpointEntry | None:
    """Return the newest checkpoint that can be read."""
    entries = store.index().heads([*LISTED], _CHOICES)
    found = [entry for entry in entries if not entry.problem]
    return next(iter(prefer_saved(store, found) if prefers_saved else found), None)


def newest_of_plan(store: Store, plan: str) -> CheckpointEntry | None:
    """Return the newest checkpoint that belongs to a plan, by the plan's name or file."""
    for entry in store.index().heads([*LISTED], _MOST_HEADS):
        if not entry.problem and _is_of_plan(store.load(entry), plan):
            return entry
    return None


def _is_of_plan(checkpoint: Checkpoint, plan: str) -> bool:
    named = checkpoint.plan
    return named is not None and plan in {named.title, named.path}


def candidates(store: Store) -> list[CheckpointEntry]:
    """Return what can be resumed: open work, or if there is none, declined work.

    Work of this worktree comes first, then of this branch, then the newest.
    """
    entries = _readable(store, ["open", "resumed"]) or _readable(store, ["declined"])
    project = store.project
    branch = query.current_branch(project.worktree) if project.is_git else None

    here = query.printable(str(project.worktree))

    def nearness(entry: CheckpointEntry) -> tuple[bool, bool]:
        return entry.worktree == here, entry.branch == branch

    return sorted(entries, key=nearness, reverse=True)


def _readable(store: Store, states: list[State]) -> list[CheckpointEntry]:
    # A checkpoint that cannot be read must not keep the others from being resumed.
    return [entry for entry in store.index().heads(states, _CHOICES) if not entry.problem]


def prefer_saved(store: Store, entries: Sequence[CheckpointEntry]) -> Sequence[CheckpointEntry]:
    """Return the work that somebody saved on purpose; autosaves only if there is nothing else."""
    find = store.index().find_purposeful
    saved = [each for each in entries if not each.is_autosave or find(each.slot) is not None]
    return saved or entries


def choose(store: Store, key: str | None, *, prefers_saved: bool = False) -> CheckpointEntry | None:
    """Return the checkpoint to resume: the one named, or the only one; several are a choice."""
    if key is not None:
        return store.find(key)
    found = candidates(store)
    found = [*prefer_saved(store, found)] if prefers_saved else found
    if len(found) > 1:
        raise several(found)
    return found[0] if found else None


def several(entries: Sequence[CheckpointEntry]) -> LeftoffError:
    """Build the error for several candidates, with what a person needs to choose."""
    return ChoiceNeeded(
        f"There are {len(entries)} pieces of work to resume.",
        question="Which one do you want to resume?",
        choices=[_choice(entry) for entry in entries],
        hint="Name one: `leftoff resume NAME`.",
    )


def _choice(entry: CheckpointEntry) -> dict[str, Any]:
    key = entry.name or entry.id
    return {
        "choice": key,
        "label": entry.name or entry.task or entry.id,
        "command": f"leftoff resume {quote(key)}",
        "id": entry.id,
        "branch": entry.branch,
        "worktree": entry.worktree,
        "saved_at": entry.as_of.isoformat(),
        "agent": entry.agent,
        "summary": entry.task,
        "next_action": entry.next_action,
    }


# Pending checkpoints


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """Something that could be restored, with what sets it apart from the others."""

    key: str
    task: str
    saved_at: datetime
    written_at: datetime | None = None
    """When the file that shows it was last written, if files count."""
    branch: str | None = None
    session_id: str | None = None
    is_pending: bool = False
    """Whether it was left for a session that has not started yet."""
    is_automatic: bool = False

    @property
    def moment(self) -> datetime:
        """When it was last written, which decides what is newest."""
        return self.written_at or self.saved_at


class Pick(msgspec.Struct, frozen=True, kw_only=True):
    """What to restore: one, or several that a person must choose from."""

    chosen: Candidate | None = None
    among: Sequence[Candidate] = ()
    is_foreign: bool = False
    """Whether it was left for another session."""
    doubt: Rendered = say("")
    """Why it may not be the one that the user wants."""


# Of tasks saved closer together than this, any may be the one that the user means.
_AMBIGUOUS = timedelta(hours=4)
_STALE = timedelta(days=1)
_MOST_LISTED = 10


def pick(candidates: Sequence[Candidate], *, session_id: str | None) -> Pick | None:
    """Pick what is pending: this session's own, or the only other one; None if nothing is."""
    pending = [each for each in candidates if each.is_pending]
    own = [each for each in pending if session_id is not None and each.session_id == session_id]
    if own:
        return Pick(chosen=max(own, key=lambda each: each.moment))
    if len(pending) == 1:
        return Pick(chosen=pending[0], is_foreign=True)
    return Pick(among=pending) if pending else None


def pick_newest(
    candidates: Sequence[Candidate],
    *,
    now: datetime,
    task: str | None = None,
    may_ask: bool = True,
) -> Pick:
    """Pick the newest; several tasks at about the same time are a choice, unless one was offered.

    A checkpoint saved by name beats an autosave of the same task on the same day.
    """
    told = {_day(each) for each in candidates if not each.is_automatic}
    left = [each for each in candidates if not each.is_automatic or _day(each) not in told]
    ordered = sorted(left, key=lambda each: each.moment, reverse=True)
    if not ordered:
        return Pick()
    newest = ordered[0]
    # From old to new, so that the newest candidate of each task stays in the dict.
    recent = {
        each.task: each for each in reversed(ordered) if newest.moment - each.moment <= _AMBIGUOUS
    }
    if may_ask and len(recent) > 1 and task not in recent:
        return Pick(among=[*reversed(recent.values())][:_MOST_LISTED])
    chosen = recent.get(task or "", newest)
    return Pick(chosen=chosen, doubt=_doubt(chosen, now, task))


def _day(candidate: Candidate) -> tuple[str, str]:
    return f"{candidate.saved_at.astimezone():%Y-%m-%d}", candidate.task


def _doubt(chosen: Candidate, now: datetime, task: str | None) -> Rendered:
    if task is not None and chosen.task != task:
        return say(
            "The newest checkpoint is about {saved:100}, the newest session about {noted:100}.",
            saved=chosen.task,
            noted=task,
        )
    days = (now - chosen.moment) // _STALE
    return say("The newest checkpoint is {days} day(s) old.", days=days) if days > 0 else say("")

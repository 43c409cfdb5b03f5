"""Choose the checkpoint to resume, and check what has changed since it was saved."""

from collections.abc import Collection, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from leftoff import session, snapshots
from leftoff.checkpoint import Checkpoint, Commit
from leftoff.errors import ChoiceNeeded, LeftoffError
from leftoff.fingerprints import FileState, locate_file, state_of
from leftoff.git import query
from leftoff.profiles import TIDY_SUBJECT
from leftoff.projects.project import Project, is_inside, list_folders, read_start
from leftoff.store import LISTED, CheckpointEntry, State, Store
from leftoff.store.index_sync import slot_of
from leftoff.text.fence import quote_key

if TYPE_CHECKING:
    from leftoff.snapshots.lost_files import LostFiles

_TEXT_LIMIT = 16_000
# UTF-8 takes up to four bytes for a character.
_TEXT_BYTES = 4 * _TEXT_LIMIT + 4
_CHOICES = 20
_MOST_HEADS = 1_000_000
_SHIP = "ship"
# The length to which git shortens a commit.
_SHORT = 7


class BranchCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The branch at the save and now."""

    saved: str | None
    now: str | None
    same: bool
    is_gone: bool = False
    """Whether this repository does not have the branch at the save; it may never have had it."""


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


class LostCodeCheck(msgspec.Struct, frozen=True, kw_only=True):
    """Uncommitted code of the thread that only a snapshot still has."""

    snapshot: str
    paths: list[str]
    command: str
    """The command that brings it back."""
    worktree: str | None = None
    """The worktree that it was in, if that is gone."""


class ShippedCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The commit that holds what a ship saved, and the files that it left out."""

    commit: Commit
    left_out: list[str] = []


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
    worktree_is_gone: bool = False
    """Whether that worktree no longer exists."""
    lost_code: LostCodeCheck | None = None
    shipped: ShippedCheck | None = None
    """A ship saves first and commits then; its commit is where the work stands, not a change."""

    def describe_shipped(self, checkpoint: Checkpoint) -> Checkpoint:
        """Return a checkpoint as it was once the ship that saved it had committed."""
        if self.shipped is None:
            return checkpoint
        return msgspec.structs.replace(
            checkpoint, last_commit=self.shipped.commit, dirty=self.shipped.left_out
        )

    @property
    def is_stale(self) -> bool:
        """Whether anything that the checkpoint relies on has changed."""
        return (
            not self.branch.same
            or self.head.commits_since != 0
            or any(file.state != "same" for file in self.files)
            or (self.plan is not None and self.plan.state != "same")
            or self.lost_code is not None
        )

    @property
    def has_changes(self) -> bool:
        """Whether there is something to say about what changed since the save."""
        return self.is_stale or self.worktree is not None


def check_stored(checkpoint: Checkpoint, store: Store, project: Project | None = None) -> Checks:
    """Compare a checkpoint with a worktree, and with the code of all sessions of its thread."""
    here = project or store.project
    # An imported checkpoint has no thread until it is saved again.
    revisions = store.index().revisions(slot_of(checkpoint)) if here.has_snapshots else []
    sessions = {each.session_id for each in revisions}
    return check(checkpoint, here, store.now(), sessions=sessions)


def check(
    checkpoint: Checkpoint,
    project: Project,
    now: datetime,
    *,
    sessions: Collection[str | None] = (),
) -> Checks:
    """Compare a checkpoint with the current worktree; `sessions` are others of its thread."""
    root = project.worktree
    plan_path = checkpoint.plan.path if checkpoint.plan else None
    branch = _check_branch(checkpoint, project)
    is_saved_here = is_here(checkpoint.worktree, checkpoint.branch, project)
    head, shipped = _skip_shipped(checkpoint, project, _check_head(checkpoint, project, branch))
    return Checks(
        age_seconds=max(0, int((now - checkpoint.described_at).total_seconds())),
        branch=branch,
        head=head,
        files=[
            FileCheck(path=file.path, state=state_of(file, root))
            for file in (*checkpoint.files, *checkpoint.watched)
            # The plan has a check of its own.
            if file.path != plan_path
        ],
        plan=_check_plan(checkpoint, project),
        artifacts=[
            ArtifactCheck(name=name, path=path, is_there=_is_file(path, root))
            for name, path in checkpoint.artifacts.items()
        ],
        worktree=None if is_saved_here else checkpoint.worktree,
        worktree_is_gone=not is_saved_here and is_removed(checkpoint.worktree, project),
        lost_code=_check_code(checkpoint, project, sessions),
        shipped=shipped,
    )


def _check_code(
    checkpoint: Checkpoint, project: Project, sessions: Collection[str | None]
) -> LostCodeCheck | None:
    """Return the uncommitted code of the thread that is gone; most projects have no snapshots."""
    if not project.has_snapshots:
        return None
    lost: LostFiles | None = snapshots.lost_files.find_lost_of(
        project, slot_of(checkpoint), {checkpoint.session_id, *sessions}
    )
    if lost is None:
        return None
    paths = [query.printable(each) for each in lost.paths]
    return LostCodeCheck(
        snapshot=lost.snapshot, paths=paths, command=lost.command, worktree=lost.worktree
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


def is_removed(worktree: str | None, project: Project) -> bool:
    """Return whether the worktree that something was saved in no longer exists."""
    if worktree is None or not project.is_git:
        return False
    # The folder may be that of another clone, from which a checkpoint was imported.
    folders = [*list_folders(project), Path(worktree)]
    return worktree not in {query.printable(str(each)) for each in folders if each.is_dir()}


def _check_branch(checkpoint: Checkpoint, project: Project) -> BranchCheck:
    now = query.find_current_branch(project.worktree) if project.is_git else None
    saved = checkpoint.branch
    if saved is None:
        # Without git there is no branch; on a detached HEAD the commit is used instead.
        commit = checkpoint.head[:_SHORT] if checkpoint.head and now is not None else None
        return BranchCheck(saved=commit, now=now, same=commit is None)
    if now is None and project.is_git:
        now = (query.find_head_sha(project.worktree) or "")[:_SHORT] or None
    same = saved == now
    is_gone = not same and query.is_branch_gone(project.worktree, saved)
    return BranchCheck(saved=saved, now=now, same=same, is_gone=is_gone)


def _check_head(checkpoint: Checkpoint, project: Project, branch: BranchCheck) -> HeadCheck:
    now = query.find_head_sha(project.worktree) if project.is_git else None
    saved = checkpoint.head
    if saved is None or now is None or saved == now:
        return HeadCheck(saved=saved, now=now, commits_since=0)
    since = query.read_commits_since(project.worktree, saved)
    if checkpoint.branch is not None and not branch.same and not since.known:
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


def _skip_shipped(
    checkpoint: Checkpoint, project: Project, head: HeadCheck
) -> tuple[HeadCheck, ShippedCheck | None]:
    """Count the commits from the one that a ship made of what it saved, if that came first."""
    is_whole = bool(head.commits) and head.commits_since == len(head.commits)
    if checkpoint.trigger != _SHIP or not is_whole or head.branch is not None:
        return head, None
    *later, made = head.commits
    changed = query.list_changed_paths(project.worktree, head.saved or "", made.sha)
    committed = {query.printable(each) for each in changed}
    left_out = [each for each in checkpoint.dirty if each not in committed]
    if len(left_out) == len(checkpoint.dirty):
        return head, None
    base = later.pop() if later and later[-1].subject == TIDY_SUBJECT else made
    moved = msgspec.structs.replace(
        head, saved=base.sha, commits_since=len(later), commits=[*later]
    )
    return moved, ShippedCheck(commit=made, left_out=left_out)


def _check_other_branch(worktree: Path, saved: str, now: str, branch: str) -> HeadCheck:
    """Compare with the branch that the work was saved on: checking out another rewrites nothing."""
    tip = f"refs/heads/{branch}"
    since = query.read_commits_since(worktree, saved, until=tip)
    is_rewritten = since.diverged
    if not since.known and not since.diverged:
        # Either the branch or the saved commit is gone.
        to_tip = query.read_commits_since(worktree, now, until=tip)
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


def find_newest(store: Store, *, prefers_saved: bool = False) -> CheckpointEntry | None:
    """Return the newest checkpoint that can be read."""
    if prefers_saved:
        return find_latest(store, _list_readable(store, [*LISTED], _MOST_HEADS))
    return next(iter(_list_readable(store, [*LISTED])), None)


def find_newest_of_plan(store: Store, plan: str) -> CheckpointEntry | None:
    """Return the newest checkpoint that belongs to a plan, by the plan's name or file."""
    for entry in store.index().heads([*LISTED], _MOST_HEADS):
        if not entry.problem and _is_of_plan(store.load(entry), plan):
            return entry
    return None


def _is_of_plan(checkpoint: Checkpoint, plan: str) -> bool:
    named = checkpoint.plan
    return named is not None and plan in {named.title, named.path}


def list_candidates(store: Store, *, limit: int = _CHOICES) -> list[CheckpointEntry]:
    """Return what can be resumed: open work, or if there is none, declined work.

    Work of this worktree comes first, then of this branch, then the newest.
    """
    entries = _list_readable(store, ["open", "resumed"], limit) or _list_readable(
        store, ["declined"], limit
    )
    entries = session.running_work.date_by_activity(store, entries)
    return [entry for _, entry in sort_by_nearness(entries, store.project)]


ELSEWHERE = 3
"""How far away work of another worktree and branch is."""


def sort_by_nearness(
    entries: Sequence[CheckpointEntry], project: Project
) -> list[tuple[int, CheckpointEntry]]:
    """Sort work by how near it is: this worktree and branch, this worktree, this branch, elsewhere.

    What is equally near keeps its order.
    """
    if not project.is_git:
        return [(0, entry) for entry in entries]
    branch = query.find_current_branch(project.worktree)
    folders = {query.printable(str(each)) for each in list_folders(project)}

    def rank(entry: CheckpointEntry) -> int:
        is_same_branch = branch is not None and entry.branch == branch
        is_near = is_here(entry.worktree, entry.branch, project)
        # The worktree was removed, so its branch is all that says where the work belongs.
        is_moved_here = is_same_branch and entry.worktree not in folders
        if is_moved_here or (is_near and (is_same_branch or None in {branch, entry.branch})):
            return 0
        if is_near:
            return 1
        return 2 if is_same_branch else ELSEWHERE

    ranked = [(rank(entry), entry) for entry in entries]
    return sorted(ranked, key=lambda pair: pair[0])


def _list_readable(
    store: Store, states: list[State], limit: int = _CHOICES
) -> list[CheckpointEntry]:
    # A checkpoint that cannot be read must not keep the others from being resumed.
    return [entry for entry in store.index().heads(states, limit) if not entry.problem]


def list_saved(store: Store, entries: Sequence[CheckpointEntry]) -> list[CheckpointEntry]:
    """Return the work that somebody saved on purpose."""
    find = store.index().find_purposeful
    return [each for each in entries if not each.is_autosave or find(each.slot) is not None]


def prefer_saved(store: Store, entries: Sequence[CheckpointEntry]) -> Sequence[CheckpointEntry]:
    """Return the work that somebody saved on purpose; autosaves only if there is nothing else."""
    return list_saved(store, entries) or entries


def find_latest(store: Store, entries: Sequence[CheckpointEntry]) -> CheckpointEntry | None:
    """Return the work that was last saved on purpose, whatever was saved automatically since."""
    find = store.index().find_purposeful

    def saved_at(entry: CheckpointEntry) -> datetime:
        saved = find(entry.slot) if entry.is_autosave else None
        return saved.saved_at if saved is not None else entry.saved_at

    return max(prefer_saved(store, entries), key=saved_at, default=None)


Offers = Literal["all", "saved", "latest"]


def choose(store: Store, key: str | None, *, offers: Offers = "all") -> CheckpointEntry | None:
    """Return the checkpoint to resume: the one named, or the only one; several are a choice.

    Some systems know only what was saved on purpose, and some only the latest of it.
    """
    if key is not None:
        return store.find(key)
    found = list_candidates(store, limit=_CHOICES if offers == "all" else _MOST_HEADS)
    if offers == "latest":
        here = [each for each in found if is_here(each.worktree, each.branch, store.project)]
        return find_latest(store, here or found)
    found = list_saved(store, found) if offers == "saved" else found
    if len(found) > 1:
        raise build_choice_error(found)
    return found[0] if found else None


def build_choice_error(entries: Sequence[CheckpointEntry]) -> LeftoffError:
    """Build the error for several candidates, with what a person needs to choose."""
    return ChoiceNeeded(
        f"{len(entries)} threads can be resumed.",
        question="Which one do you want to resume?",
        choices=[_build_choice(entry) for entry in entries],
        hint="Name one: `leftoff resume NAME`.",
    )


def _build_choice(entry: CheckpointEntry) -> dict[str, Any]:
    key = entry.name or entry.id
    return {
        "choice": key,
        "label": entry.name or entry.task or entry.id,
        "command": f"leftoff resume {quote_key(entry.name, entry.id)}",
        "id": entry.id,
        "branch": entry.branch,
        "worktree": entry.worktree,
        "saved_at": entry.as_of.isoformat(),
        "agent": entry.agent,
        "summary": entry.task,
        "next_action": entry.next_action,
    }

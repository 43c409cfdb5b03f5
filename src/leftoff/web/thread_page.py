"""The page of one thread: its state, its briefing, its history and the ways to continue it."""

import contextlib
import itertools
import shlex
from collections.abc import Sequence
from typing import Any

import msgspec
from starlette.requests import Request

from leftoff.agents.registry import AGENTS
from leftoff.checkpoint import Checkpoint
from leftoff.errors import LeftoffError, NoSuchCheckpoint
from leftoff.projects.project import find_own_folder
from leftoff.session import sessions
from leftoff.snapshots.shelf import Snapshot, describe_reason, list_snapshots
from leftoff.store import CheckpointEntry, StoreEvent
from leftoff.text.budget import estimate
from leftoff.text.fence import quote_key
from leftoff.web import timeline
from leftoff.web.changes_part import check_where_left_off, describe_changes, join_changes
from leftoff.web.context_curve import draw_curve
from leftoff.web.describe_acts import find_redoable, find_undoable
from leftoff.web.diff_view import describe_diff
from leftoff.web.site import Site
from leftoff.wiring.agent_wirings import WIRINGS
from leftoff.workspace import Workspace

# A thread that was saved every few minutes for a month has more; they would all look the same.
_MOST_REVISIONS = 200
_MOST_SNAPSHOTS = 60
VIEWS = {"person": "For you", "agent": "For an agent"}


class ResumeCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A command line that continues the thread."""

    title: str
    command: str
    folder: str

    @property
    def full(self) -> str:
        """The command, as it works in any folder."""
        return f"cd {shlex.quote(self.folder)} && {self.command}"


def show(request: Request, site: Site) -> dict[str, Any]:
    """Collect everything about a thread; `a` and `b` name two revisions to compare."""
    given = request.query_params
    home = site.find_project(given.get("project"))
    with site.open(home) as work:
        head = _find_head(work, given.get("id", ""))
        revisions = work.store.index().revisions(head.slot)
        shown = revisions[:_MOST_REVISIONS]
        checkpoint, loaded = work.store.load(head), _load_all(work, shown)
        checks = check_where_left_off(site, home, checkpoint)
        taken = _list_snapshots(work, head.slot)
        line = timeline.lay_out(
            timeline.collect_marks(shown, _list_events(work, shown), loaded, taken)
        )
        briefing = str(work.render_briefing(checkpoint, checks, budget=work.settings.budget))
        return {
            "home": home,
            "head": head,
            "checkpoint": checkpoint,
            "checks": checks,
            "changes": join_changes(describe_changes(checks)),
            "revisions": shown,
            "more": len(revisions) - len(shown),
            "line": line,
            "kinds": {mark.kind for mark in line.marks},
            "curve": draw_curve(loaded, line.places, work.settings),
            "snapshots": taken,
            "describe_reason": describe_reason,
            "briefing": briefing,
            "tokens": estimate(briefing),
            "view": given.get("view") if given.get("view") in VIEWS else "person",
            "views": VIEWS,
            "commands": list_commands(work, head, checkpoint) if head.is_open else [],
            "undoable": find_undoable(work, head.slot),
            "redoable": find_redoable(work, head.slot),
            "diff": _compare(work, shown, given.get("a"), given.get("b")),
        }


def _find_head(work: Workspace, key: str) -> CheckpointEntry:
    index = work.store.index()
    head = index.head(key) or work.find(key)
    if head.problem is not None:
        raise NoSuchCheckpoint(
            f"The newest revision of {head.name or head.id} cannot be read: {head.problem}",
            hint=f"Run `leftoff show --raw {head.id}` to print the file as it is.",
        )
    return head


def _load_all(work: Workspace, entries: Sequence[CheckpointEntry]) -> list[Checkpoint]:
    found = []
    for entry in entries:
        if entry.state != "undone" and entry.problem is None:
            # One damaged revision must not hide the others.
            with contextlib.suppress(LeftoffError, OSError):
                found.append(work.store.load(entry))
    return found


def _list_events(work: Workspace, entries: Sequence[CheckpointEntry]) -> list[StoreEvent]:
    index = work.store.index()
    found = {event.id: event for entry in entries for event in index.events_of(entry.id)}
    reverted = {event.of for event in found.values() if event.action == "undone"}
    return [event for event in found.values() if event.id not in reverted]


def _list_snapshots(work: Workspace, slot: str) -> list[Snapshot]:
    if not work.project.is_git:
        return []
    found = (each for _, each in list_snapshots(work.project) if each.thread == slot)
    return [*itertools.islice(found, _MOST_SNAPSHOTS)]


def _compare(
    work: Workspace, entries: Sequence[CheckpointEntry], old: str | None, new: str | None
) -> dict[str, Any] | None:
    """Compare two revisions of this thread, the older one first."""
    known = {each.id: each for each in entries}
    if old not in known or new not in known or old == new:
        return None
    before, after = sorted((known[old], known[new]), key=lambda each: each.id)
    changes = work.compare(before.id, after.id)
    return {"before": before, "after": after, "changes": describe_diff(changes)}


def list_commands(
    work: Workspace, entry: CheckpointEntry, checkpoint: Checkpoint
) -> list[ResumeCommand]:
    """Return a command for each agent, the last one first, and its own session if that exists."""
    folder = str(find_own_folder(work.project, checkpoint.worktree))
    key = quote_key(entry.name, entry.id)
    found = {
        WIRINGS[agent].table.title: f"leftoff resume {key} --in {agent}"
        for agent in sorted(AGENTS, key=lambda agent: agent != entry.agent)
    }
    if native := _find_native(work, checkpoint):
        title = f"{WIRINGS[checkpoint.agent or ''].table.title}, its own session"
        found = {title: native, **found}
    found["A terminal"] = f"leftoff resume {key}"
    return [
        ResumeCommand(title=title, command=command, folder=folder)
        for title, command in found.items()
    ]


def _find_native(work: Workspace, checkpoint: Checkpoint) -> str:
    """Return the agent's own command for its session, if it still has that."""
    agent, session = checkpoint.agent or "", checkpoint.session_id
    table = WIRINGS[agent].table if agent in WIRINGS else None
    if table is None or not session or not table.resumes:
        return ""
    if not sessions.find_transcript(work.store, agent, session):
        return ""
    return shlex.join([table.programs[0], *table.resumes, session])

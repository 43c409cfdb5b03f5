"""Name the sessions whose work nobody saved, for the commands that show where you are."""

from collections.abc import Sequence
from typing import Any

from leftoff.cli.app import App, one_line
from leftoff.session import records
from leftoff.session.running_work import RunningSession, WorkingSession
from leftoff.session.unsaved_work import UnsavedSession
from leftoff.text import times
from leftoff.text.plural import format_count


def format_unsaved(app: App, found: Sequence[UnsavedSession]) -> list[str]:
    """Return lines that name unsaved sessions and the command that recovers them."""
    if not found:
        return []
    now = app.store.now()
    has = "has" if len(found) == 1 else "have"
    ages = [times.age((now - each.touched_at).total_seconds()) for each in found]
    lines = [
        f"- {each.agent}, {age}: {one_line(each.request)}"
        for each, age in zip(found, ages, strict=True)
    ]
    it = "it" if len(found) == 1 else "them"
    recover = records.recover_command([each.touched_at for each in found], now)
    return [
        f"{format_count(len(found), 'session')} of this project {has} unsaved work:",
        *lines,
        f"Run `{recover}` to save {it}.",
    ]


def format_running(app: App, found: Sequence[RunningSession]) -> list[str]:
    """Return lines that name running sessions whose work is in no thread yet."""
    if not found:
        return []
    now = app.store.now()
    ages = [times.age((now - each.seen_at).total_seconds()) for each in found]
    lines = [
        f"- {each.agent}, {age}: {one_line(each.request)}"
        for each, age in zip(found, ages, strict=True)
    ]
    are = "is" if len(found) == 1 else "are"
    return [f"{format_count(len(found), 'session')} {are} working here, not saved yet:", *lines]


def format_working(app: App, found: Sequence[WorkingSession]) -> list[str]:
    """Return a line for each running session that works on a thread."""
    now = app.store.now()
    return [
        f"{each.agent} is working on {one_line(each.thread.name or each.thread.id)} "
        f"(active {times.age((now - each.seen_at).total_seconds())})."
        for each in found
    ]


def describe_unsaved(app: App, found: Sequence[UnsavedSession]) -> list[dict[str, Any]]:
    """Return unsaved sessions as JSON-ready values, like those of `leftoff sessions`."""
    now = app.store.now()
    return [
        {
            "agent": each.agent,
            "session_id": each.session_id,
            "path": str(each.path),
            "touched_at": each.touched_at.isoformat(),
            "age_seconds": max(0, int((now - each.touched_at).total_seconds())),
            "state": "unsaved",
            "branch": each.branch or None,
            "intent": each.intent or None,
            "checkpoint": each.checkpoint.id if each.checkpoint else None,
        }
        for each in found
    ]

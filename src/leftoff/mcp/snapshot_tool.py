"""Take a snapshot of the caller's uncommitted code, or list the snapshots that are there."""

from collections.abc import Mapping
from typing import Any

from leftoff.errors import UsageError
from leftoff.mcp.caller import Caller
from leftoff.mcp.tool_answer import Answer
from leftoff.snapshots.shelf import Snapshot, describe_reason, list_snapshots
from leftoff.snapshots.take import Reason, take_snapshot
from leftoff.text import fence, times
from leftoff.text.fence import join, say
from leftoff.text.plural import format_count
from leftoff.workspace import Workspace

_HOW = "To bring its files back, ask the user to run `leftoff snapshot restore ID --here`."


def take_or_list(work: Workspace, given: Mapping[str, Any], who: Caller) -> Answer:
    """Take a snapshot, unless the caller only wants the list."""
    del who
    if not work.project.is_git:
        raise UsageError("Snapshots need a git repository; this folder is not in one.")
    if given.get("list"):
        return _list_newest(work, given.get("limit", 20))
    before = {each.id for _, each in list_snapshots(work.project)}
    taken = take_snapshot(work.project, _build_reason(work))
    if taken is None:
        text = say("Nothing is uncommitted, so there is nothing to keep.")
        return Answer(text, {"taken": False, "snapshots": []})
    row = _describe(work, taken)
    if taken.id in before:
        text = say("Nothing changed since snapshot {id} ({age}).", id=row["id"], age=row["age"])
    else:
        count = format_count(taken.files + taken.absent, "file")
        text = say("Took snapshot {id} of {count}.", id=row["id"], count=count)
    data = {"taken": taken.id not in before, "snapshots": [row]}
    return Answer(join([text, say(_HOW)], " "), data)


def _build_reason(work: Workspace) -> Reason:
    """Return why it is taken, with the thread of the caller's session if that is known."""
    session = work.context.session
    thread = work.store.index().find_thread(session[1]) if session else None
    return Reason(
        trigger="manual",
        thread=thread.slot if thread else None,
        session=session[1] if session else None,
    )


def _list_newest(work: Workspace, limit: int) -> Answer:
    found = [each for _, each in list_snapshots(work.project)][:limit]
    rows = [_describe(work, each) for each in found]
    if not rows:
        return Answer(say("There are no snapshots yet."), {"taken": False, "snapshots": []})
    lines = [
        say(
            "- {id}: {files}, {age}, {reason:200}{branch}",
            id=row["id"],
            files=format_count(row["files"], "file"),
            age=row["age"],
            reason=row["reason"],
            branch=say(", branch {name:80}", name=row["branch"]) if row["branch"] else say(""),
        )
        for row in rows
    ]
    text = join([fence.enclose_text(join(lines)), say(_HOW)])
    return Answer(text, {"notice": fence.NOTICE, "taken": False, "snapshots": rows})


def _describe(work: Workspace, snapshot: Snapshot) -> dict[str, Any]:
    return {
        "id": snapshot.short_id,
        "age": times.age((work.store.now() - snapshot.at).total_seconds()),
        "files": snapshot.files + snapshot.absent,
        "skipped": snapshot.skipped,
        "reason": describe_reason(snapshot),
        "branch": snapshot.branch,
        "worktree": fence.printable(snapshot.worktree),
    }

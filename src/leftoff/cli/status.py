"""leftoff status."""

from typing import Any

from leftoff import git, times
from leftoff.cli.app import App, command
from leftoff.cli.list import described, one_line, shown_name
from leftoff.store import LISTED


@command()
def status(app: App) -> None:
    """Show on one screen where you are and what is open."""
    index = app.store.index()
    entries = index.heads([*LISTED], 5)
    place = _place(app)
    now = app.store.now()
    context = app.store.load(entries[0]).context if entries and not entries[0].problem else None
    percent = context.percent if context else None
    lines = [f"{key:9} {value}" for key, value in place.items() if value is not None]
    if percent is not None:
        lines.append(f"{'context':9} {percent:.0f} % at the last save")
    lines.append(f"{'open':9} {index.count_heads([*LISTED])}")
    for entry in entries:
        age = times.age((now - entry.saved_at).total_seconds())
        lines.append(f"  {shown_name(entry)}  {age}  {entry.state}  {one_line(entry.next_action)}")
    app.out.result(
        {
            **place,
            "context_percent": percent,
            "checkpoints": [described(entry, now) for entry in entries],
        },
        "\n".join(lines),
    )


def _place(app: App) -> dict[str, Any]:
    project = app.project
    state = git.read_state(project.worktree) if project.is_git else None
    linked = project.worktree != project.root
    return {
        "project": str(project.root),
        "worktree": str(project.worktree) if linked else None,
        "branch": (state.branch or f"detached at {(state.head or '')[:8]}") if state else None,
        "head": state.head if state else None,
        "changed": f"{len(state.dirty)} file(s)" if state else None,
        "store": str(project.store),
    }

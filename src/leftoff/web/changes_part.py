"""What has changed since a thread left off, in a few words for its card."""

from typing import Any

from starlette.requests import Request

from leftoff.checkpoint import Checkpoint
from leftoff.text.plural import format_count
from leftoff.threads.check_claims import Checks
from leftoff.web.site import Site, SiteProject


def show(request: Request, site: Site) -> dict[str, Any]:
    """Check the claims of a thread's newest checkpoint against its worktree."""
    home = site.find_project(request.query_params.get("project"))
    with site.open(home) as work:
        checkpoint = work.load(request.query_params.get("id", ""))
    checks = check_where_left_off(site, home, checkpoint)
    changes = describe_changes(checks)
    # Work on another branch is as it was left; the user is only elsewhere at the moment.
    is_elsewhere = not checks.branch.same and len(changes) == 1
    return {"changes": join_changes(changes), "is_grave": not is_elsewhere}


def check_where_left_off(site: Site, home: SiteProject, checkpoint: Checkpoint) -> Checks:
    """Check a checkpoint in its own worktree: the page is in none, unlike a command."""
    with site.open_where(home, checkpoint.worktree) as there:
        return there.check(checkpoint)


def join_changes(changes: list[str]) -> str:
    """Return the changes as one line."""
    line = " · ".join(changes)
    return line[:1].upper() + line[1:]


def describe_changes(checks: Checks) -> list[str]:
    """Name what differs from what the checkpoint says, the gravest first."""
    gone = [each.path for each in checks.files if each.state == "missing"]
    changed = [each.path for each in checks.files if each.state not in {"same", "missing"}]
    found = [
        f"uncommitted code is only in snapshot {checks.lost_code.snapshot[-8:]}"
        if checks.lost_code
        else "",
        "its worktree is gone" if checks.worktree_is_gone else "",
        "history was rewritten" if checks.head.diverged else "",
        f"checked out now: {checks.branch.now}"
        if not checks.branch.same and checks.branch.now
        else "",
        format_count(checks.head.commits_since, "new commit") if checks.head.commits_since else "",
        f"{format_count(len(changed), 'file')} changed" if changed else "",
        f"{format_count(len(gone), 'file')} missing" if gone else "",
    ]
    return [each for each in found if each]

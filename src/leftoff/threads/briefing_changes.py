"""Say what has changed since a checkpoint was saved."""

from collections.abc import Iterator
from shlex import quote

from leftoff.text import fence
from leftoff.text.budget import Item, Section, fit
from leftoff.text.fence import Rendered, say
from leftoff.text.plural import format_count
from leftoff.threads.briefing_weights import BRIEF, USUAL, Weights
from leftoff.threads.check_claims import BranchCheck, Checks, HeadCheck, LostCodeCheck

_LOST_FILES = 5


def changes(checks: Checks) -> Rendered:
    """List what changed since the save, one line each; empty if nothing did."""
    return fence.join(fit([Section(say(""), [*list_changes(checks, USUAL)])], []))


def list_guardz_warnings(checks: Checks) -> list[Section]:
    """Warn, in guardz' own words, when the work was saved on another branch."""
    warning = branch_warning(checks)
    return [Section(say(""), [Item(warning, USUAL.branch)])] if warning else []


def branch_warning(checks: Checks) -> Rendered | None:
    """Return guardz' warning that the work was saved on another branch."""
    branch = checks.branch
    if branch.same:
        return None
    return say(
        "Warning: You're on `{now}` but checkpoint was saved on `{saved}`. "
        "Switch with: git checkout {name}{gone}",
        now=branch.now or "unknown",
        saved=branch.saved or "",
        name=_quote_branch(branch),
        gone=say(" (there is no such branch here)" if branch.is_gone else ""),
    )


def _quote_branch(branch: BranchCheck) -> str:
    """Return the branch of a checkpoint as an argument that git cannot read as an option."""
    saved = branch.saved or ""
    return quote(f"refs/heads/{saved}" if saved.startswith("-") else saved)


def _describe_branch(checks: Checks, worth: Weights) -> Iterator[Item]:
    branch = checks.branch
    if branch.same:
        return
    # git refuses to check out what another worktree has checked out.
    is_reachable = not branch.is_gone and (checks.worktree is None or checks.worktree_is_gone)
    way = say(" (`git checkout {name}`)", name=_quote_branch(branch))
    gone = say(", a branch that does not exist here")
    yield Item(
        say(
            "- saved on `{saved}`{gone}; you are on `{now}`{way}",
            saved=branch.saved or "",
            gone=gone if branch.is_gone else say(""),
            now=branch.now or "unknown",
            way=way if is_reachable else say(""),
        ),
        worth.branch,
    )


def _describe_head(head: HeadCheck, worth: Weights) -> Iterator[Item]:
    if head.diverged:
        yield Item(
            say("- HEAD was rewritten: the saved commit is no longer in its history."), worth.head
        )
    elif head.commits_since is None:
        yield Item(say("- HEAD moved; git cannot say how far."), worth.head)
    elif head.commits_since:
        moved = say("- HEAD moved by {count}", count=format_count(head.commits_since, "commit"))
        subjects = [
            Item(
                say("  - {sha:8} {subject}", sha=commit.sha[:8], subject=commit.subject),
                worth.new_commit - n,
            )
            for n, commit in enumerate(head.commits[:5])
        ]
        yield Item(moved, worth.head, subjects, lead=say("; commit subjects:"))


def list_changes(checks: Checks, worth: Weights = USUAL) -> Iterator[Item]:
    """Yield what changed since the save."""
    yield from _describe_branch(checks, worth)
    yield from _describe_head(checks.head, worth)
    for file in checks.files:
        if file.state != "same":
            changed = say("- {state}: {path}", state=file.state, path=file.path)
            is_missing = file.state == "missing"
            yield Item(changed, worth.missing_file if is_missing else worth.changed_file)
    if (plan := checks.plan) is not None and plan.state != "same":
        yield Item(
            say("- {state}: the plan {path}", state=plan.state, path=plan.path), worth.missing_file
        )
    if checks.worktree is not None:
        removed = say(", which was removed or moved" if checks.worktree_is_gone else "")
        where = say(
            "- saved in another worktree: {path}{removed}", path=checks.worktree, removed=removed
        )
        yield Item(where, worth.worktree)
    if checks.lost_code is not None:
        yield _format_lost_code(checks.lost_code, worth)


def _format_lost_code(lost: LostCodeCheck, worth: Weights) -> Item:
    """Say which uncommitted code is gone, and how to get it back."""
    where = (
        say("gone with the worktree {path:200}", path=lost.worktree)
        if lost.worktree
        else say("not in your worktree")
    )
    count = format_count(len(lost.paths), "file")
    text = say(
        "- {where}: uncommitted changes in {count} of a snapshot of this thread. To bring them "
        "back, run `{command}`",
        where=where,
        count=count,
        command=lost.command,
    )
    short = say(
        "- {where}: uncommitted changes in {count}; run `{command}`",
        where=where,
        count=count,
        command=lost.command,
    )
    named = [
        Item(say("  - {path}", path=each), worth.named_file) for each in lost.paths[:_LOST_FILES]
    ]
    if worth is BRIEF:
        return Item(short, worth.lost_code, named, lead=say(":"))
    return Item(text, worth.lost_code, named, lead=say(":"), short=short)

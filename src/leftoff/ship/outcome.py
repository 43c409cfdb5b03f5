"""Describe what `leftoff ship` did, and what to do next."""

import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from leftoff.checkpoint import Checkpoint, Commit
from leftoff.git.github import Pull
from leftoff.knowledge.features import Board
from leftoff.knowledge.features.work_context import WorkingContext
from leftoff.profiles import STATE_FOLDERS
from leftoff.redact import redact
from leftoff.ship.choose_files import Chosen, LeftOut, format_path
from leftoff.store import Store
from leftoff.text.fence import quote_key
from leftoff.text.plural import format_count

State = Literal["done", "skipped", "failed", "planned"]
Name = Literal[
    "save", "memory", "archive", "briefing", "checks", "stage", "commit", "push", "pull request",
    "tidy",
]  # fmt: skip


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """The options that the user passed."""

    message: str = ""
    push: bool = True
    pull_request: bool = True
    may_ask: bool = False
    """Whether git may ask for passwords on the terminal."""


class ShipStep(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one step, in one sentence; `hint` says how to recover from a failure."""

    name: Name
    state: State
    text: str
    hint: str = ""
    lines: list[str] = []


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One of the user's commands after its run, with the last lines of its output."""

    command: str
    has_passed: bool
    seconds: float
    tail: list[str] = []


class ShipReport(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a ship did."""

    steps: list[ShipStep]
    checkpoint: str | None = None
    context: WorkingContext | None = None
    branch: str | None = None
    commit: Commit | None = None
    is_new: bool = False
    """Whether this run made the commit."""
    remote: str | None = None
    repository: str | None = None
    pushed: bool = False
    pull: Pull | None = None
    checks: list[Check] = []
    left_out: list[LeftOut] = []
    remaining: list[str] = []
    kept: dict[str, str] = {}
    preserved: dict[str, str] = {}
    """The native files from which the next session gets the work, and what each one is."""

    @property
    def has_failed(self) -> bool:
        """Whether the user has something to fix."""
        return any(step.state == "failed" for step in self.steps)


class Listener(msgspec.Struct, frozen=True, kw_only=True):
    """Callbacks that follow a ship while it runs."""

    begins: Callable[[Name], None] = lambda _name: None
    says: Callable[[str], None] = lambda _line: None
    """Receives each line that a check prints."""
    ends: Callable[[ShipStep], None] = lambda _step: None


# --- what is left to do, and where everything is stored ---


_MOST = 5


def remaining(
    dirty: Sequence[str],
    saved: Checkpoint | None,
    checks: Sequence[Check],
    board: Board,
    rules: int = 0,
) -> list[str]:
    """List what is left to do, most urgent first; `rules` wait for review."""
    found = [f"Fix the check `{each.command}`" for each in checks if not each.has_passed]
    if saved is not None:
        found += [f"Blocked: {each}" for each in saved.blockers[:_MOST]]
        action = saved.next_action
        found += [f"Next: {action.text}"] if action and not action.is_unknown else []
        found += [f"Then: {each}" for each in saved.next_steps[:_MOST]]
    if dirty:
        found.append(f"Not committed: {_join_some([format_path(path) for path in dirty])}")
    unfinished = [f"{each.id} {each.name} [{each.status}]" for each in board.pressing]
    found += unfinished[:_MOST]
    if rules:
        found.append(f"{format_count(rules, 'rule')} to review: `leftoff reflect --review`")
    return [redact(each) for each in found]


def describe_locations(
    store: Store, saved: Checkpoint | None, native: Collection[str]
) -> dict[str, str]:
    """List where the checkpoint, the memory and the native files are stored."""
    root, here = store.project.store, store.project.worktree
    files = {"memory": root / "memory.jsonl", "features": root / "features.json"}
    kept = {"checkpoint": f"leftoff show {quote_key(saved.name, saved.id)}"} if saved else {}
    for what, path in files.items():
        if path.exists():
            kept[what] = str(path.relative_to(here) if path.is_relative_to(here) else path)
    return kept | ({"in the repository": _join_some(sorted(native))} if native else {})


_LAYERS = {
    "claude-progress.json": "session summary",
    "sessions/*/working-context.json": "session working state",
    "memory/episodic/decisions.json": "decisions",
    "memory/procedural/": "successes & failures",
    "memory/learned/rules.json": "learned rules",
    "session-briefing.md": "auto-injected at next start",
}


def list_preserved(worktree: Path) -> dict[str, str]:
    """List the native files that hold what was saved, of the session that was saved last."""
    found: dict[str, str] = {}
    for folder in STATE_FOLDERS:
        home = worktree / folder
        for pattern, what in _LAYERS.items():
            paths = sorted(home.glob(pattern), key=lambda path: path.stat().st_mtime)
            if paths:
                end = "/" if pattern.endswith("/") else ""
                found[f"{paths[-1].relative_to(home)}{end}"] = what
    return found


def _join_some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more


# --- reports that need more than one sentence ---


def build_refused_step(name: Name, error: OSError) -> ShipStep:
    """Report what the operating system did not allow."""
    where = f"{os.fsdecode(error.filename)}: " if error.filename is not None else ""
    return ShipStep(
        name=name,
        state="failed",
        text=f"Operating system error: {where}{error.strerror or error}",
        hint="Fix that, then run `leftoff ship` again.",
    )


def build_checks_step(checks: Sequence[Check]) -> ShipStep:
    """Sum up the checks, with the last lines of those that fail."""
    failing = [check for check in checks if not check.has_passed]
    lines = [
        f"{'passed' if each.has_passed else 'FAILED'}  {each.command}  ({each.seconds:.1f} s)"
        for each in checks
    ]
    if not failing:
        return ShipStep(
            name="checks",
            state="done",
            text=f"{format_count(len(checks), 'check')} passed",
            lines=lines,
        )
    tails = [f"  {line}" for check in failing for line in check.tail]
    text = f"{len(failing)} of {format_count(len(checks), 'check')} failed; your work is saved."
    what = "it" if len(failing) == 1 else "them"
    hint = f"Fix {what}, then run `leftoff ship` again."
    return ShipStep(name="checks", state="failed", text=text, hint=hint, lines=[*lines, *tails])


def build_no_checks_step(suggested: Sequence[str]) -> ShipStep:
    """Report that nothing was checked, and which commands this project may have for it."""
    commands = suggested or ["make test"]
    hint = f'Set some with `leftoff config set --project verify "{commands[0]}"`.'
    return ShipStep(name="checks", state="skipped", text="No checks are set.", hint=hint)


def build_stage_step(chosen: Chosen) -> ShipStep:
    """Report how many files to commit, and which ones are left out."""
    lines = [f"left out {each.display_path}: {each.why}" for each in chosen.left_out]
    text = f"{format_count(len(chosen.files), 'file')} to commit"
    return ShipStep(
        name="stage", state="done" if chosen.files else "skipped", text=text, lines=lines
    )


def explain_nothing_to_commit(chosen: Chosen) -> ShipStep:
    """Report why there is nothing to commit."""
    text = "Nothing changed since the last commit."
    if any(each.is_unreadable for each in chosen.left_out):
        return ShipStep(
            name="commit",
            state="failed",
            text="Nothing was committed: the changed files cannot be read.",
            hint="Fix that, then run `leftoff ship` again.",
        )
    if chosen.left_out:
        text = "Only files that are left out changed, so there is nothing to commit."
    return ShipStep(name="commit", state="skipped", text=text)

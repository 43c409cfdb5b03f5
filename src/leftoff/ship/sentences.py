"""Build the reports of steps that need more than one sentence."""

import os
from collections.abc import Sequence

from leftoff.ship.choose_files import Chosen
from leftoff.ship.outcome import Check, Name, ShipStep
from leftoff.text.plural import format_count


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
    hint = "Fix it, then run `leftoff ship` again: the pull request is marked until then."
    return ShipStep(name="checks", state="failed", text=text, hint=hint, lines=[*lines, *tails])


def build_stage_step(chosen: Chosen) -> ShipStep:
    """Report how many files to commit, and which ones are left out."""
    lines = [f"left out {each.display_path}: {each.why}" for each in chosen.left_out]
    text = f"{format_count(len(chosen.files), 'file')} to commit"
    return ShipStep(
        name="stage", state="done" if chosen.files else "skipped", text=text, lines=lines
    )


def nothing_to_commit(chosen: Chosen) -> ShipStep:
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

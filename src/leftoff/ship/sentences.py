"""What is said of steps that have more than one sentence."""

import os
from collections.abc import Sequence

from leftoff.ship.choose_files import Chosen
from leftoff.ship.outcome import Check, Name, ShipStep
from leftoff.text.plural import format_count


def build_refused_step(name: Name, error: OSError) -> ShipStep:
    """Say what the system did not allow."""
    where = f"{os.fsdecode(error.filename)}: " if error.filename is not None else ""
    return ShipStep(
        name=name,
        state="failed",
        text=f"Operating system error: {where}{error.strerror or error}",
        hint="Put that right, then run `leftoff ship` again.",
    )


def build_checks_step(checks: Sequence[Check]) -> ShipStep:
    """Sum up the checks, with the last words of those that fail."""
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
    text = f"{len(failing)} of {len(checks)} checks fail; the work is saved anyway."
    hint = "Put it right, then run `leftoff ship` again: the pull request is marked until then."
    return ShipStep(name="checks", state="failed", text=text, hint=hint, lines=[*lines, *tails])


def build_stage_step(chosen: Chosen) -> ShipStep:
    """Name what is left out of a commit."""
    lines = [f"left out {each.display_path}: {each.why}" for each in chosen.left_out]
    text = f"{format_count(len(chosen.files), 'file')} to commit"
    return ShipStep(
        name="stage", state="done" if chosen.files else "skipped", text=text, lines=lines
    )


def nothing_to_commit(chosen: Chosen) -> ShipStep:
    """Say that there is nothing to commit."""
    text = "Nothing changed since the last commit, so there is none to make."
    if any(each.is_unreadable for each in chosen.left_out):
        return ShipStep(
            name="commit",
            state="failed",
            text="Nothing was committed: what changed cannot be read.",
            hint="Put that right, then run `leftoff ship` again.",
        )
    if chosen.left_out:
        text = "Nothing but what was left out changed, so there is no commit to make."
    return ShipStep(name="commit", state="skipped", text=text)

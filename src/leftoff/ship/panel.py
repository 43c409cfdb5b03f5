"""Build the panel at the end of a ship, as lines of text."""

from collections.abc import Mapping

from leftoff.git import query
from leftoff.git.github import Pull
from leftoff.ship.outcome import ShipReport, ShipStep

_WIDTH = 14
_REVIEWS = {
    "APPROVED": "approved",
    "CHANGES_REQUESTED": "changes requested",
    "REVIEW_REQUIRED": "review required",
}
_CHECKS = {
    "none": "no checks",
    "passing": "checks pass",
    "failing": "checks fail",
    "pending": "checks running",
}
_MERGEABLE = {"MERGEABLE": "no conflicts", "CONFLICTING": "conflicts with its base"}


def format_panel(report: ShipReport, *, advise_clear: bool) -> list[str]:
    """Summarize the commit, push, pull request, remaining work, and where things are stored."""
    rows = [
        ("Commit", [_commit(report)]),
        ("Push", [_format_step(report, "push")]),
        ("Pull request", _pull(report.pull) or [_format_step(report, "pull request")]),
        ("Left out", [f"{each.display_path} ({each.why})" for each in report.left_out]),
        ("Remains", report.remaining),
        ("Kept in", [f"{what}: {where}" for what, where in report.kept.items()]),
    ]
    heading = _choose_heading(report)
    is_advised = advise_clear and not report.has_failed
    lines = [heading]
    if is_advised and report.preserved and heading == _COMPLETE:
        lines.append("  Progress saved to memory layers")
    for label, texts in rows:
        shown = [text for text in texts if text]
        lines += [
            f"  {label if number == 0 else '':<{_WIDTH}}{text}" for number, text in enumerate(shown)
        ]
    return [*lines, *(_advise(report.preserved) if is_advised else [])]


_COMPLETE = "CHECKPOINT COMPLETE"
# claude-harness gives these to its users.
_REASONS = (
    'Prevents "context rot" from accumulated irrelevant information',
    "Reduces token costs for subsequent work",
    "Improves the agent's focus on the next task",
    "Memory files preserve all important learnings",
)
_ADVICE = "You can clear the agent's context now: everything is saved for the next session."


def _advise(preserved: Mapping[str, str]) -> list[str]:
    """Advise to clear the context, and name the files from which the next session gets it."""
    if not preserved:
        return ["", f"  {_ADVICE}"]
    return [
        "",
        "  RECOMMENDED: Run /clear to reset context",
        "  Your progress is preserved in:",
        *(f"  - {path} ({what})" for path, what in preserved.items()),
        "  Fresh context = better performance on next task.",
        "  Context auto-loads on next session (no /start needed).",
        "  Why clear context?",
        *(f"  - {reason}" for reason in _REASONS),
    ]


def _choose_heading(report: ShipReport) -> str:
    if report.has_failed:
        return "PARTLY SHIPPED"
    outward = ("push", "pull request")
    is_news = any(step.name in outward and step.state == "done" for step in report.steps)
    is_news |= report.is_new
    return _COMPLETE if is_news else "NOTHING TO SHIP"


def _commit(report: ShipReport) -> str:
    if report.commit is None:
        return "none yet"
    commit = f"{report.commit.sha[:12]} {query.printable(report.commit.subject)}"
    return commit if report.is_new else f"none new; the last one is {commit}"


def _format_step(report: ShipReport, name: str) -> str:
    found: list[ShipStep] = [step for step in report.steps if step.name == name]
    if not found:
        return ""
    return f"FAILED: {found[-1].text}" if found[-1].state == "failed" else found[-1].text


def _pull(pull: Pull | None) -> list[str]:
    if pull is None:
        return []
    parts = [_CHECKS[pull.checks], _REVIEWS.get(pull.review, "no review yet")]
    parts += [_MERGEABLE.get(pull.mergeable, "conflicts unknown so far")]
    return [f"#{pull.number} {pull.url}", ", ".join(parts)]

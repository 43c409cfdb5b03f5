"""Render a checkpoint as a briefing for the next session, within a token budget.

A briefing depends only on a checkpoint and its checks. Every line has a weight for how much it
helps the next session; if the budget is short, the lightest lines are left out.
"""

from leftoff.checkpoint import Checkpoint
from leftoff.text import fence
from leftoff.text.budget import Section, fit, limit_tokens, limit_width, measure_width
from leftoff.text.fence import Rendered, say
from leftoff.text.tokens import estimate
from leftoff.threads.briefing_sections import (
    branch_warning,
    build_sections,
    list_changes,
    plan_step,
)
from leftoff.threads.check_claims import Checks

__all__ = ["MOST_TOKENS", "branch_warning", "changes", "plan_step", "question", "render"]

# How much text from outside each agent accepts; it cuts the rest or stores it elsewhere.
# Claude Code: 10,000 characters, at two and a half per token. Codex: about 2,000 tokens. The limits
# of the others are unknown, so they get the same as Claude Code.
MOST_TOKENS = {
    "claude": 4_000,
    "codex": 2_000,
    "gemini": 4_000,
    "opencode": 4_000,
    "copilot": 4_000,
    "cursor": 4_000,
}


def render(
    checkpoint: Checkpoint, checks: Checks | None, *, budget: int, width: int | None = None
) -> Rendered:
    """Render the briefing of a checkpoint, fenced and within the budget.

    `width` limits its length as a JSON string.
    """
    # The fence itself costs tokens and characters, too.
    frame = fence.enclose_text(say(""))
    limits = [limit_tokens(budget - estimate(frame))]
    if width is not None:
        limits.append(limit_width(width - measure_width(frame)))
    return fence.enclose_text(fence.join(fit([*build_sections(checkpoint, checks)], limits)))


def question(checkpoint: Checkpoint, checks: Checks) -> Rendered:
    """Return the question whether to resume, which only the user may answer."""
    what = say('"{name}"', name=checkpoint.name) if checkpoint.name else say("this session")
    if checks.is_stale:
        return say(
            "Resume {what} although some of it is stale? [resume anyway / start fresh]", what=what
        )
    return say("Resume {what}? [yes / no]", what=what)


def changes(checks: Checks) -> Rendered:
    """List what changed since the save, one line each; empty if nothing did."""
    return fence.join(fit([Section(say(""), [*list_changes(checks)])], []))

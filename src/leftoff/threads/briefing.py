"""The briefing: what a colleague would tell you in a minute, within a budget of tokens.

A briefing is a pure function of a checkpoint and its checks. Every line has a weight for how much
it helps the next session; when the budget is short, the lightest lines go.
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

# What each agent takes of one text from outside, as far as it is known; more is cut or set aside.
# Claude Code: 10,000 characters, at two and a half a token; Codex: about 2,000 tokens. Of the
# others no limit is known, so the lower one of Claude Code is kept.
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
    """Render the briefing of a checkpoint, fenced, never above the budget.

    `width` is how long it may be as a JSON string.
    """
    frame = fence.enclose_text(say(""))
    limits = [limit_tokens(budget - estimate(frame))]
    if width is not None:
        limits.append(limit_width(width - measure_width(frame)))
    return fence.enclose_text(fence.join(fit([*build_sections(checkpoint, checks)], limits)))


def question(checkpoint: Checkpoint, checks: Checks) -> Rendered:
    """Ask whether to resume; the answer decides, not the briefing."""
    what = say('"{name}"', name=checkpoint.name) if checkpoint.name else say("this session")
    if checks.is_stale:
        return say(
            "Resume {what} although some of it is stale? [resume anyway / start fresh]", what=what
        )
    return say("Resume {what}? [yes / no]", what=what)


def changes(checks: Checks) -> Rendered:
    """Say what is no longer as it was saved, one line each; empty if everything is."""
    return fence.join(fit([Section(say(""), [*list_changes(checks)])], []))

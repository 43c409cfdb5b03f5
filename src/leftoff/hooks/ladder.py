"""Map the context use to steps of a ladder, and give the advice for each step."""

from leftoff.config import Settings
from leftoff.text.fence import Rendered, say

# `advice` says what each step means.
ADVISE, URGE, FRESH, CAPTURE, PANIC = 1, 2, 3, 4, 5


def step(percent: float | None, settings: Settings) -> int:
    """Return the step that the context use has reached, compared to two decimals."""
    if percent is None:
        return 0
    rungs = {
        ADVISE: settings.advise_at,
        URGE: settings.urge_at,
        FRESH: settings.fresh_at,
        CAPTURE: settings.capture_at,
        PANIC: 100.0,
    }
    # URGE and FRESH are skipped if the user wants the first advice no earlier than that.
    reached = [
        rung
        for rung, threshold in rungs.items()
        if round(percent * 100) >= round(threshold * 100)
        and (threshold > settings.advise_at or rung not in {URGE, FRESH})
    ]
    return max(reached, default=0)


def advice(reached: int, percent: float) -> Rendered:
    """Return the advice for a step."""
    use = say("context at {percent}%", percent=f"{percent:.2f}")
    if reached >= FRESH:
        return say(
            "leftoff: {use} — compact or start fresh now. The state is saved: after /compact, or "
            "in a new session, leftoff shows where this one left off.",
            use=use,
        )
    if reached >= URGE:
        return say(
            "leftoff: {use} — finish the current step, then run `leftoff save` with the exact "
            "next action, what failed and why.",
            use=use,
        )
    return say(
        "leftoff: {use} — consider `leftoff save` with the exact next action and the decisions "
        "made; the rest is saved automatically.",
        use=use,
    )

"""The ladder: how full the context is, in steps, and what the agent is told at each."""

from leftoff.config import Settings
from leftoff.text.fence import Rendered, say

# What each step means is in `advice`.
ADVISE, URGE, FRESH, CAPTURE, PANIC = 1, 2, 3, 4, 5


def step(percent: float | None, settings: Settings) -> int:
    """Tell which step of the ladder the context use has reached; in whole basis points."""
    if percent is None:
        return 0
    rungs = {
        ADVISE: settings.advise_at,
        URGE: settings.urge_at,
        FRESH: settings.fresh_at,
        CAPTURE: settings.capture_at,
        PANIC: 100.0,
    }
    # Whoever wants advice later than from the start of a rung goes without that rung.
    reached = [
        rung
        for rung, threshold in rungs.items()
        if round(percent * 100) >= round(threshold * 100)
        and (threshold > settings.advise_at or rung not in {URGE, FRESH})
    ]
    return max(reached, default=0)


def advice(reached: int, percent: float) -> Rendered:
    """Say what the agent should know about its context."""
    use = say("context at {percent}%", percent=f"{percent:.2f}")
    if reached >= FRESH:
        return say(
            "leftoff: {use} — compact or start fresh now. The state is saved: the session after "
            "/compact, and any new one, is told where this one left off.",
            use=use,
        )
    if reached >= URGE:
        return say(
            "leftoff: {use} — finish the step at hand, then run `leftoff save` with the exact "
            "next action, what failed and why.",
            use=use,
        )
    return say(
        "leftoff: {use} — consider `leftoff save` with the exact next action and the decisions "
        "made; the rest is saved automatically.",
        use=use,
    )

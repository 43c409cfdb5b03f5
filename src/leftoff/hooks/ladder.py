"""The ladder: how full the context is, in steps, and what the agent is told at each."""

from leftoff.config import Settings

# What each step means is in `advice`.
ADVISE, URGE, FRESH, CAPTURE, PANIC = 1, 2, 3, 4, 5


def step(percent: float | None, settings: Settings) -> int:
    """Tell which step of the ladder the context use has reached; in whole basis points."""
    if percent is None:
        return 0
    points = round(percent * 100)
    thresholds = (
        settings.advise_at,
        settings.urge_at,
        settings.fresh_at,
        settings.capture_at,
        100,
    )
    return sum(points >= round(threshold * 100) for threshold in thresholds)


def advice(reached: int, percent: float) -> str:
    """Say what the agent should know about its context."""
    use = f"context at {percent:.2f}%"
    if reached >= FRESH:
        return (
            f"leftoff: {use} — compact or start fresh now. The state is saved: the session after "
            "/compact, and any new one, is told where this one left off."
        )
    if reached >= URGE:
        return (
            f"leftoff: {use} — finish the step at hand, then run `leftoff save` with the exact "
            "next action, what failed and why."
        )
    return (
        f"leftoff: {use} — consider `leftoff save` with the exact next action and the decisions "
        "made; the rest is saved by itself."
    )

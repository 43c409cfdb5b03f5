"""The tier guard of skills: a skill for a cheap model does not run on an expensive one."""

import re
from typing import Literal

import msgspec

TIERS = ("haiku", "sonnet", "opus")
_MARK = re.compile(r"\s*\[no-redispatch(?::(\d+))?\]")
_MOST_HANDED_ON = 1
_UNAVAILABLE = "[quoin-stage-1: subagent dispatch unavailable; proceeding at current tier]"


class Dispatch(msgspec.Struct, frozen=True, kw_only=True):
    """What a skill should do, and what to print or pass on."""

    action: Literal["proceed", "dispatch", "abort"]
    message: str = ""
    prompt: str | None = None


def decide(declared: str, current: str, prompt: str, *, can_spawn: bool) -> Dispatch:
    """Decide whether a skill runs here, goes to a cheaper agent, or is stuck in a loop."""
    mark = _MARK.match(prompt)
    if mark is not None and int(mark[1] or 1) > _MOST_HANDED_ON:
        return Dispatch(
            action="abort",
            message=(
                f"Quoin self-dispatch hard-cap reached at N={int(mark[1])} in checkpoint. "
                "This indicates a recursion bug; aborting before any tool calls. Re-invoke with "
                "[no-redispatch] (bare) to override."
            ),
        )
    if mark is not None or tier(current) <= tier(declared):
        return Dispatch(action="proceed")
    if not can_spawn:
        return Dispatch(action="proceed", message=_UNAVAILABLE)
    return Dispatch(
        action="dispatch",
        message=f"Dispatch reason: cost-guardrail handoff. dispatched-tier: {declared}.",
        prompt=f"[no-redispatch]\n{prompt}",
    )


def tier(model: str) -> int:
    """Rank a model by cost; an unknown one counts as the cheapest, so that nothing is blocked."""
    return next((rank for rank, name in enumerate(TIERS) if name in model.lower()), 0)

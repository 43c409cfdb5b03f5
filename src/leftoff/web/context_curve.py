"""How full the context of the agents was at each save, with the steps of the ladder."""

from collections.abc import Iterable
from datetime import datetime

import msgspec

from leftoff.checkpoint import Checkpoint
from leftoff.config import Settings


class CurvePoint(msgspec.Struct, frozen=True, kw_only=True):
    """The context use at one save; x and y are percentages of the drawing."""

    x: float
    y: float
    percent: float
    at: datetime
    agent: str


class LadderStep(msgspec.Struct, frozen=True, kw_only=True):
    """A threshold, and what happens there."""

    percent: float
    y: float
    meaning: str


class ContextCurve(msgspec.Struct, frozen=True, kw_only=True):
    """One line for each session, and the thresholds across them."""

    lines: list[list[CurvePoint]]
    steps: list[LadderStep]

    @property
    def points(self) -> list[CurvePoint]:
        """The points of all lines."""
        return [point for line in self.lines for point in line]


def draw_curve(
    checkpoints: Iterable[Checkpoint], places: dict[datetime, float], settings: Settings
) -> ContextCurve | None:
    """Return the curve; None if no save knew the context use."""
    lines: dict[str, list[CurvePoint]] = {}
    for each in sorted(checkpoints, key=lambda each: each.id):
        use = each.context.percent if each.context is not None else None
        # As in the timeline: a session is found dead later than it died.
        at = each.described_at if each.trigger == "recovered" else each.saved_at
        x = places.get(at)
        if use is None or x is None:
            continue
        percent = min(max(use, 0.0), 100.0)
        point = CurvePoint(
            x=x, y=round(100 - percent, 2), percent=use, at=at, agent=each.agent or ""
        )
        lines.setdefault(each.session_id or "", []).append(point)
    if not lines:
        return None
    return ContextCurve(lines=[*lines.values()], steps=list_steps(settings))


def list_steps(settings: Settings) -> list[LadderStep]:
    """Return the steps of the ladder, as set for the project; equal ones are one step."""
    meanings_at: dict[float, list[str]] = {}
    for percent, meaning in (
        (settings.buffer_at, "requests are kept verbatim"),
        (settings.autosave_at, "automatic save"),
        (settings.advise_at, "advice to save"),
        (settings.urge_at, "stronger advice"),
        (settings.fresh_at, "advice to compact or start fresh"),
        (settings.capture_at, "prompts are captured"),
    ):
        meanings_at.setdefault(percent, []).append(meaning)
    return [
        LadderStep(percent=percent, y=round(100 - percent, 2), meaning=", ".join(meanings))
        for percent, meanings in sorted(meanings_at.items())
        if 0 < percent < 100
    ]

"""Telling where the work left off: what `resume` and `restore` have in common."""

from typing import Any

import msgspec

from leftoff.checkpoint import Checkpoint, to_plain
from leftoff.cli import artifacts, replay
from leftoff.cli.app import App
from leftoff.text.fence import Rendered, say
from leftoff.threads import briefing, check_claims


class ViewOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How much to show; whether to read artifacts again, or to ask."""

    budget: int
    reads: bool | None
    always_asks: bool = False
    """Whether to ask even where there is nothing to read."""


class ResumeBriefing(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint as it is told, with what changed since and the prompts that wait."""

    checkpoint: Checkpoint
    checks: check_claims.Checks
    text: Rendered
    waiting: replay.WaitingPrompts
    artifacts: Rendered
    """The contents of the artifacts, if they are to be read."""
    asks: bool
    """Whether it is to be asked if they shall be read."""

    def plain(self, question: Rendered | None) -> dict[str, Any]:
        """Return it as plain values, with the question that comes with it."""
        return {
            "checkpoint": to_plain(self.checkpoint),
            "briefing": self.text,
            "checks": msgspec.to_builtins(self.checks),
            "question": question,
            "prompts": replay.rows(self.waiting),
        }

    def questions(self) -> list[Rendered]:
        """Return what stands open, for where nobody can be asked."""
        return [replay.notice(self.waiting), say(artifacts.QUESTION if self.asks else "")]


def prepare(app: App, checkpoint: Checkpoint, view: ViewOptions) -> ResumeBriefing:
    """Check a checkpoint against how things stand now, before it is taken up.

    One that is consumed tells of no prompts any more.
    """
    checks = app.workspace.check(checkpoint)
    return ResumeBriefing(
        checkpoint=checkpoint,
        checks=checks,
        text=briefing.render(checkpoint, checks, budget=view.budget),
        waiting=replay.waiting(app, session_id=checkpoint.session_id),
        artifacts=artifacts.contents(checks, app.project) if view.reads else say(""),
        asks=view.reads is None and (view.always_asks or bool(checks.artifacts)),
    )


def ask(app: App, told: ResumeBriefing) -> None:
    """Ask on a terminal what stands open."""
    if told.asks and artifacts.ask():
        app.out.text(artifacts.contents(told.checks, app.project))
    replay.ask(app, told.waiting)

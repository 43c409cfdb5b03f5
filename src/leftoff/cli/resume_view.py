"""Build what `resume` and `resume --pending` show, and ask the questions that come with it."""

from typing import Any

import msgspec

from leftoff.checkpoint import Checkpoint, to_plain
from leftoff.cli import artifacts, replay
from leftoff.cli.app import App
from leftoff.text.fence import Rendered, say
from leftoff.threads import briefing, check_claims


class ViewOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How much to show, and whether to read artifacts (None: ask)."""

    budget: int
    reads: bool | None
    always_asks: bool = False
    """Whether to ask even if there are no artifacts."""


class ResumeBriefing(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint ready to show, with what changed since and the queued prompts."""

    checkpoint: Checkpoint
    checks: check_claims.Checks
    text: Rendered
    waiting: replay.WaitingPrompts
    artifacts: Rendered
    """The contents of the artifacts, if the user wants them."""
    asks: bool
    """Whether to ask if the artifacts should be read."""

    def plain(self, question: Rendered | None) -> dict[str, Any]:
        """Return the briefing and its question as JSON-ready values."""
        return {
            "checkpoint": to_plain(self.checkpoint),
            "briefing": self.text,
            "checks": msgspec.to_builtins(self.checks),
            "question": question,
            "prompts": replay.rows(self.waiting),
        }

    def questions(self) -> list[Rendered]:
        """Return the open questions as text, for output without a terminal."""
        return [replay.notice(self.waiting), say(artifacts.QUESTION if self.asks else "")]


def prepare(app: App, checkpoint: Checkpoint, view: ViewOptions) -> ResumeBriefing:
    """Check a checkpoint against the current worktree and render its briefing.

    Call it before accepting the checkpoint: a consumed one no longer lists its prompts.
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
    """Ask the open questions on a terminal."""
    if told.asks and artifacts.ask():
        app.out.text(artifacts.contents(told.checks, app.project))
    replay.ask(app, told.waiting)

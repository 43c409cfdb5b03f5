"""Pick the checkpoint that was left for a session, or the newest, from several candidates."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from leftoff.text.fence import Rendered, say


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """Something that could be restored, with what sets it apart from the others."""

    key: str
    task: str
    saved_at: datetime
    written_at: datetime | None = None
    """When the file that shows it was last written, if files count."""
    day: str = ""
    """The date in the name of that file, whatever the time zone is now."""
    branch: str | None = None
    session_id: str | None = None
    is_pending: bool = False
    """Whether it was left for a session that has not started yet."""
    is_automatic: bool = False

    @property
    def moment(self) -> datetime:
        """When it was last written, which decides what is newest."""
        return self.written_at or self.saved_at


class Pick(msgspec.Struct, frozen=True, kw_only=True):
    """What to restore: one, or several that a person must choose from."""

    chosen: Candidate | None = None
    among: Sequence[Candidate] = ()
    is_foreign: bool = False
    """Whether it was left for another session."""
    doubt: Rendered = say("")
    """Why it may not be the one that the user wants."""
    beside: Sequence[Candidate] = ()
    """Other tasks that were saved at about the same time."""


# Of tasks saved closer together than this, any may be the one that the user means.
_AMBIGUOUS = timedelta(hours=4)
_STALE = timedelta(days=1)
_MOST_LISTED = 10


def pick(candidates: Sequence[Candidate], *, session_id: str | None) -> Pick | None:
    """Pick what is pending: this session's own, or the only other one; None if nothing is."""
    pending = [each for each in candidates if each.is_pending]
    own = [each for each in pending if session_id is not None and each.session_id == session_id]
    if own:
        return Pick(chosen=max(own, key=lambda each: each.moment))
    if len(pending) == 1:
        return Pick(chosen=pending[0], is_foreign=True)
    return Pick(among=pending) if pending else None


def pick_newest(
    candidates: Sequence[Candidate],
    *,
    now: datetime,
    task: str | None = None,
    may_ask: bool = True,
    is_literal: bool = False,
) -> Pick:
    """Pick the newest; several tasks at about the same time are a choice, unless one was offered.

    A checkpoint saved by name beats an autosave of the same task on the same day. `is_literal`
    picks the newest whatever else there is, as quoin does, and names the others beside it.
    """
    days = {_find_day(each) for each in candidates if not each.is_automatic}
    left = [each for each in candidates if not each.is_automatic or _find_day(each) not in days]
    ordered = sorted(left, key=lambda each: each.moment, reverse=True)
    if not ordered:
        return Pick()
    newest = ordered[0]
    # From old to new, so that the newest candidate of each task stays in the dict.
    recent = {
        each.task: each for each in reversed(ordered) if newest.moment - each.moment <= _AMBIGUOUS
    }
    if is_literal:
        others = [each for each in reversed(recent.values()) if each.task != newest.task]
        doubt = _describe_doubt(newest, now, task)
        return Pick(chosen=newest, doubt=doubt, beside=others[:_MOST_LISTED])
    if may_ask and len(recent) > 1 and task not in recent:
        return Pick(among=[*reversed(recent.values())][:_MOST_LISTED])
    chosen = recent.get(task or "", newest)
    return Pick(chosen=chosen, doubt=_describe_doubt(chosen, now, task))


def _find_day(candidate: Candidate) -> tuple[str, str]:
    return f"{candidate.saved_at.astimezone():%Y-%m-%d}", candidate.task


def _describe_doubt(chosen: Candidate, now: datetime, task: str | None) -> Rendered:
    if task is not None and chosen.task != task:
        return say(
            "The newest checkpoint is about {saved:100}, the newest session about {noted:100}.",
            saved=chosen.task,
            noted=task,
        )
    days = (now - chosen.moment) // _STALE
    return say("The newest checkpoint is {days} day(s) old.", days=days) if days > 0 else say("")

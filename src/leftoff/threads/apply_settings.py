"""Shape a draft: remove what the settings exclude, add earlier days, suggest a name."""

import re
from datetime import datetime

import msgspec

from leftoff import config
from leftoff.checkpoint import Checkpoint
from leftoff.names import FORBIDDEN, RESERVED, check_name, find_unused_name, kebab, suggest_name
from leftoff.store import Store

_DAY = re.compile(r"### Day (\d+) \((\d{4}-\d{2}-\d{2})\)")


def drop_unwanted(draft: Checkpoint, settings: config.Settings) -> Checkpoint:
    """Remove what the settings exclude from checkpoints."""
    if settings.next_action == "stated":
        draft = without_guess(draft)
    return _without_contents(draft) if settings.content == "paths" else draft


def without_guess(draft: Checkpoint) -> Checkpoint:
    """Remove a next action that nobody stated; questions and decisions stay."""
    if draft.next_action is None or draft.next_action.origin == "stated":
        return draft
    return msgspec.structs.replace(draft, next_action=None)


def _without_contents(draft: Checkpoint) -> Checkpoint:
    """Remove what was read from the artifacts; their paths stay."""
    if draft.plan is None or draft.plan.title is None:
        return draft
    return msgspec.structs.replace(draft, plan=msgspec.structs.replace(draft.plan, title=None))


def append_day(draft: Checkpoint, store: Store, name: str) -> Checkpoint:
    """Add today's progress to that of earlier days, under a heading for each day.

    The first save gets day 1. Earlier decisions and failures stay, because the task is the same.
    """
    earlier = store.index().head(check_name(name))
    if earlier is None or earlier.problem is not None:
        return draft
    before = store.load(earlier)
    done = before.done
    if not any(_DAY.fullmatch(each) for each in done):
        done = [_day(1, earlier.saved_at), *done]
    dates = [found[2] for each in done if (found := _DAY.fullmatch(each))]
    today = _day(len(dates) + 1, store.now())
    heading = [] if f"({dates[-1]})" in today else [today]
    return msgspec.structs.replace(
        draft,
        summary=draft.summary or before.summary,
        done=[*done, *heading, *draft.done],
        decisions=[
            *(each for each in before.decisions if each not in draft.decisions),
            *draft.decisions,
        ],
        failed=[*(each for each in before.failed if each not in draft.failed), *draft.failed],
    )


def _day(number: int, moment: datetime) -> str:
    return f"### Day {number} ({moment.astimezone():%Y-%m-%d})"


def name_for(draft: Checkpoint, store: Store, *, may_revise: bool = False) -> str:
    """Suggest an unused name of two to four words.

    If a name in use may be revised, work on a named plan gets the name of the plan.
    """
    plan = draft.plan
    # A title without a file was given by the caller, so it is a name.
    if may_revise and plan is not None and plan.title and plan.path is None:
        name = kebab(plan.title)
        if name and name not in FORBIDDEN | RESERVED:
            return name
    action = draft.next_action.text if draft.next_action else None
    name = suggest_name([draft.summary, draft.intent, draft.left_off, action], draft.branch)
    return find_unused_name(name, store.names_like(name))

"""Suggest a name for the thread of a draft."""

import re

from leftoff.checkpoint import Checkpoint
from leftoff.names import FORBIDDEN, RESERVED, find_unused_name, kebab, suggest_name
from leftoff.store import Store

# Such a request says nothing about the work; the title of the plan does.
_ASKS_FOR_PLAN = re.compile(
    r"(?:please |now )*(?:implement|execute|follow|carry out|work on|start|do)\b.{0,20}\bplan\b",
    re.IGNORECASE,
)


def name_thread(draft: Checkpoint, store: Store, *, may_revise: bool = False) -> str:
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
    texts = [draft.summary, draft.intent, draft.left_off, action]
    if plan is not None and plan.title and _ASKS_FOR_PLAN.match(draft.task):
        texts.insert(0, plan.title)
    name = suggest_name(texts, draft.branch)
    return find_unused_name(name, store.names_like(name))

"""Store what attempts teach: failed ones become failures in memory, others successes."""

from collections.abc import Sequence

from leftoff import knowledge
from leftoff.knowledge.features import board_files
from leftoff.knowledge.features.board import Feature, Fix, Loop
from leftoff.knowledge.features.loop_owner import find_loop_of, place_of
from leftoff.knowledge.features.loop_steps import Try
from leftoff.knowledge.features.work_context import helper_text
from leftoff.store import Store

_RULES = 5


def learn(store: Store, item: Feature | Fix, what: Try) -> None:
    """Store the outcome of an attempt in knowledge.memory."""
    lesson = knowledge.memory.EntryDraft(
        kind="failure" if what.result == "failed" else "success",
        text=what.approach,
        why=what.root_cause or "; ".join(what.errors),
        impact=what.prevention,
        feature=item.id,
        sources=[item.id],
        files=list(item.related_files),
    )
    knowledge.memory.add(store, [lesson])


def brief_helper(store: Store, item: Feature | Fix, *, verify: Sequence[str] = ()) -> str:
    """Write a short briefing for a helper agent: the work, what failed, and the rules."""
    found = find_loop_of(board_files.load(store), place_of(store, None), item.id)
    standing = found[1] if found else Loop(feature=item.id, attempt=item.attempts + 1)
    rules = [entry.text for entry in knowledge.memory.entries(store, kinds=["rule"], limit=_RULES)]
    return helper_text(standing, item, verify=verify, rules=rules)

"""Move the findings of agents that worked together to memory, then clear them."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from leftoff import knowledge
from leftoff.knowledge.features import board_files
from leftoff.knowledge.features.board import AgentResult, Choice, Orchestration
from leftoff.knowledge.features.change_log import BoardState
from leftoff.knowledge.features.edit_board import with_board
from leftoff.store import Store
from leftoff.text import times


class Folded(msgspec.Struct, frozen=True, kw_only=True):
    """What was moved to memory."""

    results: int
    session: str
    team: str | None = None
    decisions: int = 0
    patterns: int = 0

    @property
    def messages(self) -> list[str]:
        """The lines to print."""
        team = [f"Cleaned up team state for {self.team}"] if self.team else []
        return [*team, f"Persisted {self.results} agent results to procedural memory"]


def add_result(store: Store, session: str, result: AgentResult) -> None:
    """Record the result of one of the agents; the same result is recorded once."""

    def edit(state: BoardState) -> BoardState:
        known = state.board.orchestration
        results = known.results if result in known.results else [*known.results, result]
        after = msgspec.structs.replace(known, session=known.session or session, results=results)
        return with_board(state, orchestration=after)

    board_files.change(store, edit)


def fold_orchestration(
    store: Store, *, at: datetime | None = None, feature: str | None = None
) -> Folded | None:
    """Move results, patterns and decisions to memory and clear them; None if there are none.

    What names no feature belongs to the team's feature; without a team, to `feature`.

    Memory stores a repeated entry once, so this can be killed at any point and repeated. What
    others add meanwhile stays for the next call.
    """
    known = board_files.glance(store).board.orchestration
    results = _list_results(known)
    if known.session is None or not results:
        return None
    drafts = _build_drafts(known, results)
    about = (known.team.feature if known.team else None) or feature
    dated = [
        msgspec.structs.replace(draft, at=draft.at or at, feature=draft.feature or about)
        for draft in drafts
    ]
    knowledge.memory.add(store, dated)
    board_files.change(
        store,
        lambda state: with_board(state, orchestration=_without(state.board.orchestration, known)),
    )
    return Folded(
        results=len(results),
        session=known.session,
        team=known.team.name if known.team else None,
        decisions=len(known.decisions),
        patterns=len(known.patterns),
    )


def _list_results(known: Orchestration) -> list[AgentResult]:
    mates = known.team.mates if known.team else []
    return [*known.results, *(each for each in mates if each not in known.results)]


def _without(now: Orchestration, folded: Orchestration) -> Orchestration:
    results = [each for each in now.results if each not in folded.results]
    return msgspec.structs.replace(
        now,
        # Results that arrived meanwhile still belong to this session.
        session=now.session if results else None,
        results=results,
        team=None if now.team == folded.team else now.team,
        decisions=[each for each in now.decisions if each not in folded.decisions],
        patterns=[each for each in now.patterns if each not in folded.patterns],
    )


def _build_drafts(
    known: Orchestration, results: Sequence[AgentResult]
) -> "list[knowledge.memory.EntryDraft]":
    session = [known.session] if known.session else []
    patterns = [
        knowledge.memory.EntryDraft(kind="pattern", text=each, sources=session)
        for each in known.patterns
    ]
    decisions = [_build_decision(each, session) for each in known.decisions]
    counts = Counter(each.summary for each in results)
    lessons = [_build_lesson(each, session, is_shared=counts[each.summary] > 1) for each in results]
    return [*lessons, *decisions, *patterns]


def _build_lesson(
    result: AgentResult, session: list[str], *, is_shared: bool
) -> "knowledge.memory.EntryDraft":
    """Return what a result teaches; `is_shared` means that another agent used the same words."""
    others = _list_other_members(result)
    # Without a summary, what the agent tried or was asked to do says more than how it ended.
    asked = [others.get(key) for key in ("approach", "task", "description", "title")]
    task = next((each for each in asked if isinstance(each, str) and each.strip()), "")
    text = result.summary or task or result.role or result.status
    # Memory has one entry for the same words, so each of these agents is named.
    is_named = is_shared or not result.summary
    details: dict[str, Any] = {"type": "orchestration", "agent": result.agent}
    details |= {"role": result.role, "errors": result.errors}
    known = {key: value for key, value in details.items() if value}
    return knowledge.memory.EntryDraft(
        kind="success" if result.status == "completed" else "failure",
        text=f"{result.agent}: {text}" if is_named else text,
        why=result.root_cause or "; ".join(result.errors),
        impact=result.prevention,
        feature=result.feature,
        sources=session,
        files=result.files,
        at=times.parse(result.timestamp or ""),
        extra={knowledge.memory.DETAILS: {**others, **known}},
    )


def _list_other_members(result: AgentResult) -> dict[str, Any]:
    """Return what another system knows about a result and leftoff does not."""
    kept = [each for each in result.extra.values() if isinstance(each, dict)]
    return {key: value for each in kept for key, value in each.items()}


def _build_decision(choice: Choice, session: list[str]) -> "knowledge.memory.EntryDraft":
    return knowledge.memory.EntryDraft(
        kind="decision",
        text=choice.decision,
        why=choice.rationale,
        alternatives=choice.alternatives,
        impact=choice.impact,
        feature=choice.feature,
        sources=session,
    )

"""Remember what a ship teaches: decisions, failures, patterns, corrections, new source files."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from leftoff import knowledge
from leftoff.checkpoint import Decision
from leftoff.errors import LeftoffError
from leftoff.knowledge import features, memory
from leftoff.ship.outcome import ShipStep
from leftoff.ship.record_work import TRIGGER, ShipCheckpoint, find_session_id
from leftoff.store import Store
from leftoff.text.plural import format_count

if TYPE_CHECKING:
    from leftoff.knowledge.reflect import Bar

_MOST_SAVES = 200
# A generated folder shows nothing that its first files do not.
_MOST_PATHS = 50
# Files with code, outside of hidden folders.
_SOURCE = re.compile(
    r"(?:[^./][^/]*/)*[^./][^/]*\.(?:py|pyi|[cm]?[jt]sx?|vue|svelte|rb|go|rs|java|kt|kts|scala|cs|"
    r"fs|swift|mm?|c|cc|cpp|cxx|h|hpp|php|ex|exs|erl|hs|ml|clj|lua|dart|r|jl|sql|prisma|graphql|"
    r"proto|sh|zig|nim|pl)"
)


class Lesson(msgspec.Struct, frozen=True, kw_only=True):
    """What a ship recorded, and the decisions among it."""

    step: ShipStep
    decisions: list[Decision] = []


def learn(
    store: Store,
    kept: ShipCheckpoint,
    *,
    bar: "Bar | None",
    paths: Sequence[str] = (),
    has_layers: bool = False,
) -> Lesson:
    """Store decisions, failures, corrections and the findings of helpers in memory.

    `paths` are new files, of which the sources show how the project is built. `has_layers` names
    the layers of memory that claude-harness has.
    """
    memory.learn(store, kept.checkpoint)
    memory.add(store, [*_draft_structure(kept, paths)])
    feature = kept.checkpoint.feature
    folded = features.fold_orchestration(store, at=kept.checkpoint.saved_at, feature=feature)
    new = _list_news(store, kept, folded)
    counts = {kind: sum(entry.kind == kind for entry in new) for kind in ("decision", "failure")}
    lines = [
        _count_decisions(counts["decision"], has_layers=has_layers),
        _count_failures(counts["failure"]),
        "Updated procedural patterns" if _has_new_patterns(store, kept, folded) else "",
        *(folded.messages if folded else []),
        *_learn_corrections(store, bar),
    ]
    messages = [line for line in lines if line]
    decisions = [Decision(what=each.text, why=each.why) for each in new if each.kind == "decision"]
    step = ShipStep(name="memory", state="skipped", text="Nothing new to remember.")
    if messages:
        step = ShipStep(name="memory", state="done", text=messages[0], lines=messages[1:])
    return Lesson(step=step, decisions=decisions)


def _count_decisions(count: int, *, has_layers: bool) -> str:
    if has_layers and count:
        return f"Recorded {count} decisions to episodic memory"
    return f"Recorded {format_count(count, 'decision')}" if count else ""


def _draft_structure(kept: ShipCheckpoint, paths: Sequence[str]) -> Iterator[memory.EntryDraft]:
    sources = [kept.checkpoint.session_id or kept.checkpoint.id]
    for path in [each for each in paths if _SOURCE.fullmatch(each)][:_MOST_PATHS]:
        yield memory.EntryDraft(kind="structure", text=path, sources=sources)


def _list_news(
    store: Store, kept: ShipCheckpoint, folded: features.Folded | None
) -> list[memory.MemoryEntry]:
    """Return what was decided and what failed in this worktree since its last ship, oldest first.

    Entries of files that others wrote are not ours to announce.
    """
    if not kept.is_new:
        return []
    here = kept.checkpoint.worktree
    saves = [each for each in store.index().newest(_MOST_SAVES) if each.worktree == here]
    ships = [each for each in saves if each.trigger == TRIGGER and each.id != kept.checkpoint.id]
    since = ships[0].saved_at if ships else None
    mine = [each for each in saves if since is None or each.saved_at > since]
    sources = {source for each in mine for source in (each.id, each.session_id)}
    sources |= {find_session_id(store), folded.session if folded else None}
    entries = memory.entries(store, kinds=("decision", "failure"))[::-1]
    fresh = [each for each in entries if since is None or each.at > since]
    return [each for each in fresh if {*each.sources[:1]} & sources or _is_bare(each)]


def _is_bare(entry: memory.MemoryEntry) -> bool:
    """Return whether somebody added an entry on a terminal, outside of sessions."""
    return not (entry.sources or entry.extra)


def _count_failures(count: int) -> str:
    approaches = "approach" if count == 1 else "approaches"
    return f"Recorded {count} failed {approaches}" if count else ""


def _has_new_patterns(store: Store, kept: ShipCheckpoint, folded: features.Folded | None) -> bool:
    """Return whether a pattern was learned since the last ship."""
    if folded is not None and folded.patterns:
        return True
    newest = memory.entries(store, kinds=("pattern",), limit=1) if kept.is_new else []
    if not newest:
        return False
    before = [each for each in store.index().newest(_MOST_SAVES) if each.id != kept.checkpoint.id]
    shipped = [each.saved_at for each in before if each.trigger == TRIGGER]
    return not shipped or newest[0].at > shipped[0]


def _learn_corrections(store: Store, bar: "Bar | None") -> list[str]:
    """Turn what the user corrected in this session into rules."""
    session = find_session_id(store)
    if bar is None or session is None:
        return []
    try:
        found = knowledge.reflect.reflect(store, bar=bar, session=session)
    except LeftoffError:
        # Its transcript is not where agents store theirs, so there is nothing to read.
        return []
    return knowledge.reflect.describe_in_harness_words(found)

"""Read the sessions of a project, and store new corrections as rules."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Literal

import msgspec

from leftoff.errors import LeftoffError
from leftoff.knowledge import memory
from leftoff.knowledge.memory import EntryDraft, MemoryEntry
from leftoff.knowledge.reflect.harvest import Correction
from leftoff.knowledge.reflect.judge_message import Bar, essence, is_at_least, word_as_rule
from leftoff.knowledge.reflect.read_sessions import (
    SessionCorrections,
    SessionSource,
    find_source,
    keep_mark,
    read_corrections,
    sources,
)
from leftoff.store import Store
from leftoff.text import times


class SkippedCorrection(msgspec.Struct, frozen=True, kw_only=True):
    """A correction that adds nothing: it is already known, or was rejected."""

    text: str
    reason: Literal["known", "rejected"]


class Reflection(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a reflection; in a dry run, what it would be."""

    sessions: list[str] = []
    """The sessions in which something was found."""
    saved: list[MemoryEntry] = []
    queued: list[MemoryEntry] = []
    skipped: list[SkippedCorrection] = []

    @property
    def has_news(self) -> bool:
        """Whether there is anything to report."""
        return bool(self.saved or self.queued)


_QUEUED = "(Low-confidence rules queued for next checkpoint review: `leftoff reflect --review`)"
_TITLE_CHARS = 80


def describe_in_harness_words(found: Reflection) -> list[str]:
    """Return the lines that claude-harness prints about new rules; none without any."""
    if not found.has_news:
        return []
    queued = [f"Lower-confidence (manual review needed): {len(found.queued)}", _QUEUED]
    return [
        "AUTO-REFLECTION",
        f"High-confidence rules auto-saved: {len(found.saved)}",
        *(f"- {_shorten_title(rule.text)}" for rule in found.saved),
        *(queued if found.queued else []),
    ]


def _shorten_title(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _TITLE_CHARS else line[: _TITLE_CHARS - 1] + "…"


def reflect(
    store: Store,
    *,
    bar: Bar = "high",
    since: datetime | None = None,
    session: str | None = None,
    is_dry_run: bool = False,
) -> Reflection:
    """Turn the corrections of the project's sessions into rules, active from `bar` upwards."""
    chosen = [find_source(store, session)] if session else _list_recent(store, since)
    sessions = [*_read_sources(store, chosen, is_named=session is not None)]
    found = _classify_corrections(sessions, _list_rules(store, *memory.STATUSES), bar)
    sure = [draft for draft in found.new if is_at_least(draft.confidence, bar)]
    rest = [draft for draft in found.new if not is_at_least(draft.confidence, bar)]
    if is_dry_run:
        saved = _as_entries(store, sure, "active")
        queued = _as_entries(store, rest, "queued")
    else:
        saved = memory.add(store, sure)
        queued = memory.add(store, rest, status="queued")
        # These only gain a source: adding them as queued leaves active rules active.
        memory.add(store, found.again, status="queued")
        # Only now: if we die before this, the next run finds the same again, and memory knows it.
        for each in sessions:
            keep_mark(store, each)
    corrected = [each.source.session_id for each in sessions if each.corrections]
    return Reflection(sessions=corrected, saved=saved, queued=queued, skipped=found.skipped)


def queue(store: Store) -> list[MemoryEntry]:
    """Return the rules that wait for review, oldest first."""
    return _list_rules(store, "queued")[::-1]


def _list_recent(store: Store, since: datetime | None) -> list[SessionSource]:
    after = since.timestamp() if since else 0.0
    return [each for each in sources(store) if each.touched_at >= after]


def _read_sources(
    store: Store, chosen: Iterable[SessionSource], *, is_named: bool
) -> Iterator[SessionCorrections]:
    for source in chosen:
        try:
            yield read_corrections(store, source)
        except (LeftoffError, OSError):
            # An unreadable session must not stop the others.
            if is_named:
                raise


def _list_rules(store: Store, *statuses: memory.Status) -> list[MemoryEntry]:
    kinds: tuple[memory.Kind, ...] = ("rule",)
    return memory.entries(store, kinds=kinds, statuses=statuses)


class _SortedCorrections(msgspec.Struct, frozen=True, kw_only=True):
    new: list[EntryDraft]
    again: list[EntryDraft]
    skipped: list[SkippedCorrection]


def _classify_corrections(
    sessions: Iterable[SessionCorrections], rules: Iterable[MemoryEntry], bar: Bar
) -> _SortedCorrections:
    """Separate new from known corrections; a queued rule counts as new once it is said clearly."""
    known = {essence(rule.text): rule for rule in rules}
    new: dict[str, EntryDraft] = {}
    again: list[EntryDraft] = []
    skipped: list[SkippedCorrection] = []
    for each, correction in _list_corrections(sessions):
        key = essence(correction.text)
        draft = _draft(correction, each.source)
        rule = known.get(key)
        if rule is not None:
            draft = msgspec.structs.replace(draft, text=rule.text)
        if rule is None or (_waits(rule) and is_at_least(draft.confidence, bar)):
            new[key] = _merge_drafts(new[key], draft) if key in new else draft
            continue
        skipped.append(SkippedCorrection(text=correction.text, reason=_explain_skip(rule)))
        if _is_as_first_said(rule):
            again.append(draft)
    return _SortedCorrections(new=list(new.values()), again=again, skipped=skipped)


def _waits(rule: MemoryEntry) -> bool:
    return rule.status == "queued" and _is_as_first_said(rule)


def _is_as_first_said(rule: MemoryEntry) -> bool:
    """Return whether a rule was never edited: memory identifies entries by their first words."""
    return memory.id_of("rule", rule.text) == rule.id


def _explain_skip(rule: MemoryEntry) -> Literal["known", "rejected"]:
    return "rejected" if rule.status == "rejected" else "known"


def _list_corrections(
    sessions: Iterable[SessionCorrections],
) -> Iterator[tuple[SessionCorrections, Correction]]:
    return ((each, correction) for each in sessions for correction in each.corrections)


def _draft(correction: Correction, source: SessionSource) -> EntryDraft:
    return EntryDraft(
        kind="rule",
        text=word_as_rule(correction.text),
        why=correction.why,
        confidence=correction.grade,
        sources=[source.session_id],
        at=times.parse(correction.at),
    )


def _merge_drafts(first: EntryDraft, second: EntryDraft) -> EntryDraft:
    is_surer = not is_at_least(first.confidence, second.confidence or "low")
    return msgspec.structs.replace(
        second if is_surer else first,
        sources=[*dict.fromkeys([*first.sources, *second.sources])],
    )


def _as_entries(
    store: Store, drafts: Iterable[EntryDraft], status: memory.Status
) -> list[MemoryEntry]:
    """Return drafts as the entries they would become."""
    return [
        MemoryEntry(
            id=memory.id_of("rule", draft.text),
            at=draft.at or store.now(),
            kind="rule",
            text=draft.text,
            why=draft.why,
            confidence=draft.confidence,
            sources=draft.sources,
            status=status,
        )
        for draft in drafts
    ]

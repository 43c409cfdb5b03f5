"""The use-case: hear the sessions, keep what is new as rules."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Literal

import msgspec

from leftoff import memory
from leftoff.errors import LeftoffError
from leftoff.memory import Draft, Entry
from leftoff.reflect.following import Heard, Source, find_source, hear, keep_mark, sources
from leftoff.reflect.harvest import Correction
from leftoff.reflect.judge import essence, is_at_least
from leftoff.reflect.language import Grade
from leftoff.store import Store


class Skipped(msgspec.Struct, frozen=True, kw_only=True):
    """A correction that adds nothing: it is known, or was rejected."""

    text: str
    reason: Literal["known", "rejected"]


class Reflection(msgspec.Struct, frozen=True, kw_only=True):
    """What a reflection brought; in a dry run, what it would bring."""

    sessions: list[str] = []
    """The sessions in which something was found."""
    saved: list[Entry] = []
    queued: list[Entry] = []
    skipped: list[Skipped] = []

    @property
    def has_news(self) -> bool:
        """Whether there is anything to tell."""
        return bool(self.saved or self.queued)


def reflect(
    store: Store,
    *,
    bar: Grade = "high",
    since: datetime | None = None,
    session: str | None = None,
    is_dry_run: bool = False,
) -> Reflection:
    """Turn the corrections of the project's sessions into rules, active from `bar` upwards."""
    chosen = [find_source(store, session)] if session else _recent(store, since)
    heard = [*_hear_all(store, chosen, is_named=session is not None)]
    known = {essence(rule.text): rule for rule in _rules(store, *memory.STATUSES)}
    new, skipped = _sorted_out(heard, known)
    sure = [draft for draft in new if is_at_least(draft.confidence, bar)]
    rest = [draft for draft in new if not is_at_least(draft.confidence, bar)]
    if is_dry_run:
        saved = _as_entries(store, sure, "active")
        queued = _as_entries(store, rest, "queued")
    else:
        saved = memory.add(store, sure)
        queued = memory.add(store, rest, status="queued")
        # Only now: whoever dies before finds the same again, and the memory knows it.
        for each in heard:
            keep_mark(store, each)
    told = [each.source.session_id for each in heard if each.corrections]
    return Reflection(sessions=told, saved=saved, queued=queued, skipped=skipped)


def queue(store: Store) -> list[Entry]:
    """Return the rules that wait for review, oldest first."""
    return _rules(store, "queued")[::-1]


def _recent(store: Store, since: datetime | None) -> list[Source]:
    after = since.timestamp() if since else 0.0
    return [each for each in sources(store) if each.touched_at >= after]


def _hear_all(store: Store, chosen: Iterable[Source], *, is_named: bool) -> Iterator[Heard]:
    for source in chosen:
        try:
            yield hear(store, source)
        except (LeftoffError, OSError):
            # One that cannot be read must not keep the others from being heard.
            if is_named:
                raise


def _rules(store: Store, *statuses: memory.Status) -> list[Entry]:
    kinds: tuple[memory.Kind, ...] = ("rule",)
    return memory.entries(store, kinds=kinds, statuses=statuses)


def _sorted_out(
    heard: Iterable[Heard], known: dict[str, Entry]
) -> tuple[list[Draft], list[Skipped]]:
    """Tell what is new from what is known; what is said twice is one rule."""
    new: dict[str, Draft] = {}
    skipped: list[Skipped] = []
    for each, correction in _corrections(heard):
        key = essence(correction.text)
        draft = _draft(correction, each.source)
        if key in known:
            is_rejected = known[key].status == "rejected"
            skipped.append(Skipped(text=draft.text, reason="rejected" if is_rejected else "known"))
        else:
            new[key] = _joined(new[key], draft) if key in new else draft
    return list(new.values()), skipped


def _corrections(heard: Iterable[Heard]) -> Iterator[tuple[Heard, Correction]]:
    return ((each, correction) for each in heard for correction in each.corrections)


def _draft(correction: Correction, source: Source) -> Draft:
    return Draft(
        kind="rule",
        text=correction.text,
        why=correction.why,
        confidence=correction.grade,
        sources=[source.session_id],
        at=_moment(correction.at),
    )


def _joined(first: Draft, second: Draft) -> Draft:
    is_surer = not is_at_least(first.confidence, second.confidence or "low")
    return msgspec.structs.replace(
        second if is_surer else first,
        sources=[*dict.fromkeys([*first.sources, *second.sources])],
    )


def _as_entries(store: Store, drafts: Iterable[Draft], status: memory.Status) -> list[Entry]:
    """Show drafts as they would be kept."""
    return [
        Entry(
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


def _moment(at: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

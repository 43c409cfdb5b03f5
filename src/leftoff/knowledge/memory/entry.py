"""Entries: what a project remembers, as values, and the words by which one is known again."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, get_args

import msgspec

from leftoff import redact
from leftoff.checkpoint import Record, from_plain, to_plain, without_surrogates
from leftoff.errors import LeftoffError, UsageError

Kind = Literal["decision", "failure", "success", "rule", "pattern", "entity", "structure"]
Status = Literal["active", "queued", "rejected", "superseded"]
Confidence = Literal["high", "medium", "low"]

KINDS: tuple[Kind, ...] = get_args(Kind)
STATUSES: tuple[Status, ...] = get_args(Status)
CONFIDENCES: tuple[Confidence, ...] = get_args(Confidence)

# An entry is a sentence or two. What is longer is a paste.
_TEXT_LIMIT = 1_000
_LIST_LIMIT = 50
_ID_DIGITS = 12
_QUOTES = re.compile("[`*\"'“”‘’«»]+")
_ENDS = ".,;:!?…。，；：！？"


class NoSuchEntry(LeftoffError):
    """No entry of the memory has this id."""


class EntryDraft(Record, frozen=True, kw_only=True, omit_defaults=True):
    """Something to remember."""

    kind: Kind
    text: str
    why: str = ""
    feature: str | None = None
    alternatives: list[str] = msgspec.field(default_factory=list)
    impact: str = ""
    confidence: Confidence | None = None
    sources: list[str] = msgspec.field(default_factory=list)
    """Where it was said: ids of checkpoints or of sessions."""
    files: list[str] = msgspec.field(default_factory=list)
    at: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    """When it was said, where that is not now."""


class MemoryEntry(EntryDraft, frozen=True, kw_only=True, omit_defaults=True):
    """Something remembered, and what became of it."""

    id: str
    at: Annotated[datetime, msgspec.Meta(tz=True)]
    status: Status = "active"
    superseded_by: str | None = None


class EntryChange(Record, frozen=True, kw_only=True, omit_defaults=True):
    """What was done about an entry; None and empty leave things as they are."""

    id: str
    at: Annotated[datetime, msgspec.Meta(tz=True)]
    status: Status | None = None
    text: str | None = None
    why: str | None = None
    by: str | None = None


def id_of(kind: Kind, text: str) -> str:
    """Make the id of what is said: the same words, however typed, are the same entry."""
    digest = hashlib.blake2b(f"{kind}\n{_same_words(text)}".encode(), digest_size=16)
    return digest.hexdigest()[:_ID_DIGITS]


def _same_words(text: str) -> str:
    """Leave out what does not tell two sayings apart: case, blanks, quotes, ends of sentences."""
    plain = _QUOTES.sub("", unicodedata.normalize("NFKC", text).casefold())
    words = (word.rstrip(_ENDS) or word for word in plain.split())
    return " ".join(words) or text.strip()


def entry_of(draft: EntryDraft, *, now: datetime, status: Status) -> MemoryEntry:
    """Make an entry of a draft, without secrets and bounded."""
    clean = redact.redact_value(draft)
    if not clean.text.strip():
        raise UsageError(
            "There is nothing to remember.", hint="Say it in a sentence, and why with --why."
        )
    text = _cut(clean.text)
    return MemoryEntry(
        id=id_of(clean.kind, text),
        at=draft.at or now,
        kind=clean.kind,
        text=text,
        why=_cut(clean.why),
        feature=clean.feature and _cut(clean.feature),
        alternatives=_cut_all(clean.alternatives),
        impact=_cut(clean.impact),
        confidence=clean.confidence,
        sources=_cut_all(clean.sources),
        files=_cut_all(clean.files),
        status=status,
        extra=clean.extra,
    )


def _cut(text: str) -> str:
    whole = without_surrogates(text.strip())
    return whole if len(whole) <= _TEXT_LIMIT else whole[: _TEXT_LIMIT - 1] + "…"


def _cut_all(texts: Iterable[str]) -> list[str]:
    return _union([], [_cut(text) for text in texts if text.strip()])


def cut_words(text: str) -> str:
    """Return words for an entry as they are kept: without secrets and bounded."""
    return _cut(redact.redact(text))


def merge_repeat(known: MemoryEntry, again: MemoryEntry) -> MemoryEntry:
    """Join what is said a second time: the first words stand, and what was missing is added.

    A rejected or superseded entry stays as it is, however often it is said.
    """
    if known.status in {"rejected", "superseded"}:
        return known
    return msgspec.structs.replace(
        known,
        why=known.why or again.why,
        feature=known.feature or again.feature,
        impact=known.impact or again.impact,
        confidence=known.confidence or again.confidence,
        alternatives=_union(known.alternatives, again.alternatives),
        sources=_union(known.sources, again.sources),
        files=_union(known.files, again.files),
        status="active" if again.status == "active" else known.status,
        extra={**again.extra, **known.extra},
    )


def apply_change(known: MemoryEntry, change: EntryChange) -> MemoryEntry:
    """Return an entry as it is after a change."""
    status = change.status or known.status
    by = change.by if change.status else known.superseded_by
    return msgspec.structs.replace(
        known,
        text=known.text if change.text is None else change.text,
        why=known.why if change.why is None else change.why,
        status=status,
        superseded_by=by if status == "superseded" else None,
    )


def _union(known: Sequence[str], more: Sequence[str]) -> list[str]:
    return [*dict.fromkeys([*known, *more])][: max(_LIST_LIMIT, len(known))]


def plain(entry: MemoryEntry) -> dict[str, Any]:
    """Return an entry as JSON-ready values, unknown keys in their places."""
    return to_plain(entry)


def decode_entry(data: bytes) -> MemoryEntry:
    """Read an entry back from its JSON."""
    return from_plain(msgspec.json.decode(data), MemoryEntry)


def encode_entry(entry: MemoryEntry) -> bytes:
    """Write an entry as JSON."""
    return msgspec.json.encode(to_plain(entry))

"""Memory entries as values, and the ids that identify them by their words."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, get_args

import msgspec

from leftoff import redact
from leftoff.checkpoint import Record, from_plain, to_plain, without_surrogates
from leftoff.digests import blake2b
from leftoff.errors import LeftoffError, UsageError

Kind = Literal["decision", "failure", "success", "rule", "pattern", "entity", "structure"]
Status = Literal["active", "queued", "rejected", "superseded", "retracted"]
Confidence = Literal["high", "medium", "low"]

KINDS: tuple[Kind, ...] = get_args(Kind)
STATUSES: tuple[Status, ...] = get_args(Status)
CONFIDENCES: tuple[Confidence, ...] = get_args(Confidence)

DETAILS = "details"
"""The key under which an entry keeps what else is known, such as error messages or the agent."""
UNDATED = "undated"
"""The key that marks an entry of another system that does not say when it was made."""
# An entry is a sentence or two. Anything longer was pasted.
_TEXT_LIMIT = 1_000
_LIST_LIMIT = 50
# Short enough to type, and long enough that a collision in one project is very unlikely.
_ID_DIGITS = 12
_QUOTES = re.compile("[`*\"'“”‘’«»]+")
_ENDS = ".,;:!?…。，；：！？"


class NoSuchEntry(LeftoffError):
    """No memory entry has this id."""


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
    """Ids of the checkpoints or sessions it comes from."""
    files: list[str] = msgspec.field(default_factory=list)
    relations: list[str] = msgspec.field(default_factory=list)
    """How an entity relates to others, such as "belongs to Customer"."""
    at: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    """When it was said, if not now."""


class MemoryEntry(EntryDraft, frozen=True, kw_only=True, omit_defaults=True):
    """A remembered entry, with its status."""

    id: str
    at: Annotated[datetime, msgspec.Meta(tz=True)]
    status: Status = "active"
    superseded_by: str | None = None

    @property
    def reason(self) -> str:
        """Why; empty if that only says to what the words of a learned rule answered."""
        is_learned = self.kind == "rule" and self.confidence is not None
        return "" if is_learned and self.why.startswith(_ANSWERS) else self.why


# How a correction that was read in a session describes what came before it.
_ANSWERS = ("after ", "refused ")


class EntryChange(Record, frozen=True, kw_only=True, omit_defaults=True):
    """A change to an entry; None and empty values leave things unchanged."""

    id: str
    at: Annotated[datetime, msgspec.Meta(tz=True)]
    status: Status | None = None
    text: str | None = None
    why: str | None = None
    by: str | None = None
    feature: str | None = None
    impact: str = ""
    alternatives: list[str] = msgspec.field(default_factory=list)
    files: list[str] = msgspec.field(default_factory=list)
    relations: list[str] = msgspec.field(default_factory=list)


def id_of(kind: Kind, text: str) -> str:
    """Build an entry's id from its words: the same words, however typed, are the same entry."""
    digest = blake2b(f"{kind}\n{_normalize(text)}".encode(), digest_size=16)
    return digest.hexdigest()[:_ID_DIGITS]


def _normalize(text: str) -> str:
    """Remove what does not distinguish two texts: case, blanks, quotes, final punctuation."""
    plain = _QUOTES.sub("", unicodedata.normalize("NFKC", text).casefold())
    words = (word.rstrip(_ENDS) or word for word in plain.split())
    return " ".join(words) or text.strip()


def entry_of(draft: EntryDraft, *, now: datetime, status: Status) -> MemoryEntry:
    """Make an entry of a draft, redacted and bounded."""
    clean = redact.redact_value(draft)
    if not clean.text.strip():
        raise UsageError(
            "The text is empty.", hint="Describe it in a sentence, and give the reason with --why."
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
        relations=_cut_all(clean.relations),
        status=status,
        extra=clean.extra,
    )


def _cut(text: str) -> str:
    whole = without_surrogates(text.strip())
    return whole if len(whole) <= _TEXT_LIMIT else whole[: _TEXT_LIMIT - 1] + "…"


def _cut_all(texts: Iterable[str]) -> list[str]:
    return _merge_lists([], [_cut(text) for text in texts if text.strip()])


def cut_words(text: str) -> str:
    """Return a text ready for an entry: redacted and bounded."""
    return _cut(redact.redact(text))


def merge_repeat(known: MemoryEntry, again: MemoryEntry) -> MemoryEntry:
    """Merge a repeated entry: the first words stay, and missing details are added.

    A rejected or superseded entry stays unchanged, however often it is repeated. A retracted one
    becomes active again: somebody else says the same.
    """
    if known.status in {"rejected", "superseded"}:
        return known
    is_dated = bool(known.extra.get(UNDATED)) and not again.extra.get(UNDATED)
    extra = {**again.extra, **known.extra}
    if is_dated or UNDATED not in known.extra:
        extra.pop(UNDATED, None)
    return msgspec.structs.replace(
        known,
        at=again.at if is_dated else known.at,
        why=known.why or again.why,
        feature=known.feature or again.feature,
        impact=known.impact or again.impact,
        confidence=known.confidence or again.confidence,
        alternatives=_merge_lists(known.alternatives, again.alternatives),
        sources=_merge_lists(known.sources, again.sources),
        files=_merge_lists(known.files, again.files),
        relations=_merge_lists(known.relations, again.relations),
        status="active" if again.status == "active" else known.status,
        extra=extra,
    )


def apply_change(known: MemoryEntry, change: EntryChange) -> MemoryEntry:
    """Return an entry with a change applied."""
    status = change.status or known.status
    by = change.by if change.status else known.superseded_by
    return msgspec.structs.replace(
        known,
        text=known.text if change.text is None else change.text,
        why=known.why if change.why is None else change.why,
        feature=change.feature or known.feature,
        impact=change.impact or known.impact,
        alternatives=change.alternatives or known.alternatives,
        files=change.files or known.files,
        relations=change.relations or known.relations,
        status=status,
        superseded_by=by if status == "superseded" else None,
    )


def _merge_lists(known: Sequence[str], more: Sequence[str]) -> list[str]:
    # A list that is already longer, for example from another system, keeps its length.
    return [*dict.fromkeys([*known, *more])][: max(_LIST_LIMIT, len(known))]


def plain(entry: MemoryEntry) -> dict[str, Any]:
    """Return an entry as JSON-ready values, with unknown keys in their places."""
    return to_plain(entry)


def decode_entry(data: bytes) -> MemoryEntry:
    """Read an entry back from its JSON."""
    return from_plain(msgspec.json.decode(data), MemoryEntry)


def encode_entry(entry: MemoryEntry) -> bytes:
    """Write an entry as JSON."""
    return msgspec.json.encode(to_plain(entry))

"""Read and write claude-harness's memory layers: decisions, failures, rules, entities."""

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from leftoff.checkpoint import Record
from leftoff.digests import blake2b
from leftoff.knowledge.memory import CONFIDENCES, DETAILS, EntryDraft, Kind, MemoryEntry, id_of
from leftoff.knowledge.memory.api import FORMER_ID
from leftoff.knowledge.memory.entry import UNDATED, cut_words
from leftoff.profiles.harness.spellings import (
    WORDS_LIST,
    feature_id_of,
    find_key,
    item_of,
    list_items,
    loose_moment,
    words_of,
)
from leftoff.profiles.json_codec import (
    ALL_TEXTS,
    Plain,
    choose,
    is_number,
    iso,
    moment_of,
    object_of,
    text_of,
    texts_of,
    without,
)
from leftoff.profiles.json_codec import Kind as ValueKind

EXTRA = "harness"
"""The key under which an entry keeps what only this layout knows."""
OURS = "leftoff"
"""The key under which an entry of this layout names leftoff's, if its id cannot."""
# A rule's title is the start of its text.
_TITLE_CHARS = 60
_ID_DIGITS = 12


class Layer(msgspec.Struct, frozen=True, kw_only=True):
    """A file of entries: their kind, key and ids, and the initial content of the file."""

    path: str
    kind: Kind
    key: str
    head: Plain = {}
    prefix: str = ""
    text: str
    """Their key for the text; the others are our keys that have another name there."""
    names: dict[str, str] = {}
    other_keys: tuple[str, ...] = ()
    """Where the entries may be as well."""

    def find_key(self, found: Plain) -> str:
        """Return the key under which a document has its entries."""
        others = (key for key in self.other_keys if isinstance(found.get(key), list | dict))
        return self.key if self.key in found else next(others, self.key)

    def list_entries(self, found: Plain) -> list[Plain]:
        """Return the entries of a document as objects; one may be only a text."""
        listed = list_items(found.get(self.find_key(found)), self.text)
        return [item_of(each, self.text) for each in listed]


DECISIONS = Layer(
    path="memory/episodic/decisions.json",
    kind="decision",
    key="entries",
    head={"version": 3, "maxEntries": 50},
    text="decision",
    names={"why": "rationale"},
    other_keys=("decisions",),
)
FAILURES = Layer(
    path="memory/procedural/failures.json",
    kind="failure",
    key="entries",
    head={"version": 3},
    prefix="fail",
    text="approach",
    names={"why": "rootCause", "impact": "prevention"},
    other_keys=("failures",),
)
SUCCESSES = Layer(
    path="memory/procedural/successes.json",
    kind="success",
    key="entries",
    head={"version": 3},
    prefix="suc",
    text="approach",
    other_keys=("successes",),
)
RULES = Layer(
    path="memory/learned/rules.json",
    kind="rule",
    key="rules",
    head={"version": 3},
    prefix="rule",
    text="description",
    names={"at": "createdAt"},
    other_keys=("learnedRules", "entries"),
)
ENTITIES = Layer(
    path="memory/semantic/entities.json",
    kind="entity",
    key="entities",
    head={"version": 3},
    text="name",
    names={"why": "type", "relations": "relationships"},
    other_keys=("entries",),
)
LAYERS = (DECISIONS, FAILURES, SUCCESSES, RULES, ENTITIES)

_WORDS = ValueKind(lambda value: value if isinstance(value, str) else words_of(value) or None)
_FEATURE = ValueKind(
    lambda value: value if isinstance(value, str) else feature_id_of(value) or None
)
_FIELDS = {
    "why": _WORDS,
    "feature": _FEATURE,
    "alternatives": WORDS_LIST,
    "impact": _WORDS,
    "confidence": choose(CONFIDENCES),
    "sources": ALL_TEXTS,
    "files": WORDS_LIST,
    "relations": WORDS_LIST,
    "at": ValueKind(loose_moment, lambda value: iso(value) if value is not None else None),
}
# Other keys for a field, in order of preference.
_OTHER_KEYS: dict[str, tuple[str, ...]] = {
    "why": ("rationale", "reason", "reasoning", "why", "because", "justification", "cause"),
    "feature": ("featureId", "activeFeature"),
    "alternatives": ("alternativesConsidered", "optionsConsidered", "options", "rejected"),
    "impact": ("affects", "affected", "consequences", "lesson"),
    "files": ("relatedFiles", "filesAffected", "paths"),
    "relations": ("relatedTo", "relates", "dependsOn"),
    "at": (
        *("timestamp", "date", "at", "createdAt", "decidedAt", "recordedAt", "learnedAt"),
        *("addedAt", "created", "time", "when", "decidedOn", "updatedAt", "lastUpdated"),
    ),
}
# Keys with the same meaning, used if the usual one is missing.
_OTHER_TEXTS = {
    "decision": ("title", "summary", "description", "what", "text"),
    "failure": ("summary", "title", "description", "what", "text"),
    "success": ("summary", "title", "description", "what", "text"),
    "rule": ("rule", "text", "title"),
    "entity": ("title", "entity", "text"),
}


class LayerEntry(Record, frozen=True, kw_only=True):
    """An entry of a layer, and whether it is in force."""

    draft: EntryDraft
    is_active: bool = True


# Reading


def draft_of(layer: Layer, found: Plain) -> LayerEntry | None:
    """Read an entry; None if it has no text."""
    text, text_key = _find_text(layer, found)
    if not text.strip():
        return None
    taken = {text_key, "id", OURS, "active"} if layer is RULES else {text_key, "id", OURS}
    values: Plain = {}
    for field, kind in _FIELDS.items():
        key = _find_name(layer, field, found)
        if (value := kind.read(found.get(key))) is not None and key not in taken:
            values[field] = value
            taken.add(key)
    rest = without(found, *taken)
    values = {**_derive(layer, rest), **values}
    former = _read_former_id(found)
    extra: Plain = {FORMER_ID: former} if former else {}
    if values.get("at") is None:
        extra[UNDATED] = True
    kept = {**rest, **({"id": found["id"]} if "id" in found else {})}
    extra |= {EXTRA: kept} if kept else {}
    draft = EntryDraft(kind=layer.kind, text=text, extra=extra, **values)
    return LayerEntry(draft=draft, is_active=found.get("active") is not False)


def _find_text(layer: Layer, found: Plain) -> tuple[str, str]:
    for name in (layer.text, *_OTHER_TEXTS[layer.kind]):
        key = find_key(found, name)
        if text_of(found.get(key)).strip():
            return text_of(found[key]), key
    return "", layer.text


def _name(layer: Layer, field: str) -> str:
    return layer.names.get(field, "timestamp" if field == "at" else field)


def _find_name(layer: Layer, field: str, found: Plain) -> str:
    """Return the key under which an entry has a field: the usual one, or another of its meaning."""
    usual, kind = _name(layer, field), _FIELDS[field]
    named = (find_key(found, key) for key in (usual, *_OTHER_KEYS.get(field, ())))
    return next((key for key in named if kind.read(found.get(key))), usual)


def _derive(layer: Layer, rest: Plain) -> Plain:
    """Derive leftoff's keys from other keys of this layout."""
    values: Plain = {}
    if layer is FAILURES:
        values["why"] = words_of(rest.get("errors")) or words_of(rest.get("error"))
    if layer is SUCCESSES:
        values["why"] = "; ".join(texts_of(rest.get("lessons")))
    if layer is RULES:
        source = object_of(rest.get("source"))
        values["at"] = moment_of(source.get("timestamp"))
        values["files"] = texts_of(object_of(rest.get("applicability")).get("filePatterns"))
    if layer is ENTITIES:
        values["files"] = texts_of(rest.get("location"))
    return {key: value for key, value in values.items() if value}


# Writing


def keys_of(layer: Layer, found: Plain, *, is_clean: bool = True) -> list[str]:
    """Return the keys that identify an entry of this layout: its id and its words.

    Ours are stored redacted. Theirs are searched for secrets only if `is_clean` is false.
    """
    text = _find_text(layer, found)[0].strip()
    if not text:
        return []
    former = _read_former_id(found)
    words = id_of(layer.kind, text if is_clean else cut_words(text))
    return [former, words] if former else [words]


def _read_former_id(found: Plain) -> str:
    """Return the id of an entry: ours if we wrote it, otherwise theirs."""
    theirs = found.get("id")
    text = text_of(theirs) or (str(theirs) if is_number(theirs) else "")
    bare = text.replace("-", "")[:_ID_DIGITS]
    return text_of(found.get(OURS)) or (bare if text == _make_uuid(bare) else text)


def _make_uuid(entry_id: str) -> str:
    """Return an id in the form of a UUID, which begins with our own id."""
    rest = blake2b(entry_id.encode(), digest_size=9).hexdigest()
    digits = f"{entry_id}4{rest[:3]}8{rest[3:6]}{rest[6:]}"
    return "-".join(digits[start:end] for start, end in pairwise((0, 8, 12, 16, 20, 32)))


def own_keys(entry: MemoryEntry) -> list[str]:
    """Return the keys that may identify one of our entries in a file."""
    keys = (entry.extra.get(FORMER_ID), entry.id, id_of(entry.kind, entry.text))
    return [key for key in keys if isinstance(key, str)]


def write_entry(layer: Layer, entry: MemoryEntry, standing: Plain, ids: Sequence[str]) -> Plain:
    """Return an entry in the layout's format; existing values keep their bytes."""
    is_active = entry.status == "active"
    if standing and _says_the_same(layer, entry, standing):
        # The layout keeps inactive rules in their place.
        if layer is RULES and (standing.get("active") is not False) != is_active:
            return {**standing, "active": is_active}
        return standing
    kept = object_of(entry.extra.get(EXTRA))
    usual = {} if standing else _add_usual_keys(layer, entry)
    result: Plain = {"id": _choose_id(layer, entry, ids), **usual, **kept, **standing}
    # Store our id beside theirs, so that a reworded entry is still recognized.
    if layer.prefix and entry.extra.get(FORMER_ID) != result["id"]:
        result[OURS] = entry.id
    result[_find_text(layer, standing)[1]] = entry.text
    # leftoff has no field for what only the layout knows, such as when a rule was last changed.
    known = without(result, *(kept.keys() - standing.keys()))
    for field, kind in _FIELDS.items():
        value = getattr(entry, field)
        key = _find_name(layer, field, known)
        if field == "at" and entry.extra.get(UNDATED):
            continue
        if not value and (key in kept or key in usual):
            # Only the layout knows it.
            continue
        if key in result and kind.read(result[key]) == value:
            # It says the same in a form of its own.
            continue
        is_foreign = result.get(key) is not None and kind.read(result[key]) is None
        if is_foreign and not value:
            continue
        if value or key in result or key in _ALWAYS.get(layer.kind, ()):
            result[key] = kind.write(value)
    result |= _build_force(layer, is_active=is_active)
    return result if standing else _order_keys(result)


# What a person looks for first.
_FIRST = ("id", OURS, "timestamp", "feature", "type", "title")


def _order_keys(entry: Plain) -> Plain:
    return {**{key: entry[key] for key in _FIRST if key in entry}, **entry}


# Keys that entries of a kind always have, even if they are empty.
_ALWAYS: dict[str, tuple[str, ...]] = {
    "decision": ("feature", "rationale", "alternatives", "impact"),
    "failure": ("feature", "rootCause", "prevention", "files"),
    "success": ("feature", "files"),
    "entity": ("type",),
}


def _build_force(layer: Layer, *, is_active: bool) -> Plain:
    return {"active": is_active} if layer is RULES else {}


def _says_the_same(layer: Layer, entry: MemoryEntry, standing: Plain) -> bool:
    said = draft_of(layer, standing)
    if said is None or cut_words(said.draft.text) != entry.text:
        return False
    draft = said.draft
    said_alternatives = {cut_words(each) for each in draft.alternatives}
    # Version 0.1 wrote where an entry came from, but neither its files nor its alternatives. What
    # it wrote stays as it is: reading a project must not change a tracked file.
    if "sources" in standing and "files" not in standing and entry.files:
        said_alternatives |= {*entry.alternatives}
    return (
        entry.why in {"", cut_words(draft.why)}
        and entry.impact in {"", cut_words(draft.impact)}
        and (draft.feature is None or entry.feature in {None, draft.feature})
        and said_alternatives >= {*entry.alternatives}
        and {cut_words(each) for each in draft.relations} >= {*entry.relations}
    )


def _choose_id(layer: Layer, entry: MemoryEntry, ids: Sequence[str]) -> str:
    """Give an entry an id in the layout's style: `fail-20261115-001`, `rule-001`, or our own."""
    if layer is DECISIONS:
        return _make_uuid(entry.id)
    if not layer.prefix:
        return entry.id
    is_dated = not (layer is RULES or entry.extra.get(UNDATED))
    day = f"{iso(entry.at)[:10].replace('-', '')}-" if is_dated else ""
    prefix = f"{layer.prefix}-{day}"
    numbers = [each.removeprefix(prefix) for each in ids if each.startswith(prefix)]
    number = 1 + max((int(each) for each in numbers if each.isdecimal()), default=0)
    return f"{prefix}{number:03d}"


def _add_usual_keys(layer: Layer, entry: MemoryEntry) -> Plain:
    """Add the keys that every entry of this layout has and leftoff's lack."""
    if layer is FAILURES or layer is SUCCESSES:
        kind = "fix" if (entry.feature or "").startswith("fix-") else "feature"
        lessons = [entry.why] if entry.why else []
        rest: Plain = {"errors": []} if layer is FAILURES else {"lessons": lessons}
        return {"type": kind, **rest, **object_of(entry.extra.get(DETAILS))}
    if layer is RULES:
        title = " ".join(entry.text.split())
        dated = {} if entry.extra.get(UNDATED) else {"timestamp": iso(entry.at)}
        return {
            "title": title if len(title) <= _TITLE_CHARS else title[: _TITLE_CHARS - 1] + "…",
            "category": "general",
            "scope": "project",
            "source": {"type": "correction", **dated, "context": entry.why},
            "applicability": {"filePatterns": entry.files, "features": [], "always": True},
        }
    if layer is ENTITIES:
        related = [entry.impact] if entry.impact else []
        return {"location": entry.files[0] if entry.files else "", "relationships": related}
    return {}

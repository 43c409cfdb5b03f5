"""Read and write the memory layers of plain facts: patterns, architecture, constraints."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from leftoff.knowledge.memory import EntryDraft, Kind, MemoryEntry, id_of
from leftoff.knowledge.memory.entry import cut_words
from leftoff.profiles.json_codec import Plain, object_of, text_of

EXTRA = "harness"
_SECTION = "section"
# Keys that may hold the text of a fact, in order of preference.
_TEXTS = ("description", "pattern", "rule", "text", "name", "path", "title")


class FactFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of facts, its sections, and the default section."""

    path: str
    kind: Kind
    sections: tuple[str, ...]
    usual: str
    with_files: str = ""
    """The section for facts that name files."""
    head: Plain = {}
    stamp: str = "lastUpdated"


PATTERNS = FactFile(
    path="memory/procedural/patterns.json",
    kind="pattern",
    sections=(
        "patterns.codePatterns",
        "patterns.namingConventions",
        "patterns.projectSpecificRules",
    ),
    usual="patterns.codePatterns",
    head={"version": 3},
)
ARCHITECTURE = FactFile(
    path="memory/semantic/architecture.json",
    kind="structure",
    sections=(
        *("projectType", "techStack", "structure.entryPoints", "structure.components"),
        *("structure.api", "structure.tests", "patterns.naming", "patterns.fileOrganization"),
        "patterns.codeStyle",
    ),
    usual="patterns.codeStyle",
    with_files="structure.components",
    head={"version": 3},
)
CONSTRAINTS = FactFile(
    path="memory/semantic/constraints.json",
    kind="rule",
    sections=("constraints", "rules"),
    usual="",
    head={"version": 3},
)
SHELVES = (PATTERNS, ARCHITECTURE, CONSTRAINTS)
# Choose a section for a structural fact without one: by its kind, or by what it mentions.
_PATH = re.compile(r"\S+/\S*|[\w@-]+(\.[\w-]+)*\.[a-z]\w{0,4}")
_TESTS = re.compile(r"(^|/)(tests?|specs?|__tests__)(/|$)|(^|/)test_[^/]*$|[._](test|spec)\.\w+$")
_SPOKEN = (
    (re.compile(r"\bentry[ -]?points?\b", re.IGNORECASE), "structure.entryPoints"),
    (re.compile(r"\bnam(e|es|ed|ing)\b|\b(camel|snake|kebab|pascal)[- ]?case\b", re.IGNORECASE),
     "patterns.naming"),
    (re.compile(r"\b(folders?|director(y|ies)|layout|lives? in|lies? in)\b", re.IGNORECASE),
     "patterns.fileOrganization"),
)  # fmt: skip
# Sections that are created as objects; all others are lists.
_OBJECTS = frozenset({"namingConventions", "techStack"})
# Sections that hold a single text.
_SCALARS = frozenset({"projectType"})


# Reading


def drafts_of(shelf: FactFile, found: Plain) -> Iterator[EntryDraft]:
    """Yield each fact, with its place in the file."""
    for section in shelf.sections:
        for fact in _tell(_at(found, section)):
            kept: Plain = {_SECTION: section, **({"key": fact.key} if fact.key else {})}
            kept |= {"raw": fact.raw} if fact.raw is not None else {}
            yield EntryDraft(kind=shelf.kind, text=fact.text, extra={EXTRA: kept})


class Fact(NamedTuple):
    """One statement of a section: its words, its key, and anything else stored with it."""

    text: str
    key: str = ""
    raw: object = None


def _at(found: Plain, section: str) -> Any:
    value: Any = found
    for key in section.split("."):
        value = object_of(value).get(key)
    return value


def _tell(value: object) -> Iterator[Fact]:
    """Yield what a section says: texts of a list, `key: value` of an object, or a text."""
    if isinstance(value, str):
        yield Fact(value)
    elif isinstance(value, dict):
        for key, each in value.items():
            inner = [fact.text for fact in _tell(each) if fact.text.strip()]
            raw = None if isinstance(each, str) else each
            if inner and key.strip():
                yield Fact(f"{key}: {', '.join(inner)}", key, raw)
    elif isinstance(value, list):
        for each in value:
            if isinstance(each, str) and each.strip():
                yield Fact(each)
            elif isinstance(each, dict) and (text := _text(each)):
                yield Fact(text, raw=each)


def _text(found: Plain) -> str:
    return next((text for key in _TEXTS if (text := text_of(found.get(key))).strip()), "")


# Writing


def belongs(shelf: FactFile, entry: MemoryEntry) -> bool:
    """Return whether an entry belongs in this file."""
    if entry.kind != shelf.kind:
        return False
    section = text_of(object_of(entry.extra.get(EXTRA)).get(_SECTION))
    return section in shelf.sections or (bool(shelf.usual) and entry.kind == shelf.kind)


def with_facts(shelf: FactFile, entries: Iterable[MemoryEntry], now: str, found: Plain) -> Plain:
    """Return a document with missing facts added; existing ones stay unchanged."""
    # Compare redacted texts: ours were redacted before they were stored.
    known = {id_of(shelf.kind, cut_words(text)) for text in _all(shelf, found)}
    result = {**shelf.head, **found}
    added = False
    for entry in entries:
        if entry.status == "active" and id_of(shelf.kind, entry.text) not in known:
            result = _with(result, _section(shelf, entry), entry)
            added = True
    return {**result, shelf.stamp: now} if added else found


def _all(shelf: FactFile, found: Plain) -> Iterator[str]:
    return (fact.text for section in shelf.sections for fact in _tell(_at(found, section)))


def _section(shelf: FactFile, entry: MemoryEntry) -> str:
    section = text_of(object_of(entry.extra.get(EXTRA)).get(_SECTION))
    if section in shelf.sections:
        return section
    if not shelf.with_files:
        return shelf.usual
    if _PATH.fullmatch(entry.text):
        return "structure.tests" if _TESTS.search(entry.text) else shelf.with_files
    if entry.files:
        return shelf.with_files
    found = (section for words, section in _SPOKEN if words.search(entry.text))
    return next(found, shelf.usual)


def _with(found: Plain, section: str, entry: MemoryEntry) -> Plain:
    key, _, inner = section.partition(".")
    if inner:
        return {**found, key: _with(object_of(found.get(key)), inner, entry)}
    return {**found, key: _join(found.get(key), section, entry)}


def _join(value: object, section: str, entry: MemoryEntry) -> object:
    """Add a fact to a section, whatever type the section has."""
    kept = object_of(entry.extra.get(EXTRA))
    raw, key = kept.get("raw"), text_of(kept.get("key"))
    name, colon, text = entry.text.partition(": ")
    is_object = isinstance(value, dict) or (value is None and (key or section in _OBJECTS))
    if is_object:
        return {**object_of(value), key or name: raw or (text if colon else entry.text)}
    if value is None and section in _SCALARS:
        return entry.text
    standing = value if isinstance(value, list) else [] if value is None else [value]
    return [*standing, raw if isinstance(raw, dict) else entry.text]

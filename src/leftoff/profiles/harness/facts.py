"""Read and write claude-harness's memory layers of facts: patterns, architecture, constraints."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from leftoff.knowledge.memory import EntryDraft, Kind, MemoryEntry, id_of
from leftoff.knowledge.memory.entry import cut_words
from leftoff.profiles.harness.spellings import words_of
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

    def list_sections(self, found: Plain) -> list[str]:
        """Return the sections of a document: the usual ones, and any others beside them."""
        parents = dict.fromkeys(each.partition(".")[0] for each in self.sections if "." in each)
        others = [
            f"{parent}.{key}"
            for parent in parents
            for key in object_of(found.get(parent))
            if "." not in key and f"{parent}.{key}" not in self.sections
        ]
        whole = [key for key in parents if not isinstance(found.get(key), dict | None)]
        return [*self.sections, *others, *whole]

    def has(self, section: str) -> bool:
        """Return whether a section can be one of this file's."""
        parents = {each.partition(".")[0] for each in self.sections if "." in each}
        return section in self.sections or section.partition(".")[0] in parents


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
_ENTRY = re.compile(
    r"(?:(?:src|app|cmd|bin)/)?(?:[\w-]+/)?(?:main|__main__|index|app|server|cli)\.\w+"
)
_API = re.compile(r"(^|/)(api|routes?|endpoints|controllers|handlers)(/|\.\w+$)")
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


def list_drafts(shelf: FactFile, found: Plain) -> Iterator[EntryDraft]:
    """Yield each fact, with its place in the file."""
    for section in shelf.list_sections(found):
        for fact in _list_facts(_find_section_value(found, section)):
            kept: Plain = {_SECTION: section, **({"key": fact.key} if fact.key else {})}
            kept |= {"raw": fact.raw} if fact.raw is not None else {}
            yield EntryDraft(kind=shelf.kind, text=fact.text, extra={EXTRA: kept})


class Fact(NamedTuple):
    """One statement of a section: its words, its key, and anything else stored with it."""

    text: str
    key: str = ""
    raw: object = None


def _find_section_value(found: Plain, section: str) -> Any:
    value: Any = found
    for key in section.split("."):
        value = object_of(value).get(key)
    return value


def _list_facts(value: object) -> Iterator[Fact]:
    """Yield what a section says: texts of a list, `key: value` of an object, or a text."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _list_member_facts(key, each)
    elif isinstance(value, list):
        for each in value:
            if text := _find_text(each):
                yield Fact(text, raw=None if isinstance(each, str) else each)
    elif value is not None:
        yield Fact(_find_text(value), raw=None if isinstance(value, str) else value)


def _list_member_facts(key: str, value: object) -> Iterator[Fact]:
    inner = [fact.text for fact in _list_facts(value) if fact.text.strip()]
    raw = None if isinstance(value, str) else value
    if inner == [key]:
        # The sentence is both name and value.
        yield Fact(key, key, raw)
    elif inner and key.strip():
        yield Fact(f"{key}: {', '.join(inner)}", key, raw)


def _find_text(found: object) -> str:
    if isinstance(found, str):
        return found if found.strip() else ""
    if not isinstance(found, dict):
        return words_of(found)
    named = (text for key in _TEXTS if (text := text_of(found.get(key))).strip())
    return next(named, "") or words_of(found)


# Writing


def belongs(shelf: FactFile, entry: MemoryEntry) -> bool:
    """Return whether an entry belongs in this file."""
    if entry.kind != shelf.kind:
        return False
    section = text_of(object_of(entry.extra.get(EXTRA)).get(_SECTION))
    return shelf.has(section) or (bool(shelf.usual) and entry.kind == shelf.kind)


def with_facts(shelf: FactFile, entries: Iterable[MemoryEntry], now: str, found: Plain) -> Plain:
    """Return a document with missing facts added; existing ones stay unchanged."""
    # Compare redacted texts: ours were redacted before they were stored.
    known = {id_of(shelf.kind, cut_words(text)) for text in _list_texts(shelf, found)}
    result = {**shelf.head, **found}
    added = False
    for entry in entries:
        if entry.status == "active" and id_of(shelf.kind, entry.text) not in known:
            result = _with(result, _find_section(shelf, entry), entry)
            added = True
    return {**result, shelf.stamp: now} if added else found


def _list_texts(shelf: FactFile, found: Plain) -> Iterator[str]:
    sections = shelf.list_sections(found)
    return (
        fact.text
        for section in sections
        for fact in _list_facts(_find_section_value(found, section))
    )


def _find_section(shelf: FactFile, entry: MemoryEntry) -> str:
    section = text_of(object_of(entry.extra.get(EXTRA)).get(_SECTION))
    if section and shelf.has(section):
        return section
    if not shelf.with_files:
        return shelf.usual
    if _PATH.fullmatch(entry.text):
        return _find_path_section(entry.text, shelf.with_files)
    if entry.files:
        return shelf.with_files
    found = (section for words, section in _SPOKEN if words.search(entry.text))
    return next(found, shelf.usual)


def _find_path_section(path: str, usual: str) -> str:
    if _TESTS.search(path):
        return "structure.tests"
    if _API.search(path):
        return "structure.api"
    return "structure.entryPoints" if _ENTRY.fullmatch(path) else usual


def _with(found: Plain, section: str, entry: MemoryEntry) -> Plain:
    key, _, inner = section.partition(".")
    if inner and isinstance(found.get(key), dict | None):
        return {**found, key: _with(object_of(found.get(key)), inner, entry)}
    # A list in place of the object that belongs there takes all facts.
    return {**found, key: _join(found.get(key), section, entry)}


def _join(value: object, section: str, entry: MemoryEntry) -> object:
    """Add a fact to a section, whatever type the section has."""
    kept = object_of(entry.extra.get(EXTRA))
    raw, key = kept.get("raw"), text_of(kept.get("key"))
    is_object = isinstance(value, dict) or (value is None and (key or section in _OBJECTS))
    if is_object:
        name = key or entry.text.partition(": ")[0]
        text = entry.text.removeprefix(f"{name}: ")
        return {**object_of(value), name: text if raw is None else raw}
    if value is None and section in _SCALARS:
        return entry.text
    standing = value if isinstance(value, list) else [] if value is None else [value]
    return [*standing, entry.text if raw is None else raw]

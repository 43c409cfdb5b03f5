"""Recognize goodbyes, corrections, statements worth a note and branches, in every language.

A phrase is a regular expression on a line; a line that ends with `|` continues on the next one. A
word in capitals stands for one of the table's `parts`. Nothing else is in capitals, because the
text to match is in lower case.
"""

import functools
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

import msgspec

from leftoff.lazy_patterns import lazy

LANGUAGES = Path(__file__).with_name("languages")
LONGEST = 200
"""A longer message is about the work. Checking this first saves 4 ms of loading languages."""

_BROKEN_LINE = lazy(r"\|\s*\n\s*")
_EDGES = lazy(r"^[\W_]+|[\W_]+$")
_LATIN_MARKS = lazy("[\u0300-\u036f]+")


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    parts: dict[str, str] = {}
    """Pieces of phrases by their name in capitals; a part may contain other parts."""


class CorrectionTable(_Table, frozen=True):
    """How people correct an agent; matched against a sentence without accents and quotations."""

    empty: str = ""
    """Words without meaning of their own; a sentence of only these makes no sense later."""
    openers: str = ""
    """Says that the agent went wrong, before what it should do: `no,`, `that's wrong`."""
    fillers: str = ""
    """Filler that can come before anything: `please`, `ok, but`."""
    high: str = ""
    """How a sentence begins that is certainly a rule."""
    medium: str = ""
    """How a sentence begins that is probably a rule."""
    alternatives: str = ""
    """How a sentence begins that names an alternative; certain after an opener."""
    orders: str = ""
    """How a sentence begins that says what to do; it counts only after an opener."""
    requests: str = ""
    """A wish in the form of a question: `can you`."""
    questions: str = ""
    """What questions look like without a question mark."""
    one_off: str = ""
    """Limits a sentence to the present situation."""
    not_rules: str = ""
    """Looks like a correction, but is a fact, a choice or an idiom."""
    vague: str = ""
    """Refers to the conversation around it; a sentence with it is not certain."""


class IntentTable(_Table, frozen=True):
    """Whole messages that mean a command, without accents; `intents.py` explains the parts."""

    save: str = ""
    restore: str = ""
    recall: str = ""
    """Asks what the work was, such as `what was I working on?`."""
    resume: str = ""
    stops: str = ""
    """Asks where the work stopped, such as `where were we?`; that means `resume`, but agrees to
    nothing."""
    topics: str = ""
    """Says which work to continue, such as `go on with TOPIC`; with accents, as people type it."""
    finishes: str = ""
    """Says what to work on, such as `finish TOPIC`; that may be new work as well."""
    clear: str = ""
    list: str = ""
    prompts: str = ""
    undo: str = ""
    status: str = ""
    ship: str = ""
    bare: tuple[str, ...] = ()
    """Words for `continue` that mean `resume` only at the start of a session; plain text."""
    agreements: tuple[str, ...] = ()
    """Go-aheads that mean the same alone, but may begin any other request: `yes`; plain text."""
    polite_before: str = ""
    polite_after: str = ""


class GoodbyeTable(_Table, frozen=True):
    """Goodbyes as people type them: in lower case, with accents."""

    messages: tuple[str, ...] = ()
    """Whole messages; plain text, not regexes. Within a sentence they mean something else."""
    farewells: tuple[str, ...] = ()
    """Messages that also count at the end of a longer one, after a pause; plain text."""
    before: str = ""
    """What people say before a goodbye, such as thanks."""
    closings: str = ""
    """How people say that they stop; a farewell may follow without a pause."""
    after: str = ""


class NoteTable(_Table, frozen=True):
    """Statements worth noting; matched against a sentence without accents and quotations."""

    preference: str = ""
    decision: str = ""
    draft: str = ""
    """An order to change a text."""
    correction: str = ""
    questions: str = ""
    """What questions look like without a question mark; they state nothing."""
    negations: str = ""
    """Comes right before a value that does not apply: `not `, `instead of `."""
    namings: str = ""
    """Comes right before a name: `called `."""


class ReplyTable(_Table, frozen=True):
    """What people answer an agent while it works; matched without accents."""

    greetings: str = ""
    """What people say before a request, such as `good morning`; with accents, as they type it."""
    follow_ups: str = ""
    """Whole requests that go on from the one before, such as `and also the docstring`."""

    answers: str = ""
    """How a reply to a question begins, such as `yes`. PAUSE is a comma, a period or the end."""
    go_aheads: str = ""
    """Units of a message that only agrees, thanks or picks an option: `yes`, `option 1`."""
    remarks: str = ""
    """Units of a message that may agree, but ask for nothing themselves: `thanks`, `nice`."""
    refusals: str = ""
    """Units of a message that declines what the agent proposed: `no`, `never mind`."""
    explanations: str = ""
    """Whole messages that ask for words, but not as a question: `explain …`."""
    wishes: str = ""
    """Whole questions that ask for work rather than for an answer: `can you …`, `what about …`."""
    untouched: str = ""
    """Clauses that name what must stay as it is, such as `don't touch CLAUSE`; with accents."""
    withdrawals: str = ""
    """How a message begins that takes back an earlier request: `forget `, `never mind `."""
    pauses: str = ""
    """How a rule looks that has the agent ask before each next step: `stop after each step`."""
    rules: str = ""
    """How a sentence looks that tells the agent how to work: `stop after each step`."""


class Language(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, eq=False):
    """One file of `languages/`."""

    code: str
    order: int = 100
    """If a message fits several languages, the lowest order wins."""
    script: str = ""
    """A regex that recognizes the language by its characters, if they suffice."""
    known_by: str = ""
    """Frequent words that reveal the language."""
    is_dense: bool = False
    """Whether words are written without spaces between them."""
    branch_words: str = ""
    """The words for a branch or a worktree of git."""
    corrections: CorrectionTable = CorrectionTable()
    intents: IntentTable = IntentTable()
    goodbyes: GoodbyeTable = GoodbyeTable()
    notes: NoteTable = NoteTable()
    replies: ReplyTable = ReplyTable()

    @property
    def boundary(self) -> str:
        """A regex for the beginning or end of a word."""
        return "" if self.is_dense else r"\b"


@functools.cache
def read_languages(folder: Path = LANGUAGES) -> tuple[Language, ...]:
    """Load every language in a folder, in their order of precedence."""
    import tomllib  # noqa: PLC0415 - 1 ms, and most hook events need no phrases

    texts = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.toml"))]
    read = [msgspec.convert(tomllib.loads(text), Language) for text in texts]
    return tuple(sorted(read, key=lambda language: language.order))


def fold(text: str) -> str:
    """Normalize a text for comparison: lower case, no accents, uniform quotes and blanks."""
    folded = unicodedata.normalize("NFKC", text.replace("’", "'")).casefold()
    # Only the accents of Latin letters are removed: the marks of kana distinguish words.
    bare = _LATIN_MARKS.sub("", unicodedata.normalize("NFD", folded))
    return " ".join(unicodedata.normalize("NFC", bare).split())


def trim(text: str) -> str:
    """Remove everything that is not a word from both ends of a text."""
    return _EDGES.sub("", text)


def split_phrases(text: str, parts: Mapping[str, str] | None = None) -> list[str]:
    """Return the phrases of a text, with their parts filled in."""
    if parts:
        named = re.compile("|".join(sorted(parts, key=len, reverse=True)))
        while named.search(text):
            text = named.sub(lambda found: _join_lines(parts[found[0]]), text)
    return [line.strip() for line in _join_lines(text).split("\n") if line.strip()]


def any_of(phrases: Iterable[str]) -> str:
    """Return a regex for any of the phrases; without phrases, one that never matches."""
    return "(?:" + ("|".join(f"(?:{phrase})" for phrase in phrases) or "(?!)") + ")"


def _join_lines(text: str) -> str:
    return _BROKEN_LINE.sub("|", text.strip())


# --- goodbyes ---


def is_goodbye(message: str) -> bool:
    """Return whether a message is only a goodbye, ignoring thanks and punctuation around it.

    Within a longer sentence, the same words do not count.
    """
    if len(message) > LONGEST:
        return False
    plain = trim(" ".join(message.casefold().split())).removeprefix("/")
    rest = _compile_around().sub("", plain)
    # "Thanks, that's all for today" only leads to a goodbye, and is one if nothing follows.
    if rest in _list_messages() or (
        plain and not rest and _compile_thanks().sub("", plain) in _list_messages()
    ):
        return True
    # People say it twice: "good night, see you tomorrow". Other parts may only surround one.
    parts = [_compile_around().sub("", part) for part in split_at_pauses(plain)]
    known = [part in _list_messages() for part in parts]
    return any(known) and all(
        is_known or not part for part, is_known in zip(parts, known, strict=True)
    )


def split_at_pauses(message: str) -> list[str]:
    """Return the parts of a message between commas, periods and the like."""
    return [trim(part) for part in re.split(_PAUSE, message)]


def says_goodbye(message: str) -> bool:
    """Return whether a message is a goodbye or ends with one, as in "that's it, good night"."""
    if len(message) > LONGEST:
        return False
    if is_goodbye(message):
        return True
    # Words in quotation marks are about a text, not to the agent.
    if _CLOSING_QUOTE.search(message):
        return False
    return (
        _compile_ending().search(" ".join(message.casefold().replace("\n", " . ").split()))
        is not None
    )


_CLOSING_QUOTE = lazy("[\"'`”’»」』]\\W*$")
_PAUSE = r"(?:[.,;:!?…–—~()。，！？；：、～]|\s-+\s)[\s¡¿]*"


@functools.cache
def _list_messages() -> frozenset[str]:
    tables = [language.goodbyes for language in read_languages()]
    return frozenset(each for table in tables for each in (*table.messages, *table.farewells))


@functools.cache
def _compile_ending() -> re.Pattern[str]:
    """Compile the farewells at the end of a message: after a pause, or after what leads to them."""
    tables = [(each.goodbyes, each.boundary) for each in read_languages()]
    closings = [
        f"{edge}(?:{phrase}){edge}"
        for said, edge in tables
        for phrase in split_phrases(said.closings, said.parts)
    ]
    farewells = [
        f"{edge}{re.escape(each)}{edge}" for said, edge in tables for each in said.farewells
    ]
    between = rf"(?:{any_of(_list_leads())}[\W_]*)*"
    return re.compile(
        rf"(?:{_PAUSE}|{any_of(closings)}[\W_]*){between}{any_of(farewells)}"
        rf"(?:[\W_]+{any_of(_list_tails())})*[\W_]*$"
    )


@functools.cache
def _compile_around() -> re.Pattern[str]:
    return re.compile(rf"^(?:{any_of(_list_leads())}[\W_]*)+|[\W_]+{any_of(_list_tails())}$")


@functools.cache
def _compile_thanks() -> re.Pattern[str]:
    return re.compile(rf"^(?:{any_of(_list_phrases('before'))}[\W_]*)+")


def _list_leads() -> list[str]:
    """Return what may come before a goodbye."""
    return [*_list_phrases("before"), *_list_phrases("closings")]


def _list_phrases(key: Literal["before", "closings"]) -> list[str]:
    return [
        f"(?:{phrase}){language.boundary}"
        for language in read_languages()
        for phrase in split_phrases(getattr(language.goodbyes, key), language.goodbyes.parts)
    ]


def _list_tails() -> list[str]:
    """Return what may come after a goodbye."""
    tables = [language.goodbyes for language in read_languages()]
    return [phrase for table in tables for phrase in split_phrases(table.after, table.parts)]


# --- corrections ---


# Expressions for the text after a phrase, if that is part of the match.
_AFTER = {
    "openers": r"(?:[\s,:.!;、，。！]+|$)",
    "fillers": r"(?!\w)[\s,:.!、，]*",
    "requests": r"\s*",
}
_DENSE_AFTER = {**_AFTER, "fillers": r"[\s,:.!、，]*"}


class Corrections(msgspec.Struct, frozen=True, kw_only=True):
    """The compiled phrases of a language; `CorrectionTable` describes each of them."""

    is_dense: bool
    empty: frozenset[str]
    openers: re.Pattern[str]
    fillers: re.Pattern[str]
    high: re.Pattern[str]
    medium: re.Pattern[str]
    alternatives: re.Pattern[str]
    orders: re.Pattern[str]
    requests: re.Pattern[str]
    questions: re.Pattern[str]
    one_off: re.Pattern[str]
    not_rules: re.Pattern[str]
    vague: re.Pattern[str]


def find_spoken(text: str, words: Sequence[str]) -> list[Corrections]:
    """Return the languages that a text may be in; several if its words do not decide."""
    languages = read_languages()
    for language in languages:
        if language.script and re.search(language.script, text):
            return [_compile_corrections(language)]
    spelt = [language for language in languages if language.known_by]
    votes = [sum(word in _list_marker_words(language) for word in words) for language in spelt]
    return [
        _compile_corrections(each)
        for each, vote in zip(spelt, votes, strict=True)
        if vote == max(votes)
    ]


@functools.cache
def _list_marker_words(language: Language) -> frozenset[str]:
    return frozenset(language.known_by.split())


@functools.cache
def _compile_corrections(language: Language) -> Corrections:
    table = language.corrections
    after = _DENSE_AFTER if language.is_dense else _AFTER
    patterns = {
        key: re.compile(any_of(split_phrases(phrases, table.parts)) + after.get(key, ""))
        for key, phrases in msgspec.structs.asdict(table).items()
        if key not in {"parts", "empty"}
    }
    empty = frozenset(table.empty.split())
    return Corrections(is_dense=language.is_dense, empty=empty, **patterns)


# --- statements worth a note ---


Statement = Literal["preference", "decision", "draft", "correction"]

_QUESTION_MARK = lazy(r"[?？]\W*$")


def find_statement(sentence: str) -> Statement | None:
    """Return the first kind of statement that matches a sentence, so that it is noted once."""
    kinds: tuple[Statement, ...] = get_args(Statement)
    return next((kind for kind in kinds if _compile_notes(kind).search(sentence)), None)


def is_question(sentence: str) -> bool:
    """Return whether a sentence asks something, and so states nothing."""
    return bool(_QUESTION_MARK.search(sentence) or _compile_notes("questions").search(sentence))


def is_negated(before: str) -> bool:
    """Return whether the text before a value negates it."""
    return _compile_notes("negations", "$").search(before.lower()) is not None


def find_names(text: str, name: str) -> list[str]:
    """Return what a text introduces as a name, if it matches the regex for names."""
    return [found[1] for found in _compile_notes("namings", rf"[\"“']?({name})").finditer(text)]


@functools.cache
def _compile_notes(key: str, after: str = "") -> re.Pattern[str]:
    tables = [language.notes for language in read_languages()]
    phrases = (
        phrase for table in tables for phrase in split_phrases(getattr(table, key), table.parts)
    )
    return re.compile(any_of(phrases) + after)


# --- branches ---


def mentions_branch(message: str) -> bool:
    """Return whether a message mentions a branch or a worktree of git."""
    return _compile_branch_words().search(fold(message)) is not None


@functools.cache
def _compile_branch_words() -> re.Pattern[str]:
    return re.compile(
        any_of(
            f"{language.boundary}{word}{language.boundary}"
            for language in read_languages()
            for word in language.branch_words.split()
        )
    )

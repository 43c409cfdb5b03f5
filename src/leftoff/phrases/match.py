"""Load the language files and compile their phrases to regular expressions.

A phrase is a regular expression on a line; a line that ends with `|` continues on the next one. A
word in capitals stands for one of the table's `parts`. Nothing else is in capitals, because the
text to match is in lower case.
"""

import functools
import re
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

LANGUAGES = Path(__file__).with_name("languages")
LONGEST = 200
"""A longer message is about the work. Checking this first saves 4 ms of loading languages."""

_BROKEN_LINE = re.compile(r"\|\s*\n\s*")
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")
_LATIN_MARKS = re.compile("[\u0300-\u036f]+")


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    parts: dict[str, str] = {}
    """Pieces of phrases by their name in capitals; a part may contain other parts."""


class CorrectionTable(_Table, frozen=True):
    """How people correct an agent; matched against a sentence without accents and quotations."""

    empty: str = ""
    """Words that say nothing alone; a sentence of only these makes no sense later."""
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
    resume: str = ""
    clear: str = ""
    list: str = ""
    prompts: str = ""
    undo: str = ""
    status: str = ""
    bare: tuple[str, ...] = ()
    """Go-aheads that mean `resume` only at the start of a session; plain text, not regexes."""
    polite_before: str = ""
    polite_after: str = ""


class GoodbyeTable(_Table, frozen=True):
    """Goodbyes as people type them: in lower case, with accents."""

    messages: tuple[str, ...] = ()
    """Whole messages; plain text, not regexes."""
    before: str = ""
    """What people say before a goodbye, such as thanks."""
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

    go_aheads: str = ""
    """Units of a message that only agrees, thanks or picks an option: `yes`, `option 1`."""
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
    import tomllib  # noqa: PLC0415 - takes 2 ms, and most hook events need no phrases

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

"""What a language's corrections are made of; `languages/` holds one of these for each.

Phrases are regular expressions, one on a line; a line that ends with `|` goes on with the next.
They see a sentence in lower case, without accents, with code and quotations blanked as `_`, so a
word in capitals is never text: it stands for one of the language's `parts`.
"""

import functools
import re
from typing import Literal

import msgspec

Grade = Literal["low", "medium", "high"]

ORDER: tuple[Grade, ...] = ("low", "medium", "high")
"""From the least to the most certain."""

_BROKEN_LINE = re.compile(r"\|\s*\n\s*")
_NOTHING = "(?!)"


class Language(msgspec.Struct, frozen=True, kw_only=True):
    """The phrases of one language."""

    name: str
    known_by: str
    """Frequent words that tell the language."""
    empty: str
    """Words that say nothing alone: a sentence of these only cannot be read without the talk."""
    parts: dict[str, str]
    openers: str
    """What says that the agent went wrong, before what it should do: `no,`, `that's wrong`."""
    fillers: str
    """What may stand before anything and means nothing: `please`, `ok, but`."""
    high: str
    """How a sentence begins that is certainly a rule."""
    medium: str
    """How a sentence begins that is probably one."""
    alternatives: str
    """How a sentence begins that names something to do instead; after an opener it is certain."""
    orders: str = _NOTHING
    """How a sentence begins that says what to do; it counts after an opener only."""
    requests: str = _NOTHING
    """A wish in the form of a question: `can you`."""
    questions: str
    """How questions look without their mark."""
    one_off: str
    """What holds only here and now."""
    not_rules: str
    """What looks like a correction and is a fact, a choice among options or a way of speaking."""
    vague: str
    """What points at the talk around it; a sentence with it is not certain."""
    is_dense: bool = False
    """Whether words are not set apart by blanks."""


class Patterns(msgspec.Struct, frozen=True, kw_only=True):
    """The phrases of a language, compiled."""

    known_by: frozenset[str]
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


_compiled: dict[str, Patterns] = {}


def patterns_of(language: Language) -> Patterns:
    """Compile the phrases of a language, once."""
    if language.name not in _compiled:
        _compiled[language.name] = _compile(language)
    return _compiled[language.name]


def _compile(language: Language) -> Patterns:
    compiled = functools.partial(_any, parts=language.parts)
    word_end = "" if language.is_dense else r"(?!\w)"
    return Patterns(
        known_by=frozenset(language.known_by.split()),
        empty=frozenset(language.empty.split()),
        openers=compiled(language.openers, after=r"(?:[\s,:.!;、，。！]+|$)"),
        fillers=compiled(language.fillers, after=rf"{word_end}[\s,:.!、，]*"),
        high=compiled(language.high),
        medium=compiled(language.medium),
        alternatives=compiled(language.alternatives),
        orders=compiled(language.orders),
        requests=compiled(language.requests, after=r"\s*"),
        questions=compiled(language.questions),
        one_off=compiled(language.one_off),
        not_rules=compiled(language.not_rules),
        vague=compiled(language.vague),
    )


def _any(phrases: str, *, parts: dict[str, str], after: str = "") -> re.Pattern[str]:
    named = re.compile("|".join(sorted(parts, key=len, reverse=True)))
    text = phrases
    # A part may be made of other parts.
    while named.search(text):
        text = named.sub(lambda found: _joined(parts[found[0]]), text)
    lines = _joined(text).split("\n")
    return re.compile(f"(?:{'|'.join(f'(?:{line.strip()})' for line in lines)}){after}")


def _joined(text: str) -> str:
    return _BROKEN_LINE.sub("|", text.strip())

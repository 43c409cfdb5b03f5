"""Load the phrases with which people correct an agent."""

import functools
import re
from collections.abc import Sequence

import msgspec

from leftoff.phrases.match import Language, any_of, read_languages, split_phrases

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
            return [_compile(language)]
    spelt = [language for language in languages if language.known_by]
    votes = [sum(word in _list_marker_words(language) for word in words) for language in spelt]
    return [_compile(each) for each, vote in zip(spelt, votes, strict=True) if vote == max(votes)]


@functools.cache
def _list_marker_words(language: Language) -> frozenset[str]:
    return frozenset(language.known_by.split())


@functools.cache
def _compile(language: Language) -> Corrections:
    table = language.corrections
    after = _DENSE_AFTER if language.is_dense else _AFTER
    patterns = {
        key: re.compile(any_of(split_phrases(phrases, table.parts)) + after.get(key, ""))
        for key, phrases in msgspec.structs.asdict(table).items()
        if key not in {"parts", "empty"}
    }
    empty = frozenset(table.empty.split())
    return Corrections(is_dense=language.is_dense, empty=empty, **patterns)

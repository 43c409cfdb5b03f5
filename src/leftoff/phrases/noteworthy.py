"""Recognize statements worth a working note, and words that introduce values and names."""

import functools
import re
from typing import Literal, get_args

from leftoff.phrases.match import any_of, read_languages, split_phrases

Statement = Literal["preference", "decision", "draft", "correction"]

_QUESTION_MARK = re.compile(r"[?？]\W*$")


def find_statement(sentence: str) -> Statement | None:
    """Return the first kind of statement that matches a sentence, so that it is noted once."""
    kinds: tuple[Statement, ...] = get_args(Statement)
    return next((kind for kind in kinds if _compile(kind).search(sentence)), None)


def is_question(sentence: str) -> bool:
    """Return whether a sentence asks something, and so states nothing."""
    return bool(_QUESTION_MARK.search(sentence) or _compile("questions").search(sentence))


def is_negated(before: str) -> bool:
    """Return whether the text before a value negates it."""
    return _compile("negations", "$").search(before.lower()) is not None


def find_names(text: str, name: str) -> list[str]:
    """Return what a text introduces as a name, if it matches the regex for names."""
    return [found[1] for found in _compile("namings", rf"[\"“']?({name})").finditer(text)]


@functools.cache
def _compile(key: str, after: str = "") -> re.Pattern[str]:
    tables = [language.notes for language in read_languages()]
    phrases = (
        phrase for table in tables for phrase in split_phrases(getattr(table, key), table.parts)
    )
    return re.compile(any_of(phrases) + after)

"""What is worth a working note: statements, and the words that introduce values and names."""

import functools
import re
from typing import Literal, get_args

from leftoff.phrases.match import any_of, read_languages, split_phrases

Statement = Literal["preference", "decision", "draft", "correction"]

_QUESTION_MARK = re.compile(r"[?？]\W*$")


def find_statement(sentence: str) -> Statement | None:
    """Say what a sentence states: the first kind that fits, so that it is noted once."""
    kinds: tuple[Statement, ...] = get_args(Statement)
    return next((kind for kind in kinds if _compile(kind).search(sentence)), None)


def is_question(sentence: str) -> bool:
    """Say whether a sentence asks something, and so states nothing."""
    return bool(_QUESTION_MARK.search(sentence) or _compile("questions").search(sentence))


def is_negated(before: str) -> bool:
    """Say whether the text before a value says that the value does not hold."""
    return _compile("negations", "$").search(before.lower()) is not None


def find_names(text: str, name: str) -> list[str]:
    """Return what a text introduces as a name, where that matches the expression for names."""
    return [found[1] for found in _compile("namings", rf"[\"“']?({name})").finditer(text)]


@functools.cache
def _compile(key: str, after: str = "") -> re.Pattern[str]:
    tables = [language.notes for language in read_languages()]
    phrases = (
        phrase for table in tables for phrase in split_phrases(getattr(table, key), table.parts)
    )
    return re.compile(any_of(phrases) + after)

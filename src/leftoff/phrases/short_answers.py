"""Recognize messages that only agree, thank or pick an option, and rules for the work."""

import functools
import re

from leftoff.phrases.match import any_of, fold, read_languages, split_phrases, trim

_LONGEST_REPLY = 80
_LONGEST_RULE = 240
_SENTENCE_END = re.compile(r"(?<=[.!?;。！？；])\s+|(?<=[。！？；])|\n+")
_LIST_MARK = re.compile(r"^(?:[-*•]|\d{1,2}[.)])\s+")
_QUESTION = re.compile(r"[?？]\W*$")


def is_go_ahead(message: str) -> bool:
    """Return whether a message only says to go on, thanks or chooses, and asks for nothing new."""
    if len(message) > _LONGEST_REPLY:
        return False
    plain = trim(fold(message))
    return not plain or _go_aheads().fullmatch(plain) is not None


def find_rules(message: str) -> list[str]:
    """Return the sentences of a message that say how to work, as they were written."""
    sentences = (_LIST_MARK.sub("", part.strip()) for part in _SENTENCE_END.split(message))
    return [each for each in sentences if _is_rule(each)]


def _is_rule(sentence: str) -> bool:
    if not 5 <= len(sentence) <= _LONGEST_RULE or _QUESTION.search(sentence):
        return False
    return _rules().search(fold(sentence)) is not None


@functools.cache
def _go_aheads() -> re.Pattern[str]:
    units = [
        phrase
        for language in read_languages()
        for phrase in split_phrases(language.replies.go_aheads, language.replies.parts)
    ]
    unit = any_of(units)
    # Dense scripts put nothing between units; elsewhere a unit ends with a word.
    return re.compile(rf"{unit}(?:(?:[\W_]+|(?<=[^\x00-\u02ff])){unit})*[\W_]*")


@functools.cache
def _rules() -> re.Pattern[str]:
    return re.compile(
        any_of(
            phrase
            for language in read_languages()
            for phrase in split_phrases(language.replies.rules, language.replies.parts)
        )
    )

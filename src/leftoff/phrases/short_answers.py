"""Recognize messages that only agree, thank or pick an option, and rules for the work."""

import functools
import re

from leftoff.lazy_patterns import lazy
from leftoff.phrases.match import (
    any_of,
    fold,
    is_goodbye,
    read_languages,
    split_at_pauses,
    split_phrases,
    trim,
)

_LONGEST_REPLY = 80
_LONGEST_RULE = 240
_LONGEST_FOLLOW_UP = 300
_LONGEST_ASIDE = 200
# A greeting ends with a pause. Without one, it may be about a text: "hello world".
_GREETED = (
    r"(?:[^\S\n]*[,.!:;…–—，。！、～]+\s*|\s+-+\s+|[^\S\n]*\n\s*"
    r"| (?=(?:can|could|would|please|i|we) ))(?=\S)"
)
_PAUSE = r"(?=\W*$|\s*[,.;:!。，、！…–—-]|\s+(?:and|but|und|aber|et|mais|y|pero)\s)"
# The rest of a clause. A comma ends it, unless the next word is a file.
_CLAUSE = (
    r"[^;\n]{1,200}?(?=[.!?](?:\s|$)|[;\n。，；]|,(?!\s*(?:(?:and|or) )?[\w./-]+\.\w)|$"
    r"|\s(?:but|then|just|only|because|mais|puis|pero|luego)\s)"
)
_SENTENCE_END = lazy(r"(?<=[.!?;。！？；])\s+|(?<=[。！？；])|\n+")
_LIST_MARK = lazy(r"^(?:[-*•]|\d{1,2}[.)])\s+")
_CLAUSE_END = lazy(
    r"(?:[,.;:!]| [-–—]+|\n| and| und)\s+(?:(?:and|und|then|just|please|instead)\b,?\s*)*",
    re.IGNORECASE,
)
_TAKEN_BACK = lazy(r"no[, ]+(?:wait|sorry|stop)\b|(?:stop|wait|halt)\W*$")
_QUESTION = lazy(r"[?？]\W*$")


def is_go_ahead(message: str) -> bool:
    """Return whether a message only says to go on, thanks or chooses, and asks for nothing new."""
    if len(message) > _LONGEST_REPLY:
        return False
    plain = trim(fold(message))
    units = _compile_units("go_aheads", "remarks", "refusals")
    return not plain or units.fullmatch(plain) is not None


def is_refusal(message: str) -> bool:
    """Return whether a message only declines what the agent proposed."""
    if len(message) > _LONGEST_REPLY:
        return False
    return is_go_ahead(message) and _begins_with_refusal().match(fold(message)) is not None


def is_remark(message: str) -> bool:
    """Return whether a message only thanks, praises or takes note of something."""
    plain = trim(fold(message)) if len(message) <= _LONGEST_REPLY else ""
    return bool(plain) and _compile_units("remarks").fullmatch(plain) is not None


def is_parting(message: str) -> bool:
    """Return whether a message says goodbye, and may thank or decline something before that."""
    if is_goodbye(message):
        return True
    parts = split_at_pauses(message) if len(message) <= _LONGEST_REPLY else []
    return any(map(is_goodbye, parts)) and all(is_goodbye(p) or is_go_ahead(p) for p in parts)


def asks_to_explain(message: str) -> bool:
    """Return whether a message only asks for an explanation, not for a change."""
    is_short = len(message) <= _LONGEST_ASIDE and "\n" not in message
    return is_short and _compile("explanations").fullmatch(fold(message).strip()) is not None


def is_side_question(message: str) -> bool:
    """Return whether a message asks something that words alone may answer, and for no work."""
    if len(message) > _LONGEST_ASIDE or "\n" in message or not _QUESTION.search(message):
        return False
    return _compile("wishes").fullmatch(fold(message).strip()) is None


def drop_greeting(message: str) -> str:
    """Return a message without the greeting that it begins with, unless that is all of it."""
    found = _compile_greetings().match(message)
    return message[found.end() :] if found else message


def drop_refusal(message: str) -> str:
    """Return a message without the "no," that it begins with, which declines an offer."""
    found = _compile_refused().match(message)
    return message[found.end() :] if found else message


def is_follow_up(message: str) -> bool:
    """Return whether a request goes on from an earlier one, so that it makes no sense alone."""
    return (
        len(message) <= _LONGEST_FOLLOW_UP
        and _compile("follow_ups").fullmatch(fold(message)) is not None
    )


def begins_with_answer(message: str) -> bool:
    """Return whether a message begins as a reply to a question does, such as `yes, but later`."""
    return _compile_answers().match(fold(message).lstrip()) is not None


def list_untouched(message: str) -> list[str]:
    """Return the clauses of a message that name what must stay as it is."""
    return [found[0] for found in _compile_untouched().finditer(message.replace("’", "'"))]


def split_withdrawal(message: str) -> tuple[str, str] | None:
    """Return what a message takes back and what it asks for instead; None if it does not."""
    found = _compile("withdrawals").match(fold(message[:_LONGEST_FOLLOW_UP]))
    # Folding may change the length, so the words are counted.
    words = message.split(maxsplit=found[0].count(" ")) if found else []
    what, instead = (*_CLAUSE_END.split(words[-1], maxsplit=1), "")[:2] if words else ("", "")
    return (what, instead.strip()) if what and len(instead.split()) > 1 else None


def asks_to_pause(rule: str) -> bool:
    """Return whether a rule has the agent ask before each next step."""
    return _compile("pauses").search(fold(rule)) is not None


def find_rules(message: str) -> list[str]:
    """Return the sentences of a message that say how to work, as they were written."""
    sentences = (_LIST_MARK.sub("", part.strip()) for part in _SENTENCE_END.split(message))
    return [each for each in sentences if _is_rule(each)]


def _is_rule(sentence: str) -> bool:
    if not 5 <= len(sentence) <= _LONGEST_RULE or _QUESTION.search(sentence):
        return False
    plain = fold(sentence)
    # "Never mind the login page" and "No wait" are said of what was asked before.
    if _compile("withdrawals").match(plain) or _TAKEN_BACK.match(plain):
        return False
    return _compile("rules").search(plain) is not None


@functools.cache
def _compile_greetings() -> re.Pattern[str]:
    return re.compile(rf"\s*{_join('greetings')}{_GREETED}", re.IGNORECASE)


@functools.cache
def _compile_refused() -> re.Pattern[str]:
    return re.compile(rf"\s*{_join('refusals')}\s*[,.!;:，。！]+\s*(?=\S)", re.IGNORECASE)


@functools.cache
def _compile_answers() -> re.Pattern[str]:
    return re.compile(_join("answers", PAUSE=_PAUSE))


@functools.cache
def _compile_untouched() -> re.Pattern[str]:
    return re.compile(_join("untouched", CLAUSE=_CLAUSE), re.IGNORECASE)


@functools.cache
def _begins_with_refusal() -> re.Pattern[str]:
    return re.compile(rf"\W*{_join('refusals')}(?![a-z])")


@functools.cache
def _compile_units(*tables: str) -> re.Pattern[str]:
    unit = any_of(map(_join, tables))
    # Dense scripts put nothing between units; elsewhere a unit ends with a word.
    return re.compile(rf"{unit}(?:(?:[\W_]+|(?<=[^\x00-\u02ff])){unit})*[\W_]*")


@functools.cache
def _compile(table: str) -> re.Pattern[str]:
    return re.compile(_join(table))


def _join(table: str, **parts: str) -> str:
    """Return a regex for the phrases of a table of replies, in every language."""
    return any_of(
        phrase
        for replies in (language.replies for language in read_languages())
        for phrase in split_phrases(getattr(replies, table), {**replies.parts, **parts})
    )

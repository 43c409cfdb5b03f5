"""Scan a message for what must not be lost; when in doubt, find nothing.

Only a person's own prose counts: no code, logs, quotations or long texts. Questions are skipped
because they state nothing.
"""

import re
from collections.abc import Iterator

import msgspec

from leftoff.knowledge.reflect.judge_message import Sentence, sentences
from leftoff.phrases.match import find_names, find_statement, is_negated, is_question
from leftoff.redact import redact
from leftoff.wal.working_notes import Kind

_MOST = 8


class FoundNote(msgspec.Struct, frozen=True):
    """Something worth noting, with its kind."""

    kind: Kind
    text: str


def scan(message: str) -> list[FoundNote]:
    """Find corrections, preferences, decisions, changes to drafts, values and proper nouns."""
    found: dict[tuple[str, str], FoundNote] = {}
    for sentence in sentences(message):
        for each in _scan_sentence(sentence):
            clean = FoundNote(each.kind, redact(each.text))
            # Skip a note that was only a secret.
            if not clean.text.startswith("[redacted: "):
                found.setdefault((clean.kind, clean.text.casefold()), clean)
    return [*found.values()][:_MOST]


def _scan_sentence(sentence: Sentence) -> Iterator[FoundNote]:
    if not sentence.plain or is_question(sentence.plain):
        return
    kind = find_statement(sentence.plain)
    if kind is not None:
        yield FoundNote(kind, sentence.text)
    for value in _find_values(sentence.text):
        yield FoundNote("value", value)
    for noun in _find_nouns(sentence.text):
        yield FoundNote("noun", noun)


_UNITS = (
    r"(?:ms|milliseconds?|seconds?|secs?|s|minutes?|mins?|hours?|hrs?|h|days?|weeks?|months?|years?|"
    r"[kmgt]i?b(?:/s)?|bytes?|px|pt|rem|em|mm|cm|km|kg|°c|rpm|rps|qps|fps|dpi|usd|eur|gbp|"
    r"dollars?|euros?|rows?|items?|requests?|users?|workers?|threads?|retries|attempts|"
    r"characters?|chars?|lines?|columns?|points?|percent)"
)
_VALUES = re.compile(
    r"""
      (?P<port>\bports?\s+\d{2,5}\b)
    | (?P<url>\bhttps?://[^\s"'`<>)\]]+[^\s"'`<>)\].,;:!?])
    | (?P<host>\b(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|[\w-]+(?:\.[\w-]+)+)\:\d{2,5}\b)
    | (?P<path>(?<![\w@:./-])(?:~|\.{1,2})?/?(?:[\w.@+-]+/)+[\w.@+-]*\w)
    | (?P<file>(?<![\w@:./-])[\w-]+\.(?:py|js|ts|tsx|jsx|go|rs|rb|java|kt|c|h|cpp|cs|php|sh|sql|md|
        json|ya?ml|toml|ini|cfg|conf|env|csv|xml|html|css|txt|lock|proto)\b)
    | (?P<version>\bv\d+(?:\.\d+)+(?:-[\w.]+)?\b|
        \b(?:(?-i:[A-Z])[\w+#.-]*|node|python|postgres|redis|go|rust|java|ruby|php|npm)\ v?\d+
        (?:\.\d+)+(?:-[\w.]+)?\b)
    | (?P<colour>\#[0-9a-fA-F]{6}\b)
    | (?P<date>\b\d{4}-\d\d-\d\d\b)
    | (?P<amount>(?:[$€£]\s?\d[\d,.]*\d?|(?<![\w.])\d[\d.,]*\s?(?:%|UNITS\b)))
    """.replace("UNITS", _UNITS),
    re.VERBOSE | re.IGNORECASE,
)
_BOTH = re.compile(
    r"^(?:and/or|his/her|he/she|yes/no|true/false|read/write|input/output|n/a|on/off)$"
)


def _find_values(text: str) -> Iterator[str]:
    """Find values that you would have to look up again: ports, paths, versions, amounts."""
    for found in _VALUES.finditer(text):
        value = " ".join(found[0].split()).strip(".,;:")
        is_path = found["path"] is not None
        if is_negated(text[: found.start()]) or _BOTH.match(value.lower()):
            continue
        # Two words around a slash are usually alternatives, not a path.
        if is_path and value.count("/") < 2 and not re.search(r"^[~./]|[.\d_-]", value):
            continue
        yield value


_WORD = r"[A-Z][\w'’&-]*\w"
_RUN = re.compile(rf"(?<![.\w/@`\"']){_WORD}(?: (?:(?:of|de|van|von|&) )?{_WORD})+")
_COMMON = frozenset(
    """
    I I'm I'd I'll I've OK Ok API APIs URL URLs JSON YAML TOML XML HTML CSS SQL CSV PDF HTTP HTTPS
    CLI UI UX PR PRs CI CD TODO README IDE OS AI LLM MCP SDK ID IDs UTC GMT ASCII UTF Monday Tuesday
    Wednesday Thursday Friday Saturday Sunday January February March April May June July August
    September October November December No Yes Please The This That Then And But So If When We You
    """.split()
)


def _find_nouns(text: str) -> Iterator[str]:
    """Find names: words introduced as a name, and two or more capitalized words in a row."""
    named = find_names(text, rf"{_WORD}(?:[ -]{_WORD})*")
    yield from named
    for found in _RUN.finditer(text):
        words = found[0].split()
        # The first word of a sentence is capitalized anyway.
        words = words[1:] if found.start() == 0 else words
        while words and words[0] in _COMMON:
            words.pop(0)
        name = " ".join(words)
        # Abbreviations appear beside names without being part of them.
        spelt = [word for word in words if word not in _COMMON and word[1:].islower()]
        if len(spelt) > 1 and name not in named:
            yield name

"""Scanning: what of a message must not get lost. Rather nothing than something that is not there.

Only a person's own prose is looked at: no code, logs, quotations or long texts. Questions state
nothing.
"""

import re
from collections.abc import Iterator

import msgspec

from leftoff.redact import redact
from leftoff.reflect.text import Sentence, sentences
from leftoff.wal.notes import Kind

_MOST = 8


class Found(msgspec.Struct, frozen=True):
    """Something worth noting, and of what kind it is."""

    kind: Kind
    text: str


def scan(message: str) -> list[Found]:
    """Find corrections, preferences, decisions, changes to drafts, values and proper nouns."""
    found: dict[tuple[str, str], Found] = {}
    for sentence in sentences(message):
        for each in _in_sentence(sentence):
            clean = Found(each.kind, redact(each.text))
            # What held nothing but a secret is nothing to note.
            if not clean.text.startswith("[redacted: "):
                found.setdefault((clean.kind, clean.text.casefold()), clean)
    return [*found.values()][:_MOST]


def _in_sentence(sentence: Sentence) -> Iterator[Found]:
    if _QUESTION.search(sentence.plain) or not sentence.plain:
        return
    kind = _stated(sentence.plain)
    if kind is not None:
        yield Found(kind, sentence.text)
    for value in _values(sentence.text):
        yield Found("value", value)
    for noun in _nouns(sentence.text):
        yield Found("noun", noun)


def _stated(plain: str) -> Kind | None:
    """Tell what a sentence states; the first that fits, for one thing is noted once."""
    for kind, pattern in _STATEMENTS:
        if pattern.search(plain):
            return kind
    return None


_QUESTION = re.compile(r"[?？]\W*$|^(?:what|why|how|where|when|which|who|is it|are there|can we)\b")


def _pattern(*phrases: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{phrase})" for phrase in phrases))


# In lower case and without accents; code and quotations are blanked as `_`.
_THING = (
    r"(?:drafts?|titles?|headlines?|subject(?: line)?|paragraphs?|intro(?:duction)?|wording|texts?|"
    r"e-?mails?|letters?|abstracts?|summar(?:y|ies)|readme|slides?|captions?|copy|conclusion)"
)
_STATEMENTS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        "preference",
        _pattern(
            r"\b(?:i|we)(?:'d| would)? (?:much |really |strongly )?"
            r"(?:prefer|rather|like it when)\b",
            r"\bi (?:hate|dislike|do not like|don't like|can't stand)\b",
            r"^(?:please |and |also )?(?:always|never) \w+",
            r"\bfrom now on\b|\bgoing forward\b|\bby default,? (?:use|write|keep|do)\b",
            r"\bich (?:mag|bevorzuge|hatte lieber|will lieber)\b"
            r"|^(?:bitte )?(?:immer|nie(?:mals)?) ",
            r"\bje prefere\b|\bprefiero\b|\bme gusta mas\b",
            r"我(?:更)?(?:喜欢|偏好|希望你)|以后(?:都|请|不要)|(?:请)?(?:总是|永远不要)",
        ),
    ),
    (
        "decision",
        _pattern(
            r"\b(?:let's|let us) (?:go with|use|take|stick (?:to|with)|"
            r"keep|drop|skip|not|postpone)\b",
            r"\b(?:we|i)(?:'ll| will| shall) (?:go with|use|take|stick (?:to|with)|keep|drop)\b",
            r"\b(?:we|i)(?:'ve| have)? (?:decided|chose|chosen|agreed|settled on)\b",
            r"^(?:decision|decided|agreed):",
            r"^(?:ok(?:ay)?,? |yes,? |then )?go with \S",
            r"\b(?:wir|ich) (?:nehmen|nehme|bleiben bei|haben entschieden|habe entschieden)\b",
            r"\bon (?:prend|garde|part sur)\b|\bvamos con\b|\bdecidimos\b",
            r"(?:我们|就)(?:决定|用|选)|决定(?:用|了)",
        ),
    ),
    (
        "draft",
        _pattern(
            rf"\b(?:change|rename|replace|reword|rewrite|rephrase|shorten|cut|tighten|drop|move)\b"
            rf"(?: \w+){{0,4}} {_THING}\b",
            rf"\bmake (?:the|that|this)(?: \w+){{0,3}} {_THING} \w+er\b",
            r"\bin the (?:\w+ )?draft\b",
        ),
    ),
    (
        "correction",
        _pattern(
            r"^(?:no|nope|nah|wrong|incorrect)(?:[,.!:;]| -| —) ?\S",
            r"^(?:no,? )?(?:that|this|it)(?:'s| is) "
            r"(?:not (?:right|correct|true)|wrong|incorrect)\b",
            r"^(?:no,? )?(?:actually|sorry),? (?:it|that|the|i|we|use)\b",
            r"\bi (?:meant|said|mean)\b",
            r"\b(?:is|are|use|was|called|be|needs?|takes?) (?:\S+ ){1,4}not \S",
            r"\S, not (?:the |a )?\S+$|\b(?:it|that|this|they|there) should be \S",
            r"\binstead of\b|\brather than\b",
            r"^(?:do not|don't) \w+|^stop \w+ing\b",
            r"^(?:nein|falsch)\b[,.!]? ?\S|\bnicht \S+(?: \S+){0,3},? sondern\b"
            r"|^non[,.] \S|\bsino\b",
            r"^(?:不对|不是|错了)|不是.{1,20}(?:是|而是)|不要用",
        ),
    ),
)

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
_NEGATED = re.compile(
    r"\b(?:not|instead of|rather than|nicht|statt)\s+(?:the\s+|on\s+)?$", re.IGNORECASE
)
_BOTH = re.compile(
    r"^(?:and/or|his/her|he/she|yes/no|true/false|read/write|input/output|n/a|on/off)$"
)


def _values(text: str) -> Iterator[str]:
    """Find what one would have to look up again: ports, paths, versions, amounts."""
    for found in _VALUES.finditer(text):
        value = " ".join(found[0].split()).strip(".,;:")
        is_path = found["path"] is not None
        if _NEGATED.search(text[: found.start()]) or _BOTH.match(value.lower()):
            continue
        # Two words with a stroke between them are no path.
        if is_path and value.count("/") < 2 and not re.search(r"^[~./]|[.\d_-]", value):
            continue
        yield value


_WORD = r"[A-Z][\w'’&-]*\w"
_RUN = re.compile(rf"(?<![.\w/@`\"']){_WORD}(?: (?:(?:of|de|van|von|&) )?{_WORD})+")
_NAMING = re.compile(
    rf"\b(?:called|named|name is|client is|customer is|owner is|contact is|company is|heisst|heißt)"
    rf"\s+[\"“']?({_WORD}(?:[ -]{_WORD})*)"
)
_COMMON = frozenset(
    """
    I I'm I'd I'll I've OK Ok API APIs URL URLs JSON YAML TOML XML HTML CSS SQL CSV PDF HTTP HTTPS
    CLI UI UX PR PRs CI CD TODO README IDE OS AI LLM MCP SDK ID IDs UTC GMT ASCII UTF Monday Tuesday
    Wednesday Thursday Friday Saturday Sunday January February March April May June July August
    September October November December No Yes Please The This That Then And But So If When We You
    """.split()
)


def _nouns(text: str) -> Iterator[str]:
    """Find names: what is said to be one, and two or more capitals within a sentence."""
    named = [found[1] for found in _NAMING.finditer(text)]
    yield from named
    for found in _RUN.finditer(text):
        words = found[0].split()
        # The first word of a sentence has its capital anyway.
        words = words[1:] if found.start() == 0 else words
        while words and words[0] in _COMMON:
            words.pop(0)
        name = " ".join(words)
        # Abbreviations stand beside names without being part of one.
        spelt = [word for word in words if word not in _COMMON and word[1:].islower()]
        if len(spelt) > 1 and name not in named:
            yield name

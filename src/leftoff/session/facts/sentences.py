"""Split text into sentences and list items, and find what an agent said it would do."""

import re

from leftoff.agents.loose_values import cut

_LINE_END = re.compile(r"\n+")
_SENTENCE_END = re.compile(
    r"(?<=[.!?。！？])(?<!\b[A-Za-z]\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<!\betc\.)\s+"
)
# A list item, a heading or a table row stays whole.
_WHOLE = re.compile(r"\s*(?:[-*•]\s|(?:\*\*)?\(?\d{1,3}[.)]\s|#|\|)")
_EMPTY = re.compile(r"(?:\W+|`{3,}\w*|\d+[.)])$")
_NEXT_WORDS = re.compile(
    r"\b(?:next|now|let me|let's|i'll|i will|i need to|i'm going to|remaining|then|todo|"
    r"still (?:need|have)|should i|shall i|would you|do you want|want me to|"
    r"if you(?:'d)? (?:want|like))\b",
    re.IGNORECASE,
)
_PROMISE = re.compile(
    r"\b(?:let me|i'll|i will|i'm going to|now (?:i|let)|next,? i|i need to|let's)\b|:$",
    re.IGNORECASE,
)
_LAST_SENTENCES = 8
_BARE_WORDS = 3
_NEXT_CHARS = 400


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text; list items and headings stay whole."""
    parts: list[str] = []
    for line in _LINE_END.split(text):
        whole = [line] if _WHOLE.match(line) else _SENTENCE_END.split(line)
        parts += [part.strip() for part in whole]
    return [part for part in parts if part and not _EMPTY.match(part)]


def next_and_closing_words(text: str) -> tuple[str, str]:
    """Return what the agent last said it would do or asked, and how its message ended."""
    last = split_sentences(text)[-_LAST_SENTENCES:]
    telling = [n for n, s in enumerate(last) if _NEXT_WORDS.search(s) or s.endswith("?")]
    # "I will." says nothing beside a sentence that says what.
    whole = [n for n in telling if not is_bare(last[n]) or last[n].endswith("?")]
    picked = (whole or telling)[-2:]
    # A sentence that ends with a colon introduces the next one.
    announced = {n + 1 for n in picked if last[n].endswith(":") and n + 1 < len(last)}
    words = " ".join(last[n] for n in sorted({*picked, *announced}))
    return _cut(words), _cut("".join(last[-1:]))


def is_bare(text: str) -> bool:
    """Return whether a text is too short to say anything by itself."""
    return len(text.split()) <= _BARE_WORDS


def last_proposal(text: str) -> str:
    """Return the question or offer that a message ends with, or else its last sentence."""
    words, closing = next_and_closing_words(text)
    return words or closing


def find_question(text: str) -> str:
    """Return the question that a message ends with, if it asks one."""
    last = split_sentences(text)[-_LAST_SENTENCES:]
    return next((_cut(each) for each in reversed(last) if each.endswith("?")), "")


def promises_more(text: str) -> bool:
    """Return whether a message ends by saying what the agent does next."""
    last = split_sentences(text)[-2:]
    return bool(last) and not last[-1].endswith("?") and any(map(_PROMISE.search, last))


def keep_end(text: str, chars: int) -> str:
    """Return the last sentences of a text that fit, each whole."""
    if len(text) <= chars:
        return text
    start = len(text) - chars
    found = re.compile(r"\n|(?<=[.!?。！？])\s").search(text, start)
    return text[found.end() :].strip() if found else text[start:].partition(" ")[2].strip()


def _cut(text: str) -> str:
    return text if len(text) <= _NEXT_CHARS else f"{cut(text, _NEXT_CHARS).rstrip()} …"

"""Split text into sentences and list items, and find what an agent said it would do."""

import itertools
import re

from leftoff.agents.loose_values import cut

_LINE_END = re.compile(r"\n+")
_SENTENCE_END = re.compile(
    r"(?<=[.!?。！？])(?<!\b[A-Za-z]\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<!\betc\.)"
    # The number of a list item belongs to the item.
    r"(?<!\b\d\.)(?<!\b\d\d\.)(?<!\.\.\.)\s+"
)
# A list item, a heading or a table row stays whole.
_WHOLE = re.compile(r"\s*(?:[-*•]\s|(?:\*\*)?\(?\d{1,3}[.)]\s|#|\|)")
_EMPTY = re.compile(r"(?:\W+|`{3,}\w*|\d+[.)])$")
# "I'm adding a guard now."
_DOING = r"i['’]m (?:now |also )?(?!assum|wonder|think|see|guess|miss|hav|us|keep|leav|treat)\w+ing"
_NEXT_WORDS = re.compile(
    rf"\b{_DOING}\b|"
    r"\b(?:next|now|let me|let['’]s|i['’]ll|i will|i need to|i['’]m going to|remaining|then|todo|"
    r"still (?:need|have)|should i|shall i|would you|do you want|want me to|"
    r"if you(?:['’]d)? (?:want|like))\b",
    re.IGNORECASE,
)
_PROMISE = re.compile(
    rf"\b{_DOING}\b|"
    r"\b(?:let me(?! know)|i['’]ll|i will|i['’]m going to|now (?:i|let)|next,? i|i need to|"
    r"let['’]s)\b"
    r"|^\W*next(?: action| steps?)?\W*:",
    re.IGNORECASE,
)
_REFERS = re.compile(
    r"\b(?:it|them|both|(?:do|fix|about|address|handle|check|verify) (?:this|that|these|those))\b",
    re.IGNORECASE,
)
_LONGEST_REFERENCE = 80
_CODE_BLOCK = re.compile(r"^[ \t]*```.*?(?:^[ \t]*```[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_CODE_SPAN = re.compile(r"`[^`\n]+`")
_LAST_SENTENCES = 8
_BARE_WORDS = 3
_NEXT_CHARS = 400


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text; list items and headings stay whole."""
    parts: list[str] = []
    for line in _LINE_END.split(text):
        parts += [line.strip()] if _WHOLE.match(line) else _split_line(line)
    return [part for part in parts if part and not _EMPTY.match(part)]


def _split_line(line: str) -> list[str]:
    """Split a line after each sentence; a command in backticks stays whole."""
    if "`" not in line:
        return [part.strip() for part in _SENTENCE_END.split(line)]
    masked = _CODE_SPAN.sub(lambda span: "x" * len(span[0]), line)
    ends = [0, *(end.end() for end in _SENTENCE_END.finditer(masked)), len(line)]
    return [line[start:end].strip() for start, end in itertools.pairwise(ends)]


def next_and_closing_words(text: str) -> tuple[str, str]:
    """Return what the agent last said it would do or asked, and how its message ended."""
    said = _split_prose(text)
    last = said[-_LAST_SENTENCES:]
    telling = [n for n, s in enumerate(last) if _NEXT_WORDS.search(s) or s.endswith("?")]
    # "I will." says nothing beside a sentence that says what.
    whole = [n for n in telling if not is_bare(last[n]) or last[n].endswith("?")]
    picked = (whole or telling)[-2:]
    # A sentence that ends with a colon introduces the next one.
    announced = {n + 1 for n in picked if last[n].endswith(":") and n + 1 < len(last)}
    # "Let me fix it." says little without the sentence before it.
    meant = {n - 1 for n in picked[:1] if n and refers_back(last[n])}
    words = " ".join(last[n] for n in sorted({*picked, *announced, *meant}))
    return _cut(words), _cut(_find_closing(said))


def _split_prose(text: str) -> list[str]:
    """Return the sentences of a message; what stands in a block of code was not said."""
    return split_sentences(_CODE_BLOCK.sub("", text) if "```" in text else text)


def _find_closing(sentences: list[str]) -> str:
    """Return the last sentence that makes sense without a list, table or code beside it."""
    whole = (s for s in reversed(sentences) if not _WHOLE.match(s) and not s.endswith(":"))
    return next(whole, "".join(sentences[:1])).rstrip(": ")


def is_bare(text: str) -> bool:
    """Return whether a text is too short to say anything by itself."""
    return len(text.split()) <= _BARE_WORDS


def last_proposal(text: str) -> str:
    """Return the question or offer that a message ends with, or else its last sentence."""
    words, closing = next_and_closing_words(text)
    return words or closing


def find_question(text: str) -> str:
    """Return the question that a message ends with, if it asks one."""
    last = _split_prose(text)[-_LAST_SENTENCES:]
    return next((_cut(each) for each in reversed(last) if each.endswith("?")), "")


def promises_more(text: str) -> bool:
    """Return whether a message ends by saying what the agent does next."""
    last = _split_prose(text)[-2:]
    if not last or last[-1].endswith("?"):
        return False
    # What a colon introduced may follow as a block of code.
    is_unfinished = last[-1].endswith(":") and not text.rstrip().endswith("```")
    return is_unfinished or any(map(_PROMISE.search, last))


def refers_back(text: str) -> bool:
    """Return whether a short sentence makes sense only with the one before it."""
    return len(text) <= _LONGEST_REFERENCE and _REFERS.search(text) is not None


def keep_end(text: str, chars: int) -> str:
    """Return the last sentences of a text that fit, each whole."""
    if len(text) <= chars:
        return text
    start = len(text) - chars
    found = re.compile(r"\n|(?<=[.!?。！？])\s").search(text, start)
    kept = text[found.end() :] if found else text[start:].partition(" ")[2]
    # The rest of a block of code says nothing without its beginning.
    return (kept.partition("```")[2] if kept.count("```") % 2 else kept).strip()


def _cut(text: str) -> str:
    return text if len(text) <= _NEXT_CHARS else f"{cut(text, _NEXT_CHARS).rstrip()} …"

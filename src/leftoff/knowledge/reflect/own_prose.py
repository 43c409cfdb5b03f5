"""Find a person's own prose in a message: no code, logs, quotations, markup or long texts."""

import re

import msgspec

from leftoff.phrases.match import fold

# A correction is short; a longer message specifies work or contains a pasted document.
_MOST_CHARS = 1200
# Longer messages are skipped before any of the patterns below runs on them.
_MOST_LOOKED_AT = 8000
_MOST_SENTENCES = 12
_MOST_ITEMS = 3
# Longer sentences are not judged; in dense scripts one character is about one word.
_LONGEST_SENTENCE = 300
_LONGEST_DENSE = 120

_FENCED = re.compile(r"(?ms)^[ \t>]*(```|~~~|\"\"\").*?(?:^[ \t]*\1|\1[ \t]*$|\Z)")
_TAGGED = re.compile(r"(?s)<([A-Za-z][\w:-]*)\b[^<>]*>.*?</\1\s*>")
_SLASH_COMMAND = re.compile(r"\s*/[a-z][\w:-]*(?:\s|$)")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d+[.)]|#+)\s+\S")
_SPAN = re.compile(
    r"`[^`\n]+`|\"[^\"\n]+\"|“[^”\n]+”|„[^“”\n]+[“”]|«[^»\n]+»|「[^」\n]*」|『[^』\n]*』"
    r"|(?<!\w)'[^'\n]{2,}?'(?!\w)|(?<!\w)‘[^’\n]{2,}?’(?!\w)|https?://[^\s，。）)]+"
)
# Lines that a program wrote: diffs, traces, logs, shells, tables, listings, code.
_MACHINE_LINE = re.compile(
    r"""
      \s{4,}\S                                    # indented
    | \s*(?:[>|│┃├└┌╭╰❯⎿⏺✓✗×▶●]|\+{1,3}\s|-{2,3}\s|@@|\$\s|\#!|//|/\*|\*\s@|<!--)
    | [+-]\s*\S.*[;{}()=]                         # a line of a diff
    | \s*(?:Traceback|File\s"|at\s\S+\(|Caused\sby:|Exception\b|\w*(?:Error|Exception|Warning):)
    | \s*(?:error|warning|warn|info|debug|fatal|fail|failed|panic)\b[\[:(]
    | \s*\[?\d{4}-\d\d-\d\d[T\s]\d\d:\d\d
    | \s*\[?\d\d:\d\d:\d\d
    | \s*\[[^\]]*\]\s*$
    | .*[;{}]\s*$
    | \s*(?:import|from|export|const|let|var|def|class|function|return|public|private)\s.*[({=;:]
    """,
    re.VERBOSE | re.IGNORECASE,
)
# Sentences end at punctuation, also Chinese and Japanese, at dashes and at line breaks.
_END = re.compile(r"(?<=[.!?…])[)\"'”’]*\s+|(?<=[。！？；])[」』”）)]*\s*|\n+|\s+[—–]\s+|;\s+")
# A period after one of these does not end a sentence.
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|z\.\s?b|p\.\s?ej|cf)|\b\d+)\.$", re.IGNORECASE
)
_DENSE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


class Sentence(msgspec.Struct, frozen=True):
    """One sentence: as it was typed, and normalized for judging."""

    text: str
    plain: str
    """Lower case, without accents; code, addresses and quotations are blanked with `_`."""


def sentences(message: str) -> list[Sentence]:
    """Return the sentences of a person's own prose; none if it is too long for a correction."""
    if len(message) > _MOST_LOOKED_AT or _SLASH_COMMAND.match(message):
        return []
    prose = _own_prose(message)
    if len(prose) > _MOST_CHARS or _is_listing(prose):
        return []
    found = [sentence for sentence in _split(prose) if _has_words(sentence.plain)]
    return found if len(found) <= _MOST_SENTENCES else []


def _is_dense(text: str) -> bool:
    """Return whether a text is in a script where one character is about one word."""
    return _DENSE.search(text) is not None


def _own_prose(message: str) -> str:
    text = _FENCED.sub("\n", message)
    # Without a closing tag, the search for one would run to the end from every opening tag.
    text = _TAGGED.sub("\n", text) if "</" in text else text
    kept = (line for line in text.splitlines() if not _MACHINE_LINE.match(line))
    return "\n".join(kept).strip()


def _is_listing(prose: str) -> bool:
    return sum(map(bool, map(_ITEM.match, prose.splitlines()))) > _MOST_ITEMS


def _split(prose: str) -> list[Sentence]:
    # Blanks keep the length, so that a position means the same in both texts.
    blanked = _SPAN.sub(_blank, prose)
    found, start = [], 0
    for end in [*_ends(blanked), len(prose)]:
        text = " ".join(_ITEM_MARK.sub("", prose[start:end]).split())
        judged = fold(_ITEM_MARK.sub("", blanked[start:end]))
        limit = _LONGEST_DENSE if _is_dense(text) else _LONGEST_SENTENCE
        if text:
            found.append(Sentence(text, judged if len(text) <= limit else ""))
        start = end
    return found


_ITEM_MARK = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+")


def _ends(blanked: str) -> list[int]:
    ends = _END.finditer(blanked)
    return [end.end() for end in ends if not _ABBREVIATION.search(blanked[: end.start()])]


def _blank(found: re.Match[str]) -> str:
    return "_" * len(found[0])


def _has_words(judged: str) -> bool:
    return any(character.isalpha() for character in judged)

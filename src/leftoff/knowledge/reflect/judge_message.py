"""Judge whether a message corrects the agent, sentence by sentence, and how certain that is."""

import re
from collections.abc import Sequence
from typing import Literal, get_args

import msgspec

from leftoff.phrases.match import Corrections, find_spoken, fold

# --- a person's own prose: no code, logs, quotations, markup or long texts ---


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
    blanked = _SPAN.sub(_blank_out, prose)
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


def _blank_out(found: re.Match[str]) -> str:
    return "_" * len(found[0])


def _has_words(judged: str) -> bool:
    return any(character.isalpha() for character in judged)


# --- judging a message ---

Grade = Literal["low", "medium", "high"]
Bar = Literal["low", "medium", "high", "never"]

ORDER: tuple[Grade, ...] = get_args(Grade)
"""From the least to the most certain."""

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*|_+")
_QUESTION = re.compile(r"\?[)\"'\s]*$")
# Introductions can be stacked ("no, wait, please …"), but not without end.
_MOST_LEADS = 6
# A longer reason is a discussion, not a rule.
_MOST_REASONS = 3
# Anything shorter makes no sense alone.
_FEWEST_WORDS = 3
_FEWEST_CHARACTERS = 5


class CorrectingSentence(msgspec.Struct, frozen=True):
    """A sentence that corrects the agent."""

    text: str
    grade: Grade


class UserMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message, and its circumstances."""

    text: str
    is_answer: bool = True
    """Whether the agent did or said something before it."""
    is_refusal: bool = False
    """Whether it gives the reason for refusing a tool call."""


def judge(said: UserMessage) -> list[CorrectingSentence]:
    """Return the corrections in a message."""
    found = sentences(said.text)
    if not found:
        return []
    # A short message may fit several languages, so judge it in each and take the best result.
    spoken = _find_spoken(found)
    best = max((_judge_in(phrases, found, said) for phrases in spoken), key=_weigh)
    if best or not said.is_refusal:
        return best
    return _take_reasons(found, spoken[0])


def is_at_least(grade: Grade | None, bar: Bar) -> bool:
    """Return whether a grade reaches a threshold: low, then medium, then high; none is never."""
    return grade is not None and bar != "never" and ORDER.index(grade) >= ORDER.index(bar)


def essence(text: str) -> str:
    """Return the words that identify a rule, without any introduction."""
    words = fold(text)
    for phrases in _find_spoken([Sentence(text, words)]):
        words = _strip_lead(words, phrases)[0] or words
    return " ".join(_WORD.findall(words.replace("_", " "))) or words


def word_as_rule(text: str) -> str:
    """Return a correction as a rule: as it was typed, but without a leading "no, ..."."""
    words = fold(text)
    for phrases in _find_spoken([Sentence(text, words)]):
        rest, says_no = _strip_lead(words, phrases)
        # Folding can change the length; then a position in one text means nothing in the other.
        if says_no and rest and len(words) == len(text):
            kept = text[len(words) - len(rest) :]
            return kept[:1].upper() + kept[1:]
    return text


def _weigh(findings: Sequence[CorrectingSentence]) -> int:
    return sum(1 + ORDER.index(finding.grade) for finding in findings)


def _find_spoken(found: Sequence[Sentence]) -> list[Corrections]:
    text = " ".join(sentence.plain for sentence in found)
    return find_spoken(text, _WORD.findall(text))


def _judge_in(
    phrases: Corrections, found: Sequence[Sentence], said: UserMessage
) -> list[CorrectingSentence]:
    findings: list[CorrectingSentence] = []
    is_opened = False
    for sentence in found:
        words, says_no = _strip_lead(sentence.plain, phrases)
        is_opened = is_opened or says_no
        if not words:
            # A `No.` on its own only sets the tone for the next sentence.
            continue
        grade = _find_grade(words, phrases, is_opened=is_opened, is_answer=said.is_answer)
        if grade is not None:
            findings.append(CorrectingSentence(sentence.text, grade))
        is_opened = False
    return findings


def _strip_lead(words: str, phrases: Corrections) -> tuple[str, bool]:
    """Strip an introduction, and return whether it says that something is wrong."""
    says_no = False
    for _ in range(_MOST_LEADS):
        lead = phrases.openers.match(words)
        says_no = says_no or lead is not None
        lead = lead or phrases.fillers.match(words)
        if lead is None or not lead.end():
            break
        words = words[lead.end() :].lstrip(" ,.:;!-—、，。")
    return words, says_no


def _find_grade(
    words: str, phrases: Corrections, *, is_opened: bool, is_answer: bool
) -> Grade | None:
    request = phrases.requests.match(words)
    if request is not None:
        words = words[request.end() :].rstrip(" ?")
    elif _QUESTION.search(words) or phrases.questions.search(words.rstrip(" .。!")):
        return None
    if phrases.one_off.search(words) or phrases.not_rules.search(words):
        return None
    if not _says_something(words, phrases):
        return None
    grade = _match(words, phrases, is_opened=is_opened, is_answer=is_answer)
    # A wish can be declined. A sentence that points at the conversation is unreadable without it.
    # Before the agent did anything, only a "no" corrects something: an earlier session.
    is_first = not (is_answer or is_opened)
    if grade == "high" and (request or is_first or phrases.vague.search(words)):
        return "medium"
    return grade


def _match(words: str, phrases: Corrections, *, is_opened: bool, is_answer: bool) -> Grade | None:
    if phrases.high.match(words):
        return "high"
    if (is_answer or is_opened) and phrases.alternatives.match(words):
        return "high" if is_opened else "medium"
    if phrases.medium.match(words) or (is_opened and is_answer and phrases.orders.match(words)):
        return "medium"
    return None


def _says_something(words: str, phrases: Corrections) -> bool:
    """Return whether a sentence makes sense alone: it has words that carry a meaning."""
    if phrases.is_dense:
        rest = words
        for word in sorted(phrases.empty, key=len, reverse=True):
            rest = rest.replace(word, "")
        return len(_WORD.findall(rest)) > 0
    return any(word not in phrases.empty for word in _WORD.findall(words))


def _take_reasons(found: Sequence[Sentence], phrases: Corrections) -> list[CorrectingSentence]:
    """Accept the reason for a refusal unchanged: someone typed it to steer the agent."""
    if len(found) > _MOST_REASONS:
        return []
    return [
        CorrectingSentence(sentence.text, "low")
        for sentence in found
        if _is_statement(sentence.plain, phrases) and _says_enough(sentence.plain, phrases)
    ]


def _is_statement(words: str, phrases: Corrections) -> bool:
    refused = (_QUESTION, phrases.questions, phrases.one_off, phrases.not_rules)
    return bool(words) and not any(pattern.search(words) for pattern in refused)


def _says_enough(words: str, phrases: Corrections) -> bool:
    if phrases.is_dense:
        return len(words) >= _FEWEST_CHARACTERS
    return len(_WORD.findall(words)) >= _FEWEST_WORDS and _says_something(words, phrases)

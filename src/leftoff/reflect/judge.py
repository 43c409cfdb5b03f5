"""Whether a message corrects the agent, sentence by sentence, and how sure that is."""

import re
from collections.abc import Sequence

import msgspec

from leftoff.reflect.language import ORDER, Grade, Language, Patterns, patterns_of
from leftoff.reflect.languages import LANGUAGES
from leftoff.reflect.text import Sentence, is_dense, plain, sentences

_KANA = re.compile(r"[\u3040-\u30ff]")
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*|_+")
_QUESTION = re.compile(r"\?[)\"'\s]*$")
_MOST_LEADS = 6
_MOST_REASONS = 3
_FEWEST_WORDS = 3
_FEWEST_CHARACTERS = 5
_DENSE = ("zh", "ja")


class Finding(msgspec.Struct, frozen=True):
    """A sentence that corrects the agent."""

    text: str
    grade: Grade


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """A message, and what is known of it besides its words."""

    text: str
    is_answer: bool = True
    """Whether the agent did or said something before it."""
    is_refusal: bool = False
    """Whether it is the reason for refusing a tool call."""


def judge(said: Said) -> list[Finding]:
    """Return the corrections in a message."""
    found = sentences(said.text)
    if not found:
        return []
    judged = [_judged_in(language, found, said) for language in _spoken(found)]
    best = max(judged, key=_weight)
    if best or not said.is_refusal:
        return best
    return _reasons(found, _spoken(found)[0])


def is_at_least(grade: Grade | None, bar: Grade) -> bool:
    """Tell whether a grade reaches a bar: low, then medium, then high."""
    return grade is not None and ORDER.index(grade) >= ORDER.index(bar)


def essence(text: str) -> str:
    """Return the words by which a rule is known again, whatever stands before its point."""
    words = plain(text)
    for language in _spoken([Sentence(text, words)]):
        words = _without_lead(words, patterns_of(language))[0] or words
    return " ".join(_WORD.findall(words.replace("_", " "))) or words


def _weight(findings: Sequence[Finding]) -> int:
    return sum(1 + ORDER.index(finding.grade) for finding in findings)


def _spoken(found: Sequence[Sentence]) -> list[Language]:
    """Tell which language a message is in; several where its words do not decide."""
    text = " ".join(sentence.plain for sentence in found)
    if is_dense(text):
        return [LANGUAGES["ja" if _KANA.search(text) else "zh"]]
    words = _WORD.findall(text)
    latin = [language for name, language in LANGUAGES.items() if name not in _DENSE]
    votes = [sum(word in patterns_of(language).known_by for word in words) for language in latin]
    return [each for each, vote in zip(latin, votes, strict=True) if vote == max(votes)]


def _judged_in(language: Language, found: Sequence[Sentence], said: Said) -> list[Finding]:
    findings: list[Finding] = []
    is_opened = False
    for sentence in found:
        words, says_no = _without_lead(sentence.plain, patterns_of(language))
        is_opened = is_opened or says_no
        if not words:
            # A `No.` on its own tells how the next sentence is meant.
            continue
        grade = _grade(words, language, is_opened=is_opened, is_answer=said.is_answer)
        if grade is not None:
            findings.append(Finding(sentence.text, grade))
        is_opened = False
    return findings


def _without_lead(words: str, patterns: Patterns) -> tuple[str, bool]:
    """Take off what stands before the point, and tell whether it says that something is wrong."""
    says_no = False
    for _ in range(_MOST_LEADS):
        lead = patterns.openers.match(words)
        says_no = says_no or lead is not None
        lead = lead or patterns.fillers.match(words)
        if lead is None or not lead.end():
            break
        words = words[lead.end() :].lstrip(" ,.:;!-—、，。")
    return words, says_no


def _grade(words: str, language: Language, *, is_opened: bool, is_answer: bool) -> Grade | None:
    patterns = patterns_of(language)
    request = patterns.requests.match(words)
    if request is not None:
        words = words[request.end() :].rstrip(" ?")
    elif _QUESTION.search(words) or patterns.questions.search(words.rstrip(" .。!")):
        return None
    if patterns.one_off.search(words) or patterns.not_rules.search(words):
        return None
    if not _says_something(words, language):
        return None
    grade = _matched(words, patterns, is_opened=is_opened, is_answer=is_answer)
    # A wish can be declined, what points at the talk cannot be read without it, and what comes
    # before the agent did anything corrects nothing, unless it says no: to an earlier session.
    is_first = not (is_answer or is_opened)
    if grade == "high" and (request or is_first or patterns.vague.search(words)):
        return "medium"
    return grade


def _matched(words: str, patterns: Patterns, *, is_opened: bool, is_answer: bool) -> Grade | None:
    if patterns.high.match(words):
        return "high"
    if (is_answer or is_opened) and patterns.alternatives.match(words):
        return "high" if is_opened else "medium"
    if patterns.medium.match(words) or (is_opened and is_answer and patterns.orders.match(words)):
        return "medium"
    return None


def _says_something(words: str, language: Language) -> bool:
    """Tell whether a sentence can be read alone: it has words that carry a meaning."""
    if language.is_dense:
        rest = words
        for word in sorted(patterns_of(language).empty, key=len, reverse=True):
            rest = rest.replace(word, "")
        return len(_WORD.findall(rest)) > 0
    return any(word not in patterns_of(language).empty for word in _WORD.findall(words))


def _reasons(found: Sequence[Sentence], language: Language) -> list[Finding]:
    """Take the reason for a refusal as it is: someone typed it to steer the agent."""
    if len(found) > _MOST_REASONS:
        return []
    patterns = patterns_of(language)
    return [
        Finding(sentence.text, "low")
        for sentence in found
        if _is_statement(sentence.plain, patterns) and _says_enough(sentence.plain, language)
    ]


def _is_statement(words: str, patterns: Patterns) -> bool:
    refused = (_QUESTION, patterns.questions, patterns.one_off, patterns.not_rules)
    return bool(words) and not any(pattern.search(words) for pattern in refused)


def _says_enough(words: str, language: Language) -> bool:
    if language.is_dense:
        return len(words) >= _FEWEST_CHARACTERS
    return len(_WORD.findall(words)) >= _FEWEST_WORDS and _says_something(words, language)

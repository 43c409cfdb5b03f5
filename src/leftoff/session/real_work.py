"""Separate real work from small talk: only real work opens a thread.

An edit, a commit, a plan, a todo list and a command that changes something are work. A question
and its answer, and looking around to answer it, are not.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable

from leftoff.checkpoint import NOTHING_NEXT
from leftoff.names import FORBIDDEN, kebab, list_key_words
from leftoff.phrases.intents import (
    Intent,
    asks_where_it_stopped,
    begins_with_continue,
    find_finish,
    find_intent,
    find_topic,
    is_slash_command,
    list_beginnings,
    passes_always,
)
from leftoff.phrases.match import fold
from leftoff.phrases.short_answers import (
    drop_greeting,
    is_go_ahead,
    is_parting,
    is_side_question,
)
from leftoff.phrases.slash_commands import read_slash_command
from leftoff.session.facts.looks import is_look_or_check
from leftoff.session.facts.report import Facts
from leftoff.session.facts.user_requests import WITHDRAWN

# Shorter requests are greetings, thanks and quick questions.
_SUBSTANTIAL_WIDTH = 16
_CONTINUING = frozenset({"resume", "restore", "recall"})


def shows_work(facts: Facts) -> bool:
    """Return whether anything was done in a session besides talking and looking around."""
    return bool(
        facts.files_modified
        or facts.todos
        or facts.commit_sha
        or facts.plan_path
        or facts.plan_title
        or any(not is_look_or_check(command) for command in facts.commands)
    )


def is_worth_saving(facts: Facts) -> bool:
    """Return whether a session that has ended left work behind, or a request without an answer."""
    if shows_work(facts):
        return True
    asked = [facts.task, facts.intent, *facts.pending_prompts]
    # An interrupt ends a turn, too, but answers nothing.
    is_answered = facts.is_turn_over and facts.has_said and not facts.pending_prompts
    return not is_answered and any(map(is_substantial, asked))


def can_be_task(request: str | None) -> bool:
    """Return whether a request can be a task: not a go-ahead, thanks, goodbye or slash command."""
    text = (request or "").strip()
    if not text or text.startswith(("/", WITHDRAWN)) or is_parting(text):
        return False
    return not (is_go_ahead(text) or asks_to_continue(text))


def is_substantial(request: str | None) -> bool:
    """Return whether a request can be a task, and is long enough to be one without any work."""
    text = (request or "").strip()
    if not can_be_task(text):
        return False
    # A character of Chinese, Japanese or Korean says as much as a few letters.
    width = sum(3 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text[:200])
    return width >= _SUBSTANTIAL_WIDTH


def asks_for_work(prompt: str) -> bool:
    """Return whether a prompt asks for work of its own, however short, or by a slash command."""
    if is_slash_command(prompt):
        return not (passes_always(prompt) or begins_to_continue(prompt))
    return can_be_task(prompt) and not is_side_question(prompt)


def asks_to_continue(text: str) -> bool:
    """Return whether a message asks to continue earlier work, and for nothing else."""
    # Some agents begin a session with the summary of the one before.
    if text.lstrip().startswith("<summary>"):
        return True
    intent = _read_command(text) or find_intent(
        drop_greeting(text.strip()), can_resume=True, at_start=True
    )
    return intent is not None and intent.kind in _CONTINUING and intent.name is None


def _read_command(text: str) -> Intent | None:
    """Return what a slash command of leftoff means; some agents add its instructions below it."""
    line = text.strip().partition("\n")[0]
    return read_slash_command(line) if line.startswith("/") else None


def begins_to_continue(text: str) -> bool:
    """Return whether a message asks to continue earlier work; it may ask for more after that."""
    return asks_to_continue(text) or begins_with_continue(text)


def agrees_to_continue(text: str) -> bool:
    """Return whether a message asks to continue earlier work, not only where that stopped."""
    return begins_to_continue(text) and not asks_where_it_stopped(text)


# --- which work a message names ---


def asks_to_continue_with(
    text: str, name: str | None, task: str | None, next_action: str | None = None
) -> bool:
    """Return whether a message asks to continue the work with this name and task, and no more."""
    if is_go_ahead(text):
        return False
    if (command := _read_command(text)) is not None:
        known = _list_stems(f"{name or ''} {task or ''}")
        return command.kind in _CONTINUING and _is_about(command.name or "", known)
    intent = find_intent(text, names=[name]) if name else None
    if intent is not None and intent.kind in _CONTINUING and intent.name == name:
        return True
    topic = find_topic(text)
    if topic is not None:
        return _is_about(topic, _list_stems(f"{name or ''} {task or ''} {next_action or ''}"))
    known = _list_stems(f"{name or ''} {task or ''}")
    finish = find_finish(text)
    if finish is not None and _has_only(finish, known):
        return True
    return _names(text, known) or _repeats(text, next_action or "")


def begins_to_continue_with(
    text: str, name: str | None, task: str | None, next_action: str | None = None
) -> bool:
    """Return whether a message asks to continue this work; it may ask for more after that."""
    asked = drop_greeting(text.strip())
    if asks_to_continue_with(asked, name, task, next_action):
        return True
    # Without a verb, what comes after the name may be about anything.
    return any(
        asks_to_continue_with(each, name, task, next_action)
        for each in list_beginnings(asked)
        if find_topic(each) or find_finish(each)
    )


def asks_to_continue_any(text: str) -> bool:
    """Return whether a message asks to continue, but says no word that is about certain work."""
    beginnings = [drop_greeting(text.strip()), *list_beginnings(text)]
    topics = filter(None, map(find_topic, beginnings))
    return any(not _list_distinctive(_list_words(topic)) for topic in topics)


def count_shared_words(text: str, name: str | None, task: str | None) -> int:
    """Return how many words of some work a text has that other work hardly has."""
    said = _list_stems(text)
    words = {*_list_words(f"{name or ''} {task or ''}".replace("-", " "))}
    return sum(_cut_to_stem(word) in said for word in _list_distinctive(words))


def _is_about(topic: str, known: Collection[str]) -> bool:
    """Return whether all words that distinguish a topic are known; others may come with them."""
    words = _list_words(topic)
    needed = _list_distinctive(words) or words
    return bool(needed) and all(_is_known(word, known) for word in needed)


def _has_only(text: str, known: Collection[str]) -> bool:
    words = _list_words(text)
    return bool(_list_distinctive(words)) and all(_is_known(word, known) for word in words)


def _names(text: str, known: Collection[str]) -> bool:
    """Return whether a message is only the name of the work, as in `the coupon codes`."""
    said = [word for part in fold(text).split() for word in kebab(part).split("-") if word]
    if not 0 < len(said) <= _MOST_NAMING:
        return False
    words = [word for word in said if word not in _ARTICLES and word not in _VAGUE]
    return bool(_list_distinctive(words)) and all(_is_known(word, known) for word in words)


def _repeats(text: str, next_action: str) -> bool:
    """Return whether a message asks for what comes next, in the same words."""
    words = _list_words(text)
    is_open = not next_action or next_action.startswith(NOTHING_NEXT)
    if is_open or len(words) < _FEWEST_REPEATED or len(text) > _LONGEST_REPEATED:
        return False
    known = _list_stems(next_action)
    return all(_is_known(word, known) for word in words)


def picks_from(text: str, question: str) -> bool:
    """Return whether a message answers a question with words of it: `ascending please`."""
    words = _list_words(text)
    if not 0 < len(words) <= _MOST_PICKED or not _has_only(text, _list_stems(question)):
        return False
    return not _ASKS.search(text)


_MOST_PICKED = 3
_ASKS = re.compile(r"[?？]")


def _list_words(text: str) -> list[str]:
    return [word for word in list_key_words(text) if word not in _VAGUE]


def _list_distinctive(words: Iterable[str]) -> list[str]:
    return [word for word in words if _cut_to_stem(word) not in _GENERIC]


def _list_stems(text: str) -> set[str]:
    # People write "log in" as two words, and call the work "the login thing".
    joined = ("".join(found) for found in _TWO_WORDS.findall(fold(text)))
    return {*map(_cut_to_stem, (*list_key_words(text), *joined))}


def _is_known(word: str, known: Collection[str]) -> bool:
    # Where words are written without spaces between them, one is part of a longer text.
    if not word.isascii():
        return any(word in each for each in known)
    return _cut_to_stem(word) in known


_TWO_WORDS = re.compile(r"\b([a-z]{2,})[ -](in|out|up|off|on|down|over)\b")
_MOST_NAMING = 8
_FEWEST_REPEATED = 2
_LONGEST_REPEATED = 200
_ARTICLES = frozenset(
    "a an and at for from in into my of on one our please the to with your".split()
)
# People call any work so.
_VAGUE = FORBIDDEN | frozenset(
    """
    again back bit continue current earlier further last left more off ongoing open part piece
    previous rest stopped stuff thing things thread time today up where yesterday
    """.split()
)
_ENDINGS = ("ations", "ation", "ings", "ing", "ers", "ions", "ion", "ies", "er", "ed", "es", "s")
_SHORTEST_STEM = 4


def _cut_to_stem(word: str) -> str:
    """Return an English word without its ending, so that "exporting" is about the "exporter"."""
    if not word.isascii() or word.endswith("ss"):
        return word
    cut = (word.removesuffix(ending) for ending in _ENDINGS if word.endswith(ending))
    stem = next((each for each in cut if len(each) >= _SHORTEST_STEM), word)
    if stem == word and len(word) >= _SHORTEST_STEM:
        stem = word.removesuffix("s")
    return stem.removesuffix("e").removesuffix("y")


# These say little without another word: "page" in "login page".
_GENERIC = frozenset(
    map(
        _cut_to_stem,
        """
        api app branch bug button change class code component data doc documentation error feature
        field file fix form function implementation issue list module page refactoring script screen
        service step table test ticket ui view
        """.split(),
    )
)

"""Tell real work from small talk: only real work opens a thread.

An edit, a commit, a plan, a todo list and a command that changes something are work. A question
and its answer, and looking around to answer it, are not.
"""

import unicodedata

from leftoff.names import FORBIDDEN, list_telling_words
from leftoff.phrases.intents import find_intent, find_topic
from leftoff.phrases.match import is_goodbye
from leftoff.phrases.short_answers import is_go_ahead
from leftoff.session.facts.looks import is_look_or_check
from leftoff.session.facts.report import Facts

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
    if not text or text.startswith("/") or is_goodbye(text):
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


def asks_to_continue(text: str) -> bool:
    """Return whether a message asks to continue earlier work, and for nothing else."""
    # Some agents begin a session with the summary of the one before.
    if text.lstrip().startswith("<summary>"):
        return True
    intent = find_intent(text, can_resume=True, at_start=True)
    return intent is not None and intent.kind in _CONTINUING and intent.name is None


def asks_to_continue_with(text: str, name: str | None, task: str | None) -> bool:
    """Return whether a message asks to continue the work with this name and task."""
    topic = find_topic(text)
    if topic is None or is_go_ahead(text):
        return False
    words = [word for word in list_telling_words(topic) if word not in FORBIDDEN]
    known = list_telling_words(f"{name or ''} {task or ''}")
    # Where words are written without spaces between them, one is part of a longer text.
    return bool(words) and all(
        word in known or (not word.isascii() and any(word in each for each in known))
        for word in words
    )

"""Infer the next action from a session's facts, and say what it was inferred from.

The first source that applies wins: a prompt that waits, the call that was cut short, a failure, the
todo list, the plan, the agent's last words, its last calls, and the request itself.
"""

from collections.abc import Callable

import msgspec

from leftoff.phrases.short_answers import is_go_ahead
from leftoff.session.facts.fold_state import TrailEntry
from leftoff.session.facts.report import Facts
from leftoff.session.facts.sentences import promises_more

_ASKS_THE_USER = frozenset(
    (
        "AskUserQuestion ExitPlanMode exit_plan_mode ask_user question plan_exit request_user_input"
    ).split()
)
_TEXT_CHARS = 700
_MOST_SINCE = 3
_DID = {"edit": "edited", "read": "read", "run": "ran", "search": "searched", "agent": "asked"}


class Inferred(msgspec.Struct, frozen=True):
    """A next action, and the source it was inferred from."""

    text: str
    source: str


def infer_next_action(facts: Facts) -> Inferred | None:
    """Return the most likely next action, or None if nothing suggests one."""
    for source, find in _SOURCES.items():
        if text := find(facts):
            return Inferred(text[:_TEXT_CHARS].strip(), source)
    return None


def _answer_prompt(facts: Facts) -> str:
    if not facts.pending_prompts:
        return ""
    return f"Answer the prompt that was still waiting: {_short(facts.pending_prompts[0])}"


def _repeat_call(facts: Facts) -> str:
    if not facts.in_flight:
        return ""
    call = facts.in_flight[-1]
    is_question = call.tool in _ASKS_THE_USER
    verb = "Ask the user again" if is_question else "Check, then repeat, the call cut short"
    others = [_short(each.what, 120) for each in facts.in_flight[:-1][-_MOST_SINCE:]]
    beside = f" Beside it ran: {'; '.join(others)}." if others else ""
    return f"{verb}: {call.tool}: {_short(call.what)}.{beside}"


def _repair_failure(facts: Facts) -> str:
    failed = facts.failing
    if failed is None:
        return ""
    error = failed.error.partition("\n")[0]
    done = _list_calls([each for each in facts.trail if each.seq > failed.seq])
    since = f" Since then the agent {done}; run the command again." if done else ""
    return f"Fix what made `{_short(failed.command, 160)}` fail: {_end(_short(error))}{since}"


def _continue_todo(facts: Facts) -> str:
    if not facts.is_todo_current:
        return ""
    todo = next((t for t in facts.todos if t.status == "in_progress"), None) or next(
        (t for t in facts.todos if t.status == "pending"), None
    )
    if todo is None:
        return ""
    return f"Continue step {facts.step} of {facts.total}: {_end(_short(todo.text))}"


def _continue_plan(facts: Facts) -> str:
    if not facts.plan_todo:
        return ""
    title = f' of the plan "{_short(facts.plan_title)}"' if facts.plan_title else " of the plan"
    return f"Do the next part{title}: {_end(_short(facts.plan_todo[0]))}"


def _follow_proposal(facts: Facts) -> str:
    if not facts.is_said_last:
        return ""
    words = facts.next_words
    if promises_more(facts.last_words):
        return f"Do what the agent announced: {words or facts.closing_words}"
    if words.endswith("?"):
        return f"Get the user's answer. The agent asked: {words}"
    if words:
        return f"The agent ended its turn; ask the user what comes next. It said last: {words}"
    return (
        "The last request seems answered: ask the user what comes next. "
        f"The agent's last words: {facts.closing_words}"
    )


def _follow_trail(facts: Facts) -> str:
    if not facts.has_run:
        return ""
    if not facts.has_said:
        done = _list_calls(facts.trail)
        requests = (facts.intent, facts.task)
        asked = next((each for each in requests if not is_go_ahead(each)), "")
        request = f"Continue with the request: {_end(_short(asked))}" if asked else "Continue."
        return f"{request} The agent has {done}."
    words = facts.next_words or facts.closing_words
    done = _list_calls([each for each in facts.trail if each.seq > facts.said_at])
    since = f" Since then the agent {done}." if done else ""
    return f"Continue what the agent was doing: {_end(words)}{since}"


def _start_request(facts: Facts) -> str:
    if not facts.intent or is_go_ahead(facts.intent):
        return ""
    about = f" (it answers: {_short(facts.answers_to)})" if facts.answers_to else ""
    return f"Start with the request: {_short(facts.intent)}{about}"


_SOURCES: dict[str, Callable[[Facts], str]] = {
    "prompt": _answer_prompt,
    "call": _repeat_call,
    "failure": _repair_failure,
    "todo": _continue_todo,
    "plan": _continue_plan,
    "proposal": _follow_proposal,
    "trail": _follow_trail,
    "request": _start_request,
}


def _list_calls(trail: list[TrailEntry]) -> str:
    """Say in a phrase what the last of these calls did."""
    told = list(dict.fromkeys(_tell(each) for each in trail if each.is_done))[-_MOST_SINCE:]
    return ", ".join(told)


def _tell(entry: TrailEntry) -> str:
    did = _DID.get(entry.kind, f"called {entry.tool}:")
    what = f"`{_short(entry.what, 100)}`" if entry.kind == "run" else _short(entry.what, 100)
    failed = "" if entry.ok else " (it failed)"
    return f"{did} {what}{failed}".strip()


def _end(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…", ":")) else f"{text}."


def _short(text: str, chars: int = 240) -> str:
    text = " ".join(text[: chars * 3].split())
    return text if len(text) <= chars else text[: chars - 1].rpartition(" ")[0] + " …"

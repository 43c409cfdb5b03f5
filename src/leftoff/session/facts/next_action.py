"""Infer the next action from a session's facts, and say what it was inferred from.

The first source that applies wins: a prompt that waits, the call that was cut short, a failure, the
todo list, the plan, the agent's last words, its last calls, and the request itself.
"""

from collections.abc import Callable

import msgspec

from leftoff.phrases.short_answers import is_go_ahead
from leftoff.session.facts.announcements import find_order
from leftoff.session.facts.fold_state import TrailEntry
from leftoff.session.facts.looks import is_look
from leftoff.session.facts.report import Facts
from leftoff.session.facts.sentences import promises_more, split_sentences

_ASKS_THE_USER = frozenset("AskUserQuestion ask_user question request_user_input".split())
_ASKS_APPROVAL = frozenset("ExitPlanMode exit_plan_mode plan_exit".split())
_TEXT_CHARS = 700
_MOST_SINCE = 3
_DID = {
    "edit": "edited",
    "read": "read",
    "run": "ran",
    "search": "searched",
    "agent": "asked a sub-agent:",
}


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
    return f"Answer the prompt that is still waiting: {_short(facts.pending_prompts[0])}"


def _repeat_call(facts: Facts) -> str:
    if not facts.in_flight:
        return ""
    call = facts.in_flight[-1]
    if call.tool in _ASKS_APPROVAL:
        return f"Ask the user to approve the plan: {_end(_short(call.what.removeprefix('Plan: ')))}"
    if call.tool in _ASKS_THE_USER:
        return f"Ask the user again: {_end(_short(call.what))}"
    # A call that only looks has no effect to check.
    has_effect = not is_look(call.command) if call.command else call.kind not in {"read", "search"}
    verb = "Check, then repeat, the call" if has_effect else "Repeat the call"
    others = [_short(each.what, 120) for each in facts.in_flight[:-1][-_MOST_SINCE:]]
    also = f" Also cut short: {_end('; '.join(others))}" if others else ""
    return f"{verb} that was cut short: {call.tool}: {_end(_short(call.what))}{also}"


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
    words = facts.next_words or facts.closing_words
    if promises_more(facts.last_words):
        return find_order(words) or words
    if question := next((each for each in split_sentences(words) if each.endswith("?")), ""):
        return f"Ask the user: {question}"
    return f"Ask the user what comes next. The agent said last: {facts.closing_words}"


def _follow_trail(facts: Facts) -> str:
    if not facts.has_run:
        return ""
    order = find_order(facts.next_words or facts.closing_words) if facts.has_said else ""
    if order:
        done = _list_calls([each for each in facts.trail if each.seq > facts.said_at])
        goal = (
            order if order.startswith("Continue ") else f"Continue: {order[:1].lower()}{order[1:]}"
        )
        return f"{goal} Since then the agent {done}." if done else goal
    done = _list_calls(facts.trail)
    requests = (facts.intent, facts.task)
    asked = next((each for each in requests if not is_go_ahead(each)), "")
    goal = f"Continue with the request: {_end(_quote(asked))}" if asked else "Continue."
    return f"{goal} Most recently the agent {done}." if done else goal


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
    ended = [each for each in trail if each.is_done and not each.is_save]
    *others, last = ["", *dict.fromkeys(map(_tell, ended))][-_MOST_SINCE:]
    others = [each for each in others if each]
    return f"{', '.join(others)} and {last}" if others else last


def _tell(entry: TrailEntry) -> str:
    did = _DID.get(entry.kind, f"called {entry.tool}:")
    what = f"`{_short(entry.what, 100)}`" if entry.kind == "run" else _short(entry.what, 100)
    refused = entry.outcome.startswith(("refused", "the user refused"))
    failed = "" if entry.ok else " (the user refused)" if refused else " (it failed)"
    return f"{did} {what}{failed}".strip()


def _end(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…", ":")) else f"{text}."


def _short(text: str, chars: int = 240) -> str:
    text = " ".join(text[: chars * 3].split())
    return text if len(text) <= chars else text[: chars - 1].rpartition(" ")[0] + " …"


def _quote(text: str, chars: int = 240) -> str:
    """Return the first sentences of a request that fit, or else as much of the first as fits."""
    kept = ""
    for sentence in split_sentences(text):
        longer = f"{kept} {sentence}".strip()
        if len(longer) > chars:
            break
        kept = longer
    return kept or _short(text, chars)

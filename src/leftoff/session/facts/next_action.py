"""Infer the next action from a session's facts, and say what it was inferred from.

The first source that applies wins: a prompt that waits, the call that was cut short, a failure, the
todo list, the plan, the agent's last words, its last calls, and the request itself.
"""

from collections.abc import Callable

import msgspec

from leftoff.checkpoint import (
    ALL_DONE,
    ASK_USER,
    CONTRADICTED,
    DECLINED,
    FAILED,
    NOTHING_NEXT,
    UNKNOWN_END,
)
from leftoff.lazy_patterns import lazy
from leftoff.phrases.short_answers import asks_to_pause, is_go_ahead, is_refusal
from leftoff.session.facts.announcements import find_order
from leftoff.session.facts.error_lines import without_colours
from leftoff.session.facts.fold_state import TrailEntry
from leftoff.session.facts.looks import is_look
from leftoff.session.facts.report import Facts
from leftoff.session.facts.sentences import (
    asks_nothing_particular,
    closes_with,
    find_reported_failure,
    keep_start,
    list_items_before,
    list_work_left,
    next_and_closing_words,
    promises_more,
    refers_back,
    resolve_numbers,
    split_sentences,
)
from leftoff.session.facts.trail import REFUSED_SILENTLY, USER_ANSWERED
from leftoff.session.facts.user_requests import WITHDRAWN

_ASKS_THE_USER = frozenset("AskUserQuestion ask_user question request_user_input".split())
_ASKS_APPROVAL = frozenset("ExitPlanMode exit_plan_mode plan_exit".split())
_TEXT_CHARS = 700
_MOST_SINCE = 3
_BEGINNING = 16
_DIGIT = lazy(r"\d")
_PLAN_LABEL = lazy(r"^(?:Plan|plan_path|plan_filename|plan|summary):\s*")
_BULLET = lazy(r"^[-*•]\s+(?:\[ \]\s+)?")
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
    for source, find in _SOURCES:
        if text := find(facts):
            return Inferred(keep_start(text.strip(), _TEXT_CHARS), source)
    return None


def _answer_prompt(facts: Facts) -> str:
    if not facts.pending_prompts:
        return ""
    waiting = f"nswer the prompt that is still waiting: {_short(facts.pending_prompts[0])}"
    # The request that it waited for comes first, if nobody has begun with that either.
    is_begun = facts.has_said or facts.has_run
    first = "" if is_begun or not facts.intent else _start_request(facts)
    return f"{_end(first)} Then a{waiting}" if first else f"A{waiting}"


def _repeat_call(facts: Facts) -> str:
    if not facts.in_flight:
        return ""
    call = facts.in_flight[-1]
    if call.tool in _ASKS_APPROVAL:
        plan = _PLAN_LABEL.sub("", call.what) or facts.plan_title or facts.plan_path
        about = f": {_end(_short(plan))}" if plan else "."
        return f"Ask the user to approve the plan{about}"
    if call.tool in _ASKS_THE_USER:
        return f"Ask the user again: {_end(_short(call.what))}"
    # A call that only looks has no effect to check.
    has_effect = not is_look(call.command) if call.command else call.kind not in {"read", "search"}
    verb = "Check, then repeat, the call" if has_effect else "Repeat the call"
    order, again = f"{verb} that was cut short", "Also cut short"
    if facts.lacks_results:
        order, again = f"{UNKNOWN_END}, and repeat it if not", "The same for"
    others = [_short(each.what, 120) for each in facts.in_flight[:-1][-_MOST_SINCE:]]
    also = f" {again}: {_end('; '.join(others))}" if others else ""
    return f"{order}: {call.tool}: {_end(_short(call.what))}{also}"


def _ask_after_refusal(facts: Facts) -> str:
    """Return whom to ask if the user refused or stopped the last call without a word."""
    last = facts.trail[-1] if facts.trail and facts.has_run and not facts.is_said_last else None
    if last is None or last.outcome != REFUSED_SILENTLY:
        return ""
    what = _PLAN_LABEL.sub("", last.what) if last.tool in _ASKS_APPROVAL else last.what
    call = f"{last.tool}: {_end(_short(what))}" if what else f"{last.tool}."
    return f"{ASK_USER} how to go on: they refused or stopped {call}"


def _repair_failure(facts: Facts) -> str:
    failed = facts.failing
    if failed is None:
        return ""
    error = without_colours(failed.error).partition("\n")[0]
    done = _list_calls([each for each in facts.trail if each.seq > failed.seq])
    since = f" Since then the agent {done}; run the command again." if done else ""
    code = f" (exit {failed.exit})" if failed.exit else ""
    cause = f"{_end(_short(error))}{since}"
    return f"Fix what made `{_short(failed.command, 160)}` fail{code}: {cause}{_contradict(facts)}"


def _contradict(facts: Facts) -> str:
    """Say that the agent claims what the last run does not show."""
    if not facts.claim:
        return ""
    return f' The agent said "{_short(facts.claim, 160)}", {CONTRADICTED}'


def _continue_todo(facts: Facts) -> str:
    if not facts.is_todo_current:
        return ""
    todo = next((t for t in facts.todos if t.status == "in_progress"), None) or next(
        (t for t in facts.todos if t.status == "pending"), None
    )
    if todo is None:
        return ""
    if facts.is_step_done and (rule := _find_pause(facts)):
        return (
            f"Ask the user whether to go on with step {facts.step} of {facts.total}: "
            f"{_end(_short(todo.text))} {rule}"
        )
    return f"Continue step {facts.step} of {facts.total}: {_end(_short(todo.text))}"


def _find_pause(facts: Facts) -> str:
    """Return the user's rule that the agent is to ask before each next step, in a sentence."""
    rule = next(filter(asks_to_pause, reversed(facts.constraints)), "")
    return f'The user\'s rule: "{_short(rule, 160)}"' if rule else ""


def _continue_plan(facts: Facts) -> str:
    if not facts.plan_todo:
        return ""
    title = f' of the plan "{_short(facts.plan_title)}"' if facts.plan_title else " of the plan"
    part = f"the next part{title}: {_end(_short(facts.plan_todo[0]))}"
    if rule := _find_pause(facts):
        return f"Finish the part at hand, then ask the user before {part} {rule}"
    return f"Do {part}"


def _return_to_announced(facts: Facts) -> str:
    """Return what was announced before the user asked or remarked something aside."""
    if not facts.held or not facts.is_said_last or promises_more(facts.last_words):
        return ""
    held = _find_proposed(facts.held, next_and_closing_words(facts.held)[0])
    if not held:
        return ""
    if is_go_ahead(facts.intent):
        # Thanks ask for nothing.
        return held
    asked = f' ("{_short(facts.intent, 120)}")' if facts.intent else ""
    return f"{_end(held)} The agent said this before the user's last message{asked}."


def _follow_proposal(facts: Facts) -> str:
    if not facts.is_said_last:
        return ""
    if facts.is_finished:
        return f"{ALL_DONE} {_quote_closing(facts)}"
    words = facts.next_words or facts.closing_words
    found = _find_proposed(facts.last_words, words)
    if facts.declined and (not found or facts.declined in found):
        return f'{DECLINED} "{_short(facts.declined)}"'
    if found:
        rule = _find_pause(facts) if facts.is_step_done else ""
        is_asked = not rule or found.startswith(ASK_USER)
        return found if is_asked else f"Ask the user before going on: {_end(found)} {rule}"
    if failure := find_reported_failure(facts.last_words):
        return f"Fix what the agent reported: {_end(failure)}"
    goal = facts.announced or (_find_goal(facts) if facts.is_interim else NOTHING_NEXT)
    return f"{goal} {_quote_closing(facts)}"


def _find_proposed(said: str, words: str) -> str:
    """Return what a message lists, announces or asks; `words` are its meaningful sentences."""
    if left := list_work_left(said):
        return f"Go on with what the agent listed: {_end('; '.join(map(_short, left)))}"
    if promises_more(said):
        return find_order(words) or words
    if question := next((each for each in split_sentences(words) if each.endswith("?")), ""):
        before = list_items_before(said, question)
        if not before and asks_nothing_particular(question):
            # "Which?" says less than what was known before.
            return ""
        items = before if refers_back(question) else []
        named = (_BULLET.sub("", _short(item)) for item in items)
        about = f" ({'; '.join(named)})" if items else ""
        return f"{ASK_USER}: {resolve_numbers(said, question)}{about}"
    return ""


def _quote_closing(facts: Facts) -> str:
    """Quote the end of the agent's last message, and say so only where it is the end."""
    if facts.is_reported:
        return f"About the work, the agent said last: {next_and_closing_words(facts.reported)[1]}"
    if facts.has_parted:
        return f"Before the goodbye, the agent said: {facts.closing_words}"
    if facts.is_dismissed or facts.closing_words[:_BEGINNING] not in facts.last_words:
        return f"The agent said before: {facts.closing_words}"
    if closes_with(facts.last_words, facts.closing_words):
        return f"The agent said last: {facts.closing_words}"
    return f"From the agent's last message: {facts.closing_words}"


def _follow_trail(facts: Facts) -> str:
    if not facts.has_run:
        return ""
    if choice := _follow_choice(facts):
        return choice
    order = find_order(facts.next_words or facts.closing_words) if facts.has_said else ""
    began = facts.said_at if order else facts.asked_at
    since = [each for each in facts.trail if each.seq > began]
    done = _list_calls(since)
    if order and len(since) < _MOST_SINCE:
        goal = (
            order if order.startswith("Continue ") else f"Continue: {order[:1].lower()}{order[1:]}"
        )
        return f"{goal} Since then the agent {done}." if done else goal
    if facts.announced:
        return f"{facts.announced} Most recently the agent {done}." if done else facts.announced
    goal = _find_goal(facts)
    if order:
        # After this many calls, it has been carried out at least in part.
        return f'{goal} The agent announced: "{order}" Since then it {done}; go on from there.'
    return f"{goal} Most recently the agent {done}." if done else goal


def _find_goal(facts: Facts) -> str:
    """Return what the agent works on: the last request, or what a go-ahead agreed to."""
    if is_go_ahead(facts.intent) and facts.answers_to:
        return f"Continue with what the user agreed to: {_end(_short(facts.answers_to))}"
    requests = (facts.intent, *reversed(facts.requests), facts.task)
    wanted = (each for each in requests if not each.startswith(WITHDRAWN))
    asked = next((each for each in wanted if not is_go_ahead(each)), "")
    return f"Continue with the request: {_end(_quote(asked))}" if asked else "Continue."


def _follow_choice(facts: Facts) -> str:
    """Return what the user chose, if the last call asked."""
    last = facts.trail[-1] if facts.trail else None
    if last is None or not last.outcome.startswith(USER_ANSWERED):
        return ""
    chosen = last.outcome.removeprefix(USER_ANSWERED).strip()
    return f'Go on as the user chose: "{_short(chosen)}" (asked: {_end(_short(last.what))})'


def _start_request(facts: Facts) -> str:
    if is_go_ahead(facts.intent):
        if agreed := _find_agreed_step(facts):
            return agreed
        asked = _end(_short(facts.answers_to)) if facts.answers_to else ""
        said = f'Go on as the user answered: "{facts.intent}" (the agent said: {asked})'
        return said if asked else ""
    about = f" (it answers: {_short(facts.answers_to)})" if facts.answers_to else ""
    held = _find_proposed(facts.held, next_and_closing_words(facts.held)[0]) if facts.held else ""
    then = f" Then return to what the agent announced: {_end(held)}" if held else ""
    return f"Start with the request: {_short(facts.intent)}{about}{then}"


def _find_agreed_step(facts: Facts) -> str:
    """Return the step that the agent announced, if the user just agreed to it."""
    said, answer = facts.answers_to, facts.intent
    is_choice = "?" in said or _DIGIT.search(answer) or is_refusal(answer)
    return find_order(said) if promises_more(said) and not is_choice else ""


def _act_on_answer(facts: Facts) -> str:
    return _start_request(facts) if facts.is_answer_due else ""


_SOURCES: tuple[tuple[str, Callable[[Facts], str]], ...] = (
    ("prompt", _answer_prompt),
    ("call", _repeat_call),
    ("request", _act_on_answer),
    ("trail", _ask_after_refusal),
    ("failure", _repair_failure),
    ("todo", _continue_todo),
    ("plan", _continue_plan),
    ("announced", _return_to_announced),
    ("proposal", _follow_proposal),
    ("trail", _follow_trail),
    ("request", _start_request),
)


def _list_calls(trail: list[TrailEntry]) -> str:
    """Say in a phrase what the last of these calls did."""
    ended = [each for each in trail if each.is_done and not each.is_save]
    # Of calls that are alike, the newest says what came last.
    newest = dict.fromkeys(map(_format_call, reversed(ended)))
    *others, last = ["", *reversed(newest)][-_MOST_SINCE:]
    others = [each for each in others if each]
    return f"{', '.join(others)} and {last}" if others else last


def _format_call(entry: TrailEntry) -> str:
    did = _DID.get(entry.kind, f"called {entry.tool}:")
    what = f"`{_short(entry.what, 100)}`" if entry.kind == "run" else _short(entry.what, 100)
    refused = entry.outcome.startswith(("refused", "the user refused"))
    is_failed = not entry.ok and entry.outcome.startswith(FAILED.rstrip(": "))
    failed = " (the user refused)" if refused else " (it failed)" if is_failed else ""
    return f"{did} {what}{failed}".strip()


def _end(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…", ":")) else f"{text}."


def _short(text: str, chars: int = 240) -> str:
    text = " ".join(text[: chars * 3].split())
    return text if len(text) <= chars else text[: chars - 1].rpartition(" ")[0] + " …"


def _quote(text: str, chars: int = 240) -> str:
    """Return the first sentences of a request that fit, or as much of the first as fits."""
    kept = ""
    for sentence in split_sentences(text):
        longer = f"{kept} {sentence}".strip()
        if len(longer) > chars:
            break
        kept = longer
    return kept or _short(text, chars)

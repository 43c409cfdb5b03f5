"""Infer the next action from a session's facts; it is always marked as inferred."""

from collections.abc import Iterator

from leftoff.session.facts.report import Facts

_ASKS_THE_USER = frozenset(
    (
        "AskUserQuestion ExitPlanMode exit_plan_mode ask_user question plan_exit request_user_input"
    ).split()
)
_TEXT_CHARS = 600


def infer_next_action(facts: Facts) -> str:
    """Return the most likely next action as text, or "" if nothing suggests one."""
    return " ".join(_parts(facts))[:_TEXT_CHARS].strip()


def _parts(facts: Facts) -> Iterator[str]:
    if facts.pending_prompts:
        yield f"Answer the prompt that was still waiting: {_short(facts.pending_prompts[0])}"
        return
    if facts.in_flight:
        call = facts.in_flight[-1]
        asks = call.tool in _ASKS_THE_USER
        verb = "Ask the user again" if asks else "Check, then repeat, the call cut short"
        yield f"{verb}: {call.tool}: {_short(call.what)}."
    todo = next((t for t in facts.todos if t.status == "in_progress"), None) or next(
        (t for t in facts.todos if t.status == "pending"), None
    )
    if todo is not None:
        yield f"Continue step {facts.step} of {facts.total}: {_short(todo.text)}."
    if facts.in_flight:
        return
    words = facts.next_words or facts.closing_words
    if words:
        if not facts.next_words and facts.is_turn_over and todo is None:
            yield "The last request seems answered: ask the user what comes next."
        yield f"The agent's last words: {words}"
    elif todo is None and facts.intent:
        yield f"Begin with the request: {_short(facts.intent)}"


def _short(text: str) -> str:
    text = " ".join(text[:600].split())
    return text if len(text) <= 240 else text[:239] + "…"

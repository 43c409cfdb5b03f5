"""Ask what a save is about if no summary was given: on a terminal, or through the agent."""

import re
from collections.abc import Sequence
from typing import Any

from leftoff.checkpoint import split_reason
from leftoff.cli.app import App
from leftoff.cli.ask_questions import ask_text
from leftoff.errors import ChoiceNeeded, UsageError

# For each question: the key that stores the answer, and the option that answers it in advance.
_QUESTIONS = (
    ("summary", "What are you currently working on?", "--summary"),
    ("decisions", "What key decisions were made (and why)?", "--decision"),
    ("next_action", "What's the next action?", "--next"),
)
_BETWEEN = re.compile(r"\s*;\s+|\n+")


def ask_missing(app: App, passed: dict[str, Any], *, is_captured: bool) -> dict[str, Any]:
    """Ask what was not given, if there is no summary.

    A session that is captured says what the work is about, so its agent is asked only if it has
    passed nothing at all.
    """
    if passed.get("summary"):
        return passed
    missing = [each for each in _QUESTIONS if not passed.get(each[0])]
    if not app.out.is_interactive:
        if is_captured and any(passed.values()):
            return passed
        raise _build_choice(missing)
    given = {key: ask_text(question) for key, question, _ in missing}
    answers = {key: value for key, text in given.items() if (value := _parse_answer(key, text))}
    if not (answers or is_captured or any(passed.values())):
        raise UsageError(
            "You answered none of the questions, so nothing was saved.",
            hint="Run `leftoff save` again, or pass --summary.",
        )
    return passed | answers


def _build_choice(missing: Sequence[tuple[str, str, str]]) -> ChoiceNeeded:
    return ChoiceNeeded(
        "This checkpoint has no summary.",
        question="Ask your user, then save again with the answers.",
        choices=[
            {"choice": key, "label": question, "option": option}
            for key, question, option in missing
        ],
        hint="Answer with --summary, --decision (repeatable) and --next.",
    )


def _parse_answer(key: str, text: str) -> Any:
    if key == "decisions":
        return [_parse_decision(each) for each in _BETWEEN.split(text.strip()) if each]
    if key == "next_action":
        return {"text": text.strip()} if text.strip() else None
    return text.strip()


def _parse_decision(text: str) -> dict[str, str]:
    """Keep a decision as it was typed; only our own mark splits it."""
    what, why = split_reason(text)
    return {"what": what, "why": why}

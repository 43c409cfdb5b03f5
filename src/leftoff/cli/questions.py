"""What a save is about, asked of whoever did not say: on a terminal, or handed on as a choice."""

import re
from typing import Any

import click

from leftoff.cli.app import App
from leftoff.cli.output import printable
from leftoff.errors import ChoiceNeeded

# The key each answer goes to, the question, and the option that answers it beforehand.
_QUESTIONS = (
    ("summary", "What are you currently working on?", "--summary"),
    ("decisions", "What key decisions were made (and why)?", "--decision"),
    ("next_action", "What's the next action?", "--next"),
)
_BETWEEN = re.compile(r"\s*;\s+|\n+")
_WHY = re.compile(r"\s*(?:::|,?\s+because\s)\s*", re.IGNORECASE)


def ask_missing(app: App, told: dict[str, Any]) -> dict[str, Any]:
    """Ask the three questions where no summary was told; what was told stays as it is."""
    if told.get("summary"):
        return told
    if not app.out.is_interactive:
        if any(told.values()):
            return told
        raise _build_choice()
    given = {
        key: click.prompt(printable(question), default="", show_default=False, prompt_suffix=" ")
        for key, question, _ in _QUESTIONS
    }
    return told | {key: value for key, text in given.items() if (value := _value(key, text))}


def _build_choice() -> ChoiceNeeded:
    return ChoiceNeeded(
        "Nothing says what this checkpoint is about.",
        question="Ask your user, then save again with the answers.",
        choices=[
            {"choice": key, "label": question, "option": option}
            for key, question, option in _QUESTIONS
        ],
        hint="Answer with --summary, --decision 'WHAT :: WHY' (repeatable) and --next.",
    )


def _value(key: str, text: str) -> Any:
    if key == "decisions":
        return [_decision(each) for each in _BETWEEN.split(text.strip()) if each]
    if key == "next_action":
        return {"text": text.strip()} if text.strip() else None
    return text.strip()


def _decision(text: str) -> dict[str, str]:
    what, *why = _WHY.split(text.strip(), maxsplit=1)
    return {"what": what, "why": why[0] if why else ""}

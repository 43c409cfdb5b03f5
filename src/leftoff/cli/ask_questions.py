"""Ask a person on a terminal, in one style: the default in capitals, Enter takes it.

The first letters of an answer are enough, and Ctrl-C leaves everything as it is.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import click

from leftoff.cli.app import App, one_line, printable, terminal_width
from leftoff.cli.look import cut, wrap_line, wrap_text
from leftoff.cli.table_layout import align_columns
from leftoff.errors import ChoiceNeeded, NameRefused
from leftoff.text import times

_RECOMMENDED = "(Recommended)"
_ANSWER_PLACES = 4


def confirm(question: str, *, default: bool = True, words: Mapping[str, str] | None = None) -> bool:
    """Ask yes or no; Enter takes the default. `words` are other answers."""
    return ask_word(question, ("yes", "no"), "yes" if default else "no", words=words) == "yes"


def ask_word(
    question: str, answers: Sequence[str], default: str, *, words: Mapping[str, str] | None = None
) -> str:
    """Ask for one of several words: a first letter is enough, Enter takes the default."""
    shown = [each[0] if each in {"yes", "no"} else each for each in answers]
    marked = [
        each.capitalize() if word == default else each
        for word, each in zip(answers, shown, strict=True)
    ]
    wrapped = printable(_wrap_question(f"{question} [{'/'.join(marked)}]"))
    known = {**dict(zip(answers, answers, strict=True)), **(words or {})}
    while True:
        typed = click.prompt(wrapped, default=default, show_default=False, prompt_suffix=" ")
        answer = str(typed).strip().lower()
        found = {known[answer]} if answer in known else set(_complete(answer, answers))
        if len(found) == 1:
            return found.pop()
        expected = f"{', '.join(shown[:-1])} or {shown[-1]}"
        click.echo(printable(f"Answer {expected}. Press Ctrl-C to cancel."))


def ask_text(question: str, known: str = "", *, shown: str = "") -> str:
    """Ask for a text; Enter keeps what is known. `shown` is a short form of that."""
    default = f" [{shown or known}]" if known else ""
    wrapped = printable(_wrap_question(f"{question}{default}"))
    asked = click.prompt(wrapped, default="", show_default=False, prompt_suffix=" ")
    return str(asked).strip() or known


def ask_name(app: App) -> str:
    """Ask for a name until the answer is valid."""
    while True:
        name = str(click.prompt("Name"))
        try:
            return app.check_name(name)
        except NameRefused as refused:
            show_lines(f"{refused.message} {refused.hint}")


def choose(app: App, choice: ChoiceNeeded, default: int = 1) -> str:
    """Let a person pick by number or name; elsewhere raise the choice for the caller."""
    if not app.out.is_interactive:
        raise choice
    show_lines(choice.message)
    for line in _number_choices(choice.choices):
        click.echo(printable(cut(f"  {line}", terminal_width())))
    labels = [str(each.get("label", "")) for each in choice.choices]
    # Enter alone picks the recommended choice.
    recommended = (n for n, each in enumerate(labels, 1) if each.endswith(_RECOMMENDED))
    keys = [str(each["choice"]) for each in choice.choices]
    return keys[_ask_number(choice.question, keys, next(recommended, default)) - 1]


def show_lines(text: str) -> None:
    """Print what a question is about, wrapped at words."""
    click.echo(printable(wrap_text(printable(text), terminal_width())))


def _wrap_question(question: str) -> list[str]:
    """Wrap a question at words; the answer is typed behind its last line."""
    return wrap_line(question, terminal_width() - _ANSWER_PLACES)


def _ask_number(question: str, keys: Sequence[str], default: int) -> int:
    while True:
        wrapped = printable(_wrap_question(question))
        asked = click.prompt(wrapped, default=default, type=str, prompt_suffix=" ")
        answer = str(asked).strip()
        if answer.isdecimal() and 1 <= int(answer) <= len(keys):
            return int(answer)
        if len(found := _complete(answer, keys)) == 1:
            return keys.index(found[0]) + 1
        click.echo(printable(f"Enter a number from 1 to {len(keys)}. Press Ctrl-C to cancel."))


def _complete(typed: str, words: Sequence[str]) -> list[str]:
    """Return the words that begin with what was typed, or the one that equals it."""
    exact = [each for each in words if each == typed]
    return exact or [each for each in words if typed and each.startswith(typed)]


def _number_choices(choices: Sequence[dict[str, Any]]) -> list[str]:
    """Return numbered lines; for checkpoints, add columns that distinguish them."""
    columns = {"": [f"{number}. {each['label']}" for number, each in enumerate(choices, 1)]}
    if all("summary" in each for each in choices):
        moments = [times.parse(each["saved_at"]) for each in choices]
        columns["saved"] = [times.local(moment) if moment else "-" for moment in moments]
        columns["branch"] = [each["branch"] or "-" for each in choices]
        columns["summary"] = [one_line(each["summary"]) for each in choices]
    return align_columns(columns)[1:]

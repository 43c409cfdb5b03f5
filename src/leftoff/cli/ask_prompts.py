"""Ask what to do with the prompts that no session answered: on a terminal, or as choices."""

import contextlib
import re
from collections.abc import Callable
from typing import NamedTuple

import click

from leftoff.cli import replay
from leftoff.cli.app import App, printable
from leftoff.cli.ask_questions import ask_word, show_lines
from leftoff.cli.replay import WaitingPrompts
from leftoff.errors import ChoiceNeeded
from leftoff.session import prompt_queue
from leftoff.session.prompt_queue import Prompt
from leftoff.text.fence import block, say

_EDIT = re.compile(r"e(?:d|di|dit)?\s+(\d+)")
_TRIES = 2


class PromptAnswer(NamedTuple):
    """What the user wants to happen with the queued prompts; nothing has happened yet."""

    texts: list[str]
    """The prompts to run, as text."""
    apply: Callable[[], object]
    """Takes them off the queue as replayed, or drops them."""


NOTHING_ASKED = PromptAnswer([], lambda: None)


def ask(app: App, found: WaitingPrompts) -> PromptAnswer:
    """Ask on a terminal what to do with the queued prompts, if there are any."""
    shown = found.prompts_to_offer
    if not shown:
        return NOTHING_ASKED
    if found.mismatch:
        app.out.text(found.mismatch)
    question = _introduce(app, found, shown)
    for number in range(_TRIES):
        answer = _find_answer(app, found, _ask_which(found, shown, question))
        if answer is not None:
            return answer
        if number == 0 and not found.has_sentinels:
            show_lines("Answer all, none, numbers such as 1,2, or edit 1. Press Ctrl-C to cancel.")
    # Two invalid answers count as "none", so that a resume does not get stuck here.
    return PromptAnswer([], lambda: replay.drop_own(app, found))


def _ask_which(found: WaitingPrompts, shown: list[Prompt], question: str) -> str:
    if len(shown) == 1 and not found.has_sentinels:
        answers = ("yes", "no", "delete" if found.mismatch else "edit")
        return ask_word(question, answers, "yes", words={"all": "yes", "none": "no", "1": "yes"})
    default = "" if found.has_sentinels else "all"
    answer = click.prompt(
        printable(question), prompt_suffix=" ", default=default, show_default=False
    )
    return str(answer).strip().lower()


def _introduce(app: App, found: WaitingPrompts, shown: list[Prompt]) -> str:
    """Print the queued prompts and return the question; quoin's users get quoin's."""
    question = (
        replay.phrase_question(found) if found.has_sentinels else _phrase_in_house_style(found)
    )
    if replay.is_single(found):
        what = "Content" if found.mismatch else _describe_source(app, found, shown[0])
        app.out.text(f"{what}: {shown[0].text}")
        return question
    count = len(shown)
    if found.has_sentinels:
        app.out.text(say(replay.BLOCKED, count=count))
    else:
        app.out.text(f"{count} prompts were kept and never answered:")
    app.out.text(replay.format_prompts(shown, has_sentinels=found.has_sentinels))
    return question


def _phrase_in_house_style(found: WaitingPrompts) -> str:
    """Return the question about the queued prompts, where quoin's files are not in use."""
    if len(found.prompts_to_offer) == 1:
        return "Run it now?"
    return f"Replay which? [All/1/1,2/edit 1/none{'/delete' if found.mismatch else ''}]"


def _describe_source(app: App, found: WaitingPrompts, prompt: Prompt) -> str:
    """Say whose prompt it is; a file that came with a repository may hold anyone's words."""
    if found.has_sentinels or prompt_queue.is_the_users(app.store, prompt):
        return replay.PREVIOUS
    holder = "This project's store" if prompt.is_from_a_session else "A file"
    return f"{holder} contains this prompt"


def _find_answer(app: App, found: WaitingPrompts, answer: str) -> PromptAnswer | None:
    """Print the prompts that the user chose; return None if the answer is invalid."""
    shown = found.prompts_to_offer
    answer = {"a": "all", "d": "delete"}.get(answer, answer)
    if answer in {"n", "no", "none"}:
        return PromptAnswer([], lambda: replay.drop_own(app, found))
    if answer == "delete":
        return PromptAnswer([], lambda: replay.drop(app, shown))
    if len(shown) == 1:
        answer = {"y": "1", "yes": "1", "edit": "edit 1"}.get(answer, answer)
    edit = _EDIT.fullmatch(answer)
    chosen = replay.parse_selection(edit[1] if edit else answer, shown)
    if chosen is None:
        return None
    edited = _ask_new_text(app, chosen[0]) if edit else None
    if edit and not edited:
        return None
    texts = replay.print_prompts(app, chosen, edited)
    return PromptAnswer(texts, lambda: replay.mark_replayed(app, found, chosen, edited))


def _ask_new_text(app: App, prompt: Prompt) -> str:
    """Ask for a text of any number of lines: what follows the first would run in the shell."""
    app.out.text(block(prompt.text))
    app.out.text(f"Paste the new text, then a line with only `{_END}`:")
    lines = []
    with contextlib.suppress(EOFError):
        while (line := input().rstrip("\r")) != _END:
            lines.append(line)
    return "\n".join(lines).strip("\n")


_END = "."


def build_choice(found: WaitingPrompts) -> ChoiceNeeded:
    """Build the question for the agent or script that runs this command."""
    shown = found.prompts_to_offer
    lines = replay.format_prompts(shown, has_sentinels=found.has_sentinels)
    numbered = [
        {
            "choice": str(number),
            "label": line,
            "command": f"leftoff prompts replay {number}",
            "text": prompt.text,
            "session_id": prompt.session_id,
        }
        for number, (line, prompt) in enumerate(zip(lines, shown, strict=True), 1)
    ]
    others = [
        {"choice": "all", "label": "All of them", "command": "leftoff prompts replay all"},
        {"choice": "edit", "label": "Edit one", "command": "leftoff prompts edit N TEXT"},
        {"choice": "none", "label": "None", "command": "leftoff prompts replay none"},
        {"choice": "delete", "label": "Drop one", "command": "leftoff prompts drop N"},
    ]
    what = "1 prompt was" if len(shown) == 1 else f"{len(shown)} prompts were"
    return ChoiceNeeded(
        f"{found.mismatch} {what} kept and never answered.".strip(),
        question="Replay which? [all / 1 / 2 / 1,3 / edit 1 / none]",
        choices=[*numbered, *others],
        hint="Name some: `leftoff prompts replay 1,3`.",
    )

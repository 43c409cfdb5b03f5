"""Replay prompts that no session answered: find them, ask about them, print them."""

import re
from typing import Any

import click
import msgspec

from leftoff.cli.app import App, one_line, printable
from leftoff.errors import ChoiceNeeded
from leftoff.session import prompt_queue
from leftoff.session.prompt_queue import Prompt
from leftoff.text import times
from leftoff.text.fence import Rendered, block, join, say

_SHOWN_CHARS = 80
_NUMBERS = re.compile(r"\d+(?:[\s,]+\d+)*")
_EDIT = re.compile(r"edit\s+(\d+)")
_TRIES = 2


class WaitingPrompts(msgspec.Struct, frozen=True, kw_only=True):
    """The queued prompts, this session's first; `current` is None if the session is unknown."""

    prompts: list[Prompt]
    current: str | None

    def is_own(self, prompt: Prompt) -> bool:
        """Return whether a prompt was typed in this session; assume so if that is unknown."""
        return self.current is None or prompt.session_id == self.current

    @property
    def prompts_to_offer(self) -> list[Prompt]:
        """The prompts to ask about: this session's own, or all of them if it has none."""
        return [prompt for prompt in self.prompts if self.is_own(prompt)] or self.prompts

    @property
    def mismatch(self) -> Rendered:
        """The warning to show if all queued prompts come from other sessions."""
        if not self.prompts or any(map(self.is_own, self.prompts)):
            return say("")
        others = ", ".join(dict.fromkeys(prompt.session_id for prompt in self.prompts))
        return say(
            "Stale prompt detected (session-id MISMATCH: was {others:300}, current {current:100}).",
            others=others,
            current=self.current,
        )


def waiting(app: App, *, session_id: str | None = None) -> WaitingPrompts:
    """Return the queued prompts; `session_id` is used if no agent's session runs this command."""
    running = app.environment.find_session()
    current = running[1] if running else session_id
    found = prompt_queue.pending(app.store)
    own = [prompt for prompt in found if prompt.session_id == current]
    return WaitingPrompts(
        prompts=[*own, *(prompt for prompt in found if prompt not in own)], current=current
    )


def rows(found: WaitingPrompts) -> list[dict[str, Any]]:
    """Return the numbered prompts as JSON-ready values."""
    return [
        {
            "number": number,
            "id": prompt.id,
            "at": prompt.at.isoformat(),
            "text": prompt.text,
            "agent": prompt.agent,
            "session_id": prompt.session_id,
            "is_own": found.is_own(prompt),
            "is_from_a_person": prompt.is_from_a_person,
            "fate": prompt.fate,
        }
        for number, prompt in enumerate(found.prompts, 1)
    ]


def format_prompts(shown: list[Prompt]) -> list[Rendered]:
    """Return one numbered line per prompt, with its time and first words."""
    return [
        say(
            "{number}. [{time:40}] {text:200}{source}",
            number=number,
            time=_time(prompt),
            text=one_line(prompt.text, _SHOWN_CHARS + 1),
            source=say("" if prompt.is_from_a_session else " (from a file)"),
        )
        for number, prompt in enumerate(shown, 1)
    ]


def _time(prompt: Prompt) -> str:
    return prompt.told_at or times.local(prompt.at)


def notice(found: WaitingPrompts) -> Rendered:
    """Return one line that counts the queued prompts; empty if there are none."""
    count = len(found.prompts_to_offer)
    if not count:
        return say("")
    were = say(
        "{count} {what} never answered: see `leftoff prompts list` and `leftoff prompts replay`.",
        count=count,
        what="prompt was" if count == 1 else "prompts were",
    )
    return join([were, found.mismatch], " ")


def replay_prompts(app: App, chosen: list[Prompt], *, edited: str | None = None) -> None:
    """Print prompts as they were typed, oldest first, and mark them as replayed."""
    # Oldest first: a later prompt may build on an earlier one.
    ordered = sorted(chosen, key=lambda prompt: (prompt.at, prompt.id))
    for prompt in ordered:
        if edited is not None:
            prompt_queue.record(app.store, prompt, "edited", text=edited)
        prompt_queue.record(app.store, prompt, "replayed")
    texts = [edited if edited is not None else prompt.text for prompt in ordered]
    replayed = [
        {"id": prompt.id, "text": text} for prompt, text in zip(ordered, texts, strict=True)
    ]
    whole = [
        format_whole_prompt(app, prompt, text) for prompt, text in zip(ordered, texts, strict=True)
    ]
    app.out.result({"replayed": replayed}, join(whole, "\n\n"))


def format_whole_prompt(app: App, prompt: Prompt, text: str) -> Rendered:
    """Quote a full prompt under a line that says where it came from."""
    time = _time(prompt)
    if not prompt.is_from_a_session:
        whose = say("From a file ({time:40}):", time=time)
    elif prompt_queue.is_the_users(app.store, prompt):
        whose = say("The user asked ({time:40}):", time=time)
    else:
        whose = say(
            "From this project's store, without proof that you typed it ({time:40}):",
            time=time,
        )
    return join([whose, block(text)])


def drop(app: App, chosen: list[Prompt]) -> None:
    """Remove prompts from the queue; the history keeps them."""
    for prompt in chosen:
        prompt_queue.record(app.store, prompt, "dropped")


def parse_selection(words: str, shown: list[Prompt]) -> list[Prompt] | None:
    """Parse `all`, `2` or `1,3`; return None for anything else.

    `all` leaves out what programs wrote; choose that by number.
    """
    text = words.strip().lower()
    if text == "all":
        return [prompt for prompt in shown if prompt.is_from_a_person]
    if not _NUMBERS.fullmatch(text):
        return None
    numbers = sorted({int(number) for number in re.findall(r"\d+", text)})
    if not all(1 <= number <= len(shown) for number in numbers):
        return None
    return [shown[number - 1] for number in numbers]


def ask(app: App, found: WaitingPrompts) -> None:
    """Ask on a terminal what to do with the queued prompts, if there are any."""
    shown = found.prompts_to_offer
    if not shown:
        return
    if found.mismatch:
        click.echo(printable(found.mismatch))
    question = printable(_introduce(app, shown, is_foreign=bool(found.mismatch)))
    for _ in range(_TRIES):
        answer = click.prompt(question, prompt_suffix=" ", default="", show_default=False)
        if _act(app, found, str(answer).strip().lower()):
            return
    # Two invalid answers count as "none", so that a resume does not get stuck here.
    _act(app, found, "none")


def _introduce(app: App, shown: list[Prompt], *, is_foreign: bool) -> str:
    """Print the queued prompts and return the question."""
    if len(shown) == 1:
        what = "Your previous prompt was"
        if not prompt_queue.is_the_users(app.store, shown[0]):
            holder = "This project's store" if shown[0].is_from_a_session else "A file"
            what = f"{holder} contains this prompt"
        what = "Content" if is_foreign else what
        click.echo(printable(f"{what}: {shown[0].text}"))
        return f"Run it now? [y / n / {'delete' if is_foreign else 'edit'}]"
    click.echo(printable(f"{len(shown)} prompts were kept and never answered:"))
    click.echo(printable(format_prompts(shown)))
    return f"Replay which? [all / 1 / 2 / 1,3 / edit 1 / none{' / delete' if is_foreign else ''}]"


def _act(app: App, found: WaitingPrompts, answer: str) -> bool:
    """Carry out an answer; return False if it is not valid."""
    shown, is_foreign = found.prompts_to_offer, bool(found.mismatch)
    if answer in {"n", "no", "none"}:
        # Prompts of another session stay queued for that session.
        drop(app, [] if is_foreign else shown)
        return True
    if answer == "delete" and is_foreign:
        drop(app, shown)
        return True
    if len(shown) == 1:
        answer = {"y": "1", "yes": "1", "edit": "edit 1"}.get(answer, answer)
    edit = _EDIT.fullmatch(answer)
    chosen = parse_selection(edit[1] if edit else answer, shown)
    if chosen is None:
        return False
    replay_prompts(app, chosen, edited=_ask_new_text(chosen[0]) if edit else None)
    return True


def _ask_new_text(prompt: Prompt) -> str:
    click.echo(printable(block(prompt.text)))
    return str(click.prompt("New text"))


def choice(found: WaitingPrompts) -> ChoiceNeeded:
    """Build the question for the agent or script that runs this command."""
    shown = found.prompts_to_offer
    numbered = [
        {
            "choice": str(number),
            "label": line,
            "command": f"leftoff prompts replay {number}",
            "text": prompt.text,
            "session_id": prompt.session_id,
        }
        for number, (line, prompt) in enumerate(zip(format_prompts(shown), shown, strict=True), 1)
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

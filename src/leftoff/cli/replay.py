"""Replay prompts that no session answered: find them, ask about them, print them."""

import contextlib
import re
from datetime import UTC
from typing import Any

import click
import msgspec

from leftoff.cli.app import App, one_line, printable
from leftoff.errors import ChoiceNeeded
from leftoff.session import prompt_queue
from leftoff.session.prompt_files import LEGACY
from leftoff.session.prompt_queue import Prompt
from leftoff.text import times
from leftoff.text.fence import Rendered, block, join, say
from leftoff.text.plural import format_count

_SHOWN_CHARS = 80
_NUMBERS = re.compile(r"\d+(?:[\s,]+\d+)*")
_EDIT = re.compile(r"edit\s+(\d+)")
_TRIES = 2


class WaitingPrompts(msgspec.Struct, frozen=True, kw_only=True):
    """The queued prompts, this session's first; `current` is None if the session is unknown."""

    prompts: list[Prompt]
    current: str | None
    sessions: frozenset[str] = frozenset()
    """The sessions of the work at hand."""
    has_sentinels: bool = False
    """Whether a mirrored system keeps prompts in files by session, and has words for them."""

    def may_drop(self, prompt: Prompt) -> bool:
        """Return whether `n` drops a prompt: it was typed in this session or for this work."""
        if self.has_sentinels:
            return self.is_own(prompt)
        return prompt.session_id in self.sessions or prompt.session_id == self.current

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
        if not self.has_sentinels:
            who = "It was" if len(self.prompts) == 1 else "They were"
            return say("{who} typed in an earlier session.", who=who)
        others = ", ".join(dict.fromkeys(prompt.session_id for prompt in self.prompts))
        return say(
            "Stale {what} detected (session-id MISMATCH: was {others:300}, current {current:100}).",
            what="pending-prompt sentinel",
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
        prompts=[*own, *(prompt for prompt in found if prompt not in own)],
        current=current,
        sessions=_find_sessions_of_work(app, current, session_id) if found else frozenset(),
        has_sentinels=bool(found) and app.workspace.mirrors.tell_what_waits(),
    )


def _find_sessions_of_work(app: App, *session_ids: str | None) -> frozenset[str]:
    """Return the sessions that saved revisions of the same work as these sessions."""
    index = app.store.index()
    newest = [index.newest_of_session(each) for each in session_ids if each]
    slots = {entry.slot for entry in newest if entry is not None}
    related = [each.session_id for slot in slots for each in index.revisions(slot)]
    return frozenset(each for each in (*related, *session_ids) if each)


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


def format_prompts(shown: list[Prompt], *, has_sentinels: bool = False) -> list[Rendered]:
    """Return one numbered line per prompt, with its time and first words."""
    return [
        say(
            "{number}. [{time:40}] {text:200}{source}",
            number=number,
            time=_format_exact_time(prompt) if has_sentinels else _time(prompt),
            text=_shorten(prompt.text)
            if has_sentinels
            else one_line(prompt.text, _SHOWN_CHARS + 1),
            source=say("" if prompt.is_from_a_session or has_sentinels else " (from a file)"),
        )
        for number, prompt in enumerate(shown, 1)
    ]


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_CHARS else f"{line[:_SHOWN_CHARS]}..."


def _time(prompt: Prompt) -> str:
    return prompt.told_at or times.local(prompt.at)


def _format_exact_time(prompt: Prompt) -> str:
    """Return the time as it is in the header of a file."""
    return prompt.told_at or f"{prompt.at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


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


def drop_own(app: App, found: WaitingPrompts) -> tuple[list[Prompt], list[Prompt]]:
    """Drop what was typed in this session or for this work; return that, and what stays queued.

    Prompts of other sessions belong to other work, so they stay.
    """
    shown = found.prompts_to_offer
    dropped = [prompt for prompt in shown if found.may_drop(prompt)]
    kept = [prompt for prompt in shown if prompt not in dropped]
    drop(app, dropped)
    if app.out.as_json:
        return dropped, kept
    if dropped:
        ids = " ".join(prompt.id for prompt in dropped)
        count = format_count(len(dropped), "prompt")
        app.out.text(f"Dropped {count}; to undo, run: leftoff prompts restore {ids}")
    if kept:
        app.out.text(f"Kept {format_count(len(kept), 'prompt')}; `leftoff prompts drop` removes it")
    return dropped, kept


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
    question = printable(_introduce(app, found, shown))
    for _ in range(_TRIES):
        answer = click.prompt(question, prompt_suffix=" ", default="", show_default=False)
        if _act(app, found, str(answer).strip().lower()):
            return
    # Two invalid answers count as "none", so that a resume does not get stuck here.
    _act(app, found, "none")


def _introduce(app: App, found: WaitingPrompts, shown: list[Prompt]) -> str:
    """Print the queued prompts and return the question."""
    is_foreign = bool(found.mismatch)
    # quoin lists a single prompt, too, unless its file has no header.
    is_listed = found.has_sentinels and shown[0].told_at != LEGACY
    if len(shown) == 1 and not is_listed:
        what = "Content" if is_foreign else _describe_source(app, found, shown[0])
        click.echo(printable(f"{what}: {shown[0].text}"))
        return f"Run it now? [y / n / {'delete' if is_foreign else 'edit'}]"
    count = len(shown)
    if found.has_sentinels:
        saved = f"{count} blocked prompt(s) were saved while context was overloaded:"
        click.echo(printable(saved))
    else:
        click.echo(printable(f"{count} prompts were kept and never answered:"))
    click.echo(printable(format_prompts(shown, has_sentinels=found.has_sentinels)))
    return f"Replay which? [all / 1 / 2 / 1,3 / edit 1 / none{' / delete' if is_foreign else ''}]"


def _describe_source(app: App, found: WaitingPrompts, prompt: Prompt) -> str:
    """Say whose prompt it is; a file that came with a repository may hold anyone's words."""
    if found.has_sentinels or prompt_queue.is_the_users(app.store, prompt):
        return "Your previous prompt was"
    holder = "This project's store" if prompt.is_from_a_session else "A file"
    return f"{holder} contains this prompt"


def _act(app: App, found: WaitingPrompts, answer: str) -> bool:
    """Carry out an answer; return False if it is not valid."""
    shown = found.prompts_to_offer
    if answer in {"n", "no", "none"}:
        drop_own(app, found)
        return True
    if answer == "delete":
        drop(app, shown)
        return True
    if len(shown) == 1:
        answer = {"y": "1", "yes": "1", "edit": "edit 1"}.get(answer, answer)
    edit = _EDIT.fullmatch(answer)
    chosen = parse_selection(edit[1] if edit else answer, shown)
    if chosen is None:
        return False
    edited = _ask_new_text(chosen[0]) if edit else None
    if edit and not edited:
        return False
    replay_prompts(app, chosen, edited=edited)
    return True


def _ask_new_text(prompt: Prompt) -> str:
    """Ask for a text of any number of lines: what follows the first would run in the shell."""
    click.echo(printable(block(prompt.text)))
    click.echo(printable(f"Paste the new text, then a line with only `{_END}`:"))
    lines = []
    with contextlib.suppress(EOFError):
        while (line := input().rstrip("\r")) != _END:
            lines.append(line)
    return "\n".join(lines).strip("\n")


_END = "."


def choice(found: WaitingPrompts) -> ChoiceNeeded:
    """Build the question for the agent or script that runs this command."""
    shown = found.prompts_to_offer
    lines = format_prompts(shown, has_sentinels=found.has_sentinels)
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

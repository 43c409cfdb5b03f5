"""Replay prompts that no session answered: find them, describe them, print them."""

import re
from datetime import UTC
from typing import Any

import msgspec

from leftoff.cli.app import App
from leftoff.session import prompt_queue
from leftoff.session.prompt_files import LEGACY
from leftoff.session.prompt_queue import Prompt
from leftoff.text import fence, times
from leftoff.text.fence import Rendered, block, join, say
from leftoff.text.plural import format_count

_SHOWN_CHARS = 80
_NUMBERS = re.compile(r"\d+(?:[\s,]+\d+)*")


class WaitingPrompts(msgspec.Struct, frozen=True, kw_only=True):
    """The queued prompts, this session's first; `current` is None if the session is unknown."""

    prompts: list[Prompt]
    current: str | None
    sessions: frozenset[str] = frozenset()
    """The sessions of the work at hand."""
    has_sentinels: bool = False
    """Whether a mirrored system keeps prompts in files by session, and has words for them."""
    numbers: dict[str, int] = {}
    """The number by which commands know each prompt, by its id."""

    def may_drop(self, prompt: Prompt) -> bool:
        """Return whether `n` drops a prompt: it was typed in this session or for this work."""
        if self.has_sentinels:
            return self.is_own(prompt)
        return prompt.session_id in self.sessions or prompt.session_id == self.current

    def stays_after_replay(self, prompt: Prompt) -> bool:
        """Return whether a replayed prompt stays queued: quoin leaves other sessions' files."""
        return self.has_sentinels and not self.is_own(prompt)

    def is_own(self, prompt: Prompt) -> bool:
        """Return whether a prompt was typed in this session; assume so if that is unknown.

        quoin shows whose prompts these are: outside of a session, none is the user's own.
        """
        is_unknown = self.current is None and not self.has_sentinels
        return is_unknown or prompt.session_id == self.current

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
            who = say("It was" if len(self.prompts) == 1 else "They were")
            return say("{who} typed in an earlier session.", who=who)
        others = ", ".join(dict.fromkeys(prompt.session_id for prompt in self.prompts))
        return say(
            "Stale {what} detected (session-id MISMATCH: was {others:300}, current {current:100}).",
            what="pending-prompt sentinel",
            others=others,
            current=self.current or "unknown",
        )


def find_waiting(app: App, *, session_id: str | None = None) -> WaitingPrompts:
    """Return the queued prompts; `session_id` is used if no agent's session runs this command."""
    running = app.environment.find_session()
    nearest = running[1] if running else session_id
    found = prompt_queue.list_pending(app.store)
    own = [prompt for prompt in found if prompt.session_id == nearest]
    has_sentinels = bool(found) and app.workspace.mirrors.use_sentinels()
    return WaitingPrompts(
        prompts=[*own, *(prompt for prompt in found if prompt not in own)],
        current=None if has_sentinels and not running else nearest,
        sessions=_find_sessions_of_work(app, nearest, session_id) if found else frozenset(),
        has_sentinels=has_sentinels,
        # Without a running session, commands number the prompts as they are in the queue.
        numbers=_number_prompts(
            [*own, *(each for each in found if each not in own)] if running else found
        ),
    )


def _number_prompts(prompts: list[Prompt]) -> dict[str, int]:
    return {prompt.id: number for number, prompt in enumerate(prompts, 1)}


def _find_sessions_of_work(app: App, *session_ids: str | None) -> frozenset[str]:
    """Return the sessions that saved revisions of the same work as these sessions."""
    index = app.store.index()
    newest = [index.newest_of_session(each) for each in session_ids if each]
    slots = {entry.slot for entry in newest if entry is not None}
    related = [each.session_id for slot in slots for each in index.revisions(slot)]
    return frozenset(each for each in (*related, *session_ids) if each)


def build_rows(found: WaitingPrompts) -> list[dict[str, Any]]:
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
            time=_format_exact_time(prompt) if has_sentinels else _format_time(prompt),
            text=_shorten(prompt.text, "..." if has_sentinels else "…"),
            source=say("" if prompt.is_from_a_session or has_sentinels else " (from a file)"),
        )
        for number, prompt in enumerate(shown, 1)
    ]


def _shorten(text: str, mark: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_CHARS else f"{line[:_SHOWN_CHARS]}{mark}"


def _format_time(prompt: Prompt) -> str:
    return prompt.written_at or times.local(prompt.at)


def _format_exact_time(prompt: Prompt) -> str:
    """Return the time as it is in the header of a file."""
    return prompt.written_at or f"{prompt.at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def notice(found: WaitingPrompts) -> Rendered:
    """Return what an agent must know about the queued prompts; empty if there are none.

    Where prompts are in files by session, these are the system's own sentences.
    """
    count = len(found.prompts_to_offer)
    if not count:
        return say("")
    if found.has_sentinels:
        return _format_question(found)
    # A later session may have done what a prompt asked for, without being asked again.
    were = say(" was never answered" if count == 1 else " were never answered")
    if found.mismatch:
        were = say(" of an earlier session may still be unanswered")
    return say(
        "{count}{what}: see `leftoff prompts list` and `leftoff prompts replay`.",
        count=format_count(count, "prompt"),
        what=were,
    )


def _format_question(found: WaitingPrompts) -> Rendered:
    """Return the prompts, the question about them, and the command for each answer."""
    shown = found.prompts_to_offer
    if is_single(found):
        what = say("Content" if found.mismatch else PREVIOUS)
        listed = say("{what}: {text:lines}", what=what, text=shown[0].text)
    else:
        lines = format_prompts(shown, has_sentinels=True)
        listed = join([say(BLOCKED, count=len(shown)), *lines])
    answers = [
        say("- {choice}: {how}", choice=choice, how=how) for choice, how in _list_answers(found)
    ]
    return join([found.mismatch, fence.enclose_text(listed), phrase_question(found), *answers])


def describe_question(found: WaitingPrompts | None) -> dict[str, Any] | None:
    """Return the question about the queued prompts as JSON-ready values; None without prompts."""
    if found is None or not found.prompts_to_offer:
        return None
    answers = [{"choice": choice, "how": how} for choice, how in _list_answers(found)]
    return {
        "question": phrase_question(found),
        "warning": found.mismatch or None,
        "choices": answers,
    }


PREVIOUS = "Your previous prompt was"
BLOCKED = "{count} blocked prompt(s) were saved while context was overloaded:"


def is_single(found: WaitingPrompts) -> bool:
    """Return whether there is one prompt to ask about, as quoin does without a header."""
    shown = found.prompts_to_offer
    return len(shown) == 1 and not (found.has_sentinels and shown[0].written_at != LEGACY)


def phrase_question(found: WaitingPrompts) -> Rendered:
    """Return the question about the queued prompts."""
    is_foreign = bool(found.mismatch)
    if is_single(found):
        other = say("delete" if is_foreign else "edit")
        return say("Run it now? [y / n / {other}]", other=other)
    delete = say(" / delete" if is_foreign else "")
    return say("Replay which? [all / 1 / 2 / 1,3 / edit 1 / none{delete}]", delete=delete)


def _list_answers(found: WaitingPrompts) -> list[tuple[str, str]]:
    """Return each possible answer, and how an agent carries it out."""
    shown = found.prompts_to_offer
    keys = _list_keys(found, shown)
    replays = "{} prints it; do what it says, as if the user had just typed it"
    removes = f"`leftoff prompts drop {' '.join(keys)}` moves {{}} to the trash"
    leaves = "leave the file as it is"
    is_foreign = bool(found.mismatch)
    if is_foreign:
        replays += "; the file stays until the user says delete"
    if is_single(found):
        edit = f'wait for the new text, run `leftoff prompts edit {keys[0]} "NEW TEXT"`, then as y'
        return [
            ("y", replays.format(f"`leftoff prompts replay {keys[0]}`")),
            ("n", leaves if is_foreign else removes.format("it")),
            ("delete", removes.format("it")) if is_foreign else ("edit", edit),
        ]
    whole = [each for each in shown if each.is_from_a_person]
    every = ",".join(_list_keys(found, whole))
    edit = (
        f"show `leftoff prompts show {keys[0]}`, wait for the new text, run "
        f'`leftoff prompts edit {keys[0]} "NEW TEXT"`, then replay it'
    )
    answers = [("all", f"`leftoff prompts replay {every}`")] if every else []
    answers += [(str(n), f"`leftoff prompts replay {key}`") for n, key in enumerate(keys, 1)]
    if len(keys) > 1:
        answers.append(("several", f"`leftoff prompts replay {','.join(keys[:2])}`, and so on"))
    answers += [
        ("edit 1", edit),
        ("none", leaves if is_foreign else removes.format("them")),
    ]
    return [*answers, ("delete", removes.format("them"))] if is_foreign else answers


def _list_keys(found: WaitingPrompts, prompts: list[Prompt]) -> list[str]:
    """Return what commands call these prompts: the number that is shown, or the id."""
    shown = _number_prompts(found.prompts_to_offer)
    return [
        str(shown[each.id]) if shown[each.id] == found.numbers.get(each.id) else each.id
        for each in prompts
    ]


def replay_prompts(app: App, found: WaitingPrompts, chosen: list[Prompt]) -> None:
    """Print prompts as they were typed, oldest first, and mark them as replayed."""
    mark_replayed(app, found, chosen, None)
    print_prompts(app, chosen, None)


def mark_replayed(
    app: App, found: WaitingPrompts, chosen: list[Prompt], edited: str | None
) -> None:
    for prompt in _sort(chosen):
        if found.stays_after_replay(prompt):
            continue
        if edited is not None:
            prompt_queue.record(app.store, prompt, "edited", text=edited)
        prompt_queue.record(app.store, prompt, "replayed")


def print_prompts(app: App, chosen: list[Prompt], edited: str | None) -> list[str]:
    """Print prompts in full and return their texts."""
    ordered = _sort(chosen)
    texts = [edited if edited is not None else prompt.text for prompt in ordered]
    pairs = [*zip(ordered, texts, strict=True)]
    replayed = [{"id": prompt.id, "text": text} for prompt, text in pairs]
    whole = [format_whole_prompt(app, prompt, text) for prompt, text in pairs]
    app.out.result({"replayed": replayed}, join(whole, "\n\n"), is_exact=True)
    return texts


def _sort(prompts: list[Prompt]) -> list[Prompt]:
    """Sort prompts, the oldest first: a later one may build on an earlier one."""
    return sorted(prompts, key=lambda prompt: (prompt.at, prompt.id))


def format_whole_prompt(app: App, prompt: Prompt, text: str) -> Rendered:
    """Quote a full prompt under a line that says where it came from."""
    time = _format_time(prompt)
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
        # Not wrapped: people copy the command.
        app.out.exact(f"Dropped {count}; to undo, run: leftoff prompts restore {ids}")
    if kept:
        it = "it" if len(kept) == 1 else "them"
        count = format_count(len(kept), "prompt")
        app.out.text(f"Kept {count}; `leftoff prompts drop` removes {it}")
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

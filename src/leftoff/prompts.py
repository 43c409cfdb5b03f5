"""The prompt queue: prompts that were captured and not yet answered."""

from datetime import UTC, datetime
from typing import Literal

import msgspec

from leftoff.checkpoint import new_id
from leftoff.dialects.base import HookEvent
from leftoff.redact import redact
from leftoff.store import Store

Action = Literal["captured", "edited", "replayed", "dropped", "answered"]


class Line(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the log: a prompt was captured, or something was done about it."""

    prompt: str
    at: datetime
    action: Action
    text: str = ""
    agent: str = ""
    session_id: str = ""


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt that waits."""

    id: str
    at: datetime
    text: str
    agent: str = ""
    session_id: str = ""


_decoder = msgspec.json.Decoder(Line)


def keep(store: Store, event: HookEvent) -> None:
    """Put a prompt on disk, without its secrets."""
    if not event.prompt.strip():
        return
    at = datetime.fromtimestamp(event.at, UTC)
    line = Line(
        prompt=new_id(at),
        at=at,
        action="captured",
        text=redact(event.prompt),
        agent=event.agent,
        session_id=event.session_id,
    )
    store.append_line("prompts", msgspec.json.encode(line))


def pending(store: Store) -> list[Prompt]:
    """Return the prompts that wait, oldest first."""
    waiting: dict[str, Prompt] = {}
    for line in _lines(store):
        if line.action == "captured":
            waiting[line.prompt] = Prompt(
                id=line.prompt,
                at=line.at,
                text=line.text,
                agent=line.agent,
                session_id=line.session_id,
            )
        elif line.action == "edited" and line.prompt in waiting:
            edited = msgspec.structs.replace(waiting[line.prompt], text=line.text)
            waiting[line.prompt] = edited
        else:
            waiting.pop(line.prompt, None)
    return list(waiting.values())


def record(store: Store, prompt: Prompt, action: Action, *, text: str = "") -> None:
    """Note what was done about a prompt."""
    line = Line(prompt=prompt.id, at=store.now(), action=action, text=text)
    store.append_line("prompts", msgspec.json.encode(line))


def _lines(store: Store) -> list[Line]:
    found = []
    for line in store.lines("prompts"):
        try:
            found.append(_decoder.decode(line))
        except (msgspec.MsgspecError, UnicodeDecodeError):
            continue
    return found

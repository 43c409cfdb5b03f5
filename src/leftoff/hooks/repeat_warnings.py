"""Warn a session that retries a failed approach, once for each approach."""

import contextlib
from collections.abc import Iterator

from leftoff.agents.hook_events import HookEvent
from leftoff.knowledge import memory
from leftoff.redact import redact
from leftoff.session.facts.report import Facts
from leftoff.session.records import SessionRecord
from leftoff.store import Store
from leftoff.text.fence import Rendered, say

_MOST_TOLD = 3


def follow(event: HookEvent, store: Store, record: SessionRecord, facts: Facts | None) -> list[str]:
    """Return the ids of the failed approaches to mention in the reply to the next prompt."""
    if memory.is_empty(store):
        return record.repeats
    known = {*record.repeats, *record.warned}
    new = [entry_id for entry_id in _find_repeats(event, store, facts) if entry_id not in known]
    return [*record.repeats, *dict.fromkeys(new)][:_MOST_TOLD]


def _find_repeats(event: HookEvent, store: Store, facts: Facts | None) -> Iterator[str]:
    files = facts.files_modified if facts is not None else []
    for command, text in _find_attempts(event, facts):
        entry = memory.find_repeat(store, command=command, files=files, text=redact(text))
        # Retrying after a fix is normal, so the session that reported the failure is not warned.
        if entry is not None and event.session_id not in entry.sources:
            yield entry.id


def _find_attempts(event: HookEvent, facts: Facts | None) -> Iterator[tuple[str, str]]:
    """Yield the commands and texts that may show a failed approach."""
    if event.kind == "pre-tool":
        yield event.command, ""
    elif event.kind == "prompt":
        yield "", event.prompt
    elif event.kind == "stop" and facts is not None:
        yield "", facts.next_words
        for command in facts.commands:
            yield command, ""


def lines(store: Store, ids: list[str]) -> list[Rendered]:
    """Return one line for each approach that failed before."""
    found = []
    for entry_id in ids:
        # The entry may have been rejected in the meantime, or its log deleted.
        with contextlib.suppress(memory.NoSuchEntry):
            found.append(memory.find(store, entry_id))
    return [
        say("leftoff: {text:300}", text=memory.format_warning(entry))
        for entry in found
        if entry.status == "active"
    ]

"""Keep requests and answers word for word while the context fills up."""

import msgspec

from leftoff.hooks.session_event import Case
from leftoff.redact import redact
from leftoff.session.records import Exchange

_MOST = 20
_CHARS = 2_000


def update_buffer(case: Case) -> Case:
    """Add the request or answer to the buffer; empty it when the context is fresh again."""
    if case.facts is None or case.percent is None or case.percent < case.settings.buffer_at:
        return case.with_record(buffer=[])
    buffer = case.now.buffer
    if case.event.kind == "prompt" and case.event.prompt.strip():
        asked = redact(case.event.prompt)[:_CHARS]
        buffer = [*buffer[1 - _MOST :], Exchange(at=case.at, asked=asked)]
    elif case.event.kind == "stop" and buffer:
        ending = case.facts.last_words[-_CHARS:]
        buffer = [*buffer[:-1], msgspec.structs.replace(buffer[-1], answered=ending)]
    return case.with_record(buffer=buffer)

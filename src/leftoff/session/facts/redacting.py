"""Redact every text in a session's state."""

from collections.abc import Callable

import msgspec

from leftoff.session.facts.fold_state import (
    FoldState,
    Queued,
    Refusal,
    SessionText,
    TodoEntry,
)

Redact = Callable[[str], str]


def redact_texts(state: FoldState, redact: Redact) -> None:
    """Apply `redact` to every text of the state."""
    state.task = redact(state.task)
    state.requests = [SessionText(redact(said.text), said.at) for said in state.requests]
    state.answers = [SessionText(redact(s.text), s.at, s.seq) for s in state.answers]
    state.outline = SessionText(redact(state.outline.text), state.outline.at)
    state.todos = [TodoEntry(redact(todo.text), todo.status, todo.id) for todo in state.todos]
    state.failures = [
        msgspec.structs.replace(f, command=redact(f.command), error=redact(f.error))
        for f in state.failures
    ]
    state.runs = {redact(command): use for command, use in state.runs.items()}
    state.queued = [Queued(queued.key, redact(queued.text)) for queued in state.queued]
    state.refusals = [Refusal(redact(r.what), redact(r.why)) for r in state.refusals]
    state.commit_subject = redact(state.commit_subject)
    state.plan_title = redact(state.plan_title)
    state.later = [SessionText(redact(said.text), said.at) for said in state.later]
    state.constraints = [redact(rule) for rule in state.constraints]
    state.answered = redact(state.answered)
    state.held = redact(state.held)
    state.thought = SessionText(redact(state.thought.text), state.thought.at)
    state.heads = {redact(head): use for head, use in state.heads.items()}
    state.trail = [
        msgspec.structs.replace(each, what=redact(each.what), outcome=redact(each.outcome))
        for each in state.trail
    ]
    state.open = {
        key: msgspec.structs.replace(
            call,
            what=redact(call.what),
            command=redact(call.command),
            prompt=redact(call.prompt),
        )
        for key, call in state.open.items()
    }


def texts_of(state: FoldState) -> frozenset[str]:
    """Collect the texts that `redact_texts` processes."""
    texts: set[str] = set()

    def note(text: str) -> str:
        texts.add(text)
        return text

    redact_texts(state.copy(), note)
    return frozenset(texts)

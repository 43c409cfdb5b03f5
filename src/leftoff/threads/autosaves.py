"""Save a session's state without being asked: find its thread, and write only what is new."""

import contextlib
from collections.abc import Callable
from datetime import datetime

import msgspec

from leftoff.checkpoint import Checkpoint, cut_to_limits, to_plain
from leftoff.digests import blake2b
from leftoff.errors import ChoiceNeeded
from leftoff.names import find_unused_name, suggest_name
from leftoff.redact import redact_value
from leftoff.session import prompt_queue
from leftoff.session.facts.report import Facts
from leftoff.session.real_work import is_substantial, is_worth_saving, shows_work
from leftoff.store import BY_PROMPT, FINISHED, CheckpointEntry, SavedCheckpoint, Store, StoreIndex
from leftoff.text import times
from leftoff.threads.continue_thread import (
    continue_thread,
    has_edited_since,
    has_news,
    is_idle_since,
    keep_later_work,
    keep_unsettled,
    with_task,
)
from leftoff.threads.persist import learn_lessons

# These change even if no work is done.
_VOLATILE = frozenset(
    {"id", "saved_at", "as_of", "trigger", "reason", "transcript", "context", "files", "dirty"}
    | {"in_flight", "thread", "stated", "act", "watched"}
)

# A conversation that has filled so much of the context is work, even if it changed no file.
_FULL_PERCENT = 60.0


def digest_work(draft: Checkpoint) -> str:
    """Return a digest that stays the same as long as a state says nothing new."""
    plain = {key: value for key, value in to_plain(draft).items() if key not in _VOLATILE}
    return blake2b(msgspec.json.encode(plain), digest_size=16).hexdigest()


def autosave(  # noqa: PLR0913 - each is a keyword
    store: Store,
    draft: Checkpoint,
    facts: Facts | None,
    *,
    find_former: Callable[[], str | None] = lambda: None,
    continued: str = "",
    is_forced: bool = False,
    is_noted: bool = False,
    left: tuple[str, datetime] | None = None,
) -> SavedCheckpoint | None:
    """Save a session's state; return None if it says nothing new or is small talk.

    `find_former` returns the session that this one was forked from, and `continued` is the thread
    that it continues without having joined it. A forced save is written even if nothing is
    new, but never opens a thread. Work that is noted opens one, even if the session itself was
    small talk. `left` is the thread that the session left for other work, and when.
    """
    index = store.index()
    found = index.find_thread(draft.session_id) or index.find_thread(find_former())
    if found is None:
        found = _find_unjoined(store, draft, facts, continued)
    if left is not None and (former := index.head(left[0])) is not None and not former.problem:
        before, at = store.load(former), left[1]
        if found is None or found.slot == former.slot:
            return _open_another(store, before, draft, facts, ended_at=at, is_noted=is_noted)
        draft = keep_later_work(before, draft, at)
    if found is not None and found.is_open:
        return _revise(store, found, draft, facts, is_forced=is_forced)
    if found is not None and _has_taken(index, draft.session_id, found):
        return _carry_on(store, found, draft, facts)
    # The thread of the session may have ended; what follows is other work.
    ended = store.load(found) if found is not None and found.problem is None else None
    if ended is not None:
        ended_at = index.find_end(ended.id)
        is_over = found is not None and found.state in FINISHED
        return _open_another(
            store, ended, draft, facts, ended_at=ended_at, is_noted=is_noted, is_over=is_over
        )
    return open_thread(store, with_task(draft)) if is_noted or _opens(draft, facts) else None


def _find_unjoined(
    store: Store, draft: Checkpoint, facts: Facts | None, continued: str
) -> CheckpointEntry | None:
    """Find the thread that a session continues without having joined it."""
    found = store.index().head(continued) if continued else None
    # The session may have been asked, and have said no.
    if found is not None and found.state != "declined":
        return found
    named = facts.continues if facts is not None else None
    return _join_briefed(store, draft, named) if named else None


def _revise(
    store: Store, entry: CheckpointEntry, draft: Checkpoint, facts: Facts | None, *, is_forced: bool
) -> SavedCheckpoint | None:
    """Save the next revision of an open thread, if there is news or it is forced."""
    head = store.load(entry)
    draft = keep_unsettled(head, draft, facts, _list_waiting(store, head, draft, facts))
    worked_at = times.parse(facts.worked_at) if facts is not None else None
    revision = _continue(store, head, entry, draft, worked_at)
    is_wanted = is_forced or has_news(head, revision, worked_at)
    return _write(store, revision) if is_wanted else None


def _open_another(  # noqa: PLR0913 - each is a keyword
    store: Store,
    ended: Checkpoint,
    draft: Checkpoint,
    facts: Facts | None,
    *,
    ended_at: datetime | None,
    is_noted: bool,
    is_over: bool = True,
) -> SavedCheckpoint | None:
    """Open another thread for what a session was asked for and did after its own had ended.

    What the agent still does for the same request, such as tidying up, is finished with it, unless
    the thread was only cleared.
    """
    opened = keep_later_work(ended, draft, ended_at)
    worked_at = times.parse(facts.worked_at) if facts is not None else None
    asked_at = times.parse(facts.worked_for) if facts is not None else None
    is_asked = any(map(is_substantial, [opened.summary, opened.intent, *opened.requests]))
    # Not every transcript says when something was done; then only a request is sure to be new.
    is_later = worked_at > ended_at if worked_at and ended_at else is_asked
    has_plan = is_asked and any(todo.status in {"pending", "in_progress"} for todo in opened.todos)
    is_agreed = bool(asked_at and ended_at and asked_at > ended_at)
    is_wanted = is_asked or is_agreed or not is_over
    has_worked = is_wanted and is_later and (has_plan or has_edited_since(opened, ended_at))
    return open_thread(store, with_task(opened)) if is_noted or has_worked else None


def _join_briefed(store: Store, draft: Checkpoint, name: str) -> CheckpointEntry | None:
    """Join the open thread whose briefing was given to a session; None if there is none."""
    index = store.index()
    found = index.find_named(name) or index.find_renamed(name)
    if found is None or not found.is_open or not (draft.agent and draft.session_id):
        return None
    session = (draft.agent, draft.session_id)
    store.record("resumed", [found.id], session=session, trigger=BY_PROMPT)
    return found


def _has_taken(index: StoreIndex, session_id: str | None, entry: CheckpointEntry) -> bool:
    """Return whether a session consumed a checkpoint by resuming it, and so still works on it."""
    joined = index.find_joined(session_id) if session_id and entry.state == "consumed" else None
    if joined is None or joined.action != "consumed" or entry.problem is not None:
        return False
    ended = [each for each in index.events_of(entry.id) if each.action == "consumed"]
    return bool(ended) and ended[-1].id == joined.id


def _carry_on(
    store: Store, found: CheckpointEntry, draft: Checkpoint, facts: Facts | None
) -> SavedCheckpoint | None:
    """Open a thread with all that the consumed one said, if the session has worked since."""
    head = store.load(found)
    worked_at = times.parse(facts.worked_at) if facts is not None else None
    revision = _continue(store, head, found, draft, worked_at)
    if not has_news(head, revision, worked_at):
        return None
    return open_thread(store, revision, name=head.name)


def _list_waiting(
    store: Store, head: Checkpoint, draft: Checkpoint, facts: Facts | None
) -> set[str]:
    """Return the prompts of other sessions that still wait, unless this session has done work."""
    # The work may well be what a prompt asked for.
    if not head.pending_prompts or (facts is not None and shows_work(facts)):
        return set()
    waiting = prompt_queue.list_pending(store)
    return {each.text for each in waiting if each.session_id != draft.session_id}


def _continue(
    store: Store,
    head: Checkpoint,
    entry: CheckpointEntry,
    draft: Checkpoint,
    worked_at: datetime | None,
) -> Checkpoint:
    """Return the next revision of a thread, for a session whose last work is from `worked_at`."""
    # Version 0.1 did not record the thread.
    started = msgspec.structs.replace(head, thread=entry.slot)
    is_idle = is_idle_since(head, worked_at)
    return continue_thread(started, draft, store.project.worktree, is_idle=is_idle)


def _opens(draft: Checkpoint, facts: Facts | None) -> bool:
    """Return whether a session has done something that is worth a thread of its own."""
    asked = [draft.summary, draft.intent, *draft.requests, *draft.pending_prompts]
    if draft.trigger == "precompact" and any(map(is_substantial, asked)):
        # A conversation that is compacted is long, and the summary loses most of it.
        return True
    is_dead = draft.trigger == "recovered"
    is_over = is_dead or draft.trigger == "session-end"
    if facts is not None and (is_worth_saving(facts) if is_over else shows_work(facts)):
        return True
    if facts is not None and (facts.percent or 0.0) >= _FULL_PERCENT:
        return any(map(is_substantial, asked))
    # The transcript may lack what hooks saw: the last request, or its answer.
    is_behind = facts is None or draft.intent != facts.request
    is_waiting = is_dead and (is_behind or bool(draft.pending_prompts or draft.in_flight))
    return is_waiting and any(map(is_substantial, asked))


def open_thread(store: Store, draft: Checkpoint, *, name: str | None = None) -> SavedCheckpoint:
    """Open a thread; without a name, make one of a few words of its task."""
    name = name or suggest_name([draft.summary or draft.intent, draft.intent], draft.branch)
    while True:
        unused = find_unused_name(name, store.index().names_like(name, only_open=True))
        with contextlib.suppress(ChoiceNeeded):
            return _write(store, msgspec.structs.replace(draft, name=unused, thread=None))
        # Another process has just opened a thread with that name, so look again.


def _write(store: Store, draft: Checkpoint) -> SavedCheckpoint:
    saved = store.save(cut_to_limits(redact_value(draft))[0])
    learn_lessons(store, saved.checkpoint)
    return saved

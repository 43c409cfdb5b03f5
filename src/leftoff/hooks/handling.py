"""What each event means: refresh what is known of the session, and save when a trigger says so."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from leftoff import (
    autosaving,
    capture,
    config,
    paths,
    processes,
    prompts,
    records,
    saving,
    statusline,
)
from leftoff.dialects import DIALECTS
from leftoff.dialects.base import HookEvent
from leftoff.errors import LeftoffError
from leftoff.facts.report import Facts, report
from leftoff.hooks import (
    compaction,
    guard,
    interrupting,
    live,
    repeats,
    replies,
    triggers,
    trouble,
    turns,
)
from leftoff.hooks.lag import wait_for_words
from leftoff.profiles import base as profiles
from leftoff.profiles.base import SessionNews
from leftoff.promptfile import FilePrompt
from leftoff.records import Exchange, Life, Record
from leftoff.redact import redact
from leftoff.sessions import KnownSession, remembered, remembering
from leftoff.store import Store
from leftoff.wal.place import place

_MOST_BUFFERED = 20
_BUFFERED_CHARS = 2_000
_REASON_CHARS = 120


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """An event with the session it belongs to, as it was before and as it is now."""

    event: HookEvent
    store: Store
    settings: config.Settings
    before: Record
    now: Record
    facts: Facts | None = None
    memory: capture.SessionMemory | None = None

    @property
    def at(self) -> datetime:
        """When the event came."""
        return datetime.fromtimestamp(self.event.at, UTC)


def handle(event: HookEvent, store: Store) -> None:
    """Settle one event of a project."""
    settings = config.load(store.project).settings
    case = _read(event, store, settings)
    _note_prompt(case)
    trigger = _trigger(case)
    if trigger is not None and _is_wanted(case, trigger):
        case = _saved(case, trigger)
    case = _answered(_buffered(case))
    records.keep(store, case.now)
    prompts.follow(store, event, case.memory.state if case.memory is not None else None)
    _note_life(case)
    _mirror(case)
    if settings.compaction != "allow":
        _expect_compaction(case)
    if settings.guard != "off" or settings.safety == "on":
        percent = case.facts.percent if case.facts else None
        guard.follow(event, percent, case.before.cwd, settings)


def _expect_compaction(case: Case) -> None:
    """Let the next compaction wait for us, wherever the session stands now."""
    event, state = case.event, paths.state_folder()
    if case.before.cwd and (case.before.cwd != event.cwd or event.kind == "session-end"):
        compaction.forget(state, event.agent, event.session_id, case.before.cwd)
    if event.kind != "session-end":
        compaction.expect(state, event.agent, event.session_id, event.cwd, case.settings)


def _note_prompt(case: Case) -> None:
    """Note what the prompt holds that must not get lost, before anything else is done with it."""
    if not case.settings.note_prompts or case.event.kind != "prompt":
        return
    from leftoff.wal import notes, scanning  # noqa: PLC0415 - most users let nothing be noted

    path = place(case.store.project, case.settings)
    try:
        for found in scanning.scan(case.event.prompt):
            notes.add(case.store, found.kind, found.text, path=path)
    except (OSError, LeftoffError) as error:
        trouble.note(paths.state_folder(), "noting a prompt", error)


def _mirror(case: Case) -> None:
    """Bring the mirrored files up to date with this event."""
    if not case.settings.mirror:
        return
    from leftoff import mirroring  # noqa: PLC0415 - most users mirror nothing

    event = case.event
    waiting = [each for each in prompts.pending(case.store) if each.session_id == event.session_id]
    news = SessionNews(
        agent=event.agent,
        session_id=event.session_id,
        event=event.kind,
        at=case.at,
        file=event.file if event.kind == "post-tool" else "",
        percent=case.facts.percent if case.facts else None,
        buffer=[
            profiles.Exchange(at=each.at, asked=each.asked, answered=each.answered)
            for each in case.now.buffer
        ],
        prompts=[
            FilePrompt(text=each.text, told_at=f"{each.at:%Y-%m-%dT%H:%M:%SZ}", at=each.at)
            for each in waiting
        ],
    )
    followed = mirroring.follow(
        case.store, case.settings.mirror, session=news, briefing=lambda: _briefing(case.store)
    )
    for problem in followed.problems:
        trouble.note(paths.state_folder(), "mirroring", LeftoffError(problem))


def _briefing(store: Store) -> str:
    from leftoff import memorybriefing  # noqa: PLC0415 - only a layout with such a file asks

    return memorybriefing.render(memorybriefing.gather(store))


def _read(event: HookEvent, store: Store, settings: config.Settings) -> Case:
    before = records.load(store, event.agent, event.session_id)
    at = datetime.fromtimestamp(event.at, UTC)
    now = msgspec.structs.replace(
        before,
        cwd=event.cwd,
        transcript_path=event.transcript_path or before.transcript_path,
        begun_at=before.begun_at or at,
        # An agent that tells it is idle has not been at work since.
        seen_at=before.seen_at or at if event.kind == "idle" else at,
        ended_at=at if event.kind == "session-end" else None,
        end_reason=event.source if event.kind == "session-end" else "",
        deferred_at=None if event.kind == "pre-compact" else before.deferred_at,
    )
    memory = remembered(before)
    now = _followed(event, now, memory, store)
    memory = _memory(now, memory)
    if memory is not None:
        now = remembering(now, memory)
    return Case(
        event=event,
        store=store,
        settings=settings,
        before=before,
        now=now,
        facts=_facts(memory, event) if memory is not None else None,
        memory=memory,
    )


def _facts(memory: capture.SessionMemory, event: HookEvent) -> Facts:
    return live.with_live_use(report(memory.state), paths.state_folder(), event.session_id)


def _followed(
    event: HookEvent, record: Record, memory: capture.SessionMemory | None, store: Store
) -> Record:
    """Keep what the event tells until the transcript has it; a turn's end is waited for."""
    read = memory.cursor.offset if memory is not None else 0
    is_awaited = event.kind == "stop" and record.transcript_path
    is_written = bool(is_awaited) and wait_for_words(
        event.last_words,
        Path(record.transcript_path),
        after=read,
        is_writer_alive=lambda: _is_alive(event, store),
    )
    turn = turns.follow(event, record.turn, read=read, is_written=is_written)
    return msgspec.structs.replace(record, turn=turn)


def _is_alive(event: HookEvent, store: Store) -> bool:
    """Say whether the agent still runs, as far as it told who runs it."""
    lives = records.lives(paths.state_folder(), store.project)
    pids = [(life.pid, life.pid_began) for life in lives if life.session_id == event.session_id]
    return all(not pid or processes.is_alive(pid, began) for pid, began in pids)


def _memory(record: Record, memory: capture.SessionMemory | None) -> capture.SessionMemory | None:
    """Read what is new in the transcript; without one, what was learnt while it was there."""
    path = Path(record.transcript_path)
    if not record.transcript_path or not path.is_file():
        return memory
    return capture.read_session(path, agent=record.agent, memory=memory)


def _trigger(case: Case) -> str | None:
    """Say why the state should be saved now, if it should."""
    event, facts = case.event, case.facts
    percent = facts.percent if facts else None
    if event.kind in {"pre-compact", "session-end"}:
        return "precompact" if event.kind == "pre-compact" else "session-end"
    if event.kind == "prompt" and triggers.is_close(event.prompt):
        return "close"
    if event.kind in {"prompt", "idle"} and _idle_seconds(case) > triggers.IDLE_SECONDS:
        return "idle"
    if event.kind == "pre-tool":
        return "long-command" if triggers.is_long(event.command, event.timeout_seconds) else None
    if event.kind == "prompt" and _has_long_way(case):
        return "long-command"
    return "context" if triggers.is_autosave_due(percent, case.settings) else None


def _is_wanted(case: Case, trigger: str) -> bool:
    percent = case.facts.percent if case.facts else None
    last = case.now.autosaved_at
    since = (case.store.now() - last).total_seconds() if last else None
    return triggers.is_wanted(
        triggers.priority(trigger, percent, case.settings), case.settings, since
    )


def _reason(case: Case, trigger: str) -> str:
    """Say in a few words what made the state worth saving."""
    event, percent = case.event, case.facts.percent if case.facts else None
    reasons = {
        "close": f"close signal: {event.prompt.strip()}",
        "context": f"context {percent or 0:.0f}%",
        "idle": f"idle {_idle_seconds(case) / 60:.0f} min",
        "long-command": f"long command: {redact(event.command)}" if event.command else "long way",
        "precompact": f"compaction: {event.source or 'auto'}",
        "session-end": f"session end: {event.source or 'unknown'}",
    }
    return " ".join(reasons.get(trigger, trigger).split())[:_REASON_CHARS]


def _has_long_way(case: Case) -> bool:
    """Say whether many steps are left and nothing was saved for a while."""
    steps = [todo for todo in case.facts.todos if todo.is_open] if case.facts else []
    last = case.now.autosaved_at
    is_stale = last is None or (case.at - last).total_seconds() > triggers.PAUSE_SECONDS
    return len(steps) > triggers.LONG_WAY and is_stale


def _idle_seconds(case: Case) -> float:
    return (case.at - case.before.seen_at).total_seconds() if case.before.seen_at else 0.0


def _saved(case: Case, trigger: str) -> Case:
    """Save the session's state, unless there is nothing to save or it is saved already."""
    session = known(case.store, case.now, case.facts, case.memory)
    if session is None:
        return case
    told = {**_noted(case), "trigger": trigger, "reason": _reason(case, trigger)}
    draft = saving.compose(told, case.store, session=session)
    if case.settings.content == "paths":
        draft = saving.without_contents(draft)
    digest = autosaving.digest(draft)
    if digest == case.now.autosaved_state or autosaving.is_saved_on_purpose(case.store, draft):
        return case
    autosaving.autosave(case.store, draft)
    now = msgspec.structs.replace(case.now, autosaved_at=case.store.now(), autosaved_state=digest)
    return msgspec.structs.replace(case, now=now)


def _noted(case: Case) -> dict[str, Any]:
    """Return what mirrored files tell of the session's work."""
    if not case.settings.mirror:
        return {}
    from leftoff import mirroring  # noqa: PLC0415 - most users mirror nothing

    return mirroring.noted(case.store, case.settings.mirror, case.event.session_id)


def known(
    store: Store, record: Record, facts: Facts | None, memory: capture.SessionMemory | None
) -> KnownSession | None:
    """Put together what is known of a session; None if nothing was ever asked in it."""
    if facts is None or memory is None or not facts.intent:
        return None
    path = Path(record.transcript_path)
    touched = path.stat().st_mtime if path.is_file() else 0.0
    return KnownSession(
        agent=record.agent,
        session_id=record.session_id,
        path=path,
        touched_at=datetime.fromtimestamp(touched, UTC),
        facts=facts,
        memory=memory,
        checkpoint=store.index().newest_of_session(record.session_id),
    )


def _buffered(case: Case) -> Case:
    """Keep requests word for word once the context fills up; a fresh context starts anew."""
    percent = case.facts.percent if case.facts else None
    if case.facts is None or percent is None or percent < case.settings.buffer_at:
        return msgspec.structs.replace(case, now=msgspec.structs.replace(case.now, buffer=[]))
    buffer = case.now.buffer
    if case.event.kind == "prompt" and case.event.prompt.strip():
        asked = redact(case.event.prompt)[:_BUFFERED_CHARS]
        buffer = [*buffer[1 - _MOST_BUFFERED :], Exchange(at=case.at, asked=asked)]
    elif case.event.kind == "stop" and buffer:
        ending = case.facts.last_words[-_BUFFERED_CHARS:]
        buffer = [*buffer[:-1], msgspec.structs.replace(buffer[-1], answered=ending)]
    return msgspec.structs.replace(case, now=msgspec.structs.replace(case.now, buffer=buffer))


def _answered(case: Case) -> Case:
    """Lay the reply to the next prompt ready; keep this prompt if the context is nearly full."""
    event, percent = case.event, case.facts.percent if case.facts else None
    reached = triggers.step(percent, case.settings)
    if case.before.cwd != event.cwd:
        # Whoever comes back there later must not find what is no longer true.
        replies.remove(_place(event, case.before.cwd))
    advised = min(case.now.advised, reached)
    if event.kind == "prompt":
        # What lay ready was printed with this prompt.
        advised = max(advised, triggers.step(_percent_before(case), case.settings))
        if reached >= triggers.CAPTURE:
            prompts.keep(case.store, event)
    is_blocking = reached >= triggers.CAPTURE and case.settings.prompts == "block"
    case = _with_repeats(case, is_printed=event.kind == "prompt" and not is_blocking)
    is_wanted = reached > advised and case.now.deferred_at is None
    advice = [triggers.advice(reached, percent)] if percent and is_wanted else []
    reason = f"context at {percent:.2f}%" if is_blocking else ""
    _lay_ready(event, [*advice, *repeats.lines(case.store, case.now.repeats)], reason=reason)
    return msgspec.structs.replace(case, now=msgspec.structs.replace(case.now, advised=advised))


def _lay_ready(event: HookEvent, lines: list[str], *, reason: str) -> None:
    """Put the reply to the next prompt in its place: lines to tell, or a reason to block."""
    place = _place(event, event.cwd)
    if event.kind == "session-end" or not (lines or reason):
        replies.remove(place)
    elif reason:
        replies.remove(place)
        replies.put(place.with_name(place.name + replies.ASK), reason)
    else:
        text = "\n".join(lines)
        replies.put(place, DIALECTS[event.agent].context_reply("UserPromptSubmit", text))


def _with_repeats(case: Case, *, is_printed: bool) -> Case:
    """Note what the session tries again of what failed before; each is told once."""
    printed = case.now.repeats if is_printed else []
    record = msgspec.structs.replace(
        case.now,
        repeats=[] if is_printed else case.now.repeats,
        warned=[*case.now.warned, *printed],
    )
    ready = repeats.follow(case.event, case.store, record, case.facts)
    return msgspec.structs.replace(case, now=msgspec.structs.replace(record, repeats=ready))


def _place(event: HookEvent, folder: str) -> Path:
    state = paths.state_folder()
    return replies.path_of(state, folder, event.agent, "UserPromptSubmit", event.session_id)


def _percent_before(case: Case) -> float | None:
    memory = remembered(case.before)
    if memory is None or case.facts is None:
        return None
    window = case.facts.window
    return msgspec.structs.replace(report(memory.state), window=window).percent


def _note_life(case: Case) -> None:
    """Note that the session runs, without losing who runs it, or that it has ended."""
    event, state = case.event, paths.state_folder()
    new = Life(agent=event.agent, session_id=event.session_id, store=str(case.store.project.store))
    if event.kind == "session-end":
        interrupting.note(case.store, event.session_id, event.source or "ended")
        records.end_life(state, new)
        statusline.forget(str(state), event.session_id)
        return
    live.lay_ready(case.store, state, event.session_id, case.facts)
    running = {life.session_id: life for life in records.lives(state, case.store.project)}
    life = running.get(event.session_id, new)
    records.keep_life(state, msgspec.structs.replace(life, cwd=event.cwd, seen_at=event.at))

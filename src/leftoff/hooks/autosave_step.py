"""The steps that save a session's state: autosave, the buffer of messages, mirrored files."""

import re
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from leftoff import threads
from leftoff.config import Settings
from leftoff.git.query import printable
from leftoff.git.repository import find_ref
from leftoff.hooks import trouble
from leftoff.hooks.session_event import (
    Case,
    build_session,
    find_continued,
    find_former_session,
    list_unwritten_call,
)
from leftoff.phrases.match import mentions_branch, says_goodbye
from leftoff.phrases.short_answers import is_follow_up
from leftoff.profiles.mirror import open_mirrors
from leftoff.profiles.profile import BufferedExchange, SessionNews
from leftoff.redact import redact
from leftoff.session import prompt_queue, state_file
from leftoff.session.facts.looks import is_look
from leftoff.session.facts.report import report
from leftoff.session.prompt_files import FilePrompt
from leftoff.session.real_work import asks_for_work, shows_work
from leftoff.session.records import Departure, Exchange
from leftoff.session.sessions import read_memory
from leftoff.store import Store
from leftoff.threads import autosaves
from leftoff.threads.compose import compose, drop_unwanted
from leftoff.wal.notes_place import place

_REASON_CHARS = 120


def autosave(case: Case) -> Case:
    """Save the session's state if the event triggers a save, and record that."""
    trigger = _trigger(case)
    if trigger is None or not _is_wanted(case, trigger):
        return case
    return _save_state(case, trigger)


def _trigger(case: Case) -> str | None:
    """Return why the state should be saved now; None if it should not."""
    event = case.event
    if event.kind in {"pre-compact", "session-end"}:
        return "precompact" if event.kind == "pre-compact" else "session-end"
    if event.kind == "prompt" and says_goodbye(event.prompt):
        return "close"
    if event.kind in {"prompt", "idle"} and _count_idle_seconds(case) > IDLE_SECONDS:
        return "idle"
    if event.kind in {"prompt", "pre-tool"} and _is_long(case):
        return "long-command"
    if event.kind == "pre-tool":
        return None
    return "context" if is_autosave_due(case.percent, case.settings) else None


def _count_idle_seconds(case: Case) -> float:
    return (case.at - case.before.seen_at).total_seconds() if case.before.seen_at else 0.0


def _is_long(case: Case) -> bool:
    """Return whether a long command starts, or many todos are open and unsaved."""
    command = case.event.command
    if is_long(command, case.event.timeout_seconds):
        return True
    return _has_long_way(case) and not is_look(command)


def _has_long_way(case: Case) -> bool:
    """Return whether many todos are open and nothing was saved for a while."""
    steps = [todo for todo in case.facts.todos if todo.is_open] if case.facts else []
    last = case.now.autosaved_at
    is_stale = last is None or (case.at - last).total_seconds() > PAUSE_SECONDS
    return len(steps) > LONG_WAY and is_stale


def _is_wanted(case: Case, trigger: str) -> bool:
    last = case.now.autosaved_at
    since = (case.store.now() - last).total_seconds() if last else None
    urgency = priority(trigger, case.percent, case.settings)
    return is_wanted(urgency, case.settings, since)


def _save_state(case: Case, trigger: str) -> Case:
    """Save the session's state unless it is empty or already saved."""
    session = build_session(case.store, case.now, case.facts, case.memory)
    is_noted = _has_unsaved_notes(case)
    if session is None and not is_noted:
        return case
    fields = {
        "agent": case.event.agent,
        "session_id": case.event.session_id,
        **read_native_notes(case),
        "trigger": trigger,
        "reason": _describe_reason(case, trigger),
        **(list_unwritten_call(case.now) if trigger == "session-end" else {}),
    }
    draft = drop_unwanted(
        compose(fields, case.store, case.settings, session=session), case.settings
    )
    if fields.get("left_off"):
        # A file says where the work left off; otherwise these are the agent's last words.
        draft = msgspec.structs.replace(draft, stated=[*draft.stated, "left_off"])
    state = autosaves.digest_work(draft)
    # Such files mark only this save as pending for the next session, so an earlier autosave of the
    # same state does not count.
    is_forced = trigger == "precompact" and can_show_pending(case)
    state = f"{trigger} {state}" if is_forced else state
    if case.now.autosaved_state.endswith(state):
        return case
    left = case.now.departure
    saved = autosaves.autosave(
        case.store,
        draft,
        case.facts,
        find_former=partial(find_former_session, case.now),
        continued=find_continued(case.now, case.sight.life, case.facts, case.settings),
        # At openclaw's own signals its autosave file gets the state, even if a named file has it.
        is_forced=is_forced or (case.settings.notes == "profile" and trigger in _SIGNALS),
        is_noted=is_noted,
        left=(left.thread, left.asked_at) if left.thread and left.asked_at else None,
    )
    if saved is None:
        return case
    return case.with_record(autosaved_at=case.store.now(), autosaved_state=state)


# --- other work on another branch ---


def leave_thread(case: Case) -> Case:
    """Let a session leave its thread if the user asks for other work on another branch.

    What it did until then is saved before that request can mix with it.
    """
    event, before, left = case.event, case.before, case.now.departure
    is_prompt = event.kind == "prompt"
    if not (before.branch and case.is_recent and (is_prompt or left.branch)):
        return case
    branch = find_ref(Path(event.cwd))
    if left.branch and branch != left.branch:
        left = Departure(asked_at=left.asked_at, thread=_find_slot(case))
    elif is_prompt and left.branch:
        left = msgspec.structs.replace(left, branch="")
    case = case.with_record(departure=left)
    is_moved = branch not in {"", before.branch}
    if not (is_prompt and (is_moved or mentions_branch(event.prompt))):
        return case
    is_other = asks_for_work(event.prompt) and not is_follow_up(event.prompt)
    if not (is_other and _save_before(case)):
        return case
    if is_moved:
        left = Departure(asked_at=case.at, thread=_find_slot(case))
    else:
        left = msgspec.structs.replace(left, asked_at=case.at, branch=branch)
    return case.with_record(departure=left)


def _find_slot(case: Case) -> str:
    entry = case.store.index().find_open_thread(case.event.session_id)
    return entry.slot if entry is not None else ""


def _save_before(case: Case) -> bool:
    """Save what the session had done before this prompt; return whether it had done anything."""
    memory = read_memory(case.before)
    facts = report(memory.state, window=case.before.window) if memory is not None else None
    session = build_session(case.store, case.before, facts, memory)
    if session is None or facts is None or not shows_work(facts):
        return False
    fields = {
        "agent": case.event.agent,
        "session_id": case.event.session_id,
        "trigger": "idle",
        "reason": "other work on another branch",
        "branch": printable(case.before.branch.removeprefix("refs/heads/")),
    }
    draft = drop_unwanted(
        compose(fields, case.store, case.settings, session=session), case.settings
    )
    continued = find_continued(case.before, case.sight.life, facts, case.settings)
    autosaves.autosave(
        case.store,
        draft,
        facts,
        find_former=partial(find_former_session, case.before),
        continued=continued,
    )
    return bool(_find_slot(case))


_SIGNALS = frozenset({"close", "context", "idle"})


def _has_unsaved_notes(case: Case) -> bool:
    """Return whether the profile's own notes say what the work is, and no autosave has them yet."""
    if case.settings.notes != "profile":
        return False
    path = place(case.store.project, case.settings)
    noted = state_file.read(path)
    if not any(noted.get(key) for key in _WORK):
        return False
    last = case.store.index().autosave()
    return last is None or last.saved_at.timestamp() < path.stat().st_mtime


# Hooks note the rest automatically, even from small talk.
_WORK = ("summary", "done", "next_action")


def _describe_reason(case: Case, trigger: str) -> str:
    """Describe in a few words what triggered the save."""
    event = case.event
    reasons = {
        "close": f"close signal: {event.prompt.strip()}",
        "context": f"context {case.percent or 0:.0f}%",
        "idle": f"idle {_count_idle_seconds(case) / 60:.0f} min",
        "long-command": _describe_length(case),
        "precompact": "compaction: auto" if event.is_automatic else "compaction",
        "session-end": f"session end: {event.source or 'unknown'}",
    }
    return " ".join(reasons.get(trigger, trigger).split())[:_REASON_CHARS]


def _describe_length(case: Case) -> str:
    command = case.event.command
    if is_long(command, case.event.timeout_seconds):
        return f"long command: {redact(command)}"
    return "long way"


# --- when a session's state is worth a checkpoint ---


LONG_SECONDS = 30
IDLE_SECONDS = 600
LONG_WAY = 3
PAUSE_SECONDS = 300
_LONG_COMMAND = re.compile(
    r"\b(?:docker(?:[ -]compose)? (?:build|up|push|pull)|terraform (?:apply|destroy|plan)|"
    r"pulumi up|kubectl (?:apply|rollout)|helm (?:install|upgrade)|ansible-playbook|"
    r"(?:npm|pnpm|yarn|bun)(?: run)? (?:build|deploy|publish|install|ci)|"
    r"(?:vite|next|webpack) build|"
    r"cargo (?:build|test|bench|publish)|go (?:build|test) \./\.\.\.|make(?: -j\d*)?(?: \w+)*$|"
    r"cmake --build|ninja|bazel (?:build|test)|gradlew?|mvn |msbuild|xcodebuild|"
    r"tox|nox|pip install|uv sync|poetry install|deploy(?:\.sh)?\b|vercel|netlify deploy|"
    r"rsync |dd if=|pg_dump|pg_restore|mysqldump|alembic upgrade|sleep \d{2,})"
)


def is_long(command: str, timeout_seconds: float) -> bool:
    """Return whether a command may run so long that the session does not see its end."""
    return timeout_seconds > LONG_SECONDS or _LONG_COMMAND.search(command) is not None


Priority = Literal["low", "medium", "high", "critical"]
PRIORITIES: tuple[Priority, ...] = get_args(Priority)
"""From the least to the most urgent."""
# After these there may be no later chance to save.
_LAST_CHANCES = frozenset({"precompact", "session-end"})


def priority(trigger: str, percent: float | None, settings: Settings) -> Priority:
    """Return how urgent a trigger is, given how full the context is."""
    use = percent or 0.0
    if trigger in _LAST_CHANCES or (trigger == "close" and use > settings.urge_at):
        return "critical"
    if trigger == "context" or (trigger == "long-command" and use > settings.buffer_at):
        return "high"
    return "low" if trigger == "long-command" else "medium"


def is_wanted(urgency: Priority, settings: Settings, seconds_since: float | None) -> bool:
    """Return whether a trigger saves, given the time since the last autosave."""
    if PRIORITIES.index(urgency) < PRIORITIES.index(settings.autosave_from):
        return False
    is_pause = seconds_since is not None and seconds_since < settings.autosave_pause * 60
    return urgency == "critical" or not is_pause


def is_autosave_due(percent: float | None, settings: Settings) -> bool:
    """Return whether the context is so full that the state must be saved."""
    return percent is not None and round(percent * 100) > round(settings.autosave_at * 100)


# --- the buffer of requests and answers ---


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


# --- mirrored native files ---


def read_native_notes(case: Case) -> dict[str, Any]:
    """Return what mirrored files say about the session's work."""
    return open_mirrors(case.settings.mirror).read_notes(case.store, case.event.session_id)


def can_show_pending(case: Case) -> bool:
    """Return whether mirrored files show which session's state is pending."""
    return open_mirrors(case.settings.mirror).use_sentinels()


def update_mirrors(case: Case) -> Case:
    """Bring the mirrored files up to date with this event."""
    if not case.settings.mirror:
        return case
    exported = open_mirrors(case.settings.mirror).export_changes(
        case.store, session=_collect_news(case), briefing=lambda: _write_briefing(case.store)
    )
    trouble.note_files(case.store.project, exported.problems)
    return case


def _collect_news(case: Case) -> SessionNews:
    """Collect what native files show about the session."""
    event = case.event
    waiting = [
        each
        for each in prompt_queue.list_pending(case.store)
        if each.session_id == event.session_id
    ]
    return SessionNews(
        agent=event.agent,
        session_id=event.session_id,
        event=event.kind,
        at=case.at,
        file=event.file if event.kind == "post-tool" else "",
        percent=case.percent,
        buffer=[
            BufferedExchange(at=each.at, asked=each.asked, answered=each.answered)
            for each in case.now.buffer
        ],
        prompts=[
            FilePrompt(text=each.text, written_at=f"{each.at:%Y-%m-%dT%H:%M:%SZ}", at=each.at)
            for each in waiting
        ],
    )


def _write_briefing(store: Store) -> str:
    return threads.memory_briefing.page(store)

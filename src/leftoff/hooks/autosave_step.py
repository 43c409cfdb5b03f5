"""Save a session automatically when an event triggers it."""

from leftoff.hooks import triggers, update_mirrors
from leftoff.hooks.read_transcript import build_session
from leftoff.hooks.session_event import Case
from leftoff.phrases.goodbyes import is_goodbye
from leftoff.redact import redact
from leftoff.threads import apply_settings, autosaves
from leftoff.threads.compose import compose

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
    if event.kind == "prompt" and is_goodbye(event.prompt):
        return "close"
    if event.kind in {"prompt", "idle"} and _idle_seconds(case) > triggers.IDLE_SECONDS:
        return "idle"
    if event.kind in {"prompt", "pre-tool"} and _is_long(case):
        return "long-command"
    if event.kind == "pre-tool":
        return None
    return "context" if triggers.is_autosave_due(case.percent, case.settings) else None


def _idle_seconds(case: Case) -> float:
    return (case.at - case.before.seen_at).total_seconds() if case.before.seen_at else 0.0


def _is_long(case: Case) -> bool:
    """Return whether a long command starts, or many todos are open and unsaved."""
    command = case.event.command
    if triggers.is_long(command, case.event.timeout_seconds):
        return True
    return not triggers.is_look(command) and _has_long_way(case)


def _has_long_way(case: Case) -> bool:
    """Return whether many todos are open and nothing was saved for a while."""
    steps = [todo for todo in case.facts.todos if todo.is_open] if case.facts else []
    last = case.now.autosaved_at
    is_stale = last is None or (case.at - last).total_seconds() > triggers.PAUSE_SECONDS
    return len(steps) > triggers.LONG_WAY and is_stale


def _is_wanted(case: Case, trigger: str) -> bool:
    last = case.now.autosaved_at
    since = (case.store.now() - last).total_seconds() if last else None
    urgency = triggers.priority(trigger, case.percent, case.settings)
    return triggers.is_wanted(urgency, case.settings, since)


def _save_state(case: Case, trigger: str) -> Case:
    """Save the session's state unless it is empty or already saved."""
    session = build_session(case.store, case.now, case.facts, case.memory)
    if session is None:
        return case
    told = {
        **update_mirrors.read_native_notes(case),
        "trigger": trigger,
        "reason": _reason(case, trigger),
    }
    draft = apply_settings.drop_unwanted(
        compose(told, case.store, case.settings, session=session), case.settings
    )
    state = autosaves.digest(draft)
    if trigger == "precompact" and update_mirrors.can_show_pending(case):
        # Such files mark only this save as pending for the next session, so an earlier autosave
        # of the same state does not count.
        state = f"{trigger} {state}"
    if case.now.autosaved_state.endswith(state) or autosaves.is_saved_on_purpose(case.store, draft):
        return case
    autosaves.autosave(case.store, draft)
    return case.with_record(autosaved_at=case.store.now(), autosaved_state=state)


def _reason(case: Case, trigger: str) -> str:
    """Describe in a few words what triggered the save."""
    event = case.event
    reasons = {
        "close": f"close signal: {event.prompt.strip()}",
        "context": f"context {case.percent or 0:.0f}%",
        "idle": f"idle {_idle_seconds(case) / 60:.0f} min",
        "long-command": _long(case),
        "precompact": f"compaction: {event.source or 'auto'}",
        "session-end": f"session end: {event.source or 'unknown'}",
    }
    return " ".join(reasons.get(trigger, trigger).split())[:_REASON_CHARS]


def _long(case: Case) -> str:
    command = case.event.command
    if triggers.is_long(command, case.event.timeout_seconds):
        return f"long command: {redact(command)}"
    return "long way"

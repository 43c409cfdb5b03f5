"""Answer tool calls before they run: apply the safety rules, and warn or block at a full context.

Both are off by default. letterbox.sh, the hook script, runs `hooks.answer` only while an ask file
exists for the session. That file says how full the context was at the last processed event. It is
trusted only for a while, because the session may have been compacted since. Calls that save or read
the state always pass.
"""

import time
from datetime import timedelta
from pathlib import Path

from leftoff import config, hooks
from leftoff.agents.dialects import DIALECTS
from leftoff.agents.hook_events import NO_REPLY, HookEvent, Reply
from leftoff.context import Environment, read_environment
from leftoff.errors import NotAProject
from leftoff.hooks import replies, spool
from leftoff.projects.project import Project, find_project
from leftoff.store import Store
from leftoff.store.layout import is_off
from leftoff.text.fence import Rendered, say

# How long the recorded context use is trusted, for a warning and for a block.
_WARN_SECONDS = 10 * 60
_BLOCK_SECONDS = 30 * 60
_SAVED_WITHIN = timedelta(minutes=5)
_LOOKED_AT = 20

_HELPERS = frozenset({"Agent", "Task", "Skill", "SlashCommand"})
_WORDS = ("leftoff", "checkpoint")
_STATE_FILES = frozenset({"state.json", "state-index.json", "active.json", "manifest.json"})


def update_ask_file(
    state: Path, event: HookEvent, percent: float | None, before: str, settings: config.Settings
) -> None:
    """Create the ask file for tool calls: always with `safety`, else from `advise_at` on."""
    for folder in {before, event.cwd} - {""}:
        place = find_ask_file(state, event.agent, event.session_id, folder)
        is_here = folder == event.cwd and event.kind != "session-end"
        if place is None:
            continue
        if is_here and _is_due(percent, settings):
            replies.put(place, f"{percent or 0:.2f}")
        else:
            place.unlink(missing_ok=True)


def create_ask_file(state: Path, event: HookEvent) -> None:
    """Create the ask file, so that a session's first tool call is checked too."""
    place = find_ask_file(state, event.agent, event.session_id, event.cwd)
    if place is not None and not place.exists():
        replies.put(place, "0.00")


def _is_due(percent: float | None, settings: config.Settings) -> bool:
    is_full = percent is not None and percent >= settings.advise_at
    return settings.safety == "on" or (settings.guard != "off" and is_full)


def find_ask_file(state: Path, agent: str, session_id: str, folder: str) -> Path | None:
    """Return the ask file of a session; None if the agent has no event before tool calls."""
    named = [event for event, kind in DIALECTS[agent].KINDS.items() if kind == "pre-tool"]
    if not named or not session_id:
        return None
    place = replies.path_of(state, folder, agent, named[0], session_id)
    return place.with_name(place.name + replies.ASK)


def answer(agent: str, event: str, ask_path: Path, data: bytes) -> Reply:
    """Store the event, then return the reply: a warning, a block, or nothing."""
    environment = read_environment()
    read = spool.read(spool.keep(environment.state_folder, agent, event, data))
    project = _find_project(environment, read)
    if read is None or project is None:
        return NO_REPLY
    settings = config.load(project).settings
    if is_off(project) or (settings.guard == "off" and settings.safety == "off"):
        ask_path.unlink(missing_ok=True)
        return NO_REPLY
    if settings.safety == "on" and (reason := _object_to_danger(read, project, settings)):
        return DIALECTS[agent].deny_reply(event, say("leftoff: {reason}", reason=reason))
    if settings.guard == "off" or is_always_allowed(read):
        return NO_REPLY
    text, is_denied = _check_context(ask_path, project, settings)
    reply = DIALECTS[agent].deny_reply if is_denied else DIALECTS[agent].context_reply
    return reply(event, text) if text else NO_REPLY


def _find_project(environment: Environment, event: HookEvent | None) -> Project | None:
    try:
        return find_project(environment, Path(event.cwd)) if event is not None else None
    except (NotAProject, OSError):
        return None


def _check_context(
    ask_path: Path, project: Project, settings: config.Settings
) -> tuple[Rendered, bool]:
    """Return what to say about a call while the context fills up, and whether to deny it."""
    percent, age = _read_percent(ask_path)
    use = say("leftoff: context at {percent}%.", percent=f"{percent:.2f}")
    save = hooks.context_usage.name_save_command(settings)
    if settings.guard == "block" and percent >= settings.urge_at and age < _BLOCK_SECONDS:
        return (say(""), False) if _is_saved(project) else (say(_SAVE, use=use, save=save), True)
    is_due = percent >= settings.advise_at and age < _WARN_SECONDS
    return say("{use} Save soon: run `{save}`.", use=use, save=save) if is_due else say(""), False


_SAVE = (
    "{use} Save first: run `{save} --summary '…' --next '…'` with decisions and blockers, "
    "then repeat the call. A compaction would lose what is only in this context."
)


def _object_to_danger(
    event: HookEvent, project: Project, settings: config.Settings
) -> Rendered | None:
    return hooks.command_policy.find_objection(event, project, settings)


def is_always_allowed(event: HookEvent) -> bool:
    """Return whether a call saves or reads the state, or hands work to a helper."""
    if event.tool in _HELPERS or any(word in event.command for word in _WORDS):
        return True
    path = Path(event.file)
    return "checkpoints" in path.parts or path.name in _STATE_FILES


def _read_percent(ask_path: Path) -> tuple[float, float]:
    try:
        percent = float(ask_path.read_text(encoding="utf-8"))
        return percent, time.time() - ask_path.stat().st_mtime
    except (OSError, ValueError):
        return 0.0, 0.0


def _is_saved(project: Project) -> bool:
    """Return whether a named checkpoint was saved in the last five minutes."""
    store = Store(project)
    try:
        oldest = store.now() - _SAVED_WITHIN
        found = store.index().newest(_LOOKED_AT)
        return any(not each.is_autosave and each.saved_at > oldest for each in found)
    finally:
        store.close()

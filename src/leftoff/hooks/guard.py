"""Guard tool calls while the context fills up: warn, and where the user wants it, block.

It is off unless somebody switches it on. What lies ready tells how full the context was when the
last event was settled; it is believed for a while only, since a session may be compacted or left.
Whatever saves the state, or reads where it stands, always passes.
"""

import time
from datetime import timedelta
from pathlib import Path

from leftoff import config, paths
from leftoff.dialects import DIALECTS
from leftoff.dialects.base import HookEvent
from leftoff.errors import NotAProject
from leftoff.hooks import replies, spool
from leftoff.hooks.draining import is_off
from leftoff.store import Store

# How long what lies ready is believed: a warning, a block.
_WARN_SECONDS = 10 * 60
_BLOCK_SECONDS = 30 * 60
_SAVED_WITHIN = timedelta(minutes=5)
_LOOKED_AT = 20

_HELPERS = frozenset({"Agent", "Task", "Skill", "SlashCommand"})
_WORDS = ("leftoff", "checkpoint")
_STATE_FILES = frozenset({"state.json", "state-index.json", "active.json", "manifest.json"})


def follow(event: HookEvent, percent: float | None, before: str, settings: config.Settings) -> None:
    """Let the letterbox ask us before tool calls from the threshold of advice on."""
    state = paths.state_folder()
    for folder in {before, event.cwd} - {""}:
        place = path_of(state, event.agent, event.session_id, folder)
        is_due = folder == event.cwd and event.kind != "session-end" and settings.guard != "off"
        if place is None:
            continue
        if is_due and percent is not None and percent >= settings.advise_at:
            replies.put(place, f"{percent:.2f}")
        else:
            place.unlink(missing_ok=True)


def path_of(state: Path, agent: str, session_id: str, folder: str) -> Path | None:
    """Tell where the letterbox looks whether to ask."""
    named = [event for event, kind in DIALECTS[agent].KINDS.items() if kind == "pre-tool"]
    if not named or not session_id:
        return None
    place = replies.path_of(state, folder, agent, named[0], session_id)
    return place.with_name(place.name + replies.ASK)


def answer(agent: str, event: str, ask_path: Path, data: bytes) -> str:
    """Keep the event, then return the reply: a warning, a block, or nothing."""
    percent, age = _laid_ready(ask_path)
    read = spool.read(spool.keep(paths.state_folder(), agent, event, data))
    if read is None or passes_always(read):
        return ""
    try:
        project = paths.find_project(Path(read.cwd))
    except NotAProject:
        return ""
    settings = config.load(project).settings
    if is_off(project) or settings.guard == "off":
        ask_path.unlink(missing_ok=True)
        return ""
    use = f"leftoff: context at {percent:.2f}%."
    if settings.guard == "block" and percent >= settings.urge_at and age < _BLOCK_SECONDS:
        return "" if _is_saved(project) else DIALECTS[agent].deny_reply(event, f"{use} {_SAVE}")
    is_due = percent >= settings.advise_at and age < _WARN_SECONDS
    return DIALECTS[agent].context_reply(event, f"{use} Save soon: `leftoff save`.") * is_due


_SAVE = (
    "Save first: `leftoff save --summary '…' --next '…'` with decisions and blockers, then go on. "
    "Compacting would lose what only this context holds."
)


def passes_always(event: HookEvent) -> bool:
    """Say whether a call saves the state, reads where it stands, or hands work to a helper."""
    if event.tool in _HELPERS or any(word in event.command for word in _WORDS):
        return True
    path = Path(event.file)
    return "checkpoints" in path.parts or path.name in _STATE_FILES


def _laid_ready(ask_path: Path) -> tuple[float, float]:
    try:
        percent = float(ask_path.read_text(encoding="utf-8"))
        return percent, time.time() - ask_path.stat().st_mtime
    except (OSError, ValueError):
        return 0.0, 0.0


def _is_saved(project: paths.Project) -> bool:
    """Say whether somebody saved on purpose in the last minutes."""
    store = Store(project)
    try:
        oldest = store.now() - _SAVED_WITHIN
        found = store.index().newest(_LOOKED_AT)
        return any(each.name is not None and each.saved_at > oldest for each in found)
    finally:
        store.close()

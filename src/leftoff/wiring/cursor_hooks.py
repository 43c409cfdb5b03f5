"""Add leftoff's commands to Cursor's hooks file, find them there, and remove them.

Each event has a flat list of commands, and the file names the version of its format.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from leftoff.agents.cursor.cursor_hook_table import TABLE
from leftoff.agents.hook_table import WiredEvent
from leftoff.wiring import json_edit, jsonc_edit
from leftoff.wiring.hook_groups import Wire, command_line, is_ours

_EVENTS = {each.event: each for each in TABLE.events}
_VERSION = 1


def wires(settings: object, hook: Path) -> list[Wire]:
    """List leftoff's commands, including those of another state folder."""
    hooks = settings.get("hooks") if isinstance(settings, dict) else None
    return [
        Wire(
            event=event,
            command=entry["command"],
            group=place,
            place=0,
            is_alone=True,
            seconds=_read_seconds(entry),
        )
        for event, entries in (hooks.items() if isinstance(hooks, dict) else ())
        for place, entry in enumerate(entries if isinstance(entries, list) else ())
        if _is_ours(entry, hook)
    ]


def has_ours(settings: object, hook: Path) -> bool:
    """Return whether leftoff has added anything to the file."""
    return bool(wires(settings, hook))


def is_complete(settings: object, hook: Path) -> bool:
    """Return whether every event has exactly one command and no outdated one is left."""
    found = wires(settings, hook)
    is_whole = sorted(each.event for each in found) == sorted(_EVENTS)
    return is_whole and all(_is_right(each, hook) for each in found)


def wire(text: str, hook: Path, *, wanted: Iterable[str] = ()) -> str:
    """Add leftoff's commands to the file; replace outdated ones and keep the rest."""
    del wanted
    if "version" not in json_edit.read(text):
        text = jsonc_edit.put(text, ("version",), _VERSION)
    found = wires(json_edit.read(text), hook)
    for event in {each.event: None for each in found}:
        present = [wired for wired in found if wired.event == event]
        if len(present) > 1 or not _is_right(present[0], hook):
            text = _remove(text, event, hook)
    done = {wired.event for wired in wires(json_edit.read(text), hook)}
    for event, each in _EVENTS.items():
        if event not in done:
            text = json_edit.append(text, ("hooks", event), _build(hook, each))
    return text


def unwire(text: str, hook: Path) -> str:
    """Remove leftoff's commands from the file, with the lists this leaves empty."""
    for event in {each.event: None for each in wires(json_edit.read(text), hook)}:
        text = _remove(text, event, hook)
    return text


def strip_ours(settings: Mapping[str, Any], hook: Path) -> dict[str, Any]:
    """Return the settings without what leftoff adds, for comparison."""
    rest = {key: value for key, value in settings.items() if key != "hooks"}
    if rest.get("version") == _VERSION:
        del rest["version"]
    hooks = settings.get("hooks")
    if not isinstance(hooks, dict):
        return dict(settings) if "hooks" in settings else rest
    kept = {event: _drop_ours(entries, hook) for event, entries in hooks.items()}
    theirs = {event: entries for event, entries in kept.items() if entries != []}
    return {**rest, "hooks": theirs} if theirs else rest


def _remove(text: str, event: str, hook: Path) -> str:
    found = [each for each in wires(json_edit.read(text), hook) if each.event == event]
    # From the end, so that the indexes of earlier ones stay valid.
    for each in reversed(found):
        text = json_edit.remove(text, ("hooks", event, each.group))
    hooks = json_edit.read(text)["hooks"]
    if hooks[event] == []:
        text = json_edit.remove(text, ("hooks", event))
        if len(hooks) == 1:
            text = json_edit.remove(text, ("hooks",))
    return text


def _drop_ours(entries: Any, hook: Path) -> Any:
    if not isinstance(entries, list):
        return entries
    return [entry for entry in entries if not _is_ours(entry, hook)]


def _is_ours(entry: Any, hook: Path) -> bool:
    return isinstance(entry, dict) and is_ours(entry.get("command"), hook, TABLE.agent)


def _is_right(found: Wire, hook: Path) -> bool:
    """Return whether a command is up to date; the user may have raised its timeout."""
    event = _EVENTS.get(found.event)
    if event is None or found.command != command_line(hook, TABLE.agent, event.name):
        return False
    return found.seconds >= event.seconds


def _build(hook: Path, event: WiredEvent) -> dict[str, object]:
    return {"command": command_line(hook, TABLE.agent, event.name), "timeout": event.seconds}


def _read_seconds(entry: dict[str, Any]) -> float:
    found = entry.get("timeout")
    return found if isinstance(found, int | float) else 0.0

"""Add leftoff's hook commands to Claude Code's settings, find them there, and remove them."""

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from leftoff.agents.claude import dialect
from leftoff.wiring import json_edit

# Events that only some profiles need. Not wired by default: they would slow down every file edit.
_ON_REQUEST = frozenset({"post-tool"})
EVENTS = tuple(event for event, kind in dialect.KINDS.items() if kind not in _ON_REQUEST)
OPTIONAL = tuple(event for event, kind in dialect.KINDS.items() if kind in _ON_REQUEST)
# Only shell commands can run long enough to justify a save before them.
_MATCHERS = {"PreToolUse": "Bash|PowerShell", "PostToolUse": "Edit|Write|MultiEdit"}
# Seconds. Most hooks take milliseconds; the timeouts are for an overloaded machine. Without its
# own timeout, Claude Code kills a hook at the end of a session after little more than a second.
# A compaction may have to wait until everything is saved.
_TIMEOUT_SECONDS = {"SessionStart": 15, "PreCompact": 10}
_HOT_TIMEOUT_SECONDS = 5
# The end of the path in every state folder, to recognise hooks of another or an earlier one.
_PLACE = "/leftoff/hook"


class Wire(msgspec.Struct, frozen=True, kw_only=True):
    """One of leftoff's commands in the settings."""

    event: str
    command: str
    group: int
    """The index of the group within its event."""
    place: int
    """The index of the hook within its group."""
    is_alone: bool
    """Whether the group contains only leftoff's commands."""
    seconds: float
    """The command's timeout in seconds; 0 for the agent's default."""


def command_line(hook: Path, event: str) -> str:
    """Return the command for an event; it is the same in every version of leftoff."""
    return f"{shlex.quote(str(hook))} claude {event}"


def wires(settings: object, hook: Path) -> list[Wire]:
    """List leftoff's commands in the settings, including those of another state folder."""
    found = []
    for event, groups in _items(_get(settings, "hooks")):
        for number, group in enumerate(groups if isinstance(groups, list) else []):
            hooks = _get(group, "hooks")
            entries = hooks if isinstance(hooks, list) else []
            ours = [is_ours(_get(each, "command"), hook) for each in entries]
            found += [
                Wire(
                    event=event,
                    command=each["command"],
                    group=number,
                    place=place,
                    is_alone=all(ours),
                    seconds=_number(each.get("timeout")),
                )
                for place, each in enumerate(entries)
                if ours[place]
            ]
    return found


def is_ours(command: object, hook: Path) -> bool:
    """Return whether a command runs leftoff's hook: this one, or any `…/leftoff/hook`."""
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        # Unbalanced quotes: not a command that leftoff wrote.
        return False
    if len(words) != 3 or words[1] != "claude" or not words[2].isalnum():
        return False
    return words[0] == str(hook) or (words[0].startswith("/") and words[0].endswith(_PLACE))


def is_wired(settings: object, hook: Path) -> bool:
    """Return whether every event has exactly one command and no outdated one is left."""
    found = wires(settings, hook)
    events = sorted(each.event for each in found)
    optional = [event for event in OPTIONAL if event in events]
    return events == sorted((*EVENTS, *optional)) and all(_is_right(each, hook) for each in found)


def _is_right(wire: Wire, hook: Path) -> bool:
    """Return whether a command is up to date; the user may have raised its timeout."""
    is_known = wire.event in dialect.KINDS
    is_command = wire.command == command_line(hook, wire.event)
    return is_known and is_command and wire.seconds >= _seconds(wire.event)


def events_of(kinds: Iterable[str]) -> list[str]:
    """Return Claude Code's names for optional events."""
    wanted = {*kinds}
    return [event for event in OPTIONAL if dialect.KINDS[event] in wanted]


def wire(text: str, hook: Path, *, wanted: Iterable[str] = ()) -> str:
    """Add leftoff's commands to the settings; replace outdated ones and keep the rest.

    Optional events that are already wired stay: another project may need them.
    """
    found = wires(json_edit.read(text), hook)
    optional = [
        event
        for event in OPTIONAL
        if event in events_of(wanted)
        or any(each.event == event and each.command.endswith(f" {event}") for each in found)
    ]
    for event in {each.event: None for each in found}:
        present = [each for each in found if each.event == event]
        if len(present) > 1 or not _is_right(present[0], hook):
            text = _without(text, event, hook)
    wired = {each.event for each in wires(json_edit.read(text), hook)}
    for event in (*EVENTS, *optional):
        if event not in wired:
            text = json_edit.append(text, ("hooks", event), _group(hook, event))
    return text


def unwire(text: str, hook: Path) -> str:
    """Remove leftoff's commands from the settings, with the groups this leaves empty."""
    for event in {each.event: None for each in wires(json_edit.read(text), hook)}:
        text = _without(text, event, hook)
    return text


def strip_ours(settings: Mapping[str, Any], hook: Path) -> dict[str, Any]:
    """Return the settings without leftoff's commands and empty groups, for comparison."""
    hooks = settings.get("hooks")
    if not isinstance(hooks, dict):
        return dict(settings)
    kept = {event: _theirs(groups, hook) for event, groups in hooks.items()}
    # Unwiring also removes empty lists, so they must not count as a difference.
    rest = {event: groups for event, groups in kept.items() if groups != []}
    return {
        key: value for key, value in {**settings, "hooks": rest}.items() if key != "hooks" or rest
    }


def _theirs(groups: Any, hook: Path) -> Any:
    if not isinstance(groups, list):
        return groups
    kept = []
    for group in groups:
        hooks = _get(group, "hooks")
        rest = [each for each in hooks or [] if not is_ours(_get(each, "command"), hook)]
        if not isinstance(hooks, list) or len(rest) == len(hooks):
            kept.append(group)
        elif rest:
            kept.append({**group, "hooks": rest})
    return kept


def _group(hook: Path, event: str) -> dict[str, object]:
    command = {
        "type": "command",
        "command": command_line(hook, event),
        "timeout": _seconds(event),
    }
    matcher = {"matcher": _MATCHERS[event]} if event in _MATCHERS else {}
    return {**matcher, "hooks": [command]}


def _seconds(event: str) -> int:
    return _TIMEOUT_SECONDS.get(event, _HOT_TIMEOUT_SECONDS)


def _without(text: str, event: str, hook: Path) -> str:
    # From the end, so that the indexes of earlier hooks stay valid.
    for each in reversed(
        [each for each in wires(json_edit.read(text), hook) if each.event == event]
    ):
        if not each.is_alone:
            text = json_edit.remove(text, ("hooks", event, each.group, "hooks", each.place))
        # A group that is all leftoff's goes as a whole: remove it once, with its first hook.
        elif each.place == 0:
            text = json_edit.remove(text, ("hooks", event, each.group))
    hooks = json_edit.read(text)["hooks"]
    if hooks[event] == []:
        text = json_edit.remove(text, ("hooks", event))
        if len(hooks) == 1:
            text = json_edit.remove(text, ("hooks",))
    return text


def _get(value: object, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _number(value: object) -> float:
    return value if isinstance(value, int | float) else 0.0


def _items(value: object) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, dict) else []

"""What belongs into Claude Code's settings: one short command per event, and nothing else."""

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from leftoff.agents.claude import dialect
from leftoff.wiring import json_edit

# Events that only some profiles need: every edit of a file would pay for them.
_ON_REQUEST = frozenset({"post-tool"})
EVENTS = tuple(event for event, kind in dialect.KINDS.items() if kind not in _ON_REQUEST)
OPTIONAL = tuple(event for event, kind in dialect.KINDS.items() if kind in _ON_REQUEST)
# Only commands in a shell can run long enough to be worth a save beforehand.
_MATCHERS = {"PreToolUse": "Bash|PowerShell", "PostToolUse": "Edit|Write|MultiEdit"}
# The hot hooks take milliseconds; these are for a machine in distress. Without one of its own, a
# hook at the end of a session is killed after little more than a second.
# A compaction may have to wait until all is saved.
_TIMEOUT_SECONDS = {"SessionStart": 15, "PreCompact": 10}
_HOT_TIMEOUT_SECONDS = 5
_PLACE = "/leftoff/hook"


class Wire(msgspec.Struct, frozen=True, kw_only=True):
    """One command of ours in the settings."""

    event: str
    command: str
    group: int
    """The number of the group among those of its event."""
    place: int
    """The number of the hook within its group."""
    is_alone: bool
    """Whether the group holds nothing but commands of ours."""
    seconds: float
    """The time the command is given; 0 if that is left to the agent."""


def command_line(hook: Path, event: str) -> str:
    """Return the command for an event: absolute, short, and the same in every version."""
    return f"{shlex.quote(str(hook))} claude {event}"


def wires(settings: object, hook: Path) -> list[Wire]:
    """List the commands of ours in settings, also those put in while the state was elsewhere."""
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
    """Say whether a command runs leftoff's letterbox: this one, or `…/leftoff/hook`."""
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return False
    if len(words) != 3 or words[1] != "claude" or not words[2].isalnum():
        return False
    return words[0] == str(hook) or (words[0].startswith("/") and words[0].endswith(_PLACE))


def is_wired(settings: object, hook: Path) -> bool:
    """Say whether every event has its command, once, and no old one is left."""
    found = wires(settings, hook)
    events = sorted(each.event for each in found)
    optional = [event for event in OPTIONAL if event in events]
    return events == sorted((*EVENTS, *optional)) and all(_is_right(each, hook) for each in found)


def _is_right(wire: Wire, hook: Path) -> bool:
    """Say whether a command is as we would write it; the user may give it more time."""
    is_known = wire.event in dialect.KINDS
    is_command = wire.command == command_line(hook, wire.event)
    return is_known and is_command and wire.seconds >= _seconds(wire.event)


def events_of(kinds: Iterable[str]) -> list[str]:
    """Name the optional events of some kinds as Claude Code does."""
    wanted = {*kinds}
    return [event for event in OPTIONAL if dialect.KINDS[event] in wanted]


def wire(text: str, hook: Path, *, wanted: Iterable[str] = ()) -> str:
    """Put our commands into settings; those that are right stay, old ones go.

    An optional event that is wired already stays: another project may need it.
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
    """Take our commands out of settings, and the empty shells they leave."""
    for event in {each.event: None for each in wires(json_edit.read(text), hook)}:
        text = _without(text, event, hook)
    return text


def strip_ours(settings: Mapping[str, Any], hook: Path) -> dict[str, Any]:
    """Return what settings hold besides us and empty shells, to compare two by."""
    hooks = settings.get("hooks")
    if not isinstance(hooks, dict):
        return dict(settings)
    kept = {event: _theirs(groups, hook) for event, groups in hooks.items()}
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
    # From the end, so that the numbers of those before stay true.
    for each in reversed(
        [each for each in wires(json_edit.read(text), hook) if each.event == event]
    ):
        if not each.is_alone:
            text = json_edit.remove(text, ("hooks", event, each.group, "hooks", each.place))
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

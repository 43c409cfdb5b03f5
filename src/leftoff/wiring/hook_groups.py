"""Add leftoff's commands to a file of hook groups, find them there, and remove them.

Claude Code introduced the format, and Codex and Gemini CLI share it: for each event a list of
groups, each with a list of commands and a matcher for the tools that it is limited to.
"""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from leftoff.agents.dialects import DIALECTS
from leftoff.agents.hook_table import HookTable, WiredEvent
from leftoff.wiring import json_edit, jsonc_edit

# The end of the path in every state folder, to recognize hooks of another or an earlier one.
_PLACE = "/leftoff/hook"


class TextEditor(Protocol):
    """What edits JSON text in place: `json_edit`, or `jsonc_edit` for text with comments."""

    def read(self, text: str) -> Any:
        """Parse the text."""

    def append(self, text: str, path: Sequence[str], value: object) -> str:
        """Append an item to the array at a path of keys."""

    def remove(self, text: str, path: Sequence[str | int]) -> str:
        """Remove the member or item at a path."""


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


def command_line(hook: Path, agent: str, name: str) -> str:
    """Return the command for an event; it is the same in every version of leftoff."""
    return f"{shlex.quote(str(hook))} {agent} {name}"


def is_ours(command: object, hook: Path, agent: str) -> bool:
    """Return whether a command runs leftoff's hook: this one, or any `…/leftoff/hook`."""
    try:
        words = _split(command) if isinstance(command, str) else []
    except ValueError:
        # Unbalanced quotes: not a command that leftoff wrote.
        return False
    if len(words) != 3 or words[1] != agent or not words[2].isalnum():
        return False
    return words[0] == str(hook) or (words[0].startswith("/") and words[0].endswith(_PLACE))


def find_program(wire: Wire) -> str:
    """Return the program that one of leftoff's commands runs, without quotes."""
    return _split(wire.command)[0]


def _split(command: str) -> list[str]:
    """Split a command into its words."""
    # `leftoff status` asks about every command of every agent, and few have quotes.
    return shlex.split(command) if {*command} & {*"'\"\\"} else command.split()


class HookGroups:
    """Adds, finds and removes the commands for one agent."""

    def __init__(self, table: HookTable) -> None:
        self.table = table
        self._edit: TextEditor = jsonc_edit if table.has_comments else json_edit
        self._events = {each.event: each for each in table.events}
        self.events = tuple(each.event for each in table.events if not each.is_optional)
        self.optional = tuple(each.event for each in table.events if each.is_optional)

    def command_line(self, hook: Path, event: str) -> str:
        """Return the command for one of the agent's events."""
        return command_line(hook, self.table.agent, self._events[event].name)

    def is_ours(self, command: object, hook: Path) -> bool:
        """Return whether a command is leftoff's for this agent."""
        return is_ours(command, hook, self.table.agent)

    def wires(self, settings: object, hook: Path) -> list[Wire]:
        """List leftoff's commands in the settings, including those of another state folder."""
        found = []
        for event, groups in _list_items(_get(settings, "hooks")):
            for number, group in enumerate(groups if isinstance(groups, list) else []):
                hooks = _get(group, "hooks")
                entries = hooks if isinstance(hooks, list) else []
                ours = [self.is_ours(_get(each, "command"), hook) for each in entries]
                found += [
                    Wire(
                        event=event,
                        command=each["command"],
                        group=number,
                        place=place,
                        is_alone=all(ours),
                        seconds=_to_number(each.get("timeout")) / self._per_second,
                    )
                    for place, each in enumerate(entries)
                    if ours[place]
                ]
        return found

    def is_wired(self, settings: object, hook: Path) -> bool:
        """Return whether every event has exactly one command and no outdated one is left."""
        found = self.wires(settings, hook)
        events = sorted(each.event for each in found)
        optional = [event for event in self.optional if event in events]
        is_complete = events == sorted((*self.events, *optional))
        return is_complete and all(self._is_right(each, hook) for each in found)

    def has_ours(self, settings: object, hook: Path) -> bool:
        """Return whether leftoff has added anything to the settings."""
        return bool(self.wires(settings, hook))

    def is_complete(self, settings: object, hook: Path) -> bool:
        """Return whether everything that leftoff adds is there."""
        return self.is_wired(settings, hook)

    def events_of(self, kinds: Iterable[str]) -> list[str]:
        """Return the agent's names for optional events."""
        wanted, known = {*kinds}, DIALECTS[self.table.agent].KINDS
        return [event for event in self.optional if known[self._events[event].name] in wanted]

    def wire(self, text: str, hook: Path, *, wanted: Iterable[str] = ()) -> str:
        """Add leftoff's commands to the settings; replace outdated ones and keep the rest.

        Optional events that are already wired stay: another project may need them.
        """
        found = self.wires(self._edit.read(text), hook)
        asked = self.events_of(wanted)
        optional = [
            event
            for event in self.optional
            if event in asked
            or any(each.event == event and each.command.endswith(f" {event}") for each in found)
        ]
        for event in {each.event: None for each in found}:
            present = [each for each in found if each.event == event]
            if len(present) > 1 or not self._is_right(present[0], hook):
                text = self._without(text, event, hook)
        wired = {each.event for each in self.wires(self._edit.read(text), hook)}
        for event in (*self.events, *optional):
            if event not in wired:
                text = self._edit.append(text, ("hooks", event), self._group(hook, event))
        return text

    def unwire(self, text: str, hook: Path) -> str:
        """Remove leftoff's commands from the settings, with the groups this leaves empty."""
        for event in {each.event: None for each in self.wires(self._edit.read(text), hook)}:
            text = self._without(text, event, hook)
        return text

    def strip_ours(self, settings: Mapping[str, Any], hook: Path) -> dict[str, Any]:
        """Return the settings without leftoff's commands and empty groups, for comparison."""
        hooks = settings.get("hooks")
        if not isinstance(hooks, dict):
            return dict(settings)
        kept = {event: self._theirs(groups, hook) for event, groups in hooks.items()}
        # Unwiring also removes empty lists, so they must not count as a difference.
        rest = {event: groups for event, groups in kept.items() if groups != []}
        return {
            key: value
            for key, value in {**settings, "hooks": rest}.items()
            if key != "hooks" or rest
        }

    def _theirs(self, groups: Any, hook: Path) -> Any:
        if not isinstance(groups, list):
            return groups
        kept = []
        for group in groups:
            hooks = _get(group, "hooks")
            rest = [each for each in hooks or [] if not self.is_ours(_get(each, "command"), hook)]
            if not isinstance(hooks, list):
                kept.append(group)
            elif rest:
                kept.append({**group, "hooks": rest})
        return kept

    @property
    def _per_second(self) -> int:
        return 1000 if self.table.has_milliseconds else 1

    def _is_right(self, wire: Wire, hook: Path) -> bool:
        """Return whether a command is up to date; the user may have raised its timeout."""
        event = self._events.get(wire.event)
        if event is None or wire.command != self.command_line(hook, wire.event):
            return False
        return wire.seconds >= event.seconds

    def _group(self, hook: Path, event: str) -> dict[str, object]:
        wired: WiredEvent = self._events[event]
        command = {
            **self.table.more,
            "type": "command",
            "command": self.command_line(hook, event),
            "timeout": wired.seconds * self._per_second,
        }
        matcher = {"matcher": wired.matcher} if wired.matcher else {}
        return {**matcher, "hooks": [command]}

    def _without(self, text: str, event: str, hook: Path) -> str:
        found = [each for each in self.wires(self._edit.read(text), hook) if each.event == event]
        last = len(self._edit.read(text)["hooks"][event]) - 1
        # From the end, so that the indexes of earlier hooks stay valid.
        for each in reversed(found):
            # The groups after it would move up, so it stays, without commands.
            stays = self.table.keeps_positions and each.group < last
            if stays or not each.is_alone:
                text = self._edit.remove(text, ("hooks", event, each.group, "hooks", each.place))
            # A group that is all leftoff's goes as a whole: remove it once, with its first hook.
            elif each.place == 0:
                text = self._edit.remove(text, ("hooks", event, each.group))
                last -= 1
        hooks = self._edit.read(text)["hooks"]
        if hooks[event] == []:
            text = self._edit.remove(text, ("hooks", event))
            if len(hooks) == 1:
                text = self._edit.remove(text, ("hooks",))
        return text


def _get(value: object, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _to_number(value: object) -> float:
    return value if isinstance(value, int | float) else 0.0


def _list_items(value: object) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, dict) else []

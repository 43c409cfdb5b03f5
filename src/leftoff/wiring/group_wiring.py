"""Wire an agent whose hooks are in a JSON file of hook groups, which others edit, too."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from leftoff.agents.hook_table import HookTable
from leftoff.errors import LeftoffError
from leftoff.wiring import backups, foreign_files, settings_file
from leftoff.wiring.findings import DoctorFinding, World, fault, ok, warning
from leftoff.wiring.foreign_files import FileChange
from leftoff.wiring.hook_groups import Wire, find_program
from leftoff.wiring.install_places import Places
from leftoff.wiring.settings_file import SettingsText
from leftoff.wiring.table_wiring import TableWiring, explain_unreadable, explain_unwired

_INIT = "Run `leftoff init`."


class GroupEditor(Protocol):
    """What adds leftoff's commands to a text, and removes them: `HookGroups`, or a module."""

    def wires(self, settings: object, hook: Path) -> list[Wire]:
        """List leftoff's commands."""

    def has_ours(self, settings: object, hook: Path) -> bool:
        """Return whether leftoff has added anything."""

    def is_complete(self, settings: object, hook: Path) -> bool:
        """Return whether everything that leftoff adds is there."""

    def wire(self, text: str, hook: Path, *, wanted: Iterable[str] = ()) -> str:
        """Add leftoff's commands."""

    def unwire(self, text: str, hook: Path) -> str:
        """Remove leftoff's commands."""

    def strip_ours(self, settings: Mapping[str, Any], hook: Path) -> dict[str, Any]:
        """Return the settings without what leftoff adds, for comparison."""


class GroupWiring(TableWiring):
    """Wires one agent; the editor knows what belongs in its file."""

    def __init__(self, table: HookTable, editor: GroupEditor, *, what: str) -> None:
        super().__init__(table, what=what)
        self._editor = editor

    def plan(self, places: Places, *, wanted: Iterable[str] = ()) -> list[FileChange]:
        """Return the change that adds the hooks to the file."""
        path = self.find_file(places)
        before = foreign_files.read(path)
        now = self._parse(before, path)
        self._check_shape(now)
        text = self._editor.wire(now.text or "{}", places.hook, wanted=wanted)
        after = now.encode(text)
        self._check_result(now, msgspec.structs.replace(now, text=text), places)
        if after == before:
            return []
        foreign_files.check_writable(path)
        return [self._change(path, before, after)]

    def plan_removal(self, places: Places, known: Sequence[Path]) -> list[FileChange]:
        """Return the changes that remove the hooks, including from projects' files."""
        own = self.find_file(places)
        files = [path for path in known if path.name == own.name]
        changes = (self._plan_unwiring(places, path) for path in dict.fromkeys([own, *files]))
        return [change for change in changes if change is not None]

    def check(self, change: FileChange, places: Places) -> None:
        """Raise an error if the file has not all hooks, or lost anything else."""
        was = self._parse(change.before, change.path)
        now = self._parse(foreign_files.read(change.path), change.path)
        self._check_result(was, now, places)

    def inspect(self, world: World) -> Iterator[DoctorFinding]:
        """Check that every event has exactly one command."""
        agent, title, path = self._table.agent, self._table.title, self.find_file(world.places)
        try:
            wires = self._read_wires(world.places)
        except (LeftoffError, OSError) as error:
            yield explain_unreadable(agent, title, path, error)
            return
        expected = [each.event for each in self._table.events if not each.is_optional]
        missing = [event for event in expected if event not in {each.event for each in wires}]
        if not wires:
            yield explain_unwired(agent, title)
            return
        if missing:
            yield fault(
                agent,
                f"{path} has no hook for {', '.join(missing)}",
                why=f"leftoff misses these events of {title}.",
                do=_INIT,
            )
        else:
            yield ok(agent, f"{len(expected)} hooks in {path}")
        yield from self._inspect_wires(world, path, wires)

    def _inspect_wires(
        self, world: World, path: Path, wires: Sequence[Wire]
    ) -> Iterator[DoctorFinding]:
        agent = self._table.agent
        programs = [find_program(each) for each in wires]
        other = [each for each in programs if each != str(world.places.hook)]
        if other:
            yield warning(
                agent,
                f"Hooks in {path} run another program: {other[0]}",
                why="They belong to another installation, whose checkpoints you do not see here.",
                do=_INIT,
            )
        twice = [event for event, n in Counter(each.event for each in wires).items() if n > 1]
        if twice:
            yield warning(
                agent,
                f"{path} has more than one hook for {', '.join(twice)}",
                why="leftoff gets these events twice.",
                do=_INIT,
            )

    def _read_wires(self, places: Places) -> list[Wire]:
        path = self.find_file(places)
        return self._editor.wires(self._parse(foreign_files.read(path), path).values, places.hook)

    def _plan_unwiring(self, places: Places, path: Path) -> FileChange | None:
        before = foreign_files.read(path)
        # Another agent's file may have the same name, and another syntax.
        if before is None or not re.search(rf"hook['\"\\]* {self._table.agent} ".encode(), before):
            return None
        now = self._parse(before, path)
        if not self._editor.has_ours(now.values, places.hook):
            return None
        foreign_files.check_writable(path)
        # Restore the original byte for byte if nobody else edited the file since.
        was = backups.original(places.state, path, before)
        if was is not None:
            original = self._parse(was.data, path).values
            if not self._editor.wires(original, places.hook):
                return self._change(path, before, was.data)
        return self._change(
            path, before, now.bom + self._editor.unwire(now.text, places.hook).encode()
        )

    def _parse(self, data: bytes | None, path: Path) -> SettingsText:
        return settings_file.parse(
            data, path, title=self._table.title, has_comments=self._table.has_comments
        )

    def _check_result(self, before: SettingsText, after: SettingsText, places: Places) -> None:
        """Check that the new settings contain all hooks and otherwise equal the old ones."""
        was, now = (self._editor.strip_ours(each.values, places.hook) for each in (before, after))
        if was != now or not self._editor.is_complete(after.values, places.hook):
            raise LeftoffError(
                f"The new content of {after.path} would be wrong, so nothing was changed",
                hint="This is a bug in leftoff; please report it with the structure of the file.",
            )

    def _check_shape(self, now: SettingsText) -> None:
        # Adding hooks to a value of another type would destroy what the user wrote.
        if not isinstance(now.values, dict):
            raise settings_file.explain_unusable(now.path, "it is not a JSON object")
        hooks = now.values.get("hooks", {})
        if not isinstance(hooks, dict):
            raise settings_file.explain_unusable(now.path, "its hooks are not a JSON object")
        for event in self._table.events:
            if not isinstance(hooks.get(event.event, []), list):
                why = f"its hooks for {event.event} are not a list"
                raise settings_file.explain_unusable(now.path, why)

"""Wire an agent that reads every file in a folder: leftoff's hooks are in a file of its own."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from leftoff import __version__
from leftoff.agents.hook_table import HookTable
from leftoff.errors import LeftoffError
from leftoff.wiring import backups, foreign_files
from leftoff.wiring.findings import DoctorFinding, World, ok, warning
from leftoff.wiring.foreign_files import FileChange
from leftoff.wiring.install_places import Places
from leftoff.wiring.table_wiring import TableWiring, explain_unwired


class OwnFileWiring(TableWiring):
    """Wires one agent; `render` returns the content of the file for a hook program."""

    def __init__(self, table: HookTable, render: Callable[[Path], bytes], *, what: str) -> None:
        super().__init__(table, what=what)
        self._render = render

    def plan(self, places: Places, *, wanted: Iterable[str] = ()) -> list[FileChange]:
        """Return the change that creates or updates the file."""
        del wanted
        path = self.find_file(places)
        before, after = foreign_files.read(path), self._render(places.hook)
        if before == after:
            return []
        foreign_files.check_writable(path)
        return [self._change(path, before, after)]

    def plan_removal(self, places: Places, known: Sequence[Path]) -> list[FileChange]:
        """Return the changes that remove the file, including from the agent's former folder."""
        own = self.find_file(places)
        files = [path for path in known if path.parts[-2:] == own.parts[-2:]]
        # Another agent's file may have the same name in the same folder.
        files = [path for path in files if self._is_named_in(foreign_files.read(path))]
        changes = []
        for path in dict.fromkeys([own, *files]):
            before = foreign_files.read(path)
            if before is not None:
                # A file of that name that was there before leftoff comes back.
                was = backups.original(places.state, path, before)
                changes.append(self._change(path, before, was.data if was else None))
        return changes

    def check(self, change: FileChange, places: Places) -> None:
        """Raise an error if the file is not as it was planned."""
        del places
        if foreign_files.read(change.path) != change.after:
            raise LeftoffError(f"{change.path} was not written as planned", hint="Try again.")

    def inspect(self, world: World) -> Iterator[DoctorFinding]:
        """Check that the file is there and matches this version."""
        path = self.find_file(world.places)
        data = foreign_files.read(path)
        if data is None:
            yield explain_unwired(self._table.agent, self._table.title)
        elif data != self._render(world.places.hook):
            yield warning(
                self._table.agent,
                f"{path} does not match leftoff {__version__}",
                why="It comes from another version or installation, or someone edited it.",
                do="Run `leftoff init`.",
            )
        else:
            yield ok(self._table.agent, f"The hooks are in {path}")

    def _is_named_in(self, data: bytes | None) -> bool:
        return data is not None and self._table.agent.encode() in data

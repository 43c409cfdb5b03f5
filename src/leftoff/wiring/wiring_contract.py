"""Define what the wiring of an agent provides: plan, validate, remove, explain and check."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from leftoff.agents.hook_table import HookTable
from leftoff.wiring.findings import DoctorFinding, World
from leftoff.wiring.foreign_files import FileChange
from leftoff.wiring.install_places import Places


class AgentWiring(Protocol):
    """How `init`, `uninstall` and `doctor` handle one agent.

    Planning changes nothing: it returns changes, which `install` makes with a backup, and undoes if
    one fails. A plan for what is already there is empty.
    """

    @property
    def table(self) -> HookTable:
        """The agent's hooks."""

    def find_file(self, places: Places) -> Path:
        """Return the file that names the hooks."""

    def plan(self, places: Places, *, wanted: Iterable[str] = ()) -> list[FileChange]:
        """Return the changes that wire the agent; `wanted` are kinds of optional events."""

    def plan_removal(self, places: Places, known: Sequence[Path]) -> list[FileChange]:
        """Return the changes that remove the hooks; `known` are files that leftoff ever changed."""

    def check(self, change: FileChange, places: Places) -> None:
        """Raise an error if a file is not as it was planned."""

    def is_wired(self, places: Places) -> bool:
        """Return whether any of leftoff's hooks is in the file."""

    def is_active(self, places: Places) -> bool:
        """Return whether the agent runs the hooks: they are wired, and nothing disables them."""

    def explain(self, places: Places) -> list[str]:
        """Return what the user has to know or do after the change, in sentences."""

    def inspect(self, world: World) -> Iterator[DoctorFinding]:
        """Check the agent's file for `leftoff doctor`."""

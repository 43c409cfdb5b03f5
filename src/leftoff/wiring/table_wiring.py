"""What all wirings of a hook table share: where the file is, and whether the hooks are in it."""

from pathlib import Path

from leftoff.agents.hook_table import HookTable
from leftoff.wiring import wired_files
from leftoff.wiring.findings import DoctorFinding, fault, warning
from leftoff.wiring.foreign_files import FileChange
from leftoff.wiring.install_places import Places


class TableWiring:
    """Wires one agent: the part that does not depend on the kind of its file."""

    def __init__(self, table: HookTable, *, what: str) -> None:
        self._table = table
        self._what = what

    @property
    def table(self) -> HookTable:
        """The agent's hooks."""
        return self._table

    def find_file(self, places: Places) -> Path:
        """Return the file that names the hooks."""
        return wired_files.find_file(self._table, places)

    def is_wired(self, places: Places) -> bool:
        """Return whether any of leftoff's hooks is in the file."""
        return wired_files.is_wired(self._table, places)

    def is_active(self, places: Places) -> bool:
        """Return whether the agent runs the hooks, for which nothing else is needed."""
        return self.is_wired(places)

    def explain(self, places: Places) -> list[str]:  # noqa: ARG002 - part of the contract
        """Return nothing: the hooks run without another step."""
        return []

    def _change(self, path: Path, before: bytes | None, after: bytes | None) -> FileChange:
        return FileChange(
            path=path,
            what=self._what,
            before=before,
            after=after,
            is_foreign=True,
            agent=self._table.agent,
        )


def explain_unwired(agent: str, title: str) -> DoctorFinding:
    """Return the finding for an agent that was found but has no hooks."""
    return warning(
        agent,
        f"{title} was found, but its hooks are not installed",
        why="Its sessions are not saved automatically.",
        do="Run `leftoff init`.",
    )


def explain_unreadable(agent: str, title: str, path: Path, error: Exception) -> DoctorFinding:
    """Return the finding for an agent whose settings cannot be read: hooks may be in them."""
    return fault(
        agent,
        str(error).removesuffix(", so nothing was changed"),
        why=f"leftoff cannot tell which hooks {title} runs.",
        do=f"Fix {path} by hand.",
    )

"""Write the slash commands of agents that have a folder for them, and remove them."""

from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from leftoff.agents.hook_table import HookTable
from leftoff.wiring import backups, foreign_files
from leftoff.wiring.foreign_files import FileChange
from leftoff.wiring.install_places import Places


def plan(table: HookTable, places: Places) -> list[FileChange]:
    """Return the changes that create or update an agent's slash commands."""
    changes = []
    for path in _list_files(table, places):
        before, after = foreign_files.read(path), _read_shipped(table, path)
        # A command that somebody edited, or wrote under that name, stays.
        if before is None or (before != after and _is_ours(table, places, path, before)):
            foreign_files.check_writable(path)
            changes.append(_build_change(table, path, before, after))
    return changes


def plan_removal(table: HookTable, places: Places, known: Sequence[Path]) -> list[FileChange]:
    """Return the changes that remove them; `known` are files that leftoff ever changed."""
    changes = []
    earlier = [path for path in known if _is_named(table, path)]
    for path in dict.fromkeys([*_list_files(table, places), *earlier]):
        before = foreign_files.read(path)
        if before is not None and _is_ours(table, places, path, before):
            was = backups.original(places.state, path, before)
            changes.append(_build_change(table, path, before, was.data if was else None))
    return changes


def is_command(change: FileChange, table: HookTable) -> bool:
    """Return whether a change is about one of an agent's slash commands."""
    return _is_named(table, change.path)


def _is_named(table: HookTable, path: Path) -> bool:
    return any(str(path).endswith(f"/{each}") for each in table.commands)


def _list_files(table: HookTable, places: Places) -> list[Path]:
    folder = places.environment.find_config_folder(table.agent)
    return [folder / each for each in table.commands]


def _read_shipped(table: HookTable, path: Path) -> bytes:
    """Return this version's slash command."""
    return (resources.files("leftoff") / "skill" / table.agent / path.name).read_bytes()


def _is_ours(table: HookTable, places: Places, path: Path, data: bytes) -> bool:
    """Return whether leftoff wrote a command, in this version or an earlier one."""
    return data == _read_shipped(table, path) or (
        backups.original(places.state, path, data) is not None
    )


def _build_change(
    table: HookTable, path: Path, before: bytes | None, after: bytes | None
) -> FileChange:
    return FileChange(
        path=path,
        what=f"the command /{table.command_prefix}{path.stem}",
        before=before,
        after=after,
        is_foreign=True,
        agent=table.agent,
    )

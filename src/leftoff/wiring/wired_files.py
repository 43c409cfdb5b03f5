"""Check in the agents' files whether leftoff's hooks are installed.

`leftoff status` asks this for every agent each time it runs, so nothing that changes these files is
loaded here.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from leftoff.agents.claude import claude_hook_table
from leftoff.agents.codex import codex_hook_table
from leftoff.agents.copilot import copilot_hook_table
from leftoff.agents.cursor import cursor_hook_table
from leftoff.agents.gemini import gemini_hook_table
from leftoff.agents.hook_table import HookTable
from leftoff.agents.opencode import opencode_hook_table
from leftoff.errors import LeftoffError
from leftoff.wiring import settings_file
from leftoff.wiring.hook_groups import is_ours
from leftoff.wiring.install_places import Places

TABLES: dict[str, HookTable] = {
    "claude": claude_hook_table.TABLE,
    "codex": codex_hook_table.TABLE,
    "gemini": gemini_hook_table.TABLE,
    "opencode": opencode_hook_table.TABLE,
    "copilot": copilot_hook_table.TABLE,
    "cursor": cursor_hook_table.TABLE,
}


def find_file(table: HookTable, places: Places) -> Path:
    """Return the file that names an agent's hooks."""
    if places.project is not None and table.project_folder:
        return places.project / table.project_folder / table.file
    return places.environment.find_config_folder(table.agent) / table.file


def is_wired(table: HookTable, places: Places) -> bool:
    """Return whether any of leftoff's hooks is in the agent's file."""
    path = find_file(table, places)
    if table.is_own_file:
        return path.is_file()
    try:
        values = settings_file.read_values(path, has_comments=table.has_comments)
    except (LeftoffError, OSError):
        return False
    return any(is_ours(each, places.hook, table.agent) for each in _list_commands(values))


def _list_commands(settings: Any) -> Iterator[object]:
    """Yield each event's commands, also those in groups, which most agents have."""
    hooks = settings.get("hooks") if isinstance(settings, dict) else None
    for entries in hooks.values() if isinstance(hooks, dict) else ():
        for entry in entries if isinstance(entries, list) else ():
            group = entry.get("hooks") if isinstance(entry, dict) else None
            for each in (entry, *(group if isinstance(group, list) else ())):
                yield each.get("command") if isinstance(each, dict) else None

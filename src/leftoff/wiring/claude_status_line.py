"""Add leftoff's line to Claude Code's status line, and remove it again."""

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from leftoff.errors import LeftoffError
from leftoff.wiring import foreign_files, json_edit, jsonc_edit, settings_file
from leftoff.wiring.foreign_files import FileChange
from leftoff.wiring.install_places import Places
from leftoff.wiring.settings_file import SettingsText

_KEY = "statusLine"
# Claude Code runs it after each message, but a save may end later.
_REFRESH_SECONDS = 10
_PROGRAM, _ARGUMENT = "leftoff", "statusline"
# An agent starts it in the project, whose files must not count as modules: hence `-P`.
_AS_MODULE = ("-P", "-m", _PROGRAM)


def can_offer(places: Places) -> bool:
    """Return whether Claude Code has no status line yet, and its settings can be read."""
    try:
        values = _read(places, []).values
    except (LeftoffError, OSError):
        return False
    return isinstance(values, dict) and _KEY not in values


def plan(places: Places, changes: Sequence[FileChange]) -> list[FileChange]:
    """Return the change that adds the line, to be made after the given ones."""
    now = _read(places, changes)
    if not isinstance(now.values, dict) or _KEY in now.values:
        return []
    line = {"type": "command", "command": find_command(), "refreshInterval": _REFRESH_SECONDS}
    text = jsonc_edit.put(now.text or "{}", (_KEY,), line)
    foreign_files.check_writable(places.settings)
    return [_change(places, changes, now.encode(text))]


def plan_removal(places: Places, changes: Sequence[FileChange]) -> list[FileChange]:
    """Return the change that removes the line, to be made after the given ones."""
    try:
        now = _read(places, changes)
    except LeftoffError:
        return []
    if not isinstance(now.values, dict) or not is_ours(now.values.get(_KEY)):
        return []
    text = json_edit.remove(now.text, (_KEY,))
    return [_change(places, changes, now.bom + text.encode())]


def find_command() -> str:
    """Return the command of the line; Claude Code runs it with the PATH of your shell."""
    beside = Path(sys.executable).parent / _PROGRAM
    if shutil.which(_PROGRAM):
        return f"{_PROGRAM} {_ARGUMENT}"
    program = [str(beside)] if os.access(beside, os.X_OK) else [sys.executable, *_AS_MODULE]
    return shlex.join([*program, _ARGUMENT])


def is_ours(entry: Any) -> bool:
    """Return whether a status line is as `init` writes it."""
    command = entry.get("command") if isinstance(entry, dict) else None
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return False
    is_program = len(words) == 2 and Path(words[0]).name == _PROGRAM
    # Earlier versions left out `-P`.
    is_module = words[1:-1] in ([*_AS_MODULE], [*_AS_MODULE[1:]])
    return words[-1:] == [_ARGUMENT] and (is_program or is_module)


def _read(places: Places, changes: Sequence[FileChange]) -> SettingsText:
    return settings_file.parse(_read_planned(places.settings, changes), places.settings)


def _read_planned(path: Path, changes: Sequence[FileChange]) -> bytes | None:
    """Return a file as it will be after these changes."""
    planned = [change for change in changes if change.path == path]
    return planned[-1].after if planned else foreign_files.read(path)


def _change(places: Places, changes: Sequence[FileChange], after: bytes) -> FileChange:
    return FileChange(
        path=places.settings,
        what="the status line of Claude Code",
        before=_read_planned(places.settings, changes),
        after=after,
        is_foreign=True,
    )

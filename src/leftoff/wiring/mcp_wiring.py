"""Register leftoff's MCP server with agents, remove it again, and check it for `leftoff doctor`."""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from leftoff.errors import LeftoffError
from leftoff.wiring import backups, foreign_files, mcp_entries
from leftoff.wiring.findings import DoctorFinding, World, fault, ok
from leftoff.wiring.foreign_files import FileChange
from leftoff.wiring.install_places import Places

_ARGUMENT = "mcp"
_BOM = b"\xef\xbb\xbf"
_PROGRAM = "leftoff"
# An agent starts it in the project, whose files must not count as modules: hence `-P`.
_AS_MODULE = ("-P", "-m", _PROGRAM)


def find_command() -> list[str]:
    """Return the command that starts the server, with an absolute path.

    Agents start servers with a PATH of their own, which may lack the folder of leftoff.
    """
    beside = Path(sys.executable).parent / _PROGRAM
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which(_PROGRAM)
    program = [os.path.abspath(found)] if found else [sys.executable, *_AS_MODULE]  # noqa: PTH100 - a link to it stays one
    return [*program, _ARGUMENT]


def plan(
    places: Places, agents: Iterable[str], changes: Sequence[FileChange], *, is_wanted: bool
) -> list[FileChange]:
    """Return the changes that register the server, to be made after the given ones.

    If it is not wanted, only an entry that leftoff made before is brought up to date.
    """
    command = find_command()
    made = []
    for agent in agents:
        path = mcp_entries.find_file(places.environment, agent)
        before = _read_planned(path, changes)
        if not is_wanted and not (before and _has_ours(agent, path, before)):
            continue
        text = mcp_entries.add_entry(agent, _decode(path, before), command)
        after = _encode(text, before)
        if after != (before or b""):
            foreign_files.check_writable(path)
            made.append(_change(path, before, after))
    return made


def plan_removal(
    places: Places, known: Sequence[Path], changes: Sequence[FileChange]
) -> list[FileChange]:
    """Return the changes that remove the server, to be made after the given ones.

    `known` are files that leftoff ever changed: an agent's folder may have been elsewhere.
    """
    made: list[FileChange] = []
    for agent, path in _list_files(places, known):
        before = _read_planned(path, [*changes, *made])
        if before is None or not _has_ours(agent, path, before):
            continue
        foreign_files.check_writable(path)
        was = backups.original(places.state, path, before)
        if was is not None and not (was.data and _has_ours(agent, path, was.data)):
            made.append(_change(path, before, was.data))
            continue
        text = mcp_entries.remove_entry(agent, _decode(path, before))
        made.append(_change(path, before, _encode(text, before)))
    return made


def _list_files(places: Places, known: Sequence[Path]) -> list[tuple[str, Path]]:
    """List the files in which each agent may name the server."""
    files = {agent: mcp_entries.find_file(places.environment, agent) for agent in mcp_entries.FILES}
    found = [*files.items()]
    found += [
        (agent, path)
        for agent, own in files.items()
        for path in known
        # opencode reads two files, which differ in their last letter.
        if path.name.removesuffix("c") == own.name.removesuffix("c")
    ]
    return [*dict.fromkeys(found)]


def inspect(world: World) -> Iterator[DoctorFinding]:
    """Check that each registered server can be started."""
    for agent in mcp_entries.FILES:
        path = mcp_entries.find_file(world.places.environment, agent)
        data = foreign_files.read(path)
        try:
            entry = mcp_entries.read_entry(agent, _decode(path, data)) if data else None
        except LeftoffError:
            # The agent reports a broken file of its own.
            continue
        words = _read_command(entry)
        if not words:
            continue
        if shutil.which(words[0]):
            yield ok(agent, f"leftoff's MCP server is registered in {path}")
        else:
            yield fault(
                agent,
                f"{path} starts an MCP server that does not exist: {words[0]}",
                why="Another installation of leftoff registered it.",
                do="Run `leftoff init --mcp`.",
            )


def _read_planned(path: Path, changes: Sequence[FileChange]) -> bytes | None:
    """Return a file as it will be after these changes."""
    planned = [change for change in changes if change.path == path]
    return planned[-1].after if planned else foreign_files.read(path)


def _decode(path: Path, data: bytes | None) -> str:
    try:
        return (data or b"").removeprefix(_BOM).decode()
    except UnicodeDecodeError as error:
        raise LeftoffError(
            f"{path} is not UTF-8, so nothing was changed", hint="Fix the file, then try again."
        ) from error


def _encode(text: str, before: bytes | None) -> bytes:
    """Return a file's content; it keeps the mark that some editors put at its beginning."""
    bom = _BOM if before is not None and before.startswith(_BOM) else b""
    return bom + text.encode()


def _has_ours(agent: str, path: Path, data: bytes) -> bool:
    try:
        return _is_ours(mcp_entries.read_entry(agent, _decode(path, data)))
    except LeftoffError:
        return False


def _is_ours(entry: dict[str, Any] | None) -> bool:
    """Return whether an entry is as `init` writes it: an absolute path, and one argument."""
    words = _read_command(entry)
    # Earlier versions left out `-P`.
    if words[1:] in ([*_AS_MODULE, _ARGUMENT], [*_AS_MODULE[1:], _ARGUMENT]):
        return True
    return words[1:] == [_ARGUMENT] and words[0].startswith("/") and Path(words[0]).name == _PROGRAM


def _read_command(entry: dict[str, Any] | None) -> list[str]:
    """Return the words of an entry's command, which opencode keeps in one list."""
    program, arguments = (entry or {}).get("command"), (entry or {}).get("args")
    words = program if isinstance(program, list) else [program, *_list(arguments)]
    return [*words] if words and all(isinstance(word, str) for word in words) else []


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _change(path: Path, before: bytes | None, after: bytes | None) -> FileChange:
    return FileChange(
        path=path, what="leftoff's MCP server", before=before, after=after, is_foreign=True
    )

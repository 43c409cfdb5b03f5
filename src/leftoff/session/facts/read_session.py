"""Read a session's transcript, only the new part, and those of its sub-agents."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from leftoff.agents import registry
from leftoff.agents.agent import LineReader
from leftoff.agents.json_lines import ReadCursor, Reading, still_matches
from leftoff.redact import redact, redact_value
from leftoff.session.facts.fold import Fold
from leftoff.session.facts.fold_state import FoldState

Progress = Callable[[int], None]

_MOST_CHILDREN = 100


class Memory(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How far a file was read, and the state after that."""

    cursor: ReadCursor = ReadCursor()
    reader: dict[str, Any] = {}
    state: FoldState = msgspec.field(default_factory=FoldState)


class SessionMemory(Memory, frozen=True, kw_only=True, omit_defaults=True):
    """What is kept of a session between readings."""

    agent: str
    path: str
    children: dict[str, Memory] = {}
    """The sub-agents' transcripts, by file name."""


def read_session(
    path: Path,
    *,
    agent: str | None = None,
    memory: SessionMemory | None = None,
    progress: Progress | None = None,
    session_id: str = "",
) -> SessionMemory:
    """Read the new part of a session, or all of it if it is not the one remembered."""
    name, layout = registry.identify(path, agent)
    if layout == "document":
        return _read_document(path, name, session_id, memory)
    if memory is None or memory.agent != name or not still_matches(path, memory.cursor):
        memory = SessionMemory(agent=name, path=str(path))
    read = _read_lines(path, name, memory, progress)
    children = _read_children(path, name, memory.children)
    read.state.agents_files = _list_edited_paths(children)
    return SessionMemory(
        agent=name,
        path=str(path),
        cursor=read.cursor,
        reader=read.reader,
        state=read.state,
        children=children,
    )


def place_session(memory: SessionMemory, folder: str) -> SessionMemory:
    """Return a session that works in a folder, if its transcript does not say where it works.

    Cursor's transcripts may name files only by their whole paths.
    """
    if memory.state.roots or not folder:
        return memory
    state = msgspec.structs.replace(memory.state, cwd=folder, roots=[folder])
    return msgspec.structs.replace(memory, state=state)


def _read_document(
    path: Path, name: str, session_id: str, memory: SessionMemory | None
) -> SessionMemory:
    """Read a whole document, unless it has not changed."""
    cursor = _document_cursor(path)
    if memory is not None and (memory.agent, memory.path) == (name, str(path)):
        is_same = memory.cursor == cursor and session_id in {"", memory.state.session_id}
        if is_same:
            return memory
    fold = Fold()
    fold.add(registry.AGENTS[name].read_document(path, session_id))
    return SessionMemory(agent=name, path=str(path), cursor=cursor, state=fold.export(redact))


def _document_cursor(path: Path) -> ReadCursor:
    """Return a cursor that changes with the document; a database also changes in its log file."""
    found = [_identity(each) for each in (path, path.with_name(f"{path.name}-wal"))]
    return ReadCursor(offset=found[0][0], inode=found[0][1], head=str(found))


def _identity(path: Path) -> tuple[int, int, int]:
    try:
        stat = path.stat()
    except OSError:
        return 0, 0, 0
    return stat.st_size, stat.st_ino, stat.st_mtime_ns


def _read_lines(path: Path, name: str, memory: Memory, progress: Progress | None = None) -> Memory:
    reader = _reader(name, memory)
    reading = Reading(path, memory.cursor, reader)
    fold = Fold(memory.state)
    for events in reading.batches(progress):
        fold.add(events)
    # Readers hold back commands and prompts that have not ended yet.
    kept = redact_value(reader.state)
    return Memory(cursor=reading.cursor, reader=kept, state=fold.export(redact))


def _reader(name: str, memory: Memory) -> LineReader:
    # A copy, so that the remembered state is unchanged if reading fails midway.
    state: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(memory.reader))
    return registry.AGENTS[name].new_reader(state)


def _read_children(path: Path, name: str, known: dict[str, Memory]) -> dict[str, Memory]:
    # Most sessions have no sub-agents, and no folder of that name.
    if not path.with_suffix("").is_dir():
        return known
    children: dict[str, Memory] = {}
    for child in sorted(registry.AGENTS[name].sub_sessions(path))[:_MOST_CHILDREN]:
        memory = known.get(child.name, Memory())
        if not still_matches(child, memory.cursor):
            memory = Memory()
        try:
            read = _read_lines(child, name, memory)
        except OSError:
            continue
        children[child.name] = msgspec.structs.replace(read, state=_only_edits(read.state))
    return {**known, **children}


def _only_edits(state: FoldState) -> FoldState:
    """Reduce a sub-agent's state to the files it changed; nothing else is used."""
    edited = {path: use for path, use in state.files.items() if use.edits}
    return FoldState(calls=state.calls, cwd=state.cwd, open=state.open, files=edited)


def _list_edited_paths(children: dict[str, Memory]) -> list[str]:
    return sorted({path for child in children.values() for path in child.state.files})

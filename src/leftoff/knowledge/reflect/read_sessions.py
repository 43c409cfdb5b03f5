"""Read sessions, each from where the last reflection stopped."""

from pathlib import Path
from typing import Any

import msgspec

from leftoff.agents import registry
from leftoff.agents.agent import FoundSession
from leftoff.agents.json_lines import ReadCursor, Reading, still_matches
from leftoff.errors import SessionUnreadable
from leftoff.knowledge.reflect.harvest import Correction, Harvest, HarvestContext
from leftoff.redact import redact_value
from leftoff.store import Store


class SessionSource(msgspec.Struct, frozen=True, kw_only=True):
    """A session to learn from."""

    agent: str
    session_id: str
    path: Path
    touched_at: float = 0.0


class ReflectionMark(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How far a session was reflected on; if this is lost, the session is read again."""

    path: str = ""
    cursor: ReadCursor = ReadCursor()
    reader: dict[str, Any] = {}
    context: HarvestContext = HarvestContext()


class SessionCorrections(msgspec.Struct, frozen=True, kw_only=True):
    """The new corrections in a session, and the mark to store once they are safe."""

    source: SessionSource
    corrections: list[Correction]
    mark: ReflectionMark


_decoder = msgspec.json.Decoder(ReflectionMark)
# Stored beside the state that hooks keep for the same session.
_KEPT_AS = "reflected-{agent}"


def sources(store: Store) -> list[SessionSource]:
    """List the sessions of the project on this machine, newest first."""
    found = [_build_source(name, each) for name, each in registry.sessions_of(store.project)]
    return sorted(found, key=lambda each: each.touched_at, reverse=True)


def find_source(store: Store, key: str) -> SessionSource:
    """Return the session with this id, id prefix or file."""
    known = sources(store)
    path = (
        store.project.environment.home / key[2:] if key.startswith("~/") else Path(key).absolute()
    )
    if path.is_file():
        agent = registry.identify(path)[0]
        here = [each for each in known if each.path == path]
        return here[0] if here else SessionSource(agent=agent, session_id=path.stem, path=path)
    matches = [each for each in known if each.session_id.startswith(key)]
    exact = [each for each in matches if each.session_id == key] or matches
    if len(exact) == 1:
        return exact[0]
    raise SessionUnreadable(
        f"Several sessions begin with {key}" if exact else f"There is no session {key}",
        hint="`leftoff sessions` lists those of this project; a path to a file works too.",
    )


def read_corrections(store: Store, source: SessionSource) -> SessionCorrections:
    """Read what is new in a session and find the corrections in it."""
    mark = _mark(store, source)
    agent, layout = registry.identify(source.path, source.agent)
    if layout == "document":
        return _read_document(source, mark)
    if not still_matches(source.path, mark.cursor):
        mark = ReflectionMark()
    reader = registry.AGENTS[agent].new_reader(dict(mark.reader))
    reading = Reading(source.path, mark.cursor, reader)
    harvest = Harvest(mark.context)
    for events in reading.batches():
        harvest.add(events)
    return _build_corrections(source, harvest, reading.cursor, reader.state)


def _read_document(source: SessionSource, mark: ReflectionMark) -> SessionCorrections:
    """Read a document whole if it changed, and skip the messages judged before."""
    cursor = _identify(source.path)
    if cursor == mark.cursor:
        return SessionCorrections(source=source, corrections=[], mark=mark)
    events = list(registry.AGENTS[source.agent].read_document(source.path, source.session_id))
    harvest = Harvest(HarvestContext(), skip=mark.context.judged)
    harvest.add(events)
    if harvest.context.judged < mark.context.judged:
        # It was rewritten; repeated corrections are recognized later.
        harvest = Harvest(HarvestContext())
        harvest.add(events)
    return _build_corrections(source, harvest, cursor, {})


def _build_corrections(
    source: SessionSource, harvest: Harvest, cursor: ReadCursor, reader: dict[str, Any]
) -> SessionCorrections:
    mark = ReflectionMark(
        path=str(source.path), cursor=cursor, reader=reader, context=harvest.context
    )
    return SessionCorrections(
        source=source,
        corrections=redact_value(harvest.corrections),
        mark=redact_value(mark),
    )


def keep_mark(store: Store, found: SessionCorrections) -> None:
    """Store how far a session was reflected on."""
    if found.mark != _mark(store, found.source):
        kept_as = _KEPT_AS.format(agent=found.source.agent)
        store.keep_session(kept_as, found.source.session_id, msgspec.json.encode(found.mark))


def _mark(store: Store, source: SessionSource) -> ReflectionMark:
    data = store.read_session(_KEPT_AS.format(agent=source.agent), source.session_id)
    try:
        mark = _decoder.decode(data) if data is not None else ReflectionMark()
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return ReflectionMark()
    # A mark for another file of the same session says nothing about this one.
    return mark if mark.path in {"", str(source.path)} else ReflectionMark()


def _build_source(agent: str, found: FoundSession) -> SessionSource:
    return SessionSource(
        agent=agent,
        session_id=found.session_id,
        path=found.path,
        touched_at=found.touched_at,
    )


def _identify(path: Path) -> ReadCursor:
    """Identify one version of a document; a database also changes in the log beside it."""
    found = []
    for each in (path, path.with_name(f"{path.name}-wal")):
        stat = each.stat() if each.exists() else None
        found.append((stat.st_size, stat.st_ino, stat.st_mtime_ns) if stat else None)
    return ReadCursor(head=str(found))

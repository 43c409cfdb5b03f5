"""Read recorded and hand-made sessions in tests."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from leftoff.agents.agent import Agent
from leftoff.agents.json_lines import ReadCursor, Reading
from leftoff.agents.stream import SessionEvent

RECORDED = Path(__file__).parent / "agents" / "recorded"

E = TypeVar("E", bound=SessionEvent)


def read_file(agent: Agent, path: Path) -> list[SessionEvent]:
    """Read a whole session file as the program does."""
    if agent.recognises(path.read_bytes()[:65536], path) == "document":
        return list(agent.read_document(path, ""))
    reading = Reading(path, ReadCursor(), agent.new_reader({}))
    return [event for batch in reading.batches() for event in batch]


def feed(agent: Agent, records: Iterable[dict[str, Any]]) -> list[SessionEvent]:
    """Feed hand-made lines to a fresh reader."""
    reader = agent.new_reader({})
    return [event for record in records for event in reader.feed(json.dumps(record).encode())]


def only(events: Iterable[SessionEvent], kind: type[E]) -> list[E]:
    """Pick the events of one kind."""
    return [event for event in events if isinstance(event, kind)]

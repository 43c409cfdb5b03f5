"""Reading recorded and hand-made sessions in tests."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from leftoff.agents.base import Agent
from leftoff.agents.lines import Cursor, Reading
from leftoff.agents.stream import Event

RECORDED = Path(__file__).parent / "agents" / "recorded"

E = TypeVar("E", bound=Event)


def read_file(agent: Agent, path: Path) -> list[Event]:
    """Read a whole session file as the program does."""
    if agent.recognises(path.read_bytes()[:65536], path) == "document":
        return list(agent.read_document(path, ""))
    reading = Reading(path, Cursor(), agent.new_reader({}))
    return [event for batch in reading.batches() for event in batch]


def feed(agent: Agent, records: Iterable[dict[str, Any]]) -> list[Event]:
    """Feed hand-made lines to a fresh reader."""
    reader = agent.new_reader({})
    return [event for record in records for event in reader.feed(json.dumps(record).encode())]


def only(events: Iterable[Event], kind: type[E]) -> list[E]:
    """Pick the events of one kind."""
    return [event for event in events if isinstance(event, kind)]

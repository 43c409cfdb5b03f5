"""Read and write boards and loops as JSON, keeping unknown keys at every level."""

from typing import Any, TypeVar

import msgspec

from leftoff.checkpoint import Record, to_plain
from leftoff.knowledge.features.board import (
    AgentResult,
    Attempt,
    Board,
    Choice,
    Feature,
    Fix,
    Interrupted,
    Loop,
    Orchestration,
    Scenario,
    Tasks,
    Team,
)

RecordType = TypeVar("RecordType", bound=Record)

# The record type of each key that holds one record, or a list of them.
_PARTS: dict[type[Record], dict[str, type[Record]]] = {
    Board: {"features": Feature, "fixes": Fix, "orchestration": Orchestration},
    Feature: {"scenarios": Scenario},
    Fix: {"scenarios": Scenario},
    Orchestration: {"results": AgentResult, "team": Team, "decisions": Choice},
    Team: {"mates": AgentResult},
    Loop: {"history": Attempt, "tasks": Tasks, "interrupted": Interrupted},
}
_EXTRA = msgspec.structs.fields(Record)[0].encode_name


def from_plain(plain: object, record: type[RecordType]) -> RecordType:
    """Turn decoded JSON into a record, checking every known key."""
    return msgspec.convert(_split(plain, record), record, strict=True)


def decode(data: bytes, record: type[RecordType]) -> RecordType:
    """Read a record's JSON."""
    return from_plain(msgspec.json.decode(data), record)


def encode(record: Record) -> bytes:
    """Write a record as indented JSON, with one newline at the end."""
    return msgspec.json.format(msgspec.json.encode(to_plain(record)), indent=1) + b"\n"


def _split(plain: object, record: type[Record]) -> object:
    if not isinstance(plain, dict):
        return plain
    parts = _PARTS.get(record, {})
    known = {*record.__struct_fields__} - {"extra"}
    extra: dict[str, Any] = {key: value for key, value in plain.items() if key not in known}
    values = {
        key: _split_part(value, parts.get(key)) for key, value in plain.items() if key in known
    }
    return {**values, _EXTRA: extra} if extra else values


def _split_part(value: object, part: type[Record] | None) -> object:
    if part is None:
        return value
    if isinstance(value, list):
        return [_split(each, part) for each in value]
    return _split(value, part)

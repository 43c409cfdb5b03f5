"""Reading a session continues past torn, garbled or unknown lines."""

import json
import random
import sqlite3
from contextlib import closing
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leftoff.agents.opencode import opencode_agent
from leftoff.agents.registry import AGENTS
from leftoff.errors import SessionUnreadable
from recordings import RECORDED, read_file

LINES = sorted(
    (path.parent.name, path)
    for name in ("codex", "copilot", "cursor", "gemini")
    for path in (RECORDED / name).glob("*.jsonl")
)
NAMES = [f"{name}-{path.stem}" for name, path in LINES]
SAME_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=8,
)


@pytest.mark.parametrize(("name", "path"), LINES, ids=NAMES)
def test_each_recording_is_recognised_by_its_own_agent_alone(name: str, path: Path) -> None:
    head = path.read_bytes()[:65536]

    assert [known for known, agent in AGENTS.items() if agent.recognises(head, path)] == [name]


@pytest.mark.parametrize(("name", "path"), LINES, ids=NAMES)
def test_a_recording_is_recognised_without_its_first_line(name: str, path: Path) -> None:
    rest = b"{torn\n" + path.read_bytes().split(b"\n", 1)[1]

    if name != "gemini":  # Without a first line its lines look like a torn document.
        assert AGENTS[name].recognises(rest[:65536], path) == "lines"


def test_other_json_is_not_a_session() -> None:
    for text in (
        "",
        "{}",
        "[]",
        "null",
        '{"messages": []}',
        '{"type":"session.created"}',
        "x" * 99,
    ):
        head = text.encode()
        assert [name for name, agent in AGENTS.items() if agent.recognises(head, Path("x"))] == []


@pytest.mark.parametrize(("name", "path"), LINES, ids=NAMES)
def test_any_part_of_a_line_is_refused_and_leaves_no_trace(name: str, path: Path) -> None:
    reader = AGENTS[name].new_reader({})
    for line in path.read_bytes().splitlines():
        before = deepcopy(reader.state)
        for end in range(1, len(line)):
            with pytest.raises(ValueError):  # noqa: PT011
                reader.feed(line[:end])
        assert reader.state == before
        reader.feed(line)


@pytest.mark.parametrize(("name", "path"), LINES, ids=NAMES)
@SAME_FOLDER
@given(data=st.data())
def test_one_wrong_byte_costs_at_most_its_own_line(
    name: str, path: Path, tmp_path: Path, data: st.DataObject
) -> None:
    whole = path.read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    broken = whole[:at] + bytes([data.draw(st.integers(0, 255))]) + whole[at + 1 :]
    file = tmp_path / path.name
    file.write_bytes(broken)
    reader = AGENTS[name].new_reader({})
    lines = [len(reader.feed(line)) for line in whole.splitlines()]

    left = len(read_file(_Lines(AGENTS[name]), file))

    # A line may also be needed to understand another: the call of a result, the text of a todo.
    assert left >= sum(lines) - 2 * max(lines) - 2


@pytest.mark.slow("tries many records")
@pytest.mark.parametrize("name", sorted({name for name, _ in LINES}))
@given(record=st.dictionaries(st.text(max_size=9), JSON_VALUES, max_size=4))
def test_an_unknown_shape_is_not_a_crash(name: str, record: dict[str, Any]) -> None:
    known = {"type": "response_item", "payload": record, "data": record, "message": record}
    for line in (record, {**known, **record}, {"id": "1", "type": "gemini", **record}):
        reader = AGENTS[name].new_reader({})
        try:
            reader.feed(json.dumps(line).encode())
        except ValueError:
            continue


@pytest.mark.parametrize(("name", "path"), LINES, ids=NAMES)
def test_any_value_may_be_replaced_by_any_other(name: str, path: Path) -> None:
    records = [json.loads(line) for line in path.read_bytes().splitlines()]
    for value in (None, 0, "x", [], {}, [None], {"x": None}, [[1]], [{"type": 1}]):
        for record in records:
            for changed in _replaced(record, value):
                try:
                    AGENTS[name].new_reader({}).feed(json.dumps(changed).encode())
                except ValueError:
                    continue


def test_every_prefix_of_a_document_can_be_read(tmp_path: Path) -> None:
    message = {"id": "1", "type": "user", "content": "fix it"}
    part = {"type": "text", "text": "fix it"}
    export = {"info": {"role": "user", "sessionID": "ses_1"}, "parts": [part]}
    for name, document in (
        ("gemini", {"sessionId": "s", "projectHash": "h", "messages": [message] * 2}),
        ("opencode", {"info": {"id": "ses_1"}, "messages": [export] * 2}),
    ):
        whole = json.dumps(document, indent=1).encode()
        file = tmp_path / f"{name}.json"
        for end in range(len(whole) + 1):
            file.write_bytes(whole[:end])
            list(AGENTS[name].read_document(file, ""))


@SAME_FOLDER
@given(data=st.data())
def test_a_damaged_document_can_be_read(tmp_path: Path, data: st.DataObject) -> None:
    path = RECORDED / "gemini" / "session.jsonl"
    messages = [json.loads(line) for line in path.read_bytes().splitlines()]
    whole = json.dumps({"sessionId": "s", "projectHash": "h", "messages": messages}).encode()
    at = data.draw(st.integers(0, len(whole) - 1))
    file = tmp_path / "session.json"
    file.write_bytes(whole[:at] + bytes([data.draw(st.integers(0, 255))]) + whole[at + 1 :])

    list(AGENTS["gemini"].read_document(file, ""))


def test_a_damaged_database_is_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript((RECORDED / "opencode" / "schema.sql").read_text(encoding="utf-8"))
        dump = json.loads((RECORDED / "opencode" / "dump.json").read_text(encoding="utf-8"))
        for table, rows in dump.items():
            for row in rows:
                marks = ", ".join("?" * len(row))
                names = ", ".join(row)
                query = f"INSERT INTO {table} ({names}) VALUES ({marks})"  # noqa: S608
                database.execute(query, list(row.values()))
        database.commit()
    whole = path.read_bytes()
    chance = random.Random(7)  # noqa: S311
    for _ in range(300):
        broken = bytearray(whole)
        for _ in range(chance.choice((1, 8, 64))):
            broken[chance.randrange(16, len(broken))] = chance.randrange(256)
        path.write_bytes(bytes(broken[: chance.choice((len(broken), 5000, 40000))]))
        try:
            list(opencode_agent.read_document(path, ""))
        except SessionUnreadable:
            continue


class _Lines:
    """An agent that takes every file for lines, as the caller does once it has begun one."""

    def __init__(self, agent: Any) -> None:
        self.new_reader = agent.new_reader
        self.read_document = agent.read_document
        self.find_sessions = agent.find_sessions
        self.is_running = agent.is_running
        self.sub_sessions = agent.sub_sessions

    def recognises(self, head: bytes, path: Path) -> None:
        """Leave the layout open."""


def _replaced(record: Any, value: Any) -> list[Any]:
    """List copies of a record, each with another one of its values replaced."""
    if isinstance(record, dict):
        pairs = list(record.items())
    elif isinstance(record, list):
        pairs = list(enumerate(record))
    else:
        return []
    found = []
    for key, inner in pairs:
        for changed in (value, *_replaced(inner, value)):
            copy = record.copy()
            copy[key] = changed
            found.append(copy)
    return found

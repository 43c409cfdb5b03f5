"""A session is read line by line, and only what is new, in whatever state the file is."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.agents import json_lines
from leftoff.agents.json_lines import ReadCursor, Reading, still_matches
from leftoff.agents.stream import SessionEvent, UserText


class _Said(msgspec.Struct):
    say: str = ""


class EchoReader:
    """Says what each line says."""

    def __init__(self) -> None:
        self.state: dict[str, Any] = {}

    def feed(self, line: bytes) -> Sequence[SessionEvent]:
        said = msgspec.json.decode(line, type=_Said).say
        return (UserText(text=said),) if said else ()


def read(path: Path, cursor: ReadCursor | None = None) -> tuple[list[str], ReadCursor]:
    reading = Reading(path, cursor or ReadCursor(), EchoReader())
    said = [
        event.text for batch in reading.batches() for event in batch if isinstance(event, UserText)
    ]
    return said, reading.cursor


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


def test_a_torn_last_line_waits_for_its_other_half(path: Path) -> None:
    path.write_bytes(b'{"say":"one"}\n{"say":"tw')
    said, cursor = read(path)
    assert said == ["one"]

    path.write_bytes(b'{"say":"one"}\n{"say":"two"}\n')
    assert read(path, cursor)[0] == ["two"]


def test_a_whole_last_line_without_newline_is_read_at_once_and_only_once(path: Path) -> None:
    path.write_bytes(b'{"say":"one"}')
    said, cursor = read(path)
    assert said == ["one"]

    path.write_bytes(b'{"say":"one"}\n{"say":"two"}\n')
    assert read(path, cursor)[0] == ["two"]


def test_an_entry_glued_to_a_last_line_read_before_is_read(path: Path) -> None:
    path.write_bytes(b'{"say":"one"}')
    cursor = read(path)[1]

    path.write_bytes(b'{"say":"one"}{"say":"two"}\n')
    assert read(path, cursor)[0] == ["two"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"say":"a"}{"say":"b"}', ["a", "b"]),
        (b'{"say":"a"} {"say":"b"} {"say":"c"}', ["a", "b", "c"]),
        (b'{"say":"caf\xff\xe9"}', ["caf\ufffd\ufffd"]),
        (b'{"say":"a\x00b"}', ["a b"]),
        (b'\x00\x00\x00{"say":"after a crash"}', ["after a crash"]),
        (b'{"say":"half \\ud83d pair"}', ["half \ufffd pair"]),
        (b'{"say":"whole \\ud83d\\ude00 pair"}', ["whole \U0001f600 pair"]),
        (b'\xef\xbb\xbf{"say":"with a mark"}', ["with a mark"]),
        (b'{"say":"windows"}\r', ["windows"]),
        (b'{"type":"x","text":"torn{"type":"y","say":"kept"}', ["kept"]),
        (b'{"other":1}', []),
        (b"   ", []),
        (b"", []),
    ],
)
def test_what_can_be_read_of_a_damaged_line_is_read(
    path: Path, line: bytes, said: list[str]
) -> None:
    path.write_bytes(b'{"say":"before"}\n' + line + b'\n{"say":"after"}\n')

    assert read(path)[0] == ["before", *said, "after"]


@pytest.mark.parametrize(
    "line",
    [b"not json", b"[1, 2]", b'{"say":7}', b'{"a":' + b"[" * 100_000, b'{"say":"no end'],
)
def test_a_line_that_cannot_be_read_is_counted_and_skipped(path: Path, line: bytes) -> None:
    path.write_bytes(line + b'\n{"say":"after"}\n')

    said, cursor = read(path)

    assert said == ["after"]
    assert cursor.skipped == 1


def test_a_line_of_two_megabytes_is_read_whole(path: Path) -> None:
    text = "x" * (2 << 20)
    path.write_bytes(msgspec.json.encode({"say": text}) + b'\n{"say":"after"}\n')

    assert read(path)[0] == [text, "after"]


def test_a_line_beyond_any_sense_is_dropped_and_its_length_counted(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_lines, "LONGEST_LINE", 64)
    path.write_bytes(b'{"say":"' + b"x" * 1000 + b'"}\n{"say":"after"}\n')

    said, cursor = read(path)

    assert said == ["after"]
    assert cursor.offset == path.stat().st_size
    assert (cursor.lines, cursor.skipped) == (2, 1)


def test_only_the_bytes_after_the_cursor_are_read(path: Path) -> None:
    path.write_bytes(b'{"say":"one"}\n')
    cursor = read(path)[1]
    with path.open("ab") as file:
        file.write(b'{"say":"two"}\n')

    assert still_matches(path, cursor)
    assert read(path, cursor)[0] == ["two"]
    assert read(path, cursor)[1].lines == 2


@pytest.mark.parametrize(
    "after",
    [
        b'{"say":"ONE"}\n{"say":"two"}\n',
        b'{"say":"one"}\n{"say":"fork"}\n{"say":"three"}\n',
        b'{"say":"one"}\n',
        b"",
    ],
    ids=["rewritten", "forked", "truncated", "emptied"],
)
def test_a_file_that_changed_before_the_cursor_no_longer_matches_it(
    path: Path, after: bytes
) -> None:
    path.write_bytes(b'{"say":"one"}\n{"say":"two"}\n')
    cursor = read(path)[1]
    path.write_bytes(after)

    assert not still_matches(path, cursor)


def test_a_file_that_is_gone_no_longer_matches_its_cursor(path: Path) -> None:
    path.write_bytes(b'{"say":"one"}\n')
    cursor = read(path)[1]
    path.unlink()

    assert not still_matches(path, cursor)


def test_progress_shows_how_many_bytes_were_read(path: Path) -> None:
    path.write_bytes(b'{"say":"one"}\n' * 100_000)
    counts: list[int] = []

    for _ in Reading(path, ReadCursor(), EchoReader()).batches(counts.append):
        pass

    assert counts == sorted(counts)
    assert counts[-1] == path.stat().st_size


TEXTS = st.lists(st.text(max_size=20), max_size=12)


@given(texts=TEXTS, cuts=st.lists(st.integers(0, 400), max_size=4))
def test_reading_in_steps_shows_the_same_as_reading_at_once(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], cuts: list[int]
) -> None:
    path = tmp_path_factory.mktemp("steps") / "session.jsonl"
    data = b"".join(msgspec.json.encode({"say": text}) + b"\n" for text in texts)
    said: list[str] = []
    cursor = ReadCursor()
    for cut in [*sorted(cuts), len(data)]:
        path.write_bytes(data[:cut])
        assert still_matches(path, cursor)
        new, cursor = read(path, cursor)
        said += new

    assert said == [text for text in texts if text]

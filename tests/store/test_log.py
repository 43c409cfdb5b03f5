"""Logs are read within bounds, whatever they contain."""

import tracemalloc
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leftoff.errors import StoreRefused
from leftoff.store import disk, log


class Note(msgspec.Struct):
    """A record of a log."""

    id: int
    text: str = ""


decode = msgspec.json.Decoder(Note).decode


def test_a_log_is_read_on_from_where_it_was_left(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    log.append(path, Note(id=1))
    first, offset = log.read(path, decode)
    log.append(path, Note(id=2), durable=False)

    assert [each.id for each in first] == [1]
    assert [each.id for each in log.read(path, decode, offset)[0]] == [2]
    assert log.read(tmp_path / "none", decode) == ([], 0)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(max_size=30).map(lambda b: b.replace(b"\n", b"")), max_size=5))
def test_lines_that_are_not_records_are_passed_over(tmp_path: Path, garbage: list[bytes]) -> None:
    path = tmp_path / "notes.jsonl"
    path.unlink(missing_ok=True)
    for number, line in enumerate(garbage):
        log.append(path, Note(id=number), durable=False)
        with path.open("ab") as file:
            file.write(line + b"\n")

    events, offset = log.read(path, decode)

    assert [each.id for each in events] == list(range(len(garbage)))
    assert offset == (path.stat().st_size if garbage else 0)


def test_a_torn_last_line_waits_until_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    log.append(path, Note(id=1), durable=False)
    whole = path.stat().st_size
    with path.open("ab") as file:
        file.write(b'{"id":2,"te')

    assert log.read(path, decode)[1] == whole
    with path.open("ab") as file:
        file.write(b'xt":"whole"}\n')
    assert [each.id for each in log.read(path, decode, whole)[0]] == [2]


def test_a_line_too_long_for_a_record_is_skipped_and_never_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "_CHUNK_BYTES", 256)
    monkeypatch.setattr(log, "_LONGEST_LINE_BYTES", 1024)
    path = tmp_path / "notes.jsonl"
    first, last = Note(id=1), Note(id=2)
    log.append(path, first, durable=False)
    with path.open("ab") as file:
        file.write(bytes(100_000) + b"\n")
    log.append(path, last, durable=False)
    whole = path.stat().st_size
    with path.open("ab") as file:
        file.write(bytes(100_000))
    limits: list[int] = []
    real = disk.read_from

    def read_from(file: Path, offset: int, *, limit: int) -> bytes:
        limits.append(limit)
        return real(file, offset, limit=limit)

    monkeypatch.setattr(disk, "read_from", read_from)

    assert log.read(path, decode) == ([first, last], whole)
    assert max(limits) == 1024


def test_a_deeply_nested_line_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_bytes(b'{"id":1,"more":' + b"[" * 100_000 + b"\n")
    log.append(path, Note(id=2))

    assert log.read(path, decode)[0] == [Note(id=2)]


def test_a_line_of_a_newer_version_is_skipped_and_not_counted(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_bytes(b'{"id":1}\n{"id":2}\n')

    def know_the_first(line: bytes) -> Note | None:
        note = decode(line)
        return note if note.id == 1 else None

    assert log.read(path, know_the_first)[0] == [Note(id=1)]
    assert log.count_skipped(path, know_the_first).count == 0


def test_skipped_lines_are_counted_and_only_the_first_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "_CHUNK_BYTES", 16)
    path = tmp_path / "notes.jsonl"
    path.write_bytes(b'{"id":1}\n\nodd\n' + b"odd\n" * 1000 + b'{"id":2}\ntorn')

    skipped = log.count_skipped(path, decode)

    assert (skipped.count, skipped.first) == (1001, [3, 4, 5, 6, 7])


def test_zeros_without_an_end_are_read_within_bounds(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    log.append(path, Note(id=1))
    with path.open("ab") as file:
        file.truncate(300_000_000)

    tracemalloc.start()
    try:
        assert log.read(path, decode)[0] == [Note(id=1)]
        assert tracemalloc.get_traced_memory()[1] < 200_000_000
    finally:
        tracemalloc.stop()


def test_a_log_that_is_a_link_is_refused_and_has_no_size(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b'{"id":1}\n')
    path = tmp_path / "notes.jsonl"
    path.symlink_to("elsewhere")

    assert log.identify(path) == (0, 0)
    assert log.find_news(path, None) is None
    assert log.count_skipped(path, decode).count == 0
    with pytest.raises(StoreRefused):
        log.read(path, decode)
    with pytest.raises(StoreRefused):
        log.append(path, Note(id=2))


def marked(path: Path) -> log.LogMark:
    """Return a mark at the end of a log."""
    inode, size = log.identify(path)
    return log.mark_at(path, inode, size)


def test_only_whole_lines_beyond_the_mark_are_news(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    _, end = log.append(path, Note(id=1))
    mark = marked(path)

    assert log.find_news(path, mark) is None
    with path.open("ab") as file:
        file.write(b'{"id":2')
    assert log.find_news(path, mark) is None
    with path.open("ab") as file:
        file.write(b"}\n")
    news = log.find_news(path, mark)
    assert news is not None
    assert (news.start, news.end, news.is_another) == (end, path.stat().st_size, False)


@pytest.mark.parametrize("how", ["shorter", "rewritten", "replaced", "removed"])
def test_another_log_in_its_place_is_detected(tmp_path: Path, how: str) -> None:
    path = tmp_path / "notes.jsonl"
    log.append(path, Note(id=1, text="one"))
    mark = marked(path)
    if how == "shorter":
        path.write_bytes(b'{"id":2}\n')
    elif how == "rewritten":
        path.write_bytes(path.read_bytes().replace(b"one", b"two") * 2)
    elif how == "replaced":
        (tmp_path / "other").write_bytes(path.read_bytes())
        (tmp_path / "other").replace(path)
    else:
        path.unlink()

    news = log.find_news(path, mark)

    assert news is not None
    assert (news.start, news.is_another) == (0, True)

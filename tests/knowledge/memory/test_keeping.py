"""The memory on disk is bounded and has no secrets, even if log, index or store are damaged."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from knowledge.memory.remembering import files_of, log_of, remember, texts
from leftoff.knowledge import memory
from leftoff.knowledge.memory import EntryDraft, NoSuchEntry
from leftoff.projects.project import Project
from leftoff.store import Store
from stores import NOON

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_no_secret_enters_in_any_field(store: Store) -> None:
    said = f"Use the token {SECRET}"
    memory.add(
        store,
        [
            EntryDraft(
                kind="decision",
                text=said,
                why=said,
                feature=said,
                alternatives=[said],
                impact=said,
                sources=[said],
                files=[said],
                extra={"note": said},
            )
        ],
    )
    [entry] = memory.entries(store)
    memory.change(store, entry.id, text=f"{said} now", why=said)

    assert all(SECRET.encode() not in path.read_bytes() for path in files_of(store.project))


def test_texts_and_lists_are_bounded_and_odd_bytes_are_marked(store: Store) -> None:
    odd = "x" * 5_000 + "\ud800"
    memory.add(store, [EntryDraft(kind="decision", text="\udc80 " + odd, sources=["s"] * 3)])
    memory.add(
        store,
        [EntryDraft(kind="rule", text="Many", sources=[f"s{number}" for number in range(500)])],
    )

    assert len(texts(store)[0]) == 1_000
    [rule] = memory.entries(store, kinds=["rule"])
    assert len(rule.sources) == 50
    assert memory.add(store, [EntryDraft(kind="rule", text="Many", sources=["one more"])]) == []


def test_asking_a_memory_that_is_empty_writes_nothing(project: Project) -> None:
    store = Store(project)

    assert memory.entries(store) == memory.search(store, "words") == []
    with pytest.raises(NoSuchEntry):
        memory.find(store, "abcdef")
    assert not project.store.exists()


def test_lines_that_cannot_be_read_are_passed_over(store: Store) -> None:
    remember(store, "Use SQLite")
    odd = [
        b"not json",
        b"[1, 2]",
        b'{"action": "dreamt", "id": "x"}',
        b'{"action": "said", "id": "x", "at": "2026-11-15T12:00:00Z", "kind": "hunch", "text": ""}',
        b'{"action": "changed", "id": "unknown", "at": "2026-11-15T12:00:00Z"}',
        b"\xff\xfe",
        b"[" * 100_000,
    ]
    for line in odd:
        store.append_line("memory", line)
    remember(store, "Use Postgres")

    assert texts(store) == ["Use Postgres", "Use SQLite"]


def test_a_torn_last_line_waits_and_is_closed_off_by_the_next(store: Store) -> None:
    remember(store, "Use SQLite")
    with log_of(store).open("ab") as log:
        log.write(b'{"action": "said", "id": "to')

    assert texts(store) == ["Use SQLite"]
    remember(store, "Use Postgres")
    assert texts(store) == ["Use Postgres", "Use SQLite"]


def test_the_index_may_go_at_any_moment(store: Store) -> None:
    remember(store, "Use SQLite")
    assert texts(store) == ["Use SQLite"]
    for damage in (Path.unlink, lambda path: os.truncate(path, 3000), _garble):
        damage(store.project.store / "memory.sqlite")
        assert texts(store) == ["Use SQLite"]


def _garble(path: Path) -> None:
    path.write_bytes(b"\xff" * path.stat().st_size)


def test_another_log_in_place_of_the_known_one_is_read_anew(store: Store) -> None:
    remember(store, "Use SQLite")
    assert texts(store) == ["Use SQLite"]
    line = log_of(store).read_bytes().replace(b"Use SQLite", b"Use Postgres")
    log_of(store).unlink()
    assert memory.entries(store) == []

    log_of(store).write_bytes(line)

    assert texts(store) == ["Use Postgres"]
    assert memory.add(store, [EntryDraft(kind="decision", text="Use SQLite 4")]) != []


def test_a_memory_in_the_fallback_is_seen_and_imported(project: Project) -> None:
    store = Store(project)
    remember(store, "Before")
    with _blocked(project):
        [entry] = remember(store, "Meanwhile")
        remember(store, "Before")
        assert texts(store)[-1] == "Meanwhile"
        memory.change(store, entry.id, why="The disk was read-only")
    assert "Meanwhile" in texts(store)

    remember(store, "After")

    assert sorted(texts(store)) == ["After", "Before", "Meanwhile"]
    assert memory.find(store, entry.id).why == "The disk was read-only"
    assert b"Meanwhile" in log_of(store).read_bytes()


@contextlib.contextmanager
def _blocked(project: Project) -> Iterator[None]:
    aside = project.store.with_name("aside")
    project.store.rename(aside)
    project.store.write_text("in the way", encoding="utf-8")
    yield
    project.store.unlink()
    aside.rename(project.store)


def test_the_time_of_an_entry_is_the_stores_clock(store: Store) -> None:
    [entry] = remember(store, "Use SQLite")

    assert abs((entry.at - NOON).total_seconds()) < 60
    assert msgspec.json.decode(log_of(store).read_bytes())["action"] == "said"

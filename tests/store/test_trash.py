"""The trash never destroys what was moved to it."""

import errno
import os
import tracemalloc
from pathlib import Path

import pytest

from leftoff.store import disk, trash
from stores import NOON


def test_a_file_that_was_moved_is_kept_though_the_disk_then_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store"
    disk.ensure_folder(store)
    notes = tmp_path / "notes.md"
    notes.write_text("port 8081")
    real = disk.sync_folder

    def fail(folder: Path) -> None:
        if folder.parent.name == "trash":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(folder)

    monkeypatch.setattr(disk, "sync_folder", fail)

    with pytest.raises(OSError, match="Input/output"):
        trash.put(store, notes, NOON)

    (kept,) = (store / "trash").rglob("*.md")
    assert kept.read_text() == "port 8081"
    assert [each.path for each in trash.list_files(store)] == [str(kept)]


def test_a_file_that_cannot_be_moved_leaves_nothing_in_the_trash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store"
    disk.ensure_folder(store)
    notes = tmp_path / "notes.md"
    notes.write_text("port 8081")

    def fail(_: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))

    monkeypatch.setattr(Path, "replace", fail)

    with pytest.raises(OSError, match="No space left"):
        trash.put(store, notes, NOON)

    assert notes.read_text() == "port 8081"
    assert [*(store / "trash").rglob("*.md")] == []


def test_a_damaged_log_of_any_size_is_read_within_bounds(tmp_path: Path) -> None:
    store = tmp_path / "store"
    disk.ensure_folder(store)
    notes = tmp_path / "notes.md"
    notes.write_text("port 8081")
    trash.put(store, notes, NOON)
    os.truncate(store / "trash.jsonl", 1 << 30)

    tracemalloc.start()
    found = trash.list_files(store)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert [each.name for each in found] == ["notes.md"]
    assert peak < 256 << 20

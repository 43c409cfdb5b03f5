"""What a disk may contain after a power cut, under each model."""

import random
from pathlib import Path

import pytest

from leftoff.torture.disks import MODELS, Disk, Model
from leftoff.torture.snapshot import TreeState
from leftoff.torture.trace import Call, mark, read

SAMPLES = 200


def states(folder: Path, calls: list[Call], model: Model) -> set[tuple[tuple[str, bytes], ...]]:
    """Return all states of the files that some chance leads to."""
    disk = Disk(TreeState([folder]), calls)
    found = set()
    for seed in range(SAMPLES):
        _, files = disk.state(model, random.Random(seed))  # noqa: S311 - no secret
        named = {Path(path).name: data for path, data in files.items()}
        found.add(tuple(sorted(named.items())))
    return found


def saved(folder: Path, *, until: int = 99) -> list[Call]:
    """Return the calls of a durable save, up to some."""
    calls = [
        Call(name="folder", inode=1, path=str(folder)),
        Call(name="unnamed", inode=7),
        Call(name="write", inode=7, data=b"whole"),
        Call(name="sync", inode=7),
        Call(name="link", inode=7, path=str(folder / "record")),
        Call(name="sync", inode=7),
        Call(name="sync", inode=1),
    ]
    return calls[:until]


@pytest.mark.parametrize("model", MODELS)
def test_what_was_synced_with_its_folder_is_certain(tmp_path: Path, model: Model) -> None:
    assert states(tmp_path, saved(tmp_path), model) == {(("record", b"whole"),)}


@pytest.mark.parametrize("model", MODELS)
def test_a_name_that_was_not_synced_may_be_missing(tmp_path: Path, model: Model) -> None:
    assert states(tmp_path, saved(tmp_path, until=5), model) == {(), (("record", b"whole"),)}


def test_a_file_that_was_unnamed_must_be_synced_again_on_a_strict_disk(tmp_path: Path) -> None:
    calls = saved(tmp_path)
    del calls[5]

    assert states(tmp_path, calls, "strict") == {(), (("record", b"whole"),)}
    assert states(tmp_path, calls, "journalled") == {(("record", b"whole"),)}


@pytest.mark.parametrize("model", MODELS)
def test_bytes_that_were_not_synced_may_be_missing_and_old_ones_stay(
    tmp_path: Path, model: Model
) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"old\n")
    calls = [Call(name="write", inode=log.stat().st_ino, offset=4, data=b"new\n")]

    found = {dict(state)["log"] for state in states(tmp_path, calls, model)}

    assert {b"old\n", b"old\nnew\n"} <= found
    assert all(data.startswith(b"old\n") for data in found)


@pytest.mark.parametrize("model", MODELS)
def test_what_lies_in_a_folder_that_is_missing_is_missing_too(tmp_path: Path, model: Model) -> None:
    inner = tmp_path / "inner"
    calls = [
        Call(name="mkdir", path=str(inner)),
        Call(name="create", inode=7, path=str(inner / "record")),
        Call(name="sync", inode=7),
    ]

    assert () in states(tmp_path, calls[: 2 if model == "journalled" else 3], model)


def test_a_rename_is_seen_before_or_after(tmp_path: Path) -> None:
    (tmp_path / "record").write_bytes(b"old")
    calls = [
        Call(name="create", inode=7, path=str(tmp_path / "temp")),
        Call(name="write", inode=7, data=b"new"),
        Call(name="sync", inode=7),
        Call(name="rename", path=str(tmp_path / "temp"), target=str(tmp_path / "record")),
    ]

    found = {dict(state)["record"] for state in states(tmp_path, calls, "journalled")}

    assert found == {b"old", b"new"}


def test_a_trace_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "trace"
    path.write_bytes(
        b"N 7\nW 7 3 5\nab\ncd\nS 7\nL 7 /a/b c\nR /a/x\n  /a/y\nM /a/d\nT 7 2\nU /a/y\n" + mark(())
    )

    calls = read(path)

    assert [call.name for call in calls] == [
        "unnamed", "write", "sync", "link", "rename", "mkdir", "truncate", "unlink", "done",
    ]  # fmt: skip
    assert (calls[1].offset, calls[1].data) == (3, b"ab\ncd")
    assert calls[3].path == "/a/b c"
    assert (calls[4].path, calls[4].target) == ("/a/x", "/a/y")


def test_a_snapshot_is_restored_whole(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "file").write_bytes(b"1")
    snapshot = TreeState([folder])
    (folder / "inner" / "file").unlink()
    (folder / "more").write_bytes(b"2")

    snapshot.restore()

    assert [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*"))] == [
        "inner",
        "inner/file",
    ]

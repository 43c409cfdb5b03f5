import contextlib
import os
import resource
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import syncs
from leftoff.errors import StoreRefused
from leftoff.store import disk


@pytest.fixture
def temps(tmp_path: Path) -> Path:
    folder = tmp_path / "temps"
    folder.mkdir()
    return folder


def test_a_new_file_holds_what_was_given_and_no_temp_file_is_left(
    tmp_path: Path, temps: Path
) -> None:
    disk.write_new(tmp_path / "a.json", b"text", temps=temps)

    assert disk.read(tmp_path / "a.json")[0] == b"text"
    assert list(temps.iterdir()) == []


def test_a_file_too_large_to_be_ours_is_refused_and_not_read(tmp_path: Path) -> None:
    planted = tmp_path / "a.json"
    planted.touch()
    os.truncate(planted, 2**40)  # sparse: reading it would take more memory than there is

    with pytest.raises(StoreRefused, match="larger than 64 MB"):
        disk.read(planted)
    with pytest.raises(StoreRefused, match="larger than 64 MB"):
        disk.Folder(tmp_path).read("a.json", temps=tmp_path)


def test_a_file_that_exists_is_never_written_over(tmp_path: Path, temps: Path) -> None:
    disk.write_new(tmp_path / "a.json", b"first", temps=temps)

    with pytest.raises(FileExistsError):
        disk.write_new(tmp_path / "a.json", b"second", temps=temps)

    assert (tmp_path / "a.json").read_bytes() == b"first"
    assert list(temps.iterdir()) == []


def test_a_replaced_file_is_the_old_or_the_new_one(tmp_path: Path, temps: Path) -> None:
    disk.replace(tmp_path / "a.json", b"first", temps=temps)
    disk.replace(tmp_path / "a.json", b"second", temps=temps)

    assert (tmp_path / "a.json").read_bytes() == b"second"
    assert list(temps.iterdir()) == []


def test_a_failed_replacement_leaves_no_temp_file(tmp_path: Path, temps: Path) -> None:
    (tmp_path / "folder").mkdir()

    with pytest.raises(OSError, match="directory"):
        disk.replace(tmp_path / "folder", b"text", temps=temps)

    assert list(temps.iterdir()) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=st.binary(max_size=40), lines=st.lists(st.binary(max_size=20), max_size=4))
def test_a_line_added_after_a_torn_one_is_a_line_of_its_own(
    tmp_path: Path, before: bytes, lines: list[bytes]
) -> None:
    log = tmp_path / "log"
    log.write_bytes(before)
    plain = [line.replace(b"\n", b"") for line in lines]

    for line in plain:
        disk.append(log, line, durable=False)

    kept = before.split(b"\n")
    if plain and kept[-1] == b"":
        kept.pop()
    expected = b"\n".join(kept) + (b"\n" if plain and before else b"")
    expected += b"".join(line + b"\n" for line in plain)
    assert log.read_bytes() == (expected if plain else before)


def test_a_part_is_read_from_an_offset_to_a_limit(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"0123456789")

    assert disk.read_from(tmp_path / "log", 4) == b"456789"
    assert disk.read_from(tmp_path / "log", 4, limit=2) == b"45"
    assert disk.read_from(tmp_path / "log", 99) == b""
    assert disk.read_from(tmp_path / "none", 0) == b""


def test_a_file_and_its_temp_twin_left_by_a_kill_are_one_file_of_leftoff(
    tmp_path: Path, temps: Path
) -> None:
    (tmp_path / "a.json").write_bytes(b"text")
    (temps / "a").hardlink_to(tmp_path / "a.json")

    assert disk.read(tmp_path / "a.json", temps=temps)[0] == b"text"
    disk.sweep(temps)
    assert disk.read(tmp_path / "a.json", temps=temps)[0] == b"text"


def test_a_hard_link_from_elsewhere_is_refused(tmp_path: Path, temps: Path) -> None:
    (tmp_path / "outside").write_bytes(b"secret")
    (tmp_path / "a.json").hardlink_to(tmp_path / "outside")

    with pytest.raises(StoreRefused, match="hard-linked"):
        disk.read(tmp_path / "a.json", temps=temps)
    with pytest.raises(StoreRefused, match="hard-linked"):
        disk.append(tmp_path / "a.json", b"line")
    assert (tmp_path / "outside").read_bytes() == b"secret"


def test_sweeping_removes_files_and_leaves_what_it_cannot(temps: Path) -> None:
    (temps / "left").touch()
    (temps / "folder").mkdir()

    disk.sweep(temps)

    assert [path.name for path in temps.iterdir()] == ["folder"]


def test_a_folder_is_made_with_those_above_it(tmp_path: Path) -> None:
    disk.ensure_folder(tmp_path / "a" / "b" / "c")

    assert (tmp_path / "a" / "b" / "c").stat().st_mode & 0o777 == 0o700


def test_a_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    folder = Path("/") if os.getuid() else tmp_path / "theirs"
    if os.getuid() == 0:
        folder.mkdir()
        os.chown(folder, 12345, 12345)

    with pytest.raises(StoreRefused, match="another user"):
        disk.ensure_folder(folder)
    assert not disk.is_own_folder(folder)


def test_a_lock_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    with disk.lock(tmp_path / "lock") as first:
        assert first
        with disk.lock(tmp_path / "lock", seconds=0) as second:
            assert not second
    with disk.lock(tmp_path / "lock", seconds=0) as third:
        assert third


def test_the_lock_of_a_dead_process_is_free(tmp_path: Path) -> None:
    program = (
        "import os, sys; from pathlib import Path; from leftoff.store import disk\n"
        "with disk.lock(Path(sys.argv[1])) as held: assert held; os.kill(os.getpid(), 9)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", program, str(tmp_path / "lock")]
    assert subprocess.run(command, env=environment, check=False).returncode == -9

    with disk.lock(tmp_path / "lock", seconds=0) as is_held:
        assert is_held


def test_where_no_lock_can_be_had_one_goes_on_without(tmp_path: Path) -> None:
    with disk.lock(tmp_path / "nowhere" / "lock") as is_held:
        assert not is_held


def plant(path: Path, what: str) -> None:
    if what == "link":
        path.symlink_to("elsewhere")
    elif what == "FIFO":
        os.mkfifo(path)
    else:
        path.mkdir()


@pytest.mark.accept(129)
@pytest.mark.parametrize("what", ["link", "FIFO", "folder"])
def test_what_is_not_a_regular_file_is_neither_read_nor_written_nor_locked(
    tmp_path: Path, what: str
) -> None:
    path = tmp_path / "odd"
    plant(path, what)

    with pytest.raises(StoreRefused, match="not a regular file"):
        disk.read(path)
    with pytest.raises(StoreRefused, match="not a regular file"):
        disk.append(path, b"line")
    with pytest.raises(StoreRefused, match="not a regular file"), disk.lock(path):
        pass
    assert not disk.is_regular(path)


@pytest.mark.parametrize("what", ["link", "FIFO"])
def test_what_is_not_a_folder_is_not_written_into(tmp_path: Path, what: str) -> None:
    plant(tmp_path / "odd", what)

    with pytest.raises(StoreRefused, match="not a folder"):
        disk.ensure_folder(tmp_path / "odd")


def test_a_write_cut_short_leaves_no_temp_file(tmp_path: Path, temps: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(OSError, match="too large"):
            disk.write_new(tmp_path / "a.json", b"x" * 200, temps=temps)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert list(temps.iterdir()) == []
    assert not (tmp_path / "a.json").exists()


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no file system without sync at hand")
def test_a_file_system_that_cannot_sync_a_folder_is_used_anyway() -> None:
    disk.sync_folder(Path("/proc"))


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="nothing tells what was synced")
def test_each_new_folder_is_synced_into_its_parent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = syncs.watch(monkeypatch)

    disk.make_folder(tmp_path / "a" / "b")
    disk.make_folder(tmp_path / "a" / "b")

    assert (tmp_path / "a" / "b").is_dir()
    assert synced == [tmp_path, tmp_path / "a"]


def test_a_file_in_the_place_of_a_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").touch()

    with pytest.raises(FileExistsError):
        disk.make_folder(tmp_path / "a")


def test_a_lock_is_waited_for(tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        assert stack.enter_context(disk.lock(tmp_path / "lock"))
        release = threading.Timer(0.02, stack.close)
        release.start()
        with disk.lock(tmp_path / "lock", seconds=120) as is_held:
            assert is_held
        release.join()


def test_a_new_file_is_whole_and_alone(tmp_path: Path) -> None:
    temps = tmp_path / "temps"
    temps.mkdir()
    path = tmp_path / "new.json"

    disk.write_new(path, b"whole", temps=temps)
    with pytest.raises(FileExistsError):
        disk.write_new(path, b"other", temps=temps)

    assert path.read_bytes() == b"whole"
    assert (path.stat().st_nlink, path.stat().st_mode & 0o777) == (1, 0o600)
    assert list(temps.iterdir()) == []

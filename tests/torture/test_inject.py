"""An injection hits only the call that it names, with the C library and without."""

import errno
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from leftoff.torture import shim

_PROGRAM = """
import os, sqlite3, sys
from pathlib import Path
from leftoff.torture import forks, inject, shim
folder, kind, at = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
action, error = sys.argv[4], int(sys.argv[5])
def work():
    inject.arm(inject.Injection(kinds=(kind,), at=at, action=action, error=error), folder)
    other = os.open(folder.parent / "elsewhere", os.O_WRONLY | os.O_CREAT)
    os.write(other, b"never counted")
    for number in range(3):
        descriptor = os.open(folder / str(number), os.O_WRONLY | os.O_CREAT, 0o600)
        os.write(descriptor, b"four")
        os.fsync(descriptor)
        os.close(descriptor)
    if len(sys.argv) > 6:
        with sqlite3.connect(folder / "db") as database:
            database.execute("CREATE TABLE t (a)")
ended = forks.run(work, cwd=folder)
sizes = [path.stat().st_size for path in sorted(folder.iterdir())]
print(shim.find_library() is not None, ended.is_killed, ended.code, sizes, ended.last_line)
"""


@pytest.fixture(params=["library", "python"])
def preload(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    if request.param == "python":
        return None
    built, why = shim.build(tmp_path)
    if built is None:
        pytest.skip(why)
    return built


def injected(tmp_path: Path, preload: Path | None, *words: str) -> str:
    folder = tmp_path / "folder"
    folder.mkdir()
    env = {**os.environ, **({"LD_PRELOAD": str(preload)} if preload else {})}
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(folder), *words],
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    has_library, _, rest = done.stdout.strip().partition(" ")
    assert has_library == str(preload is not None)
    return rest


def test_a_kill_strikes_before_the_nth_call(tmp_path: Path, preload: Path | None) -> None:
    assert injected(tmp_path, preload, "write", "2", "kill", "0") == "True None [4, 0]"


def test_a_kill_in_the_middle_leaves_half(tmp_path: Path, preload: Path | None) -> None:
    assert injected(tmp_path, preload, "write", "3", "half", "0") == "True None [4, 4, 2]"


def test_a_fault_is_the_error_that_was_asked_for(tmp_path: Path, preload: Path | None) -> None:
    found = injected(tmp_path, preload, "sync", "2", "fail", str(errno.ENOSPC))

    assert found == "False 99 [4, 4] OSError: [Errno 28] No space left on device"


def test_a_short_write_is_short(tmp_path: Path, preload: Path | None) -> None:
    assert injected(tmp_path, preload, "write", "1", "short", "0") == "False 0 [2, 4, 4]"


def test_what_is_never_reached_changes_nothing(tmp_path: Path, preload: Path | None) -> None:
    assert injected(tmp_path, preload, "create", "4", "kill", "0") == "False 0 [4, 4, 4]"


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_the_library_sees_what_sqlite_does(tmp_path: Path) -> None:
    built, _ = shim.build(tmp_path)

    found = injected(tmp_path, built, "write", "5", "fail", str(errno.EIO), "sqlite")

    assert found.endswith("OperationalError: disk I/O error")
    assert sqlite3.sqlite_version

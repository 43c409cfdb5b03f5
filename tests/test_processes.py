import os
import subprocess
import sys
from pathlib import Path

import pytest

from leftoff import processes
from leftoff.processes import is_alive, read_start_time


def test_this_process_is_alive() -> None:
    assert is_alive(os.getpid(), read_start_time(os.getpid()))


@pytest.mark.parametrize("pid", [0, -1])
def test_no_process_has_such_a_number(pid: int) -> None:
    assert not is_alive(pid, 0.0)


def test_a_process_that_ended_is_not_alive() -> None:
    process = subprocess.Popen([sys.executable, "-I", "-S", "-c", ""])
    process.wait()

    assert not is_alive(process.pid, 0.0)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux shows it")
def test_a_process_that_was_killed_is_dead_before_its_parent_asks_for_it() -> None:
    process = subprocess.Popen([sys.executable, "-I", "-S", "-c", "input()"], stdin=subprocess.PIPE)
    pid_began = read_start_time(process.pid)
    assert is_alive(process.pid, pid_began)

    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)

    assert not is_alive(process.pid, pid_began)
    process.communicate()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux shows it")
def test_a_later_process_with_the_same_number_is_another_one() -> None:
    assert not is_alive(os.getpid(), read_start_time(os.getpid()) + 1)


@pytest.mark.parametrize("lists", [True, False])
def test_a_lock_is_seen_while_a_process_holds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, lists: bool
) -> None:
    if not lists:
        # As on systems that do not list locks, or for a lock in another container.
        monkeypatch.setattr(processes, "_is_listed", lambda _: False)
    path = tmp_path / "lock"
    assert not processes.is_locked(path)
    path.touch()
    assert not processes.is_locked(path)
    code = "import fcntl, sys; f = open(sys.argv[1]); fcntl.flock(f, 2); print(flush=True); input()"
    holder = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", code, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    assert processes.is_locked(path)

    holder.kill()
    holder.communicate()

    assert not processes.is_locked(path)

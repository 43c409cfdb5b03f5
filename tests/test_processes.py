import os
import subprocess
import sys
from pathlib import Path

import pytest

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


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux tells")
def test_a_process_that_was_killed_is_dead_before_its_parent_asks_for_it() -> None:
    process = subprocess.Popen([sys.executable, "-I", "-S", "-c", "input()"], stdin=subprocess.PIPE)
    pid_began = read_start_time(process.pid)
    assert is_alive(process.pid, pid_began)

    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)

    assert not is_alive(process.pid, pid_began)
    process.communicate()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux tells")
def test_a_later_process_with_the_same_number_is_another_one() -> None:
    assert not is_alive(os.getpid(), read_start_time(os.getpid()) + 1)

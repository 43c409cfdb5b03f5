"""Run the programs of the tests as processes.

A process can have a time limit, so that a hang is a failure, and can drop root privileges, so that
permissions apply to it wherever the tests run.
"""

import ctypes
import os
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

_HEAD = """
    import os, sys
    from pathlib import Path
    from leftoff.errors import *
    from leftoff.store import *
    from programs import give_up_power
    from stores import *
    folder, number = Path(sys.argv[1]), int(sys.argv[2])
    project = project_at(folder)
    store = Store(project)
"""


def start(
    program: str, folder: Path, number: int = 0, *, by: Sequence[str] = ()
) -> "subprocess.Popen[str]":
    """Start a program; it finds `store`, `project`, `folder` and `number` defined."""
    code = textwrap.dedent(_HEAD) + textwrap.dedent(program)
    return _started([*by, sys.executable, "-c", code, str(folder), str(number)])


def _started(command: Sequence[str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        command,
        env=with_our_path(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def with_our_path() -> dict[str, str]:
    """Return the environment, so that a process finds the modules that we find."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def finish(process: "subprocess.Popen[str]", seconds: float = 120) -> str:
    """Wait for a program; it must end well and say nothing but its answer."""
    try:
        output, trouble = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    assert (process.returncode, trouble) == (0, ""), trouble
    return output


def run(program: str, folder: Path, *, by: Sequence[str] = (), seconds: float = 120) -> str:
    """Run a program and return what it prints."""
    return finish(start(program, folder, by=by), seconds)


def run_together(program: str, folder: Path, processes: int) -> None:
    """Run a program several times at once."""
    for process in [start(program, folder, number) for number in range(processes)]:
        finish(process)


def run_module(module: ModuleType, *words: str, seconds: float = 300) -> str:
    """Run a module of the tests as a program and return what it prints."""
    return finish(_started([sys.executable, str(module.__file__), *words]), seconds)


def run_side_by_side(program: str, folder: Path, *names: str) -> None:
    """Run a program once for each name, all at once in one folder; what they print is lost."""
    running = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(program), name],
            cwd=folder,
            env=with_our_path(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for name in names
    ]
    assert {process.wait() for process in running} == {0}


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Capabilities(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )


def give_up_power() -> None:
    """Make permissions bind this process even if it is root's."""
    if os.geteuid() == 0:
        header = _CapabilityHeader(0x20080522, 0)
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.capset(ctypes.byref(header), (_Capabilities * 2)()):
            raise OSError(ctypes.get_errno(), "capset")


def name_process_domain() -> str:
    """Return how Claude Code names the processes of this machine; "" if the system hides that."""
    try:
        machine = Path("/etc/machine-id").read_text(encoding="ascii").strip()
        return f"linux:{machine}:{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""

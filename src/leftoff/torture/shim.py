"""The C library that counts, fails, kills and records file operations, SQLite's own among them.

It is compiled when it is needed, with the C compiler of the machine.
"""

import ctypes
import shutil
import sys
from functools import cache
from pathlib import Path

from leftoff.torture import child_programs

SOURCE = Path(__file__).with_name("shim.c")


def build(folder: Path) -> tuple[Path | None, str]:
    """Compile the library; return where it is, or why there is none."""
    if not sys.platform.startswith("linux"):
        return None, f"{sys.platform} has no LD_PRELOAD"
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        return None, "no C compiler (cc) was found"
    target = folder / "shim.so"
    command = [compiler, "-O1", "-shared", "-fPIC", "-o", str(target), str(SOURCE), "-ldl"]
    ended = child_programs.run(command, cwd=folder)
    return (target, "") if ended.code == 0 else (None, f"{compiler} failed: {ended.last_line}")


@cache
def find_library() -> ctypes.CDLL | None:
    """Return the library if this process was started with it."""
    library = ctypes.CDLL(None)
    return library if hasattr(library, "leftoff_torture_arm") else None

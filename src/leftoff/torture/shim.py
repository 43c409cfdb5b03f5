"""Compile and load the C library that counts, fails, kills and records file operations.

It sees SQLite's operations too. It is compiled on demand with the machine's C compiler.
"""

import ctypes
import shutil
import sys
from functools import cache
from pathlib import Path

from leftoff.torture import child_programs

SOURCE = Path(__file__).with_name("shim.c")


def build(folder: Path) -> tuple[Path | None, str]:
    """Compile the library; return its path, or None and the reason."""
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

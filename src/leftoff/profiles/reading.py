"""Reading native files: regular ones only, whatever else was planted in their place."""

import hashlib
import os
import stat
from pathlib import Path

_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def digest(data: bytes) -> str:
    """Return the hash that tells one content from another."""
    return hashlib.sha256(data).hexdigest()


def read_regular(path: Path) -> tuple[bytes, os.stat_result] | None:
    """Read a regular file that is no link; None where there is none to read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | _FLAGS)
    except OSError:
        return None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return None
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(), found
    except OSError:
        return None
    finally:
        os.close(descriptor)

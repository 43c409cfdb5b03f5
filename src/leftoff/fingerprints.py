"""Fingerprints: what a checkpoint keeps of a file, and whether the file is still the same."""

import hashlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from leftoff.checkpoint import FileRef

FileState = Literal["same", "changed", "missing"]

# Hashing more than this would make a save wait; size and time must do for such files.
_HASH_LIMIT = 64 * 1024 * 1024


def fingerprint(path: str, root: Path, *, role: str = "") -> FileRef:
    """Describe a file by size, time and hash; a missing one by its path alone."""
    full = _resolved(path, root)
    shown = _shown(full, root)
    found = _regular(full)
    if found is None:
        return FileRef(path=shown, role=role)
    return FileRef(
        path=shown,
        role=role,
        size=found.st_size,
        mtime=found.st_mtime,
        sha256=_hash(full) if found.st_size <= _HASH_LIMIT else None,
    )


def fingerprints(paths: Iterable[str], root: Path, *, role: str = "") -> list[FileRef]:
    """Describe several files, each once."""
    return [fingerprint(path, root, role=role) for path in dict.fromkeys(paths)]


def state_of(file: FileRef, root: Path) -> FileState:
    """Compare a file with its fingerprint: size and time first, the hash only when they differ."""
    full = _resolved(file.path, root)
    found = _regular(full)
    if found is None:
        return "missing" if not full.exists() else "same" if file.size is None else "changed"
    if file.size is None:
        # It was not there when saved.
        return "changed"
    if found.st_size != file.size:
        return "changed"
    if found.st_mtime == file.mtime or file.sha256 is None:
        return "same" if found.st_mtime == file.mtime else "changed"
    return "same" if _hash(full) == file.sha256 else "changed"


def modified_since(path: str, root: Path, moment: float) -> bool:
    """Say whether a file was written after a moment."""
    found = _regular(_resolved(path, root))
    return found is not None and found.st_mtime >= moment


def _resolved(path: str, root: Path) -> Path:
    return root / Path(path).expanduser()


def _shown(full: Path, root: Path) -> str:
    normal = Path(os.path.normpath(full))
    return str(normal.relative_to(root)) if normal.is_relative_to(root) else str(normal)


def _regular(path: Path) -> os.stat_result | None:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def _hash(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None

"""Fingerprint files for a checkpoint, and check whether they have changed since."""

import errno
import os
import re
import stat
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Literal

from leftoff.checkpoint import DELETED, EXPECTED, MENTIONED, FileRef
from leftoff.git.query import printable
from leftoff.load_on_use import module_on_use
from leftoff.text.mentioned_paths import find_paths

FileState = Literal["same", "changed", "missing"]

# Hashing larger files would delay a save; their size and time must suffice.
_HASH_LIMIT = 64 * 1024 * 1024
# It takes 3 ms to load, and is needed only if a file changed. For large files it is the fastest.
_hashlib = module_on_use("hashlib")
_STRAY_BYTE = re.compile(r"\\x([89a-f][0-9a-f])")


def fingerprint(path: str, root: Path, *, role: str = "") -> FileRef:
    """Describe a file by size, time and hash; a missing one only by its path."""
    full = locate_file(path, root)
    shown = _format_path(full, root)
    found = _stat_regular(full)
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
    """Describe several files without duplicates; skip texts that cannot be paths."""
    return [
        fingerprint(path, root, role=role) for path in dict.fromkeys(paths) if can_be_path(path)
    ]


def list_mentioned(texts: Iterable[str], *, besides: Collection[str] = ()) -> list[FileRef]:
    """List the files that texts mention, without fingerprints."""
    roles: dict[str, str] = {}
    for path, must_exist in (each for text in texts for each in find_paths(text)):
        if path not in besides and (must_exist or path not in roles):
            roles[path] = MENTIONED if must_exist else EXPECTED
    return [FileRef(path=path, role=role) for path, role in roles.items()]


def state_of(file: FileRef, root: Path) -> FileState:
    """Compare a file with its fingerprint: size and time first, the hash only if they differ."""
    full = locate_file(file.path, root)
    found = _stat_regular(full)
    if found is None:
        if not _exists(full):
            # A file that the work deleted, or was about to make, did not exist then either.
            is_known = file.role in {EXPECTED, DELETED} and file.size is None
            return "same" if is_known else "missing"
        # A folder or FIFO has no content to compare, unless it was a file when saved.
        return "same" if file.size is None else "changed"
    if found.st_size != file.size:
        # Without a size, it did not exist when saved.
        return "changed"
    # Editors and git may rewrite a file with the same content, so a new time alone proves nothing.
    if found.st_mtime == file.mtime:
        return "same"
    return "same" if file.sha256 is not None and _hash(full) == file.sha256 else "changed"


def is_modified_since(path: str, root: Path, moment: float) -> bool:
    """Return whether a file was modified after this time."""
    found = _stat_regular(locate_file(path, root))
    return found is not None and found.st_mtime >= moment


def locate_file(path: str, root: Path) -> Path:
    r"""Return the location of a file in a checkpoint; `\xNN` stands for a stray byte."""
    full = root / _expand_home(path)
    # A file may really have `\x` in its name, so try the path as written first.
    if "\\x" not in path or _exists(full):
        return full
    real = _STRAY_BYTE.sub(lambda found: chr(0xDC00 + int(found[1], 16)), path)
    return root / _expand_home(real)


def name_path(folder: Path, path: str, root: Path) -> str:
    """Convert a path relative to a folder to the form used in checkpoints."""
    return _format_path(locate_file(path, folder), root)


def can_be_path(path: str) -> bool:
    """Return whether the system could have a file with this path."""
    try:
        os.stat(path)  # noqa: PTH116 - a Path would hide the error
    except FileNotFoundError:
        return True
    except (OSError, ValueError) as error:
        return not (isinstance(error, ValueError) or error.errno == errno.ENAMETOOLONG)
    return True


def _expand_home(path: str) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError:
        # There is no user of this name, so it is a file whose name begins with a tilde.
        return Path(path)


def _format_path(full: Path, root: Path) -> str:
    normal = Path(os.path.normpath(full))
    shown = str(normal.relative_to(root)) if normal.is_relative_to(root) else str(normal)
    # A relative path that begins with a tilde would be mistaken for a home folder.
    return printable(str(normal) if shown.startswith("~") else shown)


def _exists(path: Path) -> bool:
    try:
        path.stat()
    except (OSError, ValueError):
        return False
    return True


def _stat_regular(path: Path) -> os.stat_result | None:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def _hash(path: Path) -> str | None:
    try:
        # Opening a FIFO that replaced the file would block forever.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            digest: str = _hashlib.file_digest(file, "sha256").hexdigest()
            return digest
    except OSError:
        return None

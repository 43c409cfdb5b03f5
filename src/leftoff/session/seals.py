"""Sign session ids, to prove which sessions ran for this user on this machine.

Anyone can write a store with prompts that "the user" asked, and ship it in an archive. A key that
never leaves the user's state folder signs the id of each session whose hooks ran here. Prompts of
any other session are presented as the store's words, not as the user's.
"""

import contextlib
import hashlib
import os
from functools import cache
from pathlib import Path

from leftoff.errors import StoreRefused
from leftoff.store import disk

_KEY_BYTES = 32


def seal(state: Path, agent: str, session_id: str) -> str:
    """Sign a session's id; return "" if the key can be neither read nor created."""
    key = _key(state)
    told = f"{agent}\n{session_id}".encode("utf-8", "surrogateescape")
    return hashlib.blake2b(told, key=key, digest_size=16).hexdigest() if key else ""


def is_sealed(state: Path, agent: str, session_id: str, given: str) -> bool:
    """Return whether a seal was made here for exactly this session."""
    return bool(given) and given == seal(state, agent, session_id)


@cache
def _key(state: Path) -> bytes:
    path = state / "key"
    with contextlib.suppress(OSError, StoreRefused):
        with contextlib.suppress(FileExistsError):
            _make(path)
        found = disk.read(path)[0]
        return found if len(found) == _KEY_BYTES else b""
    return b""


def _make(path: Path) -> None:
    if os.path.lexists(path):
        return
    disk.ensure_folder(path.parent)
    temp = path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}")
    disk.replace(temp, os.urandom(_KEY_BYTES), temps=path.parent)
    try:
        # If two processes create a key at the same time, the first one's is used.
        disk.name_file(temp, path)
    finally:
        temp.unlink(missing_ok=True)

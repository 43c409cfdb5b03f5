"""Seals: which sessions were this user's, on this machine.

Anyone can write a store and put it into an archive, with prompts that "the user" asked. A key that
never leaves the user's state folder signs the id of each session whose hooks ran here. A prompt of
any other session is shown as the store's words, not as the user's.
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
    """Sign the id of a session; empty where the key can be neither read nor made."""
    key = _key(state)
    told = f"{agent}\n{session_id}".encode("utf-8", "surrogateescape")
    return hashlib.blake2b(told, key=key, digest_size=16).hexdigest() if key else ""


def is_sealed(state: Path, agent: str, session_id: str, given: str) -> bool:
    """Say whether a seal was made here for this very session."""
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
        # Of two processes that make a key at once, the first one's counts.
        disk.name_file(temp, path)
    finally:
        temp.unlink(missing_ok=True)

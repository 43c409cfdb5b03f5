"""Compute what a disk may contain after a power cut, from recorded operations and two models.

- journalled, like ext4: names change in the order of the calls, and each sync makes all earlier
  name changes durable. Bytes that were not synced may be missing or zero.
- strict, only what POSIX promises: a name is durable once its folder was synced, and bytes once
  their file was. Any part of the rest may be there. The link count of a file that was created
  without a name belongs to the file, so the file must be synced again after it gets a name: file
  systems without a journal, such as ext2, drop it otherwise.
"""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from leftoff.torture.snapshot import TreeState
from leftoff.torture.trace import Call

Model = Literal["journalled", "strict"]
MODELS: tuple[Model, ...] = ("journalled", "strict")

_NAMING = frozenset({"create", "link", "rename", "unlink", "rmdir", "mkdir"})


class Inode:
    """A file's durable bytes, and the operations on them since the last sync."""

    def __init__(self, data: bytes = b"", *, is_unnamed: bool = False) -> None:
        self.durable = data
        self.pending: list[Call] = []
        self.is_unnamed = is_unnamed
        self.synced_at = -1

    def sync(self, at: int) -> None:
        """Make all bytes durable."""
        self.durable = _replay_calls(self.durable, self.pending)
        self.pending = []
        self.synced_at = at


class Naming:
    """A change of a name, and the file that has it."""

    def __init__(self, at: int, call: Call, inode: Inode | None) -> None:
        self.at = at
        self.call = call
        self.inode = inode


class Disk:
    """A disk after a recorded trace, up to a power cut."""

    def __init__(self, before: TreeState, calls: Sequence[Call]) -> None:
        self._before = before
        self._inodes = {inode: Inode(data) for inode, data in before.files.values()}
        self._names = {path: self._inodes[inode] for path, (inode, _) in before.files.items()}
        self._live = dict(self._names)
        self._namings: list[Naming] = []
        self._folders: dict[int, str] = {}
        self._synced: dict[str, int] = {}
        self._last_sync = -1
        for at, call in enumerate(calls):
            self._take(at, call)

    def _take(self, at: int, call: Call) -> None:
        if call.name in {"create", "unnamed"}:
            self._inodes[call.inode] = Inode(is_unnamed=call.name == "unnamed")
        if call.name == "folder":
            self._folders[call.inode] = call.path
        elif call.name == "sync":
            self._sync(at, call.inode)
        elif call.name in {"write", "truncate"}:
            self._inodes.setdefault(call.inode, Inode()).pending.append(call)
        elif call.name in _NAMING:
            self._name(at, call)

    def _sync(self, at: int, inode: int) -> None:
        self._last_sync = at
        if inode in self._inodes:
            self._inodes[inode].sync(at)
        else:
            self._synced[self._folders.get(inode, "")] = at

    def _name(self, at: int, call: Call) -> None:
        inode: Inode | None
        if call.name in {"create", "link"}:
            inode = self._inodes.setdefault(call.inode, Inode())
            self._live[call.path] = inode
        elif call.name == "rename":
            inode = self._live.pop(call.path, None)
            if inode is not None:
                self._live[call.target] = inode
        else:
            inode = self._live.pop(call.path, None)
        self._namings.append(Naming(at, call, inode))

    def state(self, model: Model, chance: random.Random) -> tuple[set[str], dict[str, bytes]]:
        """Return folders and files that the disk may contain now, as chance decides."""
        folders = {*self._before.folders}
        names = dict(self._names)
        for naming in self._surviving(model, chance):
            _apply(naming, folders, names)
        files = {path: _content(inode, model, chance) for path, inode in names.items()}
        return folders, {path: data for path, data in files.items() if _is_reachable(path, folders)}

    def _surviving(self, model: Model, chance: random.Random) -> list[Naming]:
        # A journal keeps the order, so a crash loses only the last changes.
        if model == "journalled":
            since = [each.at for each in self._namings if each.at > self._last_sync]
            until = chance.choice([self._last_sync, *since])
            return [each for each in self._namings if each.at <= until]
        return [each for each in self._namings if self._is_durable(each) or chance.random() < 0.5]

    def _is_durable(self, naming: Naming) -> bool:
        """Return whether everything that the change needs was synced after it."""
        call, inode = naming.call, naming.inode
        folder = str(Path(call.target or call.path).parent)
        if self._synced.get(folder, -1) < naming.at:
            return False
        # A file that was created without a name survives only if it was synced after it got one.
        is_linked = call.name == "link" and inode is not None and inode.is_unnamed
        return not is_linked or (inode is not None and inode.synced_at > naming.at)


def _apply(naming: Naming, folders: set[str], names: dict[str, Inode]) -> None:
    call, inode = naming.call, naming.inode
    if call.name == "mkdir":
        folders.add(call.path)
    elif call.name == "rmdir":
        folders.discard(call.path)
    elif call.name == "unlink":
        names.pop(call.path, None)
    elif inode is not None:
        if call.name == "rename":
            names.pop(call.path, None)
        names[call.target or call.path] = inode


def _is_reachable(path: str, folders: set[str]) -> bool:
    return str(Path(path).parent) in folders


def _content(inode: Inode, model: Model, chance: random.Random) -> bytes:
    if not inode.pending:
        return inode.durable
    if model == "strict":
        return _replay_calls(
            inode.durable, [each for each in inode.pending if chance.random() < 0.5]
        )
    whole = _replay_calls(inode.durable, inode.pending)
    kept = inode.durable
    # Durable bytes stay. Only new bytes can be missing.
    cut = chance.randrange(min(len(kept), len(whole)), len(whole) + 1)
    zeros = kept[: len(whole)] + bytes(max(0, len(whole) - len(kept)))
    return chance.choice([kept, whole, zeros, whole[:cut]])


def _replay_calls(data: bytes, calls: Sequence[Call]) -> bytes:
    content = bytearray(data)
    for call in calls:
        if call.name == "truncate":
            content = content[: call.offset] + bytes(max(0, call.offset - len(content)))
            continue
        end = call.offset + len(call.data)
        if len(content) < end:
            content += bytes(end - len(content))
        content[call.offset : end] = call.data
    return bytes(content)

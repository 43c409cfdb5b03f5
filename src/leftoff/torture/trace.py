"""Read the recorded file operations of several workloads, and when each workload was done."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from leftoff.torture.claims_ledger import Claim

Name = Literal[
    "create", "unnamed", "truncate", "write", "sync", "folder", "link", "rename", "unlink",
    "rmdir", "mkdir", "done",
]  # fmt: skip

# The letters that `shim.c` writes. Writes, renames and acknowledgements have formats of their own.
_NAMES: dict[bytes, Name] = {
    b"C": "create",
    b"N": "unnamed",
    b"T": "truncate",
    b"S": "sync",
    b"D": "folder",
    b"L": "link",
    b"U": "unlink",
    b"X": "rmdir",
    b"M": "mkdir",
}

_claims = msgspec.json.Decoder(list[Claim])


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One file operation; its name determines which fields are set."""

    name: Name
    inode: int = 0
    path: str = ""
    target: str = ""
    offset: int = 0
    data: bytes = b""
    claims: tuple[Claim, ...] = ()


def mark(claims: tuple[Claim, ...]) -> bytes:
    """Return the line that records that a workload was acknowledged."""
    return b"A " + msgspec.json.encode(list(claims)) + b"\n"


def read(path: Path) -> list[Call]:
    """Read a trace."""
    return [*_calls(path.read_bytes())]


def _calls(data: bytes) -> Iterator[Call]:
    at = 0
    while at < len(data):
        end = data.index(b"\n", at)
        kind, _, rest = data[at:end].partition(b" ")
        at = end + 1
        # The written bytes follow their line, because they may contain line breaks.
        if kind == b"W":
            inode, offset, size = map(int, rest.split())
            yield Call(name="write", inode=inode, offset=offset, data=data[at : at + size])
            at += size + 1
        elif kind == b"R":
            end = data.index(b"\n", at)
            target = data[at:end].strip()
            yield Call(name="rename", path=rest.decode(), target=target.decode())
            at = end + 1
        elif kind == b"A":
            yield Call(name="done", claims=tuple(_claims.decode(rest)))
        else:
            yield _simple(_NAMES[kind], rest)


def _simple(name: Name, rest: bytes) -> Call:
    if name in {"unlink", "rmdir", "mkdir"}:
        return Call(name=name, path=rest.decode())
    inode, _, more = rest.partition(b" ")
    if name == "truncate":
        return Call(name=name, inode=int(inode), offset=int(more))
    return Call(name=name, inode=int(inode), path=more.decode())

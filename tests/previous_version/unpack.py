"""Unpack what another version wrote, and let it name the place where it is now."""

import functools
import hashlib
import io
import lzma
import os
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

# Where it was written.
OLD_ROOT = "/tmp/work"


def unpack(archive: Path, name: str, place: Path) -> Path:
    """Unpack one folder of an archive, and return where it is."""
    with tarfile.open(fileobj=io.BytesIO(_decompress(archive))) as packed:
        members = [each for each in packed if each.name.split("/")[0] == name]
        # Python 3.11 has filters only from 3.11.4 on; the archive is our own.
        packed.extraction_filter = getattr(tarfile, "data_filter", None)
        packed.extractall(place, members)  # noqa: S202 - filtered above
    _move(place / name, place)
    return place / name


@functools.cache
def _decompress(archive: Path) -> bytes:
    return lzma.decompress(archive.read_bytes())


def _move(root: Path, place: Path) -> None:
    """Let the files speak of the place where they are now, and of each other's new hashes."""
    for old in [*root.rglob(f"{munge(OLD_ROOT)}-*")]:
        old.rename(old.with_name(old.name.replace(munge(OLD_ROOT), munge(str(place)))))
    hashes: dict[str, str] = {}
    for path, text in _texts(root):
        moved = text.replace(OLD_ROOT, str(place)).replace(munge(OLD_ROOT), munge(str(place)))
        if moved != text:
            hashes[_hash(text)] = _hash(moved)
            _rewrite(path, moved)
    for path, text in _texts(root):
        moved = re.sub(r"\b[0-9a-f]{64}\b", lambda found: hashes.get(found[0], found[0]), text)
        if moved != text:
            _rewrite(path, moved)


def _texts(root: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted(root.rglob("*")):
        if path.is_file() and "objects" not in path.parts and path.name not in {"index", "key"}:
            data = path.read_bytes()
            if b"\0" not in data:
                yield path, data.decode()


def _rewrite(path: Path, text: str) -> None:
    stat = path.stat()
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def munge(path: str) -> str:
    """Return a path as Claude Code spells it in the name of a folder."""
    return re.sub(r"[^A-Za-z0-9]", "-", path)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()

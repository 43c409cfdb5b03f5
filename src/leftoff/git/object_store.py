"""A git object store of leftoff's own, apart from the user's repository.

It holds the files of snapshots. Git compresses them, stores equal contents once, and can pack them.
The user's repository is never written: nothing that runs here knows where it is.
"""

import contextlib
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from leftoff.errors import StoreRefused
from leftoff.git.repository import decode_path
from leftoff.load_on_use import module_on_use
from leftoff.processes import copy_for_child

if TYPE_CHECKING:
    from leftoff.subprocesses import Ended

# It takes 3 ms to load, and only a new snapshot needs it.
_hashlib = module_on_use("hashlib")
_SECONDS = 60.0
_REPACK_SECONDS = 1800.0
_REFS = "refs/snapshots"
_REPACK = ("repack", "-a", "-d", "-q", "--depth=50", "--window=20")
_FAN_OUT = 2
_HEAD = "ref: refs/heads/none\n"
# Nothing here may depend on the settings of the user or the system.
_SETTINGS = """\
[core]
\trepositoryformatversion = 0
\tbare = true
\tfsync = all
\tlogAllRefUpdates = false
\tsharedRepository = 0600
\tautocrlf = false
\thooksPath = /dev/null
[gc]
\tauto = 0
[fastimport]
\tunpackLimit = 100
[pack]
\tthreads = 1
\twindowMemory = 64m
"""
_VARIABLES = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
# A store may come from an archive with a `.git` folder. None of these may be a link.
_OWN_FOLDERS = ("..", "", "objects", "objects/info", "objects/pack", "refs", "refs/snapshots")
_OWN_FILES = ("HEAD", "packed-refs")
# Files that make git use other settings or objects. leftoff never writes them.
_FOREIGN = ("commondir", "config.worktree", "shallow", "objects/info/alternates")
_SHA = re.compile(rb"[0-9a-f]{40}")
_SPECIAL = re.compile(rb'[\x00-\x1f"\\\x7f]')


class TreeEntry(msgspec.Struct, frozen=True):
    """A file in a tree of this store."""

    mode: str
    blob: str
    path: str


class NewFile(msgspec.Struct, frozen=True):
    """A file of a commit: its content, or the id of a blob that is stored already."""

    path: str
    mode: str
    content: bytes | None = None
    blob: str | None = None


def compute_blob_id(content: bytes) -> str:
    """Return the id under which git stores a content."""
    framed = b"blob %d\0%s" % (len(content), content)
    digest: str = _hashlib.sha1(framed, usedforsecurity=False).hexdigest()
    return digest


class ObjectStore:
    """A bare repository below a folder of leftoff's own store."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def exists(self) -> bool:
        """Return whether anything was stored here."""
        return (self.folder / "objects").is_dir()

    def prepare(self) -> None:
        """Create the store; does nothing if it is there."""
        # Written here and not by `git init`, which copies the user's template with its hooks.
        # `parents=True` would create the folders above with the mode that the umask allows.
        for each in ("", "objects", "objects/info", "objects/pack", "refs", "refs/snapshots"):
            (self.folder / each).mkdir(mode=0o700, exist_ok=True)
        self._require_own_files()

    def _write(self, name: str, text: str) -> None:
        temp = self.folder / f"{name}-{os.urandom(4).hex()}"
        descriptor = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with open(descriptor, "w", encoding="ascii") as file:  # noqa: PTH123 - a descriptor
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            temp.replace(self.folder / name)
        except BaseException:
            temp.unlink(missing_ok=True)
            raise

    def _require_own_files(self) -> None:
        """Raise if git could run a program here, or use files that are not leftoff's own."""
        for name in _FOREIGN:
            if os.path.lexists(self.folder / name):
                raise _refuse_foreign(self.folder, name)
        for name in _OWN_FOLDERS:
            if not _is_kind(self.folder / name, stat.S_ISDIR):
                raise _refuse_foreign(self.folder, name)
        for name in _OWN_FILES:
            if not _is_kind(self.folder / name, stat.S_ISREG):
                raise _refuse_foreign(self.folder, name)
        with os.scandir(self.folder / "objects") as found:
            for each in found:
                if each.is_symlink():
                    raise _refuse_foreign(self.folder, f"objects/{each.name}")
        self._repair()

    def _repair(self) -> None:
        # A power cut can leave these files empty, and git does not work without HEAD.
        for name, text in (("HEAD", _HEAD), ("config", _SETTINGS)):
            if not self._has_text(name, text):
                self._write(name, text)

    def _has_text(self, name: str, text: str) -> bool:
        place = self.folder / name
        is_file = os.path.lexists(place) and _is_kind(place, stat.S_ISREG)
        return is_file and place.read_bytes() == text.encode("ascii")

    def commit(
        self, name: str, message: str, files: Iterable[NewFile], *, at: int, seconds: float
    ) -> None:
        """Store files durably as a commit under a name."""
        stream = b"".join(_import_stream(name, message, files, at))
        words = ("fast-import", "--quiet", "--done", "--date-format=raw")
        ended = self.run(*words, given=stream, seconds=seconds)
        if not ended.is_done:
            raise _refuse(self.folder, ended)

    def list_changed_folders(self, since: int) -> Iterator[Path]:
        """Yield the folders in which names were added or removed since a time in nanoseconds."""
        with os.scandir(self.folder / "objects") as found:
            fans = [f"objects/{each.name}" for each in found if len(each.name) == _FAN_OUT]
        for name in (*fans, *_OWN_FOLDERS):
            # Another process may have packed what was in a folder.
            with contextlib.suppress(FileNotFoundError):
                if (self.folder / name).stat().st_mtime_ns >= since:
                    yield self.folder / name

    def list_tree(self, name: str) -> list[TreeEntry]:
        """List the files of a commit."""
        ended = self.run("ls-tree", "-r", "-z", "--full-tree", f"{_REFS}/{name}")
        if not ended.is_done:
            raise _refuse(self.folder, ended)
        return [_parse_entry(each) for each in ended.out.split(b"\0") if each]

    def read(
        self, blobs: Iterable[str], *, variables: Mapping[str, str] | None = None
    ) -> Iterator[tuple[str, bytes]]:
        """Yield the contents of blobs in order; raises if one is missing."""
        wanted = [*blobs]
        if not wanted:
            return
        given = b"".join(each.encode("ascii") + b"\n" for each in wanted)
        ended = self.run("cat-file", "--batch", given=given, variables=variables)
        if not ended.is_done:
            raise _refuse(self.folder, ended)
        yield from _parse_batch(self.folder, ended.out)

    def remove(self, names: Iterable[str]) -> None:
        """Remove commits by name; `drop_unnamed` then drops their files."""
        given = "".join(f"delete {_REFS}/{name}\n" for name in names)
        ended = self.run("update-ref", "--stdin", given=given.encode())
        if not ended.is_done:
            raise _refuse(self.folder, ended)

    def pack(self) -> None:
        """Pack everything and drop nothing, so that others may add to the store meanwhile."""
        self._insist("pack-refs", "--all", "--prune")
        self._insist(*_REPACK, "--keep-unreachable")

    def drop_unnamed(self) -> None:
        """Drop what no name refers to; nobody may add to the store meanwhile."""
        self._insist(*_REPACK)
        self._insist("prune", "--expire=now")
        self.remove_temps()

    def remove_temps(self) -> None:
        """Remove the temporary files of failed or killed git commands; none may run meanwhile."""
        packs = (self.folder / "objects" / "pack").glob("tmp_*")
        # Those of `_write` end in eight digits.
        own = (each for name in ("HEAD", "config") for each in self.folder.glob(f"{name}-????????"))
        for temp in (*packs, *own, *self.folder.glob("fast_import_crash_*")):
            temp.unlink(missing_ok=True)

    def _insist(self, *arguments: str) -> None:
        ended = self.run(*arguments, seconds=_REPACK_SECONDS)
        if not ended.is_done:
            raise _refuse(self.folder, ended)

    def count_loose(self) -> tuple[int, int]:
        """Return how many loose objects and packs there are, and the bytes on disk of the former.

        The largest pack does not count: it is what the others are to be packed into.
        """
        objects = self.folder / "objects"
        loose = [*objects.glob("??/*")]
        packs = [_measure_allocated(each) for each in (objects / "pack").glob("*.pack")]
        small = sum(packs) - max(packs, default=0)
        return len(loose) + len(packs), sum(map(_measure_allocated, loose)) + small

    def size(self) -> int:
        """Return how many bytes the store takes on disk."""
        return (
            sum(_measure_allocated(each) for each in self.folder.rglob("*")) if self.exists() else 0
        )

    def run(
        self,
        *arguments: str,
        given: bytes = b"",
        seconds: float = _SECONDS,
        variables: Mapping[str, str] | None = None,
    ) -> "Ended":
        """Run git on this store and nothing else, unless the variables name more."""
        from leftoff.subprocesses import Program, run  # noqa: PLC0415 - 4 ms; listing needs no git

        self._require_own_files()
        return run(
            Program(
                arguments=("git", f"--git-dir={self.folder}", "--no-pager", *arguments),
                folder=self.folder,
                environment=copy_for_child(drop_prefix="GIT_", **_VARIABLES, **(variables or {})),
                given=given,
                seconds=seconds,
                needs_files=True,
            )
        )


def _is_kind(place: Path, is_kind: Callable[[int], bool]) -> bool:
    """Return whether a path is of a kind, or does not exist; links are not followed."""
    try:
        return is_kind(place.lstat().st_mode)
    except FileNotFoundError:
        return True


def _refuse_foreign(folder: Path, name: str) -> StoreRefused:
    return StoreRefused(
        f"The snapshots in {folder} are not used: leftoff did not create {name or folder.name}",
        hint=f"If you do not know where it comes from, remove {folder.parent}",
    )


def _measure_allocated(path: Path) -> int:
    try:
        return path.lstat().st_blocks * 512
    except OSError:
        return 0


def _import_stream(name: str, message: str, files: Iterable[NewFile], at: int) -> Iterator[bytes]:
    text = message.encode("utf-8", "surrogateescape")
    yield b"commit %s/%s\n" % (_REFS.encode(), name.encode("ascii"))
    yield b"committer leftoff <> %d +0000\n" % at
    yield b"data %d\n%s\n" % (len(text), text)
    for file in files:
        where = (file.blob or "inline").encode("ascii")
        yield b"M %s %s %s\n" % (file.mode.encode("ascii"), where, quote(file.path))
        if file.blob is None:
            content = file.content or b""
            yield b"data %d\n" % len(content)
            yield content
            yield b"\n"
    # Without this, a stream that was cut short would count as complete.
    yield b"done\n"


def quote(path: str) -> bytes:
    """Return a path as git quotes it, whatever bytes it has."""
    raw = path.encode("utf-8", "surrogateescape")
    return b'"%s"' % _SPECIAL.sub(lambda found: b"\\%03o" % found[0][0], raw)


def _parse_entry(record: bytes) -> TreeEntry:
    about, _, path = record.partition(b"\t")
    mode, _, blob = about.decode("ascii").split(" ")
    return TreeEntry(mode, blob, decode_path(path))


def _parse_batch(folder: Path, out: bytes) -> Iterator[tuple[str, bytes]]:
    position = 0
    while position < len(out):
        end = out.index(b"\n", position)
        blob, kind, *size = out[position:end].split(b" ")
        if kind != b"blob" or not _SHA.fullmatch(blob):
            raise StoreRefused(
                f"A file of this snapshot is missing from {folder}",
                hint="Run `leftoff doctor` to see which snapshots are complete.",
            )
        start = end + 1
        position = start + int(size[0])
        yield blob.decode("ascii"), out[start:position]
        position += 1


def _refuse(folder: Path, ended: "Ended") -> StoreRefused:
    reason = ended.trouble_lines[0] if ended.trouble_lines else "git gave no reason"
    return StoreRefused(
        f"The snapshots in {folder} cannot be used: {reason}",
        hint="Free disk space or make the folder writable, then try again.",
    )

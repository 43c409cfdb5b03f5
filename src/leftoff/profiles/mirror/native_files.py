"""Write native files: atomically, never through a link, never over what a person wrote."""

import contextlib
import itertools
import os
import stat
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from leftoff import processes
from leftoff.errors import StoreRefused
from leftoff.profiles.mirror.manifest import Manifest, ManifestEntry
from leftoff.profiles.regular_files import MOST_BYTES, compute_digest, read_regular
from leftoff.projects.project import leads_out
from leftoff.store import disk, trash

# How often to reread a shared file that others keep changing before giving up.
_TRIES = 5


class NativeFiles:
    """A folder of native files, with the manifest of those we wrote."""

    def __init__(  # noqa: PLR0913 - a folder of files needs them all
        self,
        root: Path,
        manifest: Manifest,
        *,
        store: Path,
        now: Callable[[], datetime],
        on_edit: Callable[[Path, bytes], None],
        is_source: Callable[[str, bytes], bool],
        beside: "Callable[[str | None], NativeFiles | None]" = lambda _: None,
    ) -> None:
        self._root = root
        self._manifest = manifest
        self._store = store
        self._now = now
        self._on_edit = on_edit
        self._is_source = is_source
        self._beside = beside
        self.written: list[Path] = []
        self.shows: dict[Path, str] = {}
        self.warnings: list[str] = []

    @property
    def root(self) -> Path:
        """The folder."""
        return self._root

    def read(self, path: str) -> bytes | None:
        """Return a file's bytes; None if there is no regular file."""
        found = read_regular(self._root / path)
        return found[0] if found else None

    def names(self, folder: str, pattern: str = "*") -> list[str]:
        """List the files of a folder by their paths, sorted."""
        found = (self._root / folder).glob(pattern)
        return sorted(str(path.relative_to(self._root)) for path in found if disk.is_regular(path))

    def is_of(self, path: str, checkpoint_id: str) -> bool:
        """Return whether a file was written or imported as this checkpoint."""
        entry = self._manifest.files.get(path)
        return entry is not None and entry.of == checkpoint_id

    def create(self, path: str, data: bytes, *, of: str = "") -> str:
        """Write a new file, with -1, -2 … added to its name if that is taken; return its path."""
        first = self._target(path)
        temp = make_temp(first, data, mode=PRIVATE)
        try:
            for number in itertools.count():
                name = _add_number(path, number)
                target = first.with_name(Path(name).name)
                # The same event may be processed twice.
                if _holds(target, data) or self._link(temp, target, name, data, of):
                    break
        finally:
            # On a file system without links it was renamed instead.
            temp.unlink(missing_ok=True)
        self._record(name, data, of, is_new=True)
        return name

    def _link(self, temp: Path, target: Path, name: str, data: bytes, of: str) -> bool:
        """Give a file its name unless that is taken; return whether it succeeded."""
        if os.path.lexists(target):
            return False
        # Record it before it exists: if we die in between, it never looks like somebody else's.
        self._manifest.add(
            ManifestEntry(path=name, sha256=compute_digest(data), size=len(data), of=of)
        )
        try:
            disk.name_file(temp, target)
        except FileExistsError:
            # Somebody else was faster; without an entry the file counts as theirs.
            self._manifest.add(ManifestEntry(path=name))
            return False
        return True

    def replace(self, path: str, data: bytes, *, of: str = "") -> None:
        """Write one of our files, after importing what a person changed in it."""
        target = self._target(path)
        found = read_regular(target)
        # Nothing to write: the file has this content, or we imported it as this checkpoint.
        if found is not None and (found[0] == data or self._shows(path, found[0], of)):
            self._record(path, found[0], of)
            return
        if found is not None and not self.is_ours(path, found[0]):
            self._on_edit(target, found[0])
        if found is None and of:
            data = self._find_trashed(target, of) or data
        put(target, data, find_mode(found))
        self._record(path, data, of)

    def _find_trashed(self, target: Path, of: str) -> bytes | None:
        """Return the bytes of a trashed file that we once imported as this very checkpoint."""
        for each in trash.list_files(self._store):
            found = read_regular(Path(each.path)) if each.came_from == str(target) else None
            if found is not None and self._is_source(of, found[0]):
                return found[0]
        return None

    def edit(self, path: str, change: Callable[[str], str]) -> None:
        """Change our part of a file that belongs to others; an empty text means no file."""
        target = self._target(path)
        for _ in range(_TRIES):
            found = read_regular(target)
            before = found[0].decode("utf-8", "surrogateescape") if found else ""
            after = change(before)
            if after == before:
                return
            data = after.encode("utf-8", "surrogateescape")
            # Check again: somebody may be editing it right now and must not lose a word.
            again = read_regular(target)
            if (again and again[0]) != (found and found[0]):
                continue
            if not data:
                target.unlink(missing_ok=True)
            else:
                put(target, data, find_mode(found))
                self.written.append(target)
            return
        raise StoreRefused(
            f"{target} kept changing while being edited; left unchanged",
            hint="The next leftoff command will try again.",
        )

    def append(self, path: str, text: str, *, key: str, head: str = "") -> None:
        """Append lines to a file, once for each key; a new file begins with its head."""
        target = self._target(path)
        found = read_regular(target)
        size = found[1].st_size if found else 0
        # The manifest has the size before an append, so a killed one is completed, not repeated.
        begun = self._manifest.find_append(path, key)
        if begun is None:
            begun = ManifestEntry(path=path, size=size, key=key)
            self._manifest.add(begun)
        data = _find_missing(found[0] if found else b"", begun.size, text, head)
        if not data:
            return
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | FLAGS
        descriptor = os.open(target, flags, PRIVATE)
        try:
            disk.write_all(descriptor, data)
        finally:
            os.close(descriptor)
        self.written.append(target)

    def trash(self, path: str, *, to: str | None = None) -> None:
        """Move a file, if it exists, to the trash, or to the profile's own trash."""
        target = self._target(path)
        found = read_regular(target)
        if found is None:
            self._manifest.add(ManifestEntry(path=path))
            return
        if path in self._manifest.files and not self.is_ours(path, found[0]):
            self._on_edit(target, found[0])
        folder = self._root / to if to else None
        if folder is not None and leads_out(folder):
            raise _refuse_link(folder, self._root)
        trash.put(self._store, target, self._now(), folder=folder)
        self._manifest.add(ManifestEntry(path=path))

    def warn(self, text: str) -> None:
        """Show the user a warning, apart from the command's output."""
        self.warnings.append(text)

    def in_worktree(self, worktree: str | None) -> "NativeFiles | None":
        """Return the files of the same layout in another worktree; None if that is gone."""
        found = self._beside(worktree)
        if found is None or found.root == self._root:
            return found and self
        # Share the lists, so that the caller sees what was written in any worktree.
        found.written, found.warnings, found.shows = self.written, self.warnings, self.shows
        return found

    def is_ours(self, path: str, data: bytes) -> bool:
        """Return whether a file is as we left it."""
        entry = self._manifest.files.get(path)
        return entry is not None and entry.sha256 == compute_digest(data)

    def _shows(self, path: str, data: bytes, of: str) -> bool:
        """Return whether somebody wrote this file and we imported it as this very checkpoint."""
        if not of:
            return False
        entry = self._manifest.files.get(path)
        if entry is not None and entry.of == of and self.is_ours(path, data):
            return True
        return self._is_source(of, data)

    def _record(self, path: str, data: bytes, of: str, *, is_new: bool = False) -> None:
        target = self._root / path
        found = target.lstat()
        entry = ManifestEntry(
            path=path, sha256=compute_digest(data), size=len(data), mtime=found.st_mtime_ns, of=of
        )
        # A new file has no entry, and reading thousands of entries takes a while.
        if is_new or self._manifest.files.get(path) != entry:
            self._manifest.add(entry)
        self.written.append(target)
        self.shows[target] = of

    def _target(self, path: str) -> Path:
        """Create the folder of a file; refuse one outside leftoff's."""
        target = self._root / path
        if leads_out(target.parent):
            raise _refuse_link(target, self._root)
        disk.make_folder(self._root)
        root = os.path.realpath(self._root)
        # A missing folder is where its path says; an existing one may be a link elsewhere.
        parent = os.path.realpath(target.parent)
        if parent == root or parent.startswith(f"{root}/"):
            disk.make_folder(target.parent)
        else:
            raise _refuse_link(target, self._root)
        if os.path.lexists(target) and not disk.is_regular(target):
            # A killed writer, even of another store, may have left it a second name.
            sweep(target.parent)
        if os.path.lexists(target) and not (disk.is_regular(target) and _is_readable(target)):
            raise StoreRefused(
                f"{target} is not a regular file of a usual size, so leftoff left it unchanged",
                hint="Move it away and try again.",
            )
        return target


def _refuse_link(target: Path, root: Path) -> StoreRefused:
    return StoreRefused(
        f"{target} points outside {root}, so leftoff left it unchanged",
        hint="Remove the link and try again.",
    )


def _is_readable(path: Path) -> bool:
    """Return whether a file is small enough to read: otherwise it must not be replaced."""
    return path.lstat().st_size <= MOST_BYTES


def _holds(path: Path, data: bytes) -> bool:
    """Return whether a file has this content, without reading one of another size."""
    try:
        is_likely = path.lstat().st_size == len(data)
    except OSError:
        return False
    found = read_regular(path) if is_likely else None
    return found is not None and found[0] == data


def _find_missing(there: bytes, size: int, text: str, head: str) -> bytes:
    """Return the missing rest of an append that began at a size; empty if it is complete."""
    before, added = there[:size], there[size:]
    # Somebody may have removed the last newline; our line must not join theirs.
    is_torn = bool(head and before) and not before.endswith(b"\n")
    data = ("\n" if is_torn else "" if before else head) + text
    whole = data.encode("utf-8", "replace")
    return b"" if whole in added else whole.removeprefix(added)


def _add_number(path: str, number: int) -> str:
    if not number:
        return path
    stem, dot, suffix = path.rpartition(".")
    return f"{stem}-{number}{dot}{suffix}" if stem else f"{path}-{number}"


# --- temporary names, so that nobody ever reads half a file ---


FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
# Checkpoints are private. git stores only the x bit of a mode.
PRIVATE = 0o600
_TEMP = ".leftoff"


def put(target: Path, data: bytes, mode: int) -> None:
    """Write a file atomically, replacing what was there."""
    temp = make_temp(target, data, mode=mode)
    try:
        temp.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temp.unlink()
        raise


def make_temp(target: Path, data: bytes, *, mode: int) -> Path:
    """Write a file beside its destination, to be renamed when it is complete."""
    temp = target.with_name(f".{target.name[:100]}.{os.getpid()}-{os.urandom(4).hex()}{_TEMP}")
    descriptor = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | FLAGS, PRIVATE)
    try:
        if mode != PRIVATE:
            os.fchmod(descriptor, mode)  # as it was; a new file would lose what the umask forbids
        disk.write_all(descriptor, data)
    except BaseException:
        temp.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)
    return temp


def find_mode(found: tuple[bytes, os.stat_result] | None) -> int:
    """Return the mode to give a file: its current one, or the private one if it is new."""
    return stat.S_IMODE(found[1].st_mode) if found else PRIVATE


def sweep(folder: Path) -> None:
    """Remove files that killed writers left behind."""
    if not folder.is_dir() or leads_out(folder):
        return
    for name in os.listdir(folder):  # noqa: PTH208 - thousands of paths take ten times as long
        if not (name.startswith(".") and name.endswith(_TEMP)):
            continue
        pid = name.removesuffix(_TEMP).rpartition(".")[2].partition("-")[0]
        if not (pid.isdecimal() and processes.is_alive(int(pid), 0)):
            (folder / name).unlink(missing_ok=True)

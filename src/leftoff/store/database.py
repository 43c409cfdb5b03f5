"""A SQLite file that may be deleted, damaged or replaced at any moment, by anyone.

It has a rollback journal. A write-ahead log goes by the name of the file, so processes that have
the file before and the file after it open would share one, and spoil it.
"""

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from leftoff.errors import StoreRefused
from leftoff.store import disk

# Building the index of a large store takes a while; whoever waits needs the result.
_TURN_SECONDS = 60

Result = TypeVar("Result")


class Database:
    """An open database at a path; in memory if there is no path, or none can be written there."""

    def __init__(
        self, path: Path | None, schema: str, version: int, *, like: Path | None = None
    ) -> None:
        self._path = path
        self._script = f"BEGIN; {schema} PRAGMA user_version = {version}; COMMIT;"
        self._version = version
        self._file: tuple[int, int] | None = None
        try:
            self.db = self._opened()
        except sqlite3.Error:
            self._path = None
            self.db = self._blank()
        if like is not None:
            self._copy(like)

    def _copy(self, like: Path) -> None:
        """Begin with what another file holds, which stays untouched; without one, with nothing."""
        if not _is_plain(like) or os.path.lexists(_journal(like)):
            return
        with contextlib.suppress(sqlite3.Error):
            there = f"{like.absolute().as_uri()}?mode=ro"
            with contextlib.closing(sqlite3.connect(there, uri=True)) as source:
                if source.execute("PRAGMA user_version").fetchone()[0] == self._version:
                    source.backup(self.db)

    def reopen(self) -> None:
        """Open the file anew: another process may have replaced it."""
        self.db.close()
        self.db = self._opened()

    def recreate(self) -> None:
        """Put an empty database in the file's place."""
        self.db.close()
        self.db = self._created()

    def leave(self) -> None:
        """Go on in memory, with an empty database."""
        self.db.close()
        self._path = None
        self.db = self._blank()

    def safely(self, work: Callable[[], Result], *, sync: Callable[[], None]) -> Result:
        """Do some work; should the database be damaged or replaced, get another and do it again.

        Another process may have built it anew already, so it is opened again first. With no
        place to keep it, or one that is locked, answers come from memory, slowly but right.
        """
        for renew in (None, self.reopen, self.recreate):
            try:
                if renew is not None:
                    renew()
                    sync()
                return work()
            except sqlite3.DatabaseError as error:
                if "locked" in str(error):
                    break
        self.leave()
        sync()
        return work()

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """Hold the right to write, to the file that has the name now.

        Files that had the name one after the other share the name of the journal, too: a journal
        of the one before must not be there when someone reads the one after.
        """
        if self._path is None:
            yield
            return
        with self._locked(self._path):
            if _identity(self._path) != self._file:
                raise sqlite3.DatabaseError("The index was replaced")
            yield

    @contextlib.contextmanager
    def _locked(self, path: Path) -> Iterator[None]:
        lock = path.with_suffix(".lock")
        if os.path.lexists(lock) and not disk.is_regular(lock):
            raise sqlite3.OperationalError(f"The index is locked by what {lock} is")
        with disk.lock(lock, seconds=_TURN_SECONDS) as is_held:
            if not is_held:
                raise sqlite3.OperationalError("The index is locked")
            yield

    def _opened(self) -> sqlite3.Connection:
        if self._path is not None and _is_plain(self._path):
            with contextlib.suppress(sqlite3.Error):
                return self._connected(self._path)
        return self._created()

    def _created(self) -> sqlite3.Connection:
        if self._path is None:
            return self._blank()
        with self._locked(self._path), contextlib.closing(self._blank()) as blank:
            _put(self._path, blank.serialize())
            return self._connected(self._path)

    def _blank(self) -> sqlite3.Connection:
        db = sqlite3.connect(":memory:", isolation_level=None)
        db.executescript(self._script)
        return db

    def _connected(self, path: Path) -> sqlite3.Connection:
        self._file = _identity(path)
        # mode=rw: it is not made here, for an empty file would be an index that knows nothing.
        there = f"{path.absolute().as_uri()}?mode=rw"
        db = sqlite3.connect(there, uri=True, timeout=_TURN_SECONDS, isolation_level=None)
        try:
            db.execute("PRAGMA synchronous = NORMAL")
            self._check(db, path)
        except BaseException:
            db.close()
            raise
        return db

    def _check(self, db: sqlite3.Connection, path: Path) -> None:
        found = db.execute("PRAGMA user_version").fetchone()[0]
        if found != self._version:
            raise sqlite3.DatabaseError(f"The index is of version {found}")
        if _identity(path) != self._file:
            raise sqlite3.DatabaseError("The index was replaced")


def _put(path: Path, data: bytes) -> None:
    temps = path.parent / "tmp"
    try:
        disk.ensure_folder(temps)
        _journal(path).unlink(missing_ok=True)
        disk.replace(path, data, temps=temps)
    except (OSError, StoreRefused) as error:
        raise sqlite3.OperationalError(f"The index cannot be written: {error}") from error


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _journal(path: Path) -> Path:
    return path.with_name(f"{path.name}-journal")


def _is_plain(path: Path) -> bool:
    journal = _journal(path)
    return disk.is_regular(path) and (not os.path.lexists(journal) or disk.is_regular(journal))

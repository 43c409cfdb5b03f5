"""Keep SQLite tables in step with a project's logs, in a file that anyone may delete or damage.

The database uses a rollback journal. A write-ahead log is found by the file's name, so two
processes holding the old and the new file would share one log and corrupt it. For the same reason
an existing file is never replaced by another one. It is truncated and rewritten in place, and its
journal, which may be needed to repair it, is removed only once the file is empty.
"""

import contextlib
import itertools
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec

from leftoff.checkpoint import without_surrogates
from leftoff.errors import StoreRefused
from leftoff.store import disk, log

# Building the index of a large store takes a while, and the waiting process needs the result.
_TURN_SECONDS = 60.0
# SQLite's words for a file that cannot be written; it can still be read.
_NO_ROOM = ("full", "readonly", "read-only")
# Allocated only as needed. With SQLite's default of 2 MB, building a large index takes twice as
# long.
_CACHE_KIB = 32_000
_COUNTER, _VALID_FOR = slice(24, 28), slice(92, 96)
_APPLICATION = slice(68, 72)

Connection = sqlite3.Connection
Result = TypeVar("Result")


class LogReplaced(sqlite3.DatabaseError):
    """The log that the index was built from was replaced by another one."""


class IndexAway(Exception):
    """The index was opened for queries only, and it is missing or unusable."""


class Database:
    """An open database at a path, or in memory if there is no path or it cannot be written."""

    def __init__(  # noqa: PLR0913 - keyword arguments that describe the database
        self,
        path: Path | None,
        schema: str,
        version: int,
        *,
        is_whole: Callable[[sqlite3.Connection], bool],
        like: Path | None = None,
        is_only_asked: bool = False,
        is_scratch: bool = False,
    ) -> None:
        """Open the database; with `is_only_asked`, raise IndexAway instead of creating it."""
        self._path = path
        self._script = f"BEGIN; {schema} PRAGMA user_version = {version}; COMMIT;"
        self._version = version
        self._is_whole = is_whole
        self._is_only_asked = is_only_asked
        # With an empty name SQLite spills from memory to an unnamed file, which suits a large
        # scratch index.
        self._nowhere = "" if is_scratch else ":memory:"
        self._file: tuple[int, int] | None = None
        self._generation: int | None = None
        try:
            self.db = self._at_hand() if is_only_asked else self._open()
        except sqlite3.Error as error:
            if is_only_asked:
                raise IndexAway(str(error)) from error
            self._path = None
            self.db = self._blank()
        if like is not None:
            try:
                self._copy(like)
            except BaseException:
                self.db.close()
                raise

    def _copy(self, like: Path) -> None:
        """Copy the content of another database file, if there is one; that file is not changed."""
        if not _is_plain(like) or os.path.lexists(_find_journal(like)):
            return
        with contextlib.suppress(sqlite3.Error):
            there = f"{like.absolute().as_uri()}?mode=ro"
            with contextlib.closing(sqlite3.connect(there, uri=True)) as source:
                if source.execute("PRAGMA user_version").fetchone()[0] == self._version:
                    source.backup(self.db)
            if self._is_whole(self.db):
                return
        self.db.close()
        self.db = self._blank()

    def reopen(self) -> None:
        """Close and open the file again; another process may have replaced it."""
        self.db.close()
        self.db = self._open()

    def recreate(self) -> None:
        """Replace the content of the file with an empty database."""
        self.db.close()
        self.db = self._create(is_doubtful=True)

    def renew(self, sync: Callable[[], None]) -> None:
        """Rebuild the database from scratch, in memory if the file cannot be written."""
        try:
            self.recreate()
            sync()
        except sqlite3.Error:
            self.leave()
            sync()

    def leave(self, *, like: Path | None = None) -> None:
        """Continue in memory, with an empty database or a copy of a file."""
        self.db.close()
        self._path = None
        self.db = self._blank()
        if like is not None:
            self._copy(like)

    def safely(self, work: Callable[[], Result], *, sync: Callable[[], None]) -> Result:
        """Run some work, and run it again on a new database if this one is damaged or replaced.

        Another process may have rebuilt the file already, so it is reopened first. If the file
        cannot be written, or stays locked, the answer comes from a database in memory: slower, but
        correct.
        """
        if self._is_only_asked:
            return self._ask_at_hand(work)
        like = None
        for renew in (None, self.reopen, self.recreate):
            try:
                if renew is not None:
                    renew()
                    sync()
                self._refuse_rewritten()
                result = work()
                self._refuse_rewritten()
                return result  # noqa: TRY300 - the check is part of the try
            except sqlite3.DatabaseError as error:
                if "locked" in str(error):
                    break
                if any(word in str(error) for word in _NO_ROOM):
                    like = self._path
                    break
        self.leave(like=like)
        sync()
        return work()

    def _ask_at_hand(self, work: Callable[[], Result]) -> Result:
        try:
            self._refuse_another()
            return work()
        except sqlite3.Error as error:
            raise IndexAway(str(error)) from error

    def _refuse_another(self) -> None:
        """Raise if another file now has this database's name.

        Both files would use the same journal name, and each would apply the other's journal.
        """
        if self._path is not None and _identify(self._path) != self._file:
            raise sqlite3.DatabaseError("The index was replaced")

    def _refuse_rewritten(self) -> None:
        """Raise if the file was replaced or rewritten since it was opened; it may hold less now."""
        self._refuse_another()
        if self._path is not None and _read_generation(self.db) != self._generation:
            raise sqlite3.DatabaseError("The index was rewritten")

    @contextlib.contextmanager
    def turn(self, seconds: float | None = None) -> Iterator[None]:
        """Hold the write lock of the file that has the name now."""
        if self._path is None:
            yield
            return
        with self._hold_lock(self._path, seconds):
            self._refuse_another()
            yield

    @contextlib.contextmanager
    def _hold_lock(self, path: Path, seconds: float | None = None) -> Iterator[None]:
        lock = path.with_suffix(".lock")
        if os.path.lexists(lock) and not disk.is_regular(lock):
            raise sqlite3.OperationalError(f"The index is locked: {lock} is not a file")
        with disk.lock(lock, seconds=_TURN_SECONDS if seconds is None else seconds) as is_held:
            if not is_held:
                raise sqlite3.OperationalError("The index is locked")
            yield

    def _open(self) -> sqlite3.Connection:
        try:
            return self._at_hand()
        except sqlite3.Error as error:
            if "locked" in str(error):
                raise
        return self._create(is_doubtful=False)

    def _at_hand(self) -> sqlite3.Connection:
        if self._path is None or not _is_plain(self._path):
            raise sqlite3.OperationalError("There is no index")
        return self._connect(self._path)

    def _create(self, *, is_doubtful: bool) -> sqlite3.Connection:
        if self._path is None:
            return self._blank()
        with self._hold_lock(self._path):
            if not is_doubtful:
                # Another process may have created it during the wait, or the disk may respond
                # again.
                with contextlib.suppress(sqlite3.Error):
                    return self._at_hand()
            with contextlib.closing(self._blank()) as blank:
                _put(self._path, _mark_unseen(blank.serialize()))
            return self._connect(self._path)

    def _blank(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._nowhere, isolation_level=None)
        try:
            db.executescript(self._script)
        except BaseException:
            db.close()
            raise
        return db

    def _connect(self, path: Path) -> sqlite3.Connection:
        self._file = _identify(path)
        # mode=rw, so that SQLite does not create the file: an empty index would hide checkpoints.
        there = f"{path.absolute().as_uri()}?mode=rw"
        db = sqlite3.connect(there, uri=True, timeout=_TURN_SECONDS, isolation_level=None)
        try:
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
            self._check(db)
            self._generation = _read_generation(db)
        except BaseException:
            db.close()
            raise
        return db

    def _check(self, db: sqlite3.Connection) -> None:
        found = db.execute("PRAGMA user_version").fetchone()[0]
        if found != self._version:
            raise sqlite3.DatabaseError(f"The index has version {found}")
        if not self._is_whole(db):
            raise sqlite3.DatabaseError("The index holds fewer rows than it should")
        self._refuse_another()


def _read_generation(db: sqlite3.Connection) -> int:
    """Return the random number that identifies this build of the index."""
    return int(db.execute("PRAGMA application_id").fetchone()[0])


def _mark_unseen(image: bytes) -> bytes:
    """Give a database image a random change counter.

    A process that has the file open compares this counter to decide whether its cache is valid. A
    counter that starts at one again could repeat the old value.
    """
    changed = bytearray(image)
    changed[_COUNTER] = changed[_VALID_FOR] = os.urandom(4)
    changed[_APPLICATION] = os.urandom(4)
    return bytes(changed)


def _put(path: Path, image: bytes) -> None:
    temps = path.parent / "tmp"
    journal = _find_journal(path)
    try:
        disk.ensure_folder(temps)
        if disk.is_regular(path):
            disk.rewrite(path, image, once_empty=lambda: journal.unlink(missing_ok=True))
        else:
            # There is no leftoff database at this path, so nothing needs the journal.
            journal.unlink(missing_ok=True)
            disk.replace(path, image, temps=temps)
    except (OSError, StoreRefused) as error:
        raise sqlite3.OperationalError(f"The index cannot be written: {error}") from error


def _identify(path: Path) -> tuple[int, int] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _find_journal(path: Path) -> Path:
    return path.with_name(f"{path.name}-journal")


def _is_plain(path: Path) -> bool:
    journal = _find_journal(path)
    return disk.is_regular(path) and (not os.path.lexists(journal) or disk.is_regular(journal))


# --- tables that follow a log ---
#
# Each index follows two logs: the store's, and the fallback's while that is in use. The index
# records how far it has read each one. On opening, it checks its row counts. It is rebuilt if they
# are wrong, if the database is damaged, or if another log replaced the store's.


_LOGS = "CREATE TABLE logs (area INTEGER PRIMARY KEY, inode INTEGER, offset INTEGER, tail BLOB);"
# A transaction is committed after this many files or events. A kill then loses little work, other
# processes wait only briefly, and the cache stays small.
_PART = 5000


class Tables(msgspec.Struct, frozen=True, kw_only=True):
    """The tables of an index."""

    schema: str
    version: int
    check: str
    """A query that returns 1 if the tables hold as many rows as they should."""
    contents: tuple[str, ...]
    """Queries that return everything in the tables in a stable order."""

    def is_whole(self, db: Connection) -> bool:
        """Return whether the tables have the expected number of rows; fast, as it runs at open."""
        row = db.execute(self.check).fetchone()
        return bool(row and row[0])


class Rows:
    """Writes the lines of a log to the tables of an index."""

    def __init__(self, db: Connection) -> None:
        self._db = db
        self._units = 0

    def apply(self, lines: Sequence[bytes]) -> None:
        """Write these lines to the tables."""
        raise NotImplementedError

    def has_news(self) -> bool:
        """Return whether the index lacks anything that does not come from a log."""
        return False

    def apply_rest(self) -> None:
        """Write what does not come from a log, after the logs were read."""

    def update_counts(self) -> None:
        """Update the counts that are checked when the index is opened."""

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit everything that is written inside, or nothing if it fails."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._commit()
        except BaseException:
            # A failed COMMIT may have ended the transaction already.
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def _count(self, units: int) -> None:
        """Count rows written, and start a new transaction when there are enough for one.

        Use this only for rows that can be written twice: the log marks are written at the very end.
        """
        self._units += units
        if self._units >= _PART:
            self._commit()
            self._db.execute("BEGIN IMMEDIATE")

    def _commit(self) -> None:
        self.update_counts()
        self._db.execute("COMMIT")
        self._units = 0


class LogIndex:
    """An open index that answers queries and keeps its tables in step with the logs."""

    tables: Tables

    def __init__(
        self,
        path: Path | None,
        logs: Sequence[Path],
        *,
        like: Path | None = None,
        is_only_asked: bool = False,
        is_scratch: bool = False,
    ) -> None:
        """Open the index at a path, or one in memory that starts as a copy of another path's."""
        self._logs = logs
        self._database = Database(
            path,
            _LOGS + self.tables.schema,
            self.tables.version,
            is_whole=self.tables.is_whole,
            like=like,
            is_only_asked=is_only_asked,
            is_scratch=is_scratch,
        )

    @classmethod
    def at_hand(cls, path: Path | None, sources: Sequence[Any]) -> Self | None:
        """Open the index only if it is usable; queries to it may raise IndexAway."""
        try:
            return cls(path, sources, is_only_asked=True)
        except IndexAway:
            return None

    def _make_rows(self) -> Rows:
        raise NotImplementedError

    @property
    def _db(self) -> Connection:
        return self._database.db

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def sync(self) -> None:
        """Read what is new, and rebuild the index if it is unusable."""
        self._ask(self._sync)

    def rebuild(self) -> None:
        """Drop everything and read all files again."""
        self._database.renew(self._sync)

    def is_sound(self) -> bool:
        """Compare the index with one that is built from the files now.

        This reads every file and every line, and takes as long as a rebuild.
        """
        with contextlib.closing(self._make_scratch()) as fresh:
            fresh.sync()
            # Other processes may have written in the meantime; both indexes must include that.
            self.sync()
            fresh.sync()
            return all(self._holds_like(fresh, query) for query in self.tables.contents)

    def _make_scratch(self) -> "LogIndex":
        return type(self)(None, self._logs, is_scratch=True)

    def _holds_like(self, other: "LogIndex", query: str) -> bool:
        pairs = itertools.zip_longest(self.stream(query), other.stream(query))
        return all(one == two for one, two in pairs)

    def stream(self, query: str) -> Iterator[tuple[Any, ...]]:
        """Yield rows without holding them all in memory; damage ends the iteration early."""
        with contextlib.suppress(sqlite3.DatabaseError):
            yield from self._db.execute(query)

    def mark(self) -> log.LogMark | None:
        """Return how far the store's log was read, if it is still the same log."""
        mark = self._ask(self._marks).get(0)
        return mark if mark is not None and log.is_marked(self._logs[0], mark) else None

    def _sync(self, seconds: float | None = None) -> None:
        rows = self._make_rows()
        # Without news, no lock is taken, so readers do not wait for each other.
        if rows.has_news() or self._find_news():
            with self._database.turn(seconds):
                self._take_news(rows)

    def _take_news(self, rows: Rows) -> None:
        # Find the ends of the logs first. A checkpoint is on disk before its line is, so listing
        # the folders afterwards finds every file that the lines up to here name.
        news = self._find_news()
        with rows.transaction():
            marks = [(area, *self._apply_log(rows, area, part)) for area, part in news]
            rows.apply_rest()
            # Written last: a save assumes that the index knows everything before the mark.
            self._db.executemany("INSERT OR REPLACE INTO logs VALUES (?, ?, ?, ?)", marks)

    def _apply_log(self, rows: Rows, area: int, part: log.LogNews) -> tuple[object, ...]:
        path, end = self._logs[area], part.start
        for lines, end in log.read_lines(path, part.start, part.end):  # noqa: B007 - the last one
            rows.apply(lines)
        return msgspec.structs.astuple(log.mark_at(path, part.inode, end))

    def _find_news(self) -> list[tuple[int, log.LogNews]]:
        """Return the part of each log that the index has not read."""
        marks = self._marks()
        found = [
            (area, log.find_news(path, marks.get(area))) for area, path in enumerate(self._logs)
        ]
        news = [(area, part) for area, part in found if part is not None]
        # The fallback's log disappears once the store has adopted it. If the store's own log was
        # replaced, its history is different and nothing in the index is valid.
        if any(area == 0 and part.is_another for area, part in news):
            raise LogReplaced(f"{self._logs[0]} was replaced")
        return news

    def _marks(self) -> dict[int, log.LogMark]:
        rows = self._db.execute("SELECT area, inode, offset, tail FROM logs")
        return {row[0]: log.LogMark(*row[1:]) for row in rows}

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        plain = [without_surrogates(each) if isinstance(each, str) else each for each in values]
        return self._ask(lambda: self._db.execute(query, plain).fetchall())

    def _ask(self, work: Callable[[], Result]) -> Result:
        return self._database.safely(work, sync=self._sync)

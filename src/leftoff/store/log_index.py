"""Keep SQLite tables in step with a project's logs, and rebuild them when necessary.

Each index follows two logs: the store's, and the fallback's while that is in use. The index records
how far it has read each one. On opening, it checks its row counts. It is rebuilt if they are wrong,
if the database is damaged, or if another log replaced the store's.
"""

import contextlib
import itertools
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec

from leftoff.checkpoint import without_surrogates
from leftoff.store import log
from leftoff.store.database import Connection, Database, IndexAway, LogReplaced

_LOGS = "CREATE TABLE logs (area INTEGER PRIMARY KEY, inode INTEGER, offset INTEGER, tail BLOB);"
# A transaction is committed after this many files or events. A kill then loses little work, other
# processes wait only briefly, and the cache stays small.
_PART = 5000

Result = TypeVar("Result")


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

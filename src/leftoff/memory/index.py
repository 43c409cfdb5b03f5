"""The index of the memory: what its log says, in SQLite, for questions that would read all of it.

It is derived and may be deleted at any moment. Readers bring it up to date. Whoever only adds looks
at the lines that the index lacks, so that a save does not wait for a second file to be synced.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from leftoff.memory.entry import Entry, Kind, Status, decoded, encoded
from leftoff.memory.intake import News, Overlay, find_news
from leftoff.store.database import Connection, Database, IndexAway
from leftoff.store.logmarks import LogMark
from leftoff.store.text import spaced

_VERSION = 3
# So many bytes of the log the index may lack for one who adds to make up for them in passing.
_MOST_LAG_BYTES = 100_000

# Of a word of this length the beginning tells, and is quick to find: switch, switching, switched.
STEM = 5

_SCHEMA = f"""
CREATE TABLE logs (area INTEGER PRIMARY KEY, inode INTEGER, offset INTEGER, tail BLOB);
CREATE TABLE tally (entries INTEGER);
INSERT INTO tally VALUES (0);
CREATE TABLE entries (
  seq INTEGER PRIMARY KEY, id TEXT UNIQUE, kind TEXT, status TEXT, feature TEXT, body BLOB
);
CREATE INDEX by_kind ON entries (kind, status, seq);
CREATE INDEX by_feature ON entries (feature, kind, status, seq) WHERE feature IS NOT NULL;
CREATE TABLE others (id TEXT PRIMARY KEY, entry TEXT) WITHOUT ROWID;
CREATE TABLE sources (source TEXT, seq INTEGER, PRIMARY KEY (source, seq)) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5(text, kind, status, prefix={STEM}, tokenize='unicode61');
"""  # noqa: S608 - no words of others
_GET = """
SELECT body FROM entries WHERE id = :id
UNION ALL
SELECT body FROM others JOIN entries ON entries.id = others.entry WHERE others.id = :id LIMIT 1
"""
_PUT = """
INSERT INTO entries (id, kind, status, feature, body) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, status = excluded.status,
  feature = excluded.feature, body = excluded.body
RETURNING seq
"""
_COUNTS = "SELECT count(*), ifnull(max(seq), 0), (SELECT entries FROM tally) FROM entries"
_QUESTIONS = (
    "SELECT seq, id, kind, status, feature, body FROM entries ORDER BY seq",
    "SELECT id, entry FROM others ORDER BY id",
    "SELECT source, seq FROM sources ORDER BY source, seq",
    "SELECT rowid, text, kind, status FROM words ORDER BY rowid",
)


class Index:
    """An open index over the store's log and its twin in the fallback."""

    def __init__(
        self, path: Path | None, logs: Sequence[Path], *, is_only_asked: bool = False
    ) -> None:
        """Open the index at a path, or one in memory."""
        self._logs = logs
        self._database = Database(
            path, _SCHEMA, _VERSION, is_whole=_is_whole, is_only_asked=is_only_asked
        )

    @classmethod
    def at_hand(cls, path: Path | None, logs: Sequence[Path]) -> "Index | None":
        """Open the index if it is there and good; questions to it then raise IndexAway."""
        try:
            return cls(path, logs, is_only_asked=True)
        except IndexAway:
            return None

    def close(self) -> None:
        """Close the database."""
        self._database.db.close()

    # Bringing it up to date

    def sync(self) -> None:
        """Take in what is new in the log; build anew whatever cannot be used."""
        self._database.safely(self._sync, sync=self._sync)

    def _sync(self) -> None:
        if self._news():
            with self._database.turn():
                self._take(self._news())

    def _news(self) -> list[News]:
        rows = self._database.db.execute("SELECT area, inode, offset, tail FROM logs")
        return list(find_news(self._logs, {row[0]: LogMark(*row[1:]) for row in rows}))

    def _take(self, news: Sequence[News]) -> None:
        db = self._database.db
        db.execute("BEGIN IMMEDIATE")
        try:
            if any(each.is_another and each.area == 0 for each in news):
                # The fallback's log is gone once it was taken in; another log in place of the
                # store's own tells another story, for which nothing read so far can stand.
                for table in ("logs", "entries", "others", "sources", "words"):
                    db.execute(f"DELETE FROM {table}")  # noqa: S608 - names of ours
            overlay = Overlay(self._stored)
            overlay.take(news)
            self._write(overlay)
            marks = [(each.area, *msgspec.structs.astuple(each.mark)) for each in news]
            db.executemany("INSERT OR REPLACE INTO logs VALUES (?, ?, ?, ?)", marks)
            db.execute("UPDATE tally SET entries = (SELECT ifnull(max(seq), 0) FROM entries)")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")

    def _write(self, overlay: Overlay) -> None:
        db = self._database.db
        for entry in overlay.entries.values():
            row = (entry.id, entry.kind, entry.status, entry.feature, encoded(entry))
            seq = db.execute(_PUT, row).fetchone()[0]
            text = spaced("\n".join([entry.text, entry.why, entry.impact, *entry.files]))
            db.execute("DELETE FROM words WHERE rowid = ?", (seq,))
            db.execute(
                "INSERT INTO words (rowid, text, kind, status) VALUES (?, ?, ?, ?)",
                (seq, text, entry.kind, entry.status),
            )
            # Entries gain sources and never lose one.
            rows = [(source, seq) for source in entry.sources]
            db.executemany("INSERT OR IGNORE INTO sources VALUES (?, ?)", rows)
        db.executemany("INSERT OR REPLACE INTO others VALUES (?, ?)", overlay.others.items())

    def with_news(self) -> Overlay:
        """Return all entries as they are now, without bringing the file up to date for a few."""
        found = self.with_few_news()
        if found is None:
            self.sync()
        return found or Overlay(self.get)

    def with_few_news(self) -> Overlay | None:
        """Return all entries as they are now; None if that takes more than a few lines."""
        news = self._database.safely(self._news, sync=self._sync)
        lag = sum(len(line) for each in news for line in each.lines)
        if lag > _MOST_LAG_BYTES or any(each.is_another for each in news):
            return None
        overlay = Overlay(self.get)
        overlay.take(news)
        return overlay

    def rebuild(self) -> None:
        """Forget everything and read the log anew."""
        self._database.renew(self._sync)

    def holds(self) -> list[list[tuple[Any, ...]]]:
        """Return all that it holds, to be compared with another."""
        return [self._rows(question, ()) for question in _QUESTIONS]

    # Questions

    def get(self, entry_id: str) -> Entry | None:
        """Return the entry with this id, or the one that was edited to say the same."""
        return self._database.safely(lambda: self._stored(entry_id), sync=self._sync)

    def _stored(self, entry_id: str) -> Entry | None:
        row = self._database.db.execute(_GET, {"id": entry_id}).fetchone()
        return decoded(row[0]) if row else None

    def with_prefix(self, prefix: str) -> list[Entry]:
        """Return the entries whose id begins like this."""
        query = "SELECT body FROM entries WHERE id >= ? AND id < ? ORDER BY id LIMIT 20"
        return [decoded(row[0]) for row in self._rows(query, (prefix, prefix + "~"))]

    def newest(
        self,
        kinds: Iterable[Kind],
        statuses: Iterable[Status],
        *,
        feature: str | None = None,
        limit: int | None = None,
    ) -> list[Entry]:
        """Return entries, newest first."""
        named = " AND feature = ?" if feature is not None else ""
        query = (
            f"SELECT seq, body FROM entries WHERE kind = ? AND status = ?{named} "  # noqa: S608 - no words of others
            "ORDER BY seq DESC LIMIT ?"
        )
        more: list[object] = [*([feature] if named else []), _most(limit)]
        wanted = [*dict.fromkeys(statuses)]
        asked = [(kind, status, *more) for kind in kinds for status in wanted]
        rows = [row for values in asked for row in self._rows(query, values)]
        return [decoded(row[1]) for row in sorted(rows, reverse=True)[:limit]]

    def from_source(self, source: str) -> list[Entry]:
        """Return what a session or checkpoint told, newest first."""
        query = (
            "SELECT body FROM sources JOIN entries USING (seq) WHERE source = ? ORDER BY seq DESC"
        )
        return [decoded(row[0]) for row in self._rows(query, (source,))]

    def search(self, match: str, *, limit: int | None = None) -> list[Entry]:
        """Return the entries that a full-text question finds, newest first."""
        query = (
            "SELECT body FROM words JOIN entries ON words.rowid = entries.seq "
            "WHERE words MATCH ? ORDER BY words.rowid DESC LIMIT ?"
        )
        return [decoded(row[0]) for row in self._rows(query, (match, _most(limit)))]

    def _rows(self, query: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        db = self._database
        return db.safely(lambda: db.db.execute(query, values).fetchall(), sync=self._sync)


def _is_whole(db: Connection) -> bool:
    count, last, told = db.execute(_COUNTS).fetchone()
    return bool(count == last == told)


def _most(limit: int | None) -> int:
    return -1 if limit is None else limit

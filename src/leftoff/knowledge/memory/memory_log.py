"""Read and write the memory log: one JSON line for each entry and for each change to one.

The memory is the fold of these lines. A repeated line, even from two processes at once, changes
nothing. A line that is unreadable, or that needs a newer version, is skipped.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from leftoff.checkpoint import from_plain, to_plain
from leftoff.knowledge.memory.entry import (
    EntryChange,
    Kind,
    MemoryEntry,
    Status,
    apply_change,
    decode_entry,
    encode_entry,
    id_of,
    merge_repeat,
)
from leftoff.store import log
from leftoff.store.database import Connection, LogIndex, Rows, Tables
from leftoff.store.search_text import split_cjk

LOG = "memory"
_CHANGED = b'"action":"changed"'
_ID = re.compile(rb'"id":"([^"]*)"')
# Commands that someone may run name entries by their ids, and a log can come from an archive.
_PLAIN = re.compile(r"\w[\w.-]*")
_ACTION = "action"
_RECORDS: dict[str, type[MemoryEntry] | type[EntryChange]] = {
    "said": MemoryEntry,
    "changed": EntryChange,
}

MemoryRecord = MemoryEntry | EntryChange


def line_of(record: MemoryRecord) -> bytes:
    """Encode a line, without its newline."""
    action = "said" if isinstance(record, MemoryEntry) else "changed"
    return msgspec.json.encode({_ACTION: action, **to_plain(record)})


def decode_line(line: bytes) -> MemoryRecord | None:
    """Decode a line; None if it needs a newer version."""
    values = msgspec.json.decode(line, type=dict)
    kind = _RECORDS.get(str(values.pop(_ACTION, "")))
    if kind is None:
        return None
    record = from_plain(values, kind)
    if _PLAIN.fullmatch(record.id) is None:
        raise msgspec.ValidationError("The id is not a word.")
    return record


class Overlay:
    """Changed entries in memory, on top of those stored elsewhere."""

    def __init__(self, below: Callable[[str], MemoryEntry | None]) -> None:
        self._below = below
        self.entries: dict[str, MemoryEntry] = {}
        self.others: dict[str, str] = {}

    def get(self, entry_id: str) -> MemoryEntry | None:
        """Return the entry with this id, or the one that was edited to say the same."""
        known = self.entries.get(self.others.get(entry_id, entry_id))
        if known is not None:
            return known
        found = self._below(self.others.get(entry_id, entry_id))
        # The entry may have changed under its own id since.
        return self.entries.get(found.id, found) if found is not None else None

    def put(self, entry: MemoryEntry) -> None:
        """Store an entry, replacing the one with its id."""
        self.entries[entry.id] = entry

    def apply(self, lines: Iterable[bytes]) -> None:
        """Apply new log lines."""
        decoded: Iterator[tuple[bytes, MemoryRecord]] = log.decode_lines(lines, decode_line)
        self.fold(record for _, record in decoded)

    def fold(self, records: Iterable[MemoryRecord]) -> None:
        """Apply new records to the entries."""
        for record in records:
            known = self.get(record.id)
            if isinstance(record, MemoryEntry):
                new = record if known is None else merge_repeat(known, record)
            elif known is not None:
                new = apply_change(known, record)
                self._link_words(new)
            else:
                continue
            if new != known:
                self.put(new)

    def _link_words(self, entry: MemoryEntry) -> None:
        """Let an entry's new words lead to it as well, unless another entry has them."""
        words_id = id_of(entry.kind, entry.text)
        if self.get(words_id) is None:
            self.others[words_id] = entry.id


def about(logs: Sequence[Path], ids: Iterable[str]) -> Overlay:
    """Apply only the lines about some entries; scanning a log needs no index.

    An entry may have been edited to the words that another id stands for, so edited ones count too.
    """
    overlay = Overlay(lambda _: None)
    wanted = {each.encode() for each in ids}
    for is_search in (True, False):
        for path in logs:
            for lines, _ in log.read_lines(path, 0, log.identify(path)[1]):
                if is_search:
                    wanted.update(_find_id(line) for line in lines if _CHANGED in line)
                else:
                    overlay.apply(line for line in lines if _find_id(line) in wanted)
    return overlay


def read_said(logs: Sequence[Path], ids: Iterable[str]) -> dict[str, list[MemoryEntry]]:
    """Return for each entry the lines that said it, with their own times and sources."""
    said: dict[str, list[MemoryEntry]] = {each: [] for each in ids}
    wanted = {each.encode() for each in said}
    for path in logs:
        for lines, _ in log.read_lines(path, 0, log.identify(path)[1]):
            about_them = [line for line in lines if _find_id(line) in wanted]
            for _, record in log.decode_lines(about_them, decode_line):
                if isinstance(record, MemoryEntry):
                    said[record.id].append(record)
    return said


def _find_id(line: bytes) -> bytes:
    found = _ID.search(line)
    return found[1] if found else b""


# --- the index of the log ---
#
# It is derived and can be deleted at any time. Readers update it. Writers only look at the lines
# that it lacks, so that a save does not wait for a second file to be synced.


# Up to this many unindexed bytes are applied in memory instead of updating the index.
_MOST_LAG_BYTES = 100_000

# Words this long are matched by their first letters, which finds switch, switching, switched.
STEM = 5

_SCHEMA = f"""
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
"""  # noqa: S608 - only constants
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
# Sequence numbers have no gaps because entries are never removed. Only the newest are counted: to
# count 100,000 takes several times as long as to show a briefing. `leftoff doctor` compares all.
_COUNTED = 500
_CHECK = f"""
SELECT total = (SELECT ifnull(max(seq), 0) FROM entries)
  AND min(total, {_COUNTED}) = (SELECT count(*) FROM entries WHERE seq > total - {_COUNTED})
FROM (SELECT entries AS total FROM tally)
"""  # noqa: S608 - only constants
_CONTENTS = (
    "SELECT seq, id, kind, status, feature, body FROM entries ORDER BY seq",
    "SELECT id, entry FROM others ORDER BY id",
    "SELECT source, seq FROM sources ORDER BY source, seq",
    "SELECT rowid, text, kind, status FROM words ORDER BY rowid",
)


class EntryRows(Rows):
    """Writes entries into an open index."""

    def apply(self, lines: Sequence[bytes]) -> None:
        """Apply log lines to the entries."""
        overlay = Overlay(lambda entry_id: get_entry(self._db, entry_id))
        overlay.apply(lines)
        for entry in overlay.entries.values():
            self._put(entry)
        self._db.executemany("INSERT OR REPLACE INTO others VALUES (?, ?)", overlay.others.items())

    def _put(self, entry: MemoryEntry) -> None:
        row = (entry.id, entry.kind, entry.status, entry.feature, encode_entry(entry))
        seq = self._db.execute(_PUT, row).fetchone()[0]
        text = split_cjk("\n".join([entry.text, entry.why, entry.impact, *entry.files]))
        self._db.execute("DELETE FROM words WHERE rowid = ?", (seq,))
        self._db.execute(
            "INSERT INTO words (rowid, text, kind, status) VALUES (?, ?, ?, ?)",
            (seq, text, entry.kind, entry.status),
        )
        # Entries gain sources but never lose one.
        rows = [(source, seq) for source in entry.sources]
        self._db.executemany("INSERT OR IGNORE INTO sources VALUES (?, ?)", rows)

    def update_counts(self) -> None:
        """Store the number of entries."""
        self._db.execute("UPDATE tally SET entries = (SELECT ifnull(max(seq), 0) FROM entries)")


def get_entry(db: Connection, entry_id: str) -> MemoryEntry | None:
    """Return the entry with this id, or the one that was edited to say the same."""
    row = db.execute(_GET, {"id": entry_id}).fetchone()
    return decode_entry(row[0]) if row else None


class MemoryIndex(LogIndex):
    """An open index over the store's log and its twin in the fallback."""

    tables = Tables(schema=_SCHEMA, version=3, check=_CHECK, contents=_CONTENTS)

    def _make_rows(self) -> EntryRows:
        return EntryRows(self._db)

    def with_news(self) -> Overlay:
        """Return all current entries, without updating the file for a few new lines."""
        found = self.with_few_news()
        if found is None:
            self.sync()
        return found or Overlay(self.get)

    def with_few_news(self) -> Overlay | None:
        """Return all current entries; None if more than a few lines are missing."""
        news = self._ask(self._find_news)
        if sum(part.end - part.start for _, part in news) > _MOST_LAG_BYTES:
            return None
        overlay = Overlay(self.get)
        for area, part in news:
            for lines, _ in log.read_lines(self._logs[area], part.start, part.end):
                overlay.apply(lines)
        return overlay

    # Queries

    def get(self, entry_id: str) -> MemoryEntry | None:
        """Return the entry with this id, or the one that was edited to say the same."""
        return self._ask(lambda: get_entry(self._db, entry_id))

    def with_prefix(self, prefix: str) -> list[MemoryEntry]:
        """Return the entries whose ids start with this prefix."""
        query = "SELECT body FROM entries WHERE id >= ? AND id < ? ORDER BY id LIMIT 20"
        return [decode_entry(row[0]) for row in self._rows(query, (prefix, prefix + "~"))]

    def newest(
        self,
        kinds: Iterable[Kind],
        statuses: Iterable[Status],
        *,
        feature: str | None = None,
        limit: int | None = None,
    ) -> list[MemoryEntry]:
        """Return entries, newest first."""
        named = " AND feature = ?" if feature is not None else ""
        query = (
            f"SELECT seq, body FROM entries WHERE kind = ? AND status = ?{named} "  # noqa: S608 - only constants
            "ORDER BY seq DESC LIMIT ?"
        )
        more: list[object] = [*([feature] if named else []), _to_sql_limit(limit)]
        wanted = [*dict.fromkeys(statuses)]
        asked = [(kind, status, *more) for kind in kinds for status in wanted]
        rows = [row for values in asked for row in self._rows(query, values)]
        return [decode_entry(row[1]) for row in sorted(rows, reverse=True)[:limit]]

    def from_source(self, source: str) -> list[MemoryEntry]:
        """Return the entries from a session or checkpoint, newest first."""
        query = (
            "SELECT body FROM sources JOIN entries USING (seq) WHERE source = ? ORDER BY seq DESC"
        )
        return [decode_entry(row[0]) for row in self._rows(query, (source,))]

    def search(self, match: str, *, limit: int | None = None) -> list[MemoryEntry]:
        """Return the entries that match a full-text query, newest first."""
        query = (
            "SELECT body FROM words JOIN entries ON words.rowid = entries.seq "
            "WHERE words MATCH ? ORDER BY words.rowid DESC LIMIT ?"
        )
        return [decode_entry(row[0]) for row in self._rows(query, (match, _to_sql_limit(limit)))]


def _to_sql_limit(limit: int | None) -> int:
    return -1 if limit is None else limit

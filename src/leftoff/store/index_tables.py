"""Define the SQLite tables of the index of checkpoints."""

from leftoff.store.log_index import Tables

VERSION = 4

_SCHEMA = """
CREATE TABLE shards (area INTEGER, name TEXT, mtime INTEGER, PRIMARY KEY (area, name));
CREATE TABLE tally (checkpoints INTEGER, events INTEGER);
INSERT INTO tally VALUES (0, 0);
CREATE TABLE unlogged (id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE checkpoints (
  rowid INTEGER PRIMARY KEY, id TEXT UNIQUE, area INTEGER, slot TEXT, name TEXT, saved_at REAL,
  trigger TEXT, agent TEXT, session_id TEXT, branch TEXT, worktree TEXT, task TEXT,
  next_action TEXT, left_off TEXT, state TEXT DEFAULT 'open', is_head INTEGER DEFAULT 0,
  problem TEXT, size INTEGER, mtime INTEGER
);
CREATE INDEX by_slot ON checkpoints (slot, id);
CREATE INDEX by_session ON checkpoints (session_id, id) WHERE session_id IS NOT NULL;
CREATE INDEX by_head ON checkpoints (state, id) WHERE is_head;
CREATE INDEX by_problem ON checkpoints (id) WHERE problem IS NOT NULL;
CREATE TABLE events (seq INTEGER PRIMARY KEY, id TEXT UNIQUE, is_step INTEGER, body BLOB);
CREATE INDEX by_step ON events (seq) WHERE is_step;
CREATE TABLE targets (checkpoint TEXT, seq INTEGER, PRIMARY KEY (checkpoint, seq)) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5(text, branch, agent, tokenize='unicode61');
"""

_CHECK = """
SELECT checkpoints = (SELECT count(*) FROM checkpoints)
  AND events = (SELECT ifnull(max(seq), 0) FROM events) FROM tally
"""

# Row numbers are omitted because they depend on the order in which files were read.
_CONTENTS = (
    """SELECT id, area, slot, name, saved_at, trigger, agent, session_id, branch, worktree, task,
    next_action, left_off, state, is_head, problem, size, mtime FROM checkpoints ORDER BY id""",
    """SELECT id, text, words.branch, words.agent FROM words
    JOIN checkpoints ON words.rowid = checkpoints.rowid ORDER BY id""",
    "SELECT id, is_step, body FROM events ORDER BY id",
    "SELECT checkpoint, events.id FROM targets JOIN events USING (seq) ORDER BY 1, 2",
)

TABLES = Tables(schema=_SCHEMA, version=VERSION, check=_CHECK, contents=_CONTENTS)

EVENTS_OF = "SELECT body FROM targets JOIN events USING (seq) WHERE checkpoint = ? ORDER BY seq"

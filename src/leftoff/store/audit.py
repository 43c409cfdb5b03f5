"""The audit: compare the index with one that is made from the files at this moment.

Whenever the index is opened it is checked in passing. Here nothing is taken on trust: every file
and every line is read. It takes as long as building the index, so only doctor does it.
"""

import itertools

from leftoff.store.index import Index
from leftoff.store.store import Store

_QUESTIONS = (
    """SELECT id, area, slot, name, saved_at, trigger, agent, session_id, branch, worktree, task,
    next_action, left_off, state, is_head, problem, size, mtime FROM checkpoints ORDER BY id""",
    """SELECT id, text, words.branch, words.agent FROM words
    JOIN checkpoints ON words.rowid = checkpoints.rowid ORDER BY id""",
    "SELECT id, can_be_undone, body FROM events ORDER BY id",
    "SELECT checkpoint, events.id FROM targets JOIN events USING (seq) ORDER BY 1, 2",
)


def is_sound(store: Store) -> bool:
    """Say whether the index says of every checkpoint what its file and the log say."""
    index = store.index()
    fresh = Index(None, index.areas, is_scratch=True)
    try:
        fresh.sync()
        # Others may have saved meanwhile, which both are to know.
        index.sync()
        fresh.sync()
        return not any(_differ(index, fresh, question) for question in _QUESTIONS)
    finally:
        fresh.close()


def _differ(index: Index, fresh: Index, question: str) -> bool:
    pairs = itertools.zip_longest(index.rows(question), fresh.rows(question))
    return any(one != other for one, other in pairs)

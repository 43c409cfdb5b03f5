"""Memory: decisions, failed approaches, rules and patterns that outlive checkpoints.

The truth is `memory.jsonl` in the store, one line for what was said and one for what was done about
it; nothing is edited or deleted. Entries are the project's, shared by its worktrees.
"""

from leftoff.memory.api import (
    MOST_DECISIONS,
    add,
    change,
    count_unreadable,
    entries,
    find,
    from_source,
    is_empty,
    is_sound,
    learn,
    live,
    overview,
    rebuild,
    search,
    twin,
    waiting_in,
)
from leftoff.memory.entry import (
    CONFIDENCES,
    KINDS,
    STATUSES,
    Confidence,
    Draft,
    Entry,
    Kind,
    NoSuchEntry,
    Status,
    id_of,
    plain,
)
from leftoff.memory.import_memory import take_in
from leftoff.memory.lessons import take_lessons, told
from leftoff.memory.repeats import repeated

__all__ = [
    "CONFIDENCES",
    "KINDS",
    "MOST_DECISIONS",
    "STATUSES",
    "Confidence",
    "Draft",
    "Entry",
    "Kind",
    "NoSuchEntry",
    "Status",
    "add",
    "change",
    "count_unreadable",
    "entries",
    "find",
    "from_source",
    "id_of",
    "is_empty",
    "is_sound",
    "learn",
    "live",
    "overview",
    "plain",
    "rebuild",
    "repeated",
    "search",
    "take_in",
    "take_lessons",
    "told",
    "twin",
    "waiting_in",
]

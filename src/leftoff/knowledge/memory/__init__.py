"""Memory: decisions, failed approaches, rules and patterns that outlive checkpoints.

The source of truth is `memory.jsonl` in the store: one line per entry and one per change to it.
Nothing is edited or deleted. Entries belong to the project and are shared by its worktrees.
"""

from leftoff.knowledge.memory.api import (
    MOST_DECISIONS,
    add,
    change,
    count_unreadable,
    entries,
    find,
    from_source,
    import_entries,
    is_empty,
    is_sound,
    learn,
    overview,
    rebuild,
    search,
    twin,
    waiting_in,
)
from leftoff.knowledge.memory.entry import (
    CONFIDENCES,
    DETAILS,
    KINDS,
    STATUSES,
    Confidence,
    EntryDraft,
    Kind,
    MemoryEntry,
    NoSuchEntry,
    Status,
    id_of,
    plain,
)
from leftoff.knowledge.memory.repeats import (
    find_repeat,
    format_warning,
    review_lessons,
    take_lessons,
)

__all__ = [
    "CONFIDENCES",
    "DETAILS",
    "KINDS",
    "MOST_DECISIONS",
    "STATUSES",
    "Confidence",
    "EntryDraft",
    "Kind",
    "MemoryEntry",
    "NoSuchEntry",
    "Status",
    "add",
    "change",
    "count_unreadable",
    "entries",
    "find",
    "find_repeat",
    "format_warning",
    "from_source",
    "id_of",
    "import_entries",
    "is_empty",
    "is_sound",
    "learn",
    "overview",
    "plain",
    "rebuild",
    "review_lessons",
    "search",
    "take_lessons",
    "twin",
    "waiting_in",
]

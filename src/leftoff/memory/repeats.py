"""Repeats: a failed approach that is about to be tried again."""

from collections.abc import Collection

from leftoff.memory.entry import Entry
from leftoff.store import Store


def repeated(
    store: Store, *, command: str = "", files: Collection[str] = (), text: str = ""
) -> Entry | None:
    """Return the failed approach that this repeats: the same command, or words and a file."""
    del store, command, files, text
    return None

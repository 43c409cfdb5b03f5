"""Show what the files of another system say about an entry beyond leftoff's own fields."""

from collections.abc import Iterator, Mapping
from typing import Any

# Ids and marks for programs.
_HIDDEN = frozenset({"id", "former_id", "undated", "leftoff"})


def list_details(extra: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each further member with its value as one text."""
    for key, value in extra.items():
        if key in _HIDDEN:
            continue
        if isinstance(value, dict):
            yield from list_details(value)
        elif text := describe(value):
            yield key, text


def describe(value: object) -> str:
    """Return a value of any type as one text."""
    if isinstance(value, dict):
        said = ((key, describe(each)) for key, each in value.items())
        return ", ".join(f"{key}: {text}" for key, text in said if text)
    if isinstance(value, list):
        return "; ".join(filter(None, map(describe, value)))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else " ".join(str(value).split())

"""Write counts, ages and times as people read them.

The status line uses this module and must start fast, so nothing is imported here.
"""

TYPE_CHECKING = False  # importing it from `typing` would make the status line slower

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime


def format_count(number: int, thing: str, *, is_more: bool = False) -> str:
    """Return a count with its noun: `1 file`, `2 files`, `more than 2,000 files`."""
    if is_more:
        return f"more than {number:,} {thing}s"
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def format_bytes(size: int) -> str:
    """Return a size as people read it: `12 KB`, `3.4 MB`."""
    if size < 1_000_000:
        return f"{-(-size // 1000)} KB"
    return f"{size / 1_000_000:.1f} MB"


def join_words(words: "Sequence[str]") -> str:
    """Return a list as people write it: `a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def age(seconds: float) -> str:
    """Return how long ago something was: `just now`, `5m ago`, `3d ago`."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= size:
            return f"{int(seconds // size)}{unit} ago"
    return "just now"


def local(moment: "datetime") -> str:
    """Format a time in the user's own time zone."""
    return moment.astimezone().strftime("%Y-%m-%d %H:%M")


def age_in_words(seconds: float) -> str:
    """Return how long ago something was, for a sentence: `just now`, `2 hours ago`."""
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{format_count(int(seconds // size), unit)} ago"
    return "just now"

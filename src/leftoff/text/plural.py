"""Format counts and ages.

The status line uses this module and must start fast, so nothing is imported here.
"""


def format_count(number: int, thing: str, *, is_more: bool = False) -> str:
    """Return a count with its noun: `1 file`, `2 files`, `more than 2,000 files`."""
    if is_more:
        return f"more than {number:,} {thing}s"
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def age(seconds: float) -> str:
    """Return how long ago something was: `just now`, `5m ago`, `3d ago`."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= size:
            return f"{int(seconds // size)}{unit} ago"
    return "just now"

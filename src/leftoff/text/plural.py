"""Words: what sentences need that speak of more than one thing, or of the past.

The status line uses them, so nothing is imported here.
"""


def format_count(number: int, thing: str) -> str:
    """Say how many there are of a thing: `1 file`, `2 files`."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def age(seconds: float) -> str:
    """Say how long ago something was."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= size:
            return f"{int(seconds // size)}{unit} ago"
    return "just now"

"""Times for people: local dates, short ages, and spans such as 90d."""

import re
from datetime import datetime, timedelta

from leftoff.errors import Usage

_SPAN = re.compile(r"\s*(\d{1,6})\s*([mhdw])\s*")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def age(seconds: float) -> str:
    """Say how long ago something was."""
    if seconds < 60:
        return "just now"
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= size:
            return f"{int(seconds // size)}{unit} ago"
    raise AssertionError


def local(moment: datetime) -> str:
    """Show a moment in the user's own time."""
    return moment.astimezone().strftime("%Y-%m-%d %H:%M")


def span(text: str) -> timedelta:
    """Read a span such as 90d, 12h or 2w."""
    found = _SPAN.fullmatch(text)
    if found is None:
        raise Usage(
            f"{text!r} is not a span of time.", hint="Write a number and m, h, d or w, such as 90d."
        )
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def moment(text: str, *, now: datetime) -> datetime:
    """Read a date such as 2026-11-15, or a span back from now."""
    try:
        return datetime.fromisoformat(text).astimezone()
    except ValueError:
        try:
            return now - span(text)
        except (Usage, OverflowError) as error:
            raise Usage(
                f"{text!r} is neither a date nor a span of time.",
                hint="Write 2026-11-15, or 7d for seven days back.",
            ) from error

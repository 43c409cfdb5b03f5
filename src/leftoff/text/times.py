"""Parse and format times: ISO 8601, local dates, and spans such as 90d."""

import re
from datetime import UTC, datetime, timedelta, tzinfo

from leftoff.errors import UsageError
from leftoff.text.plural import age, local

__all__ = ["age", "ago", "is_plausible", "local", "moment", "parse", "span"]

# Compiled on first use, because hooks read no spans.
_SPAN = r"\s*(\d{1,6})\s*([mhdw])\s*"
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DATE = r"\s*\d{4}-?\d{2}-?\d{2}\s*"
# Nothing was saved before, and nothing will be after. Beyond these, dates no longer sort as text,
# and their numbers no longer fit into the database.
_EARLIEST = datetime(1970, 1, 2, tzinfo=UTC)
_LATEST = datetime(2200, 1, 1, tzinfo=UTC)


def is_plausible(moment: datetime) -> bool:
    """Return whether something can have been saved then; the year 9999 is only a placeholder."""
    try:
        return _EARLIEST <= moment.astimezone(UTC) <= _LATEST
    except (OverflowError, ValueError):
        return False


def parse(text: str, *, zone: tzinfo | None = UTC) -> datetime | None:
    """Parse an ISO 8601 time; None if it is invalid.

    `zone` applies to a time without a zone; None means the user's own.
    """
    found = _read(text)
    if found is None or found.tzinfo is not None:
        return found
    try:
        return found.astimezone() if zone is None else found.replace(tzinfo=zone)
    except (ValueError, OverflowError):
        return None


def _read(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def span(text: str) -> timedelta:
    """Parse a span such as 90d, 12h or 2w."""
    found = re.fullmatch(_SPAN, text)
    if found is None:
        raise UsageError(
            f"{text!r} is not a span of time.", hint="Write a number and m, h, d or w, such as 90d."
        )
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def ago(text: str, *, now: datetime) -> datetime:
    """Parse a span, and return the time that long before now."""
    # Compared first, because subtracting past the year 1 raises an error.
    back = span(text)
    return now - back if back < now - _EARLIEST else _EARLIEST


def moment(text: str, *, now: datetime, is_end: bool = False) -> datetime:
    """Parse a date such as 2026-11-15, or a span before now; an end includes its whole day."""
    found = _read(text.strip())
    if found is None:
        return _parse_back(text, now)
    if is_end and re.fullmatch(_DATE, text):
        found = found.replace(hour=23, minute=59, second=59, microsecond=999_999)
    try:
        return min(max(found.astimezone(UTC), _EARLIEST), _LATEST)
    except (OverflowError, ValueError):
        return _EARLIEST if found.year < 2000 else _LATEST


def _parse_back(text: str, now: datetime) -> datetime:
    try:
        return ago(text, now=now)
    except UsageError as error:
        raise UsageError(
            f"{text!r} is neither a date nor a span of time.",
            hint="Write 2026-11-15, or 7d for seven days back.",
        ) from error

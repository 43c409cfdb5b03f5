"""Read and write openclaw's times: `2026-11-15 18:40 UTC`, `2026-11-15 19:40 GMT+1`."""

import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

from leftoff.profiles.loose_times import read_moment

_MOMENT = re.compile(
    r"(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}(?::\d{2})?)(?:\.\d+)?[ \t]*"
    r"(?:(UTC|GMT|Z)?([+-]\d{1,2})?(?::?(\d{2}))?)?"
)
_CLOCK = re.compile(r"\d[:h]\d\d|\d\s?[ap]\.?m\b|[时時点]", re.IGNORECASE)
# The offset that the original stamps on every file, in whatever zone it runs.
_STAMPED = timedelta(hours=8)
TOLERANCE = timedelta(minutes=3)
"""How far the time in a file and the time of the file may be apart and still mean the same."""


def write(moment: datetime) -> str:
    """Format a moment in the user's local time, with its current offset."""
    local = moment.astimezone()
    return f"{local:%Y-%m-%d %H:%M} {_format_zone(local)}"


def _format_zone(local: datetime) -> str:
    offset = local.utcoffset() or timedelta()
    if not offset:
        return "UTC"
    minutes = round(abs(offset).total_seconds() / 60)
    hours = f"GMT{'-' if offset < timedelta() else '+'}{minutes // 60}"
    return f"{hours}:{minutes % 60:02d}" if minutes % 60 else hours


def read(text: str, path: Path) -> datetime | None:
    """Parse a moment; one without a zone is local, and an invalid one is None."""
    found = _MOMENT.match(text.strip())
    if found is None:
        return read_moment(text)[0] if _CLOCK.search(text) else None
    day, clock, name, hours, minutes = found.groups()
    try:
        naive = datetime.fromisoformat(f"{day} {clock}")
        if name is None and hours is None:
            return naive.astimezone()
        offset = _parse_offset(hours, minutes)
        stated = naive.replace(tzinfo=timezone(offset))
        return _treat_as_local(naive, path) or stated if offset == _STAMPED else stated
    except (ValueError, OverflowError):
        return None


def _parse_offset(hours: str | None, minutes: str | None) -> timedelta:
    if hours is None:
        return timedelta()
    offset = timedelta(hours=abs(int(hours)), minutes=int(minutes or 0))
    return -offset if hours.startswith("-") else offset


def _treat_as_local(naive: datetime, path: Path) -> datetime | None:
    """Treat the clock as local time if the file's own time shows that the zone is wrong."""
    try:
        written_at = datetime.fromtimestamp(path.lstat().st_mtime, UTC)
    except (OSError, ValueError, OverflowError):
        return None
    local = naive.astimezone()
    return local if abs(written_at - local) <= TOLERANCE else None


def find_last_write(path: Path) -> datetime | None:
    """Return when a file was last written; None if that is unknown."""
    try:
        return datetime.fromtimestamp(path.lstat().st_mtime, UTC)
    except (OSError, ValueError, OverflowError):
        return None

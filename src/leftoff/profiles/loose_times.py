"""Read a date and a time as people and language models write them, in any usual form."""

import re
import unicodedata
from datetime import UTC, datetime, timedelta, timezone

from leftoff.lazy_patterns import lazy
from leftoff.text import times

_MONTH = r"(?P<month>[^\W\d_]{3,10})"
_GAP = r"[\s-]+(?:de\s+)?"
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?P<y>\d{4})\s?[-/.年]\s?(?P<m>\d{1,2})\s?[-/.月]\s?(?P<d>\d{1,2})日?",
        r"(?P<d>\d{1,2})\.\s?(?P<m>\d{1,2})\.\s?(?P<y>\d{4})",
        r"(?P<one>\d{1,2})[/-](?P<other>\d{1,2})[/-](?P<y>\d{4})",
        rf"{_MONTH}\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y>\d{{4}})",
        rf"(?P<d>\d{{1,2}})(?:st|nd|rd|th|er|\.|º)?{_GAP}{_MONTH}\.?,?{_GAP}(?P<y>\d{{4}})",
    )
)
_TIME = lazy(
    r"(?<!\d)(?P<h>\d{1,2})\s?(?:[:h时時点]\s?(?P<min>\d{2})?分?(?::(?P<s>\d{2}))?(?:\.\d+)?"
    r"(?:\s?(?P<half>[ap])\.?m\b\.?)?|(?P<bare>[ap])\.?m\b\.?)",
    re.IGNORECASE,
)
_ZONE = lazy(
    r"(?:\b(?:UTC|GMT)\s?)?(?P<sign>[+-])(?P<h>\d{1,2})(?::?(?P<m>\d{2}))?\b|\b(?:UTC|GMT)\b|Z\b"
)
# Python would read the minutes as a fraction of the hour.
_DOTTED = lazy(r"(?<=\s\d\d)\.(?=\d\d\b)")
# The first three letters of a month, without accents, in the languages of Europe.
_MONTHS = {
    prefix: number
    for number, prefixes in enumerate(
        ("jan ene gen sty янв", "feb fev lut фев", "mar maa mrt мар", "apr avr abr kwi апр",
         "may mai mag mei maj маи мая", "jun giu cze июн", "jul lug lip июл",
         "aug aou ago sie авг", "sep set wrz сен", "oct okt out ott paz окт", "nov lis ноя",
         "dec dez dic gru дек"), 1
    )
    for prefix in prefixes.split()
}  # fmt: skip
# Words that say nothing more than the date and the time do.
_FILLERS = lazy(
    r"(?:\b(?:at|on|um|am|den|uhr|à|le|a las?|el|às|alle|om|utc|local|time|t"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|mon|tue|wed|thu|fri|sat|sun)\b|[\s,.()])+",
    re.IGNORECASE,
)
_MONTHS_IN_YEAR = 12
_NOON = 12


def read_moment(text: str) -> tuple[datetime | None, bool]:
    """Return the moment that a text names, and whether the text says nothing else.

    A time without a zone is the user's own.
    """
    plain = _DOTTED.sub(":", text.strip("`*_. "))
    if (found := times.parse(plain, zone=None)) is not None:
        return found, True
    for pattern in _DATES:
        date = pattern.search(plain)
        if date is not None and (day := _read_day(date)) is not None:
            return _add_time(day, plain[: date.start()], plain[date.end() :])
    return None, not plain


def _read_day(date: re.Match[str]) -> datetime | None:
    found = date.groupdict()
    day, month = found.get("d"), found.get("m")
    if found.get("month"):
        month = _find_month(found["month"])
    elif found.get("one"):
        # 03/04 may mean either; only a number above 12 says which one is the day.
        pair = sorted((int(found["one"]), int(found["other"])))
        is_clear = pair[0] <= _MONTHS_IN_YEAR < pair[1] or pair[0] == pair[1]
        month, day = (str(each) for each in pair) if is_clear else (None, None)
    try:
        return datetime(int(found["y"]), int(month or 0), int(day or 0)).astimezone()
    except (ValueError, OverflowError):
        return None


def _find_month(word: str) -> str | None:
    bare = unicodedata.normalize("NFKD", word.casefold())
    letters = "".join(each for each in bare if not unicodedata.combining(each))
    if letters.startswith("jui"):
        return "7" if letters.startswith("juil") else "6"
    number = _MONTHS.get(letters[:3])
    return str(number) if number else None


def _add_time(day: datetime, before: str, after: str) -> tuple[datetime | None, bool]:
    """Add the time and the zone that follow a date or precede it."""
    rest = f"{before} {after}"
    found = _TIME.search(rest)
    if found is None:
        return day, _FILLERS.sub("", rest) == ""
    hour = int(found["h"])
    half = (found["half"] or found["bare"] or "").lower()
    if half:
        hour = hour % _NOON + (_NOON if half == "p" else 0)
    rest = f"{rest[: found.start()]} {rest[found.end() :]}"
    try:
        # Without a zone: a day may begin in summer time and end in winter time.
        moment = day.replace(
            hour=hour, minute=int(found["min"] or 0), second=int(found["s"] or 0), tzinfo=None
        )
        zone = _ZONE.search(rest)
        if zone is None:
            return moment.astimezone(), _FILLERS.sub("", rest) == ""
        rest = rest[: zone.start()] + rest[zone.end() :]
        return moment.replace(tzinfo=_read_zone(zone)), _FILLERS.sub("", rest) == ""
    except (ValueError, OverflowError):
        return day, False


def _read_zone(zone: re.Match[str]) -> timezone:
    if zone["sign"] is None:
        return UTC
    offset = timedelta(hours=int(zone["h"]), minutes=int(zone["m"] or 0))
    return timezone(offset if zone["sign"] == "+" else -offset)

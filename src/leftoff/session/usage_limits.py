"""Recognize that an agent stopped because the user's plan or a rate limit was used up.

The wordings are those of the agents' own errors: of the programs that the tests run, and of public
reports about earlier versions. Only errors count, never what a model said.
"""

import re
from datetime import UTC, datetime, timedelta

from leftoff.lazy_patterns import lazy

_USED_UP = lazy(
    r"\byou(?:['\u2019]ve| have) (?:hit|reached|exceeded|exhausted) your\b"
    r"[^\n]{0,60}?\b(?:limits?|quota|allowance|capacity)\b"
    r"|\b(?:\d+-hour|daily|weekly|monthly|session|usage|free|go) limit (?:has been )?reached"
    r"|\busage_limit_(?:reached|exceeded)\b",
    re.IGNORECASE,
)
_TOO_MANY = lazy(
    r"\brate_limit|\brate limit\b|\bquota exceeded\b|\btoo many requests\b|\bRESOURCE_EXHAUSTED\b",
    re.IGNORECASE,
)
_RESET = lazy(
    r"\b(?:resets?|try again|retry)(?P<when> +(?:(?:at|in|after|on) +)?\w[\w:,/+() -]{0,39}\w\)?)",
    re.IGNORECASE,
)
_UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}
_DURATION = lazy(r"(?:in|after) +((?:\d+ *[dhms][a-z]* *)+)", re.IGNORECASE)
_AMOUNT = lazy(r"(\d+) *([dhms])", re.IGNORECASE)
_STAMP = lazy(r"limit reached\|(\d{10})\b")
# The time comes right after the words about the limit.
_REACH = 250
_FORMAT = "at %Y-%m-%d %H:%M UTC"


def find_usage_limit(error: str, at: datetime | None = None) -> str:
    """Return the limit that an error is about, in words; empty if it is about something else.

    `at` is when it happened, from which "in 2 hours" counts.
    """
    used_up = _USED_UP.search(error)
    found = used_up or _TOO_MANY.search(error)
    if found is None:
        return ""
    limit = "a usage limit" if used_up else "a rate limit"
    when = _find_reset(error, found, at)
    return f"{limit}, which resets {when}" if when else limit


def _find_reset(error: str, found: re.Match[str], at: datetime | None) -> str:
    if stamp := _STAMP.search(error):
        return f"{datetime.fromtimestamp(int(stamp[1]), UTC):{_FORMAT}}"
    reset = _RESET.search(error, found.start(), found.end() + _REACH)
    words = reset["when"].strip() if reset else ""
    if at is not None and (duration := _DURATION.match(words)):
        amounts = {_UNITS[unit.lower()]: int(n) for n, unit in _AMOUNT.findall(duration[1])}
        return f"{at.astimezone(UTC) + timedelta(**amounts):{_FORMAT}}"
    if not any(each.isdigit() for each in words):
        # Such as "try again later".
        return ""
    words = words.replace("after ", "in ", 1)
    return f"at {words}" if words[0].isdigit() else words

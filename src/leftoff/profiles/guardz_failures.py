"""Read the failed approaches of a guardz checkpoint: what was tried, and why it failed."""

import re
from collections.abc import Sequence
from typing import Any

from leftoff.profiles import guardz_words
from leftoff.profiles.loose_markdown import is_blank
from leftoff.profiles.loose_words import NOTHING

Plain = dict[str, Any]

DASHES = (" \u2014 ", " \u2013 ", " -- ", " - ", " \u2192 ", " => ", " -> ")
_LABEL = re.compile(r"\*\*(?P<bold>[^*\n]+?)(?::\*\*|\*\*[ ]?:)[ ]+|(?P<plain>[^:`\n]{2,60}):[ ]+")
_BECAUSE = re.compile(rf"(?<=\S),?[ ]+(?=(?:{guardz_words.BECAUSE})\b)", re.IGNORECASE)
_WHY = re.compile(
    rf"[ \t]*(?:[-*+][ \t]+)?(?:\*\*|__)?(?:{guardz_words.WHY})(?:\*\*|__)?"
    r"\s*[:\uff1a](?:\*\*|__)?\s*",
    re.IGNORECASE,
)
# the cache (reason: too large)
_INSIDE = re.compile(
    rf"(.*?\S)[ \t]*[(\uff08](?:{guardz_words.WHY})[ \t]*[:\uff1a][ \t]*([^()\n]+)[)\uff09]\.?",
    re.IGNORECASE,
)
NOTHING_BECAUSE = re.compile(rf"[(*_`]*(?:{NOTHING})\b[*_`]*\s*[-(,.;:\u2013\u2014]", re.IGNORECASE)


def split_at(text: str, marks: Sequence[str]) -> Plain:
    """Split what from why at the first of these marks that a text has in its first line."""
    first = text.partition("\n")[0]
    mark = next((each for each in marks if each in first), None)
    what, _, why = text.partition(mark) if mark else (text, "", "")
    return {"what": what, "why": why} if what.strip() else {"what": text, "why": ""}


def split_failure(text: str) -> Plain:
    """Split an approach from the reason why it failed, however an agent put it."""
    found = split_at(text, DASHES)
    first, _, below = text.partition("\n")
    if found["why"]:
        return found
    if inside := _INSIDE.fullmatch(text):
        return {"what": inside[1], "why": inside[2]}
    if (label := _LABEL.match(first)) and first[label.end() :].strip():
        return {"what": (label["bold"] or label["plain"]).strip(), "why": text[label.end() :]}
    if because := _BECAUSE.search(first):
        return {"what": text[: because.start()], "why": text[because.end() :]}
    if below.strip():
        reason = _WHY.sub("", below, count=1) if _WHY.match(below) else below
        is_one = "\n" not in reason.strip("\n")
        reason = re.sub(r"^[-*+][ \t]+", "", reason) if is_one else reason
        return {"what": first.rstrip(": "), "why": reason.strip("\n")}
    return found


def list_below_headings(lines: Sequence[str]) -> list[str]:
    """Return lines in which a heading is a bullet, with what is below it as its details."""
    result: list[str] = []
    is_below = False
    found = [re.match(r" {0,3}(#{2,6})[ \t]+(.*?)[ \t]*#*$", line) for line in lines]
    highest = min((len(each[1]) for each in found if each), default=0)
    for line, heading in zip(lines, found, strict=True):
        if heading and len(heading[1]) == highest:
            is_below = True
            result.append(f"- {heading[2]}")
        elif line.strip() or not is_below:
            result.append(f"  {line}" if is_below and not is_blank(line) else line)
    return result

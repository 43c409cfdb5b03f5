"""Files of prompts that were blocked: one prompt as it is, or several under headers with a time.

=== BLOCKED PROMPT [2026-11-15T18:41:07Z] ===
rename the column and rerun the migrations
"""

import re
from datetime import datetime, timedelta

import msgspec

from leftoff.text import times

LEGACY = "legacy"
"""The time of a prompt that stands before the first header: nobody noted it."""

_HEADER = re.compile(
    r"^=== BLOCKED PROMPT \[([^\]\n]*)\](?: \[non-replayable:([^\]\n]*)\])? ===[ \t]*$",
    re.MULTILINE,
)


class FilePrompt(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt in a file; `told_at` is its time as written."""

    text: str
    told_at: str
    at: datetime
    tag: str = ""
    """What kind of notice it is, if a program sent it."""


def parse(text: str, *, written_at: datetime) -> list[FilePrompt]:
    """Read the prompts of a file in their order, blank ones left out."""
    before, *rest = _HEADER.split(text.replace("\r\n", "\n"))
    entries = [(LEGACY, "", before), *zip(rest[::3], rest[1::3], rest[2::3], strict=True)]
    timed = [moment for told_at, *_ in entries if (moment := times.parse(told_at)) is not None]
    # Without a time of its own a prompt is older than all that have one.
    oldest = min(timed, default=written_at) - timedelta(seconds=1)
    return [
        FilePrompt(
            text=body.strip(), told_at=told_at, at=times.parse(told_at) or oldest, tag=tag or ""
        )
        for told_at, tag, body in entries
        if body.strip()
    ]

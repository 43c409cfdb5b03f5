"""Parse files of blocked prompts: a single prompt, or several under headers with a time.

=== BLOCKED PROMPT [2026-11-15T18:41:07Z] ===
rename the column and rerun the migrations
"""

import re
from datetime import datetime, timedelta

import msgspec

from leftoff.lazy_patterns import lazy
from leftoff.text import times

LEGACY = "legacy"
"""The time of a prompt before the first header, where no time was recorded."""

_HEADER = lazy(
    r"^=== BLOCKED PROMPT \[([^\]\n]*)\](?: \[non-replayable:([^\]\n]*)\])? ===[ \t]*$",
    re.MULTILINE,
)


class FilePrompt(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt in a file; `written_at` is its time as written in the file."""

    text: str
    written_at: str
    at: datetime
    tag: str = ""
    """The kind of notice, if a program sent it."""


def parse(text: str, *, written_at: datetime) -> list[FilePrompt]:
    """Return the prompts of a file in order, without blank ones."""
    before, *rest = _HEADER.split(text.replace("\r\n", "\n"))
    entries = [(LEGACY, "", before), *zip(rest[::3], rest[1::3], rest[2::3], strict=True)]
    timed = [
        moment for written_at, *_ in entries if (moment := times.parse(written_at)) is not None
    ]
    # A prompt without a time is treated as older than all prompts that have one.
    oldest = min(timed, default=written_at) - timedelta(seconds=1)
    return [
        FilePrompt(
            text=body.strip(),
            written_at=written_at,
            at=times.parse(written_at) or oldest,
            tag=tag or "",
        )
        for written_at, tag, body in entries
        if body.strip()
    ]

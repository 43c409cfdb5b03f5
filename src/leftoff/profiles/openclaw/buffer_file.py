"""Write the working buffer: what was said since the context began to fill up, word for word."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from leftoff.checkpoint import Checkpoint
from leftoff.profiles.openclaw import openclaw_layout
from leftoff.profiles.profile import BufferedExchange, Native
from leftoff.session import state_file

_HEAD = """\
# Working Buffer (Danger Zone Log)
**Status:** ACTIVE
**Started:** {started}

---
"""
_END = "\n"
_STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"
_HEADING = re.compile(rf"^(\\*## {_STAMP} (?:Human|Agent \(summary\)))$", re.MULTILINE)
_ANSWER = re.compile(rf"^## ({_STAMP}) Agent \(summary\)$", re.MULTILINE)


def add_exchanges(text: str, exchanges: Sequence[BufferedExchange], now: datetime) -> str:
    """Return the buffer with these exchanges; one that has none of them is started again."""
    if not exchanges:
        return text
    blocks = _blocks(text)
    known = {f"## {_stamp(each.at)} Human": each for each in exchanges}
    if not any(heading in known for heading, _ in blocks):
        text, blocks = _HEAD.format(started=_stamp(exchanges[0].at)), []
    found = dict(blocks)
    for heading, exchange in known.items():
        before = found.get(heading, "")
        after = _block(heading, exchange, before, now)
        if not before:
            text = f"{text.rstrip(_END)}\n\n{after}"
        elif after != before:
            text = text.replace(before, after, 1)
    return text


def _blocks(text: str) -> list[tuple[str, str]]:
    """Split the buffer into exchanges, each with its heading."""
    starts = [found.start() for found in re.finditer(rf"^## {_STAMP} Human$", text, re.MULTILINE)]
    blocks = [text[begin:end] for begin, end in pairwise([*starts, len(text)])]
    return [(block.partition("\n")[0], block) for block in blocks]


def _block(heading: str, exchange: BufferedExchange, before: str, now: datetime) -> str:
    """Write an exchange, or add the answer to one; existing text stays."""
    block = before or f"{heading}\n{_quote(exchange.asked)}\n"
    if not exchange.answered.strip() or _ANSWER.search(before):
        return block
    answer = f"## {_stamp(now)} Agent (summary)\n{_quote(exchange.answered)}\n"
    # The empty line before the next exchange belongs to this one.
    gap = "\n" if before.endswith("\n\n") else ""
    return f"{block.rstrip(_END)}\n\n{answer}{gap}"


def _quote(text: str) -> str:
    """Keep a text unchanged, except for lines that look like one of our headings."""
    plain = text.replace("\r\n", "\n").strip("\n")
    return _HEADING.sub(r"\\\1", plain)


def _stamp(moment: datetime) -> str:
    at = moment.astimezone(UTC)
    # The time identifies an exchange, so keep all of its digits.
    return f"{at:%Y-%m-%dT%H:%M:%S}{f'.{at.microsecond:06d}' if at.microsecond else ''}Z"


# --- the autosave file and its log ---
#
# If SESSION-STATE.md names the task, the file repeats it word for word. Otherwise the file has the
# sections of a checkpoint, with the content of SESSION-STATE.md below them.


LOG_TITLE = "# Autosave Log\n"

_TITLE = "# Autosave\n"
_NOTES = "## Working notes\n"
_SECTION = re.compile(
    r"^##[ \t]+(?:progress|next action|blockers|key decisions|relevant context)[ \t:]*\r?$",
    re.IGNORECASE | re.MULTILINE,
)
_TASK = re.compile(r"^\*\*task:\*\*", re.IGNORECASE | re.MULTILINE)
_OURS = ("# autosave", "**created:**", "**auto-saved:**", "**project:**")


def render(checkpoint: Checkpoint, state: str, *, project: str) -> str:
    """Write an autosave; `state` is the content of SESSION-STATE.md."""
    state = state or openclaw_layout.find_state(checkpoint)
    fields = [
        _TITLE,
        openclaw_layout.write_moment(checkpoint),
        "**Auto-saved:** True",
    ]
    if not state_file.parse(state).get("summary"):
        below = [f"{_NOTES}\n{state}"] if state.strip() else []
        return "\n".join([*fields, openclaw_layout.write_body(checkpoint, project=project), *below])
    place = [f"**Project:** {project}"] if project else []
    return "\n".join([*fields, *place, "", state])


def log_line(checkpoint: Checkpoint) -> str:
    """Write the line of the log for an autosave."""
    at = checkpoint.saved_at.astimezone()
    reason = " ".join((checkpoint.reason or checkpoint.trigger).split())
    return f"- [{at:%Y-%m-%d %H:%M}] autosave written ({reason})\n"


def read(text: str, path: Path) -> Native:
    """Read an autosave in either of its two forms."""
    body = _read_body(text)
    noted = state_file.parse(body)
    # Working notes may have a section about progress, too, but they name the task in another way.
    has_sections = _SECTION.search(text) is not None and not noted.get("summary")
    if has_sections or _TASK.search(text):
        return openclaw_layout.read(text, path)
    parts = openclaw_layout.LAYOUT.split(text)
    if not body.strip():
        return Native(problem="It contains nothing below its header.")
    fields: dict[str, Any] = noted or {"notes": [body.strip()]}
    # Working notes may say more than a checkpoint has keys for.
    return Native(
        fields={**fields, openclaw_layout.KEY: {"state": body}},
        saved_at=openclaw_layout.read_moment(parts, path),
        project=openclaw_layout.find_owner(parts),
    )


def _read_body(text: str) -> str:
    lines = text.replace("\r\n", "\n").split("\n")
    while lines and (not lines[0].strip() or lines[0].lower().startswith(_OURS)):
        lines.pop(0)
    return "\n".join(lines)

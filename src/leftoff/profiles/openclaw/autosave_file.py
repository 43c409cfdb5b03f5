"""Read and write the autosave: one file that is always overwritten, and a log of all autosaves.

If SESSION-STATE.md names the task, the file repeats it word for word. Otherwise the file has the
sections of a checkpoint, with the content of SESSION-STATE.md below them.
"""

from pathlib import Path
from typing import Any

from leftoff.checkpoint import Checkpoint
from leftoff.profiles.openclaw import openclaw_layout
from leftoff.profiles.profile import Native
from leftoff.session import state_file

LOG_TITLE = "# Autosave Log\n"

_TITLE = "# Autosave\n"
_NOTES = "## Working notes\n"
_OURS = ("# autosave", "**created:**", "**auto-saved:**", "**project:**")


def render(checkpoint: Checkpoint, state: str, *, project: str) -> str:
    """Write an autosave; `state` is the content of SESSION-STATE.md."""
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
    parts = openclaw_layout.LAYOUT.split(text)
    if parts.sections or "Task" in parts.fields:
        return openclaw_layout.read(text, path)
    body = _body(text)
    if not body.strip():
        return Native(problem="It contains nothing below its header.")
    fields: dict[str, Any] = state_file.parse(body) or {"notes": [body.strip()]}
    return Native(
        fields=fields,
        saved_at=openclaw_layout.read_moment(parts, path),
        project=openclaw_layout.find_owner(parts),
    )


def _body(text: str) -> str:
    lines = text.replace("\r\n", "\n").split("\n")
    while lines and (not lines[0].strip() or lines[0].lower().startswith(_OURS)):
        lines.pop(0)
    return "\n".join(lines)

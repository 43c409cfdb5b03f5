"""Find Gemini CLI's sessions, below `~/.gemini/tmp/<project>/chats/`."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from leftoff.agents.agent import FoundSession, no_sign_of_life, no_sub_sessions
from leftoff.agents.loose_values import first_line, mapping, read_mtime, text
from leftoff.digests import sha256
from leftoff.text import times

is_running = no_sign_of_life
sub_sessions = no_sub_sessions
# Enough for the last message and the title, which also names the tools and files that were used.
_TAIL = 64 * 1024
_TITLE = b'{"$set":{"summary":'
_MOMENT = re.compile(rb'"(?:lastUpdated|timestamp)":"([0-9T:.Z-]+)"')


def find_sessions(root: Path, folder: Path, since: float = 0.0) -> Iterable[FoundSession]:
    """List the sessions about a folder, without those of sub-agents."""
    for name in sorted(_name_folders(root, folder)):
        for path in (root / "tmp" / name / "chats").glob("session-*.json*"):
            touched_at = read_mtime(path)
            if touched_at >= since and (touched_at := _find_last_work(path, touched_at)) >= since:
                session_id = text(first_line(path, 4096).get("sessionId"))
                yield FoundSession(path=path, session_id=session_id, touched_at=touched_at)


def _find_last_work(path: Path, touched_at: float) -> float:
    """Return when a session last changed, without the title that the next session gives it."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
            *before, last = file.read().rstrip().split(b"\n")
    except OSError:
        return touched_at
    if not last.startswith(_TITLE):
        return touched_at
    moments = _MOMENT.findall(b"\n".join(before))
    changed = times.parse(moments[-1].decode()) if moments else None
    return min(touched_at, changed.timestamp()) if changed else touched_at


def _name_folders(root: Path, folder: Path) -> set[str]:
    """Return the names under which the sessions about a folder are stored."""
    try:
        known = mapping(msgspec.json.decode((root / "projects.json").read_bytes()))
    except (OSError, ValueError, RecursionError):
        known = {}
    # Older versions name a project's folder by the hash of its path, newer ones list it.
    names = {sha256(str(folder).encode()).hexdigest()}
    for project, name in mapping(known.get("projects")).items():
        if Path(project).is_relative_to(folder) and text(name):
            names.add(name)
    return names

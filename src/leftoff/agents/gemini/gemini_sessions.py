"""Find Gemini CLI's sessions, below `~/.gemini/tmp/<project>/chats/`."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from leftoff.agents.agent import FoundSession, no_sign_of_life, no_sub_sessions
from leftoff.agents.loose_values import first_line, mapping, read_mtime, text
from leftoff.digests import sha256

is_running = no_sign_of_life
sub_sessions = no_sub_sessions


def find_sessions(root: Path, folder: Path, since: float = 0.0) -> Iterable[FoundSession]:
    """List the sessions about a folder, without those of sub-agents."""
    for name in sorted(_name_folders(root, folder)):
        for path in (root / "tmp" / name / "chats").glob("session-*.json*"):
            touched_at = read_mtime(path)
            if touched_at >= since:
                session_id = text(first_line(path, 4096).get("sessionId"))
                yield FoundSession(path=path, session_id=session_id, touched_at=touched_at)


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

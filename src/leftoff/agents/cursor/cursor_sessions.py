"""Find Cursor's conversations, below `~/.cursor/projects/<folder>/`."""

from collections.abc import Iterable
from pathlib import Path

from leftoff.agents.agent import FoundSession, no_sign_of_life, no_sub_sessions
from leftoff.agents.loose_values import dash_path, read_mtime

is_running = no_sign_of_life
sub_sessions = no_sub_sessions


def find_sessions(root: Path, folder: Path, since: float = 0.0) -> Iterable[FoundSession]:
    """List the conversations about a folder."""
    wanted = dash_path(str(folder))
    for project in (root / "projects").glob("*/agent-transcripts"):
        if dash_path(project.parent.name) == wanted:
            for path in (*project.glob("*.jsonl"), *project.glob("*/*.jsonl")):
                touched_at = read_mtime(path)
                if touched_at >= since:
                    yield FoundSession(path=path, session_id=path.stem, touched_at=touched_at)

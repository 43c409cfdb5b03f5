"""Find Copilot CLI's event logs, in folders under `~/.copilot/session-state/`."""

from collections.abc import Iterable
from pathlib import Path

from leftoff.agents.agent import FoundSession, no_sub_sessions
from leftoff.agents.loose_values import first_line, is_within, mapping, read_mtime, text
from leftoff.load_on_use import module_on_use
from leftoff.processes import is_alive

_START_BYTES = 1 << 18
# Few sessions are asked whether they run.
_dialect = module_on_use("leftoff.agents.copilot.copilot_dialect")

sub_sessions = no_sub_sessions


def find_sessions(root: Path, folder: Path, since: float = 0.0) -> Iterable[FoundSession]:
    """List the event logs of sessions in a folder."""
    logs = root / "session-state"
    for path in (*logs.glob("*/events.jsonl"), *logs.glob("*.jsonl")):
        touched_at = read_mtime(path)
        if touched_at < since:
            continue
        start = mapping(first_line(path, _START_BYTES).get("data"))
        if is_within(text(mapping(start.get("context")).get("cwd")), folder):
            session_id = text(start.get("sessionId"))
            yield FoundSession(path=path, session_id=session_id, touched_at=touched_at)


def is_running(root: Path, session_id: str) -> bool | None:
    """Return whether a process that is in the session still runs; None if none is named."""
    pids = _dialect.list_pids(root, session_id)
    return any(is_alive(pid, 0.0) for pid in pids) if pids else None

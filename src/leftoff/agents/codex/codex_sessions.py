"""Find Codex's rollouts, in a folder for each day."""

from collections.abc import Iterable
from pathlib import Path

from leftoff.agents.agent import FoundSession, no_sub_sessions
from leftoff.agents.loose_values import first_line, is_within, mapping, read_mtime, text
from leftoff.load_on_use import module_on_use
from leftoff.processes import is_locked

_META_BYTES = 1 << 20
# Few sessions are asked whether they run.
_dialect = module_on_use("leftoff.agents.codex.codex_dialect")

sub_sessions = no_sub_sessions


def find_sessions(root: Path, folder: Path, since: float = 0.0) -> Iterable[FoundSession]:
    """List the rollouts about a folder, newest first, without those of sub-agents."""
    files = [
        *root.glob("sessions/*/*/*/rollout-*.jsonl"),
        *root.glob("archived_sessions/rollout-*.jsonl"),
    ]
    for path in sorted(files, key=lambda file: file.name, reverse=True):
        touched_at = read_mtime(path)
        if touched_at < since:
            continue
        meta = mapping(first_line(path, _META_BYTES).get("payload"))
        if is_within(text(meta.get("cwd")), folder) and not isinstance(meta.get("source"), dict):
            yield FoundSession(path=path, session_id=text(meta.get("id")), touched_at=touched_at)


def is_running(root: Path, session_id: str) -> bool | None:
    """Return whether Codex holds the session's lock; None for versions without such locks."""
    if lock := _dialect.find_lock(root, session_id):
        return is_locked(Path(lock))
    # Codex takes a session's lock before it writes the rollout, and removes it at the end. This
    # file stays.
    has_locks = (root / "thread-writer-locks" / ".coordination.lock").is_file()
    return False if has_locks and _dialect.is_plain(session_id) else None

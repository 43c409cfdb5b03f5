"""Exchange data with the status line: the live context use, and the last save."""

from pathlib import Path

import msgspec

from leftoff import statusline
from leftoff.session.facts.report import Facts
from leftoff.store import Store
from leftoff.text import times


def with_live_use(facts: Facts, state: Path, session_id: str) -> Facts:
    """Apply the window size, and newer token counts, that the status line received."""
    use = statusline.live_use(str(state), session_id)
    if use is None:
        return facts
    tokens, window, at = use
    is_newer = at > _seconds(facts.last_at)
    return msgspec.structs.replace(
        facts, tokens=tokens if is_newer else facts.tokens, window=window
    )


def update_statusline(store: Store, state: Path, session_id: str, facts: Facts | None) -> None:
    """Write what the status line shows: the session's task, and when it was saved."""
    newest = store.index().newest_of_session(session_id)
    task = (newest.name or newest.task) if newest is not None else None
    statusline.write_last_save(
        str(state),
        session_id,
        task or (facts.intent if facts is not None else ""),
        newest.saved_at.timestamp() if newest is not None else 0.0,
    )


def _seconds(moment: str) -> float:
    found = times.parse(moment, zone=None)
    return found.timestamp() if found else 0.0

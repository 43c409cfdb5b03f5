"""Live use: what the status line was told of the context, and what it is given to show."""

from pathlib import Path

import msgspec

from leftoff import statusline
from leftoff.session.facts.report import Facts
from leftoff.store import Store
from leftoff.text import times


def with_live_use(facts: Facts, state: Path, session_id: str) -> Facts:
    """Take the window, and what came after the transcript's last entry, from the status line."""
    use = statusline.live_use(str(state), session_id)
    if use is None:
        return facts
    tokens, window, at = use
    is_newer = at > _seconds(facts.last_at)
    return msgspec.structs.replace(
        facts, tokens=tokens if is_newer else facts.tokens, window=window
    )


def update_statusline(store: Store, state: Path, session_id: str, facts: Facts | None) -> None:
    """Give the status line what it shows: what the session works on, and when it was saved."""
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

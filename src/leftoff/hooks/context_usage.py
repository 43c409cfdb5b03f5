"""Read how full a session's context is, and advise the session as it fills up."""

from pathlib import Path

import msgspec

from leftoff import statusline
from leftoff.config import Settings
from leftoff.session.facts.report import Facts
from leftoff.store import Store
from leftoff.text import times
from leftoff.text.fence import Rendered, say

_SHORTEST_TASK = 16


def with_live_use(facts: Facts, state: Path, session_id: str) -> Facts:
    """Apply the window size, and newer token counts, that the status line received."""
    use = statusline.live_use(str(state), session_id)
    if use is None:
        return facts
    tokens, window, at = use
    is_newer = at > _to_seconds(facts.last_at)
    return msgspec.structs.replace(
        facts, tokens=tokens if is_newer else facts.tokens, window=window
    )


def update_statusline(store: Store, state: Path, session_id: str, facts: Facts | None) -> None:
    """Write what the status line shows: the session's work, and when that was saved."""
    index = store.index()
    # A session that has joined a thread works on it before its own first save.
    newest = index.find_open_thread(session_id) or index.newest_of_session(session_id)
    task = (newest.name or newest.task) if newest is not None else None
    statusline.write_last_save(
        str(state),
        session_id,
        task or (_name_work(facts) if facts is not None else ""),
        newest.saved_at.timestamp() if newest is not None else 0.0,
    )


def _name_work(facts: Facts) -> str:
    """Return what a session without a thread works on; a few words before it are small talk."""
    asked = facts.task or ("" if facts.has_parted else facts.intent)
    # A character of Chinese, Japanese or Korean has three bytes, and says as much as a few letters.
    is_long = len(asked.encode()) >= _SHORTEST_TASK
    return asked if is_long or (facts.task and facts.trail) else ""


def _to_seconds(moment: str) -> float:
    found = times.parse(moment, zone=None)
    return found.timestamp() if found else 0.0


# --- advice for each step of context use ---


# `advice` says what each step means.
ADVISE, URGE, FRESH, CAPTURE, PANIC = 1, 2, 3, 4, 5


def find_step(percent: float | None, settings: Settings) -> int:
    """Return the step that the context use has reached, compared to two decimals."""
    if percent is None:
        return 0
    rungs = {
        ADVISE: settings.advise_at,
        URGE: settings.urge_at,
        FRESH: settings.fresh_at,
        CAPTURE: settings.capture_at,
        PANIC: 100.0,
    }
    # URGE and FRESH are skipped if the user wants the first advice no earlier than that.
    reached = [
        rung
        for rung, threshold in rungs.items()
        if round(percent * 100) >= round(threshold * 100)
        and (threshold > settings.advise_at or rung not in {URGE, FRESH})
    ]
    return max(reached, default=0)


def name_save_command(settings: Settings) -> Rendered:
    """Return the command to advise, with the name that some profiles require."""
    return say("leftoff save NAME" if settings.naming == "required" else "leftoff save")


def name_compact_command(agent: str) -> str:
    """Return the command that compacts a session of this agent."""
    return "/compress" if agent == "gemini" else "/compact"


def format_advice(reached: int, percent: float, settings: Settings, agent: str) -> Rendered:
    """Return the advice for a step; below `fresh_at`, none says to compact."""
    use = say("context at {percent}%", percent=f"{percent:.2f}")
    save = name_save_command(settings)
    if settings.content == "paths" and reached < FRESH:
        # The save reads all it needs from files.
        return say("leftoff: {use} — consider `{save}` and a fresh session.", use=use, save=save)
    if reached >= FRESH and percent >= settings.fresh_at:
        return say(
            "leftoff: {use} — compact or start fresh now. The state is saved: after {compact}, or "
            "in a new session, leftoff shows where this one left off.",
            use=use,
            compact=name_compact_command(agent),
        )
    if reached >= URGE:
        return say(
            "leftoff: {use} — finish the current step, then run `{save}` with the exact "
            "next action, what failed and why.",
            use=use,
            save=save,
        )
    return say(
        "leftoff: {use} — consider `{save}` with the exact next action and the decisions "
        "made; the rest is saved automatically.",
        use=use,
        save=save,
    )

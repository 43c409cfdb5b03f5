"""Find what `leftoff resume --pending` can resume: pending restores and open checkpoints."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from leftoff.cli.app import App
from leftoff.profiles.mirror import WaitingFile
from leftoff.store import LISTED, CheckpointEntry
from leftoff.threads.pick_pending import Candidate

_MOST = 100
# An older checkpoint is still offered, but no longer counts as waiting for a session.
_WAITS = timedelta(days=7)
_SAVED_FOR_LATER = "precompact"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class FoundCandidates(msgspec.Struct, frozen=True, kw_only=True):
    """All candidates, and those whose native file is unreadable, by key."""

    candidates: list[Candidate]
    unreadable: dict[str, WaitingFile] = {}


def find_current_session(app: App) -> str | None:
    """Return the id of the agent session that runs this command, if any."""
    running = app.environment.find_session()
    return running[1] if running else None


def find(app: App) -> FoundCandidates:
    """Return what you can restore; native files, where a profile has them, decide what waits."""
    if not app.workspace.mirrors.use_sentinels():
        return FoundCandidates(
            candidates=[_build_candidate(app, each) for each in _list_entries(app)]
        )
    # Open the store first: this imports native files that were written before.
    waiting = app.workspace.mirrors.find_waiting(app.store)
    listed = {each.id: each for each in _list_entries(app)}
    shown = app.workspace.mirrors.find_shown(app.store)
    # Several sessions may wait for one checkpoint; this session comes first.
    own = [each for each in waiting if each.session_id == find_current_session(app)]
    known = {each.checkpoint_id: each for each in [*waiting, *own] if each.checkpoint_id}
    extra = [app.store.index().get(each) for each in known if each not in listed]
    entries = [*listed.values(), *(each for each in extra if each is not None)]
    candidates = [
        msgspec.structs.replace(
            _build_candidate(app, entry),
            written_at=_find_write_time(app, entry, shown),
            day=_read_day(known[entry.id].path) if entry.id in known else "",
            is_pending=entry.id in known,
            session_id=known[entry.id].session_id if entry.id in known else entry.session_id,
        )
        for entry in entries
    ]
    # What waits is listed as `ls -t` lists its marks: the newest first.
    order = {each: number for number, each in enumerate(known)}
    candidates.sort(key=lambda each: order.get(each.key, len(order)))
    broken = {str(each.path): each for each in waiting if each.checkpoint_id is None}
    return FoundCandidates(
        candidates=[
            *candidates,
            *(_describe_unreadable(app, key, each) for key, each in broken.items()),
        ],
        unreadable=broken,
    )


def _list_entries(app: App) -> list[CheckpointEntry]:
    entries = app.store.index().heads([*LISTED], _MOST)
    return [entry for entry in entries if not entry.problem]


def _build_candidate(app: App, entry: CheckpointEntry) -> Candidate:
    name = None if entry.is_autosave else entry.name
    task = name or app.workspace.mirrors.find_task(app.store.load(entry))
    is_for_later = not entry.is_autosave or entry.trigger == _SAVED_FOR_LATER
    is_recent = app.store.now() - entry.saved_at < _WAITS
    has_session = entry.session_id is not None
    return Candidate(
        key=entry.id,
        task=task,
        saved_at=entry.saved_at,
        branch=entry.branch,
        session_id=entry.session_id,
        is_pending=entry.state == "open" and is_for_later and is_recent and has_session,
        is_automatic=entry.is_autosave,
    )


def _find_write_time(
    app: App, entry: CheckpointEntry, shown: Mapping[str, Path]
) -> datetime | None:
    """Return when a checkpoint's native file was last written (copies often keep this time)."""
    source = app.store.load(entry).source if entry.id not in shown else None
    path = shown.get(entry.id) or (Path(source.path) if source and source.path else None)
    return _read_mtime(path) if path is not None else None


def _read_day(path: Path) -> str:
    """Return the date with which a file's name begins, or an empty string."""
    found = _DAY.match(path.name)
    return found[0] if found else ""


def _read_mtime(path: Path) -> datetime | None:
    try:
        return datetime.fromtimestamp(path.lstat().st_mtime, UTC)
    except (OSError, ValueError, OverflowError):
        return None


def _describe_unreadable(app: App, key: str, waiting: WaitingFile) -> Candidate:
    """Describe an unreadable file as a candidate, with the data that is known."""
    copy = app.store.index().get(waiting.copy_id) if waiting.copy_id else None
    known = _build_candidate(app, copy) if copy is not None and not copy.problem else None
    return Candidate(
        key=key,
        task=known.task if known else waiting.path.stem,
        saved_at=known.saved_at if known else _read_mtime(waiting.path) or app.store.now(),
        branch=known.branch if known else None,
        session_id=waiting.session_id,
        is_pending=True,
    )

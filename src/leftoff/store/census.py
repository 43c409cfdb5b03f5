"""Find the previous revision of a name by reading files, when no index is available.

A save never builds the index of a large store. Reading the log of 200,000 checkpoints takes a
fraction of a second. A crash can leave a checkpoint without its line in the log; such checkpoints
are read from their own files.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

import msgspec

from leftoff.checkpoint import Checkpoint, is_id, new_id
from leftoff.errors import LeftoffError
from leftoff.store import events, log
from leftoff.store.index import CheckpointEntry
from leftoff.store.layout import Area
from leftoff.store.rows import build_columns, decode_for_index, slot_of

_SAVED = b'"action":"saved"'
# Matches complete lines in the form that leftoff writes; a torn line does not match.
_LOGGED = re.compile(rb'"action":"saved","ids":\["([^"]+)"\][^\n]*\}$', re.MULTILINE)


class _Told(msgspec.Struct):
    """The events that matter for one name, and the ids of all checkpoints that have a log line."""

    events: list[events.StoreEvent]
    logged: set[bytes]


def find_previous(
    areas: Sequence[Area], draft: Checkpoint, now: datetime
) -> tuple[CheckpointEntry | None, str | None]:
    """Return the newest revision of the draft's name, and the last id used in its slot."""
    if draft.name is None:
        return None, next(_later_ids(areas, draft, now), None)
    told = _read(areas, draft.name)
    states = events.fold(told.events)
    named = {each for event in told.events if event.name == draft.name for each in event.ids}
    named.update(_find_unlogged(areas, told.logged))
    last_id = None
    for checkpoint_id in sorted(named, reverse=True):
        found = _entry(areas, checkpoint_id, states.get(checkpoint_id, "open"))
        # Unlogged files can belong to any name.
        if found is None or found.slot != draft.name:
            continue
        last_id = last_id or checkpoint_id
        if found.state != "undone":
            return found, last_id
    return None, last_id


def names_like(areas: Iterable[Area], prefix: str) -> list[str]:
    """Return all names ever used that start with the prefix."""
    begin = msgspec.json.encode(prefix)[:-1]
    pattern = re.compile(b'"name":(' + re.escape(begin) + b'[^"\\\\]*")')
    found = {name for lines in _lines(areas) for line in lines for name in pattern.findall(line)}
    return sorted(msgspec.json.decode(name) for name in found)


def _lines(areas: Iterable[Area]) -> Iterator[list[bytes]]:
    for area in areas:
        _, size = log.identify(area.log)
        yield from (lines for lines, _ in log.read_lines(area.log, 0, size))


def _read(areas: Iterable[Area], name: str) -> _Told:
    """Read all events except saves under other names, which are the bulk of a log."""
    told = _Told([], set())
    needle = b'"name":' + msgspec.json.encode(name)
    for lines in _lines(areas):
        told.logged.update(_LOGGED.findall(b"\n".join(lines)))
        matter = [line for line in lines if needle in line or _SAVED not in line]
        told.events.extend(event for _, event in log.decode_lines(matter, events.decode))
    return told


def _find_unlogged(areas: Iterable[Area], logged: set[bytes]) -> Iterator[str]:
    for area in areas:
        for shard in area.shards():
            names = os.listdir(os.fsencode(shard.path))  # noqa: PTH208 - quicker than Path
            stems = {name[:-5] for name in names if name.endswith(b".json")} - logged
            yield from filter(is_id, map(os.fsdecode, stems))


def _later_ids(areas: Iterable[Area], draft: Checkpoint, now: datetime) -> Iterator[str]:
    """Yield the slot's ids that are later than now, latest first; the clock was set back."""
    first = new_id(now)[:18]
    month = f"{first[:4]}-{first[4:6]}"
    later = {
        each
        for area in areas
        for shard in area.shards()
        if shard.name >= month
        for each in area.ids_in(shard.name)
        if each > first
    }
    for checkpoint_id in sorted(later, reverse=True):
        found = _entry(list(areas), checkpoint_id, "open")
        if found is not None and found.slot == slot_of(draft):
            yield checkpoint_id


def _entry(
    areas: Sequence[Area], checkpoint_id: str, state: events.State
) -> CheckpointEntry | None:
    """Read a checkpoint as the index would show it; None if no area has a readable copy."""
    for number, area in enumerate(areas):
        try:
            row = build_columns(decode_for_index(area.read(checkpoint_id)[0]))
        except (OSError, LeftoffError, ValueError, OverflowError):
            continue
        row["saved_at"] = datetime.fromtimestamp(row["saved_at"], UTC)
        return CheckpointEntry(
            id=checkpoint_id, area=number, state=state, is_head=True, problem=None, **row
        )
    return None

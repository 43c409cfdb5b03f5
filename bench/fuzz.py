"""Check that damaged sessions are read: cut short, or with one wrong byte, from every agent."""

import random
import sqlite3
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import msgspec

from bench.harness import ROOT, Figure
from leftoff.agents.json_lines import ReadCursor, Reading
from leftoff.agents.registry import AGENTS
from leftoff.agents.stream import SessionEvent
from leftoff.errors import SessionUnreadable
from leftoff.session.capture import capture

CASES = 12_000

_RECORDED = ROOT / "tests" / "agents" / "recorded"
_SEED = 11
_SHOWN = 3


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """A whole session and, if it consists of lines, what each line contains."""

    agent: str
    name: str
    data: bytes
    ends: list[int] = []
    """Where its lines end."""
    events: list[list[SessionEvent]] = []

    @property
    def is_lines(self) -> bool:
        """Return whether the session consists of lines."""
        return bool(self.ends)


def figures() -> list[Figure]:
    """Read damaged sessions, and count those that crash or lose intact parts."""
    failures: list[str] = []
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        known = recordings(Path(folder))
        chance = random.Random(_SEED)  # noqa: S311 - not a secret
        for number in range(CASES):
            recording = known[number % len(known)]
            damage = _DAMAGES[number // len(known) % len(_DAMAGES)]
            failures += damage(recording, Path(folder) / recording.name, chance)
    speed = CASES / (time.perf_counter() - started)
    note = f"{len(known)} recordings, {speed:.0f} cases/s, seed {_SEED}"
    shown = [Figure(what=f"  {each}", value=1, unit="") for each in failures[:_SHOWN]]
    what = f"{CASES:,} sessions cut or with a wrong byte: crashes, lost events"
    return [Figure(what=what, value=len(failures), unit="", limit=0, note=note), *shown]


def recordings(folder: Path) -> list[Recording]:
    """Load a recording of each kind, and build the database from its dump."""
    found = [_lines(path) for path in sorted(_RECORDED.glob("*/*.jsonl"))]
    return [*found, _database(folder / "opencode.db")]


def _lines(path: Path) -> Recording:
    data = path.read_bytes()
    agent = path.parent.name
    reader = AGENTS[agent].new_reader({})
    events = [list(reader.feed(line)) for line in data.splitlines()]
    ends = [at + 1 for at, byte in enumerate(data) if byte == ord("\n")]
    return Recording(agent=agent, name=path.name, data=data, ends=ends, events=events)


def _database(path: Path) -> Recording:
    with closing(sqlite3.connect(path)) as database:
        database.executescript((_RECORDED / "opencode" / "schema.sql").read_text(encoding="utf-8"))
        dump = msgspec.json.decode((_RECORDED / "opencode" / "dump.json").read_bytes())
        for table, rows in dump.items():
            for row in rows:
                marks = ", ".join("?" * len(row))
                query = f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})"  # noqa: S608
                database.execute(query, list(row.values()))
        database.commit()
    return Recording(agent="opencode", name="opencode-damaged.db", data=path.read_bytes())


def _cut(recording: Recording, path: Path, chance: random.Random) -> Iterator[str]:
    size = chance.randrange(len(recording.data))
    path.write_bytes(recording.data[:size])
    yield from _read(recording, path, f"cut at {size}")


def _corrupted(recording: Recording, path: Path, chance: random.Random) -> Iterator[str]:
    at = chance.randrange(len(recording.data))
    byte = (recording.data[at] + chance.randrange(1, 256)) % 256
    path.write_bytes(recording.data[:at] + bytes([byte]) + recording.data[at + 1 :])
    yield from _read(recording, path, f"byte {at} made {byte}")


def _cut_at_line(recording: Recording, path: Path, chance: random.Random) -> Iterator[str]:
    if not recording.is_lines:
        yield from _cut(recording, path, chance)
        return
    count = chance.randrange(len(recording.ends) + 1)
    size = recording.ends[count - 1] if count else 0
    # Add the start of the next line, as if the agent was killed while writing it.
    torn = recording.data[size : size + chance.choice((0, 1, 40))].rstrip(b"\n}")
    path.write_bytes(recording.data[:size] + torn)
    yield from _read(recording, path, f"cut after line {count}")
    reading = Reading(path, ReadCursor(), AGENTS[recording.agent].new_reader({}))
    left = [event for batch in reading.batches() for event in batch]
    if left != [event for events in recording.events[:count] for event in events]:
        yield f"{recording.agent}/{recording.name}, cut after line {count}: an event is lost"


def _read(recording: Recording, path: Path, what: str) -> Iterator[str]:
    try:
        capture(path, agent=recording.agent)
    except SessionUnreadable:
        # A broken database may be rejected, but lines never are.
        if recording.is_lines:
            yield f"{recording.agent}/{recording.name}, {what}: refused"
    except Exception:  # noqa: BLE001 - every crash is to be counted
        last = traceback.format_exc().strip().splitlines()[-1]
        yield f"{recording.agent}/{recording.name}, {what}: {last}"


_DAMAGES: tuple[Callable[[Recording, Path, random.Random], Iterator[str]], ...] = (
    _cut,
    _corrupted,
    _cut_at_line,
)

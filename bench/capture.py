"""Measure how fast long transcripts are read, and how much memory that takes."""

import shutil
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from bench import fuzz, transcript, venv
from bench.harness import (
    CACHE,
    Figure,
    Program,
    Sample,
    call,
    compare,
    interleave,
    peak_megabytes,
    ratio,
    times,
)
from leftoff.agents.claude import claude_agent
from leftoff.agents.claude.entries import TranscriptEntry
from leftoff.agents.json_lines import ReadCursor, Reading
from leftoff.session.capture import capture
from leftoff.session.facts.read_session import SessionMemory, read_session

_SIZE = 200_000_000
_NEWS = 300_000
_ROUNDS = 9
_NEWS_ROUNDS = 60
_BUFFER_BYTES = 1 << 18
_CAPTURE = """
import pathlib, sys
from leftoff.session.capture import capture
capture(pathlib.Path(sys.argv[1]))
"""


class _Block(msgspec.Struct):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: dict[str, Any] | None = None
    tool_use_id: str | None = None
    content: "str | list[_Block] | None" = None
    is_error: bool | None = None


class _Message(msgspec.Struct):
    content: str | list[_Block] | None = None
    model: str | None = None
    usage: dict[str, Any] | None = None


class _Line(msgspec.Struct, rename="camel"):
    """A line as a simple parser would declare it, with every text decoded."""

    type: str = ""
    subtype: str | None = None
    timestamp: str | None = None
    session_id: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    message: _Message | None = None
    operation: str | None = None
    content: str | None = None


def figures() -> list[Figure]:
    """Measure reading, memory, reading only what is new, and damage."""
    path = transcript.at_least(_SIZE)
    return [*_reading(path), _memory(path), _news(path), *fuzz.figures()]


def _reading(path: Path) -> list[Figure]:
    works = {
        "typed": lambda: _decode(path, _Line),
        "raw": lambda: _decode(path, TranscriptEntry),
        "events": lambda: _read(path),
        "facts": lambda: read_session(path, agent="claude"),
        "capture": lambda: capture(path, agent="claude"),
    }
    cases = {name: lambda work=work: call(work) for name, work in works.items()}
    samples = interleave(cases, _ROUNDS)
    megabytes = path.stat().st_size / 1e6
    # A simple parser keeps no thoughts, counts no changed lines and pairs no calls with results.
    rows = (
        ("200 MB into events / typed decode, texts decoded", "typed", "events", 0.55),
        ("  / typed decode, texts left raw", "raw", "events", None),
        ("200 MB into facts without secrets / typed decode", "typed", "facts", None),
        ("  / typed decode, texts left raw", "raw", "facts", None),
        ("200 MB into a checkpoint / typed decode", "typed", "capture", None),
    )
    return [_throughput(row, samples, megabytes) for row in rows]


def _throughput(
    row: tuple[str, str, str, float | None], samples: dict[str, list[Sample]], megabytes: float
) -> Figure:
    what, base, mine, floor = row
    speeds = [megabytes / median(times(samples[name])) for name in (mine, base)]
    note = f"{speeds[0]:.0f} against {speeds[1]:.0f} MB/s"
    value = ratio(samples[base], samples[mine], "cpu")
    return Figure(what=what, value=value, limit=floor, is_floor=True, note=note)


def _decode(path: Path, kind: type[Any]) -> None:
    decode = msgspec.json.Decoder(kind).decode
    with path.open("rb", buffering=_BUFFER_BYTES) as file:
        for line in file:
            decode(line)


def _read(path: Path) -> int:
    reading = Reading(path, ReadCursor(), claude_agent.new_reader({}))
    return sum(map(len, reading.batches()))


def _memory(path: Path) -> Figure:
    program = Program(
        arguments=(str(venv.python()), "-I", "-c", _CAPTURE, str(path)),
        environment=venv.environment(CACHE),
        folder=CACHE,
    )
    return Figure(
        what="peak memory of capturing 200 MB",
        value=peak_megabytes(program, venv.python()),
        unit="MB",
        limit=80,
    )


def _news(path: Path) -> Figure:
    """Read 300 KB after 200 MB that were read before, and the same 300 KB alone."""
    tail = transcript.at_least(_NEWS, seed=2)
    grown = CACHE / "claude-grown.jsonl"
    shutil.copyfile(path, grown)
    stored = msgspec.json.encode(read_session(grown, agent="claude"))
    with grown.open("ab") as file:
        file.write(tail.read_bytes())
    cases = {
        "grown": lambda: call(lambda: _catch_up(grown, stored)),
        "alone": lambda: call(lambda: _catch_up(tail, None)),
    }
    samples = interleave(cases, _NEWS_ROUNDS)
    grown.unlink()
    what = "CPU of 300 KB new after 200 MB read / after nothing"
    return compare(what, samples, ("grown", "alone"), 1.2, "cpu")


def _catch_up(path: Path, stored: bytes | None) -> bytes:
    """Do what the end of a turn does: load the record, read what is new, and store the record."""
    memory = msgspec.json.decode(stored, type=SessionMemory) if stored is not None else None
    return msgspec.json.encode(read_session(path, agent="claude", memory=memory))

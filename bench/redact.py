"""Measure the speed of redaction on tool output and source code, relative to known work.

    python -m bench.redact [SESSION_FILE ...]
    python -m bench.redact --hostile [BYTES]

Without files, it uses the text of this project as tool output. `--hostile` redacts texts that are
made to be slow, each at one size and at four times that size, and fails if the time is not linear.
"""

import sys
import sysconfig
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from bench.harness import ROOT, Figure, Sample, call, interleave, ratio, table, times
from bench.hostile import repeated, seeds
from leftoff.redact import redact

ROUNDS = 9
# How many times as long as decoding the same texts redaction may take.
TOOL_OUTPUT, SOURCE_CODE = 15.9, 25.0
# Four times the text may take at most this many times as long; a quadratic rule takes 16 times.
STEEPEST = 8.0
LEAST = 0.002  # seconds: less cannot be compared
RESULTS = {"tool_result", "function_call_output", "custom_tool_call_output"}


def texts(value: Any) -> Iterator[str]:
    """Yield all texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value if isinstance(value, list) else value.values():
            yield from texts(item)


def tool_outputs(value: Any) -> Iterator[str]:
    """Yield the texts of tool results, wherever they are in a line of a session."""
    if isinstance(value, dict) and value.get("type") in RESULTS:
        yield from texts(value.get("content", value.get("output")))
    elif isinstance(value, list | dict):
        for item in value if isinstance(value, list) else value.values():
            yield from tool_outputs(item)


def of_sessions(paths: list[str]) -> list[str]:
    """Read the tool outputs of recorded sessions."""
    found: list[str] = []
    for path in paths:
        for line in Path(path).read_bytes().splitlines():
            try:
                found += tool_outputs(msgspec.json.decode(line))
            except msgspec.DecodeError:
                continue
    return found


def of_project() -> list[str]:
    """Read the project's own files, as an agent would see them."""
    folders = [ROOT / name for name in ("src", "tests", "docs", "scripts", "bench")]
    found = [path for folder in folders for path in folder.rglob("*")]
    paths = sorted(path for path in found if path.suffix in {".py", ".md"})
    return [
        "\n".join(f"{n:6}\t{line}" for n, line in enumerate(p.read_text("utf-8").splitlines(), 1))
        for p in paths
    ] * 5


def of_sources() -> list[str]:
    """Read the modules of Python's library: source code from other people."""
    folder = Path(sysconfig.get_path("stdlib"))
    return [path.read_text("utf-8", "replace") for path in sorted(folder.glob("*.py"))[:150]]


def figures(outputs: list[str] | None = None) -> list[Figure]:
    """Measure redaction of tool outputs, relative to decoding the same texts."""
    outputs = of_project() if outputs is None else outputs
    joined = "\n".join(outputs)
    encoded = msgspec.json.encode(outputs)
    sources = of_sources()
    encoded_sources = msgspec.json.encode(sources)
    works: dict[str, Callable[[], object]] = {
        "decode": lambda: msgspec.json.decode(encoded, type=list[str]),
        "one": lambda: redact(joined),
        "each": lambda: [redact(text) for text in outputs],
        "decode sources": lambda: msgspec.json.decode(encoded_sources, type=list[str]),
        "sources": lambda: [redact(text) for text in sources],
    }
    cases = {name: partial(call, work) for name, work in works.items()}
    samples = interleave(cases, ROUNDS)
    megabytes = len(joined.encode()) / 1e6
    shown = f"{len(outputs)} tool outputs, {megabytes:.1f} MB"
    return [
        _speed("redaction of tool outputs", samples, "each", megabytes, shown, limit=TOOL_OUTPUT),
        _speed("  all in one text", samples, "one", megabytes, shown),
        _source_speed(samples, sources),
    ]


def _source_speed(samples: dict[str, list[Sample]], sources: list[str]) -> Figure:
    megabytes = sum(len(text.encode()) for text in sources) / 1e6
    ours = {"sources": samples["sources"], "decode": samples["decode sources"]}
    shown = f"{len(sources)} files of Python, {megabytes:.1f} MB"
    return _speed("redaction of source code", ours, "sources", megabytes, shown, limit=SOURCE_CODE)


def _speed(  # noqa: PLR0913 - a figure and how it was measured
    what: str,
    samples: dict[str, list[Sample]],
    name: str,
    megabytes: float,
    shown: str,
    *,
    limit: float | None = None,
) -> Figure:
    mine, base = samples[name], samples["decode"]
    # CPU time, so that other programs on the machine do not change it.
    note = f"{shown}; {megabytes / median(times(mine, 'cpu')):.0f} MB/s"
    return Figure(what=what, value=ratio(mine, base, "cpu"), limit=limit, note=note)


def hostile(size: int) -> list[str]:
    """Describe each text that takes far more than four times as long at four times the size."""
    found: list[str] = []
    for seed in dict.fromkeys(seeds()):
        small, large = (_cpu(repeated(seed, each)) for each in (size, 4 * size))
        if large > STEEPEST * max(small, LEAST):
            found.append(f"{seed!r}: {small:.3f} s, then {large:.3f} s")
    return found


def _cpu(text: str) -> float:
    return min(call(partial(redact, text)).cpu for _ in range(2))


def main() -> int:
    """Print the figures; fail above a limit, or if a hostile text is not linear."""
    if sys.argv[1:2] == ["--hostile"]:
        size = int(sys.argv[2]) if sys.argv[2:] else 20_000
        steep = hostile(size)
        print("\n".join(steep) or f"All hostile texts are linear from {size} to {4 * size} bytes.")
        return int(bool(steep))
    measured = figures(of_sessions(sys.argv[1:]) if sys.argv[1:] else None)
    print(table("Redaction", measured))
    return int(any(figure.is_over for figure in measured))


if __name__ == "__main__":
    sys.exit(main())

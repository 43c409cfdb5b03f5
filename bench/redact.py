"""Speed of redaction on tool output, beside known work in the same run.

    python bench/redact.py [SESSION_FILE ...]

Without files, the text of this project stands in for tool output.
"""

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from leftoff.redact import redact

ROUNDS = 9
FLOOR = 20.0  # MB/s
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
    root = Path(__file__).parent.parent
    paths = sorted(p for p in root.glob("*/**/*") if p.suffix in {".py", ".md"} and p.is_file())
    return [
        "\n".join(f"{n:6}\t{line}" for n, line in enumerate(p.read_text("utf-8").splitlines(), 1))
        for p in paths
        if ".venv" not in p.parts
    ] * 5


def seconds(work: Callable[[], object]) -> float:
    """Time one run."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def main() -> int:
    """Print megabytes per second and the ratio to known work; fail below the floor."""
    outputs = of_sessions(sys.argv[1:]) if sys.argv[1:] else of_project()
    joined = "\n".join(outputs)
    encoded = msgspec.json.encode(outputs)
    raw = joined.encode()
    cases: dict[str, Callable[[], object]] = {
        "bytes.count of a rare pair": lambda: raw.count(b"\x01\x02"),
        "msgspec decode of the same texts": lambda: msgspec.json.decode(encoded, type=list[str]),
        "redact, all in one text": lambda: redact(joined),
        "redact, text by text": lambda: [redact(text) for text in outputs],
    }
    times: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(ROUNDS):
        for name, work in cases.items():
            times[name].append(seconds(work))
    megabytes = len(raw) / 1e6
    decode = times["msgspec decode of the same texts"]
    print(f"{len(outputs)} tool outputs, {megabytes:.2f} MB, median of {ROUNDS} interleaved rounds")
    for name, runs in times.items():
        ratio = median(mine / theirs for mine, theirs in zip(runs, decode, strict=True))
        speed = megabytes / median(runs)
        best = megabytes / min(runs)
        print(f"{name:34}{speed:9.1f} MB/s   best {best:8.1f}   {ratio:6.1f} x decode")
    return 0 if megabytes / median(times["redact, text by text"]) >= FLOOR else 1


if __name__ == "__main__":
    sys.exit(main())

"""Measure the speed of redaction on tool output and source code, relative to known work.

    python -m bench.redact [SESSION_FILE ...]
    python -m bench.redact --hostile [BYTES]

Without files, it uses the text of this project as tool output. The speed is compared with decoding
the same texts, and with an earlier version of leftoff that runs in turns with this one. `--hostile`
redacts texts that are
made to be slow, each at one size and at four times that size, and fails if the time is not linear.
"""

import io
import os
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from bench.harness import ROOT, Case, Figure, Sample, call, interleave, ratio, table, times
from bench.hostile import repeated, seeds
from leftoff.redact import redact

ROUNDS = 9
# How many times as long as decoding the same texts redaction of source code may take.
SOURCE_CODE = 25.0
# The version that redaction must not be slower than, although it had far fewer rules.
EARLIER = "9890827"
# With room for noise: the same comparison gave 0.98 to 1.06 on a busy machine.
NO_SLOWER = 1.05
# The earlier version never ends on some texts with this header.
_ENDLESS = "uthorization"
_WORKER = """
import sys, time
import msgspec
from leftoff.redact import redact
sets = msgspec.json.decode(open(sys.argv[1], "rb").read(), type=dict[str, list[str]])
for name in sys.stdin:
    wall, cpu = time.perf_counter(), time.process_time()
    for text in sets[name.strip()]:
        redact(text)
    print(time.perf_counter() - wall, time.process_time() - cpu, flush=True)
"""
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
    ] * 2


def of_sources() -> list[str]:
    """Read the modules of Python's library: source code from other people."""
    folder = Path(sysconfig.get_path("stdlib"))
    return [path.read_text("utf-8", "replace") for path in sorted(folder.glob("*.py"))[:150]]


def figures(outputs: list[str] | None = None) -> list[Figure]:
    """Measure redaction relative to decoding the same texts, and to the earlier version."""
    outputs = _without_endless(of_project() if outputs is None else outputs)
    sets = {"each": outputs, "one": ["\n".join(outputs)], "sources": _without_endless(of_sources())}
    cases = {name: partial(call, partial(_redact_all, texts)) for name, texts in sets.items()}
    cases |= {
        f"decode {name}": partial(call, partial(_decode, msgspec.json.encode(texts)))
        for name, texts in sets.items()
    }
    with _earlier(sets) as earlier:
        samples = interleave(cases | earlier, ROUNDS)
    return [
        *_speeds("redaction of tool outputs", "each", samples, sets),
        *_speeds("redaction of all in one text", "one", samples, sets),
        *_speeds("redaction of source code", "sources", samples, sets, limit=SOURCE_CODE),
    ]


def _without_endless(texts: list[str]) -> list[str]:
    return [text for text in texts if _ENDLESS not in text]


def _redact_all(texts: list[str]) -> None:
    for text in texts:
        redact(text)


def _decode(encoded: bytes) -> list[str]:
    return msgspec.json.decode(encoded, type=list[str])


@contextmanager
def _earlier(sets: dict[str, list[str]]) -> Iterator[dict[str, Case]]:
    """Start the earlier version and yield its cases: none if this clone lacks its commit."""
    archive = ["git", "-C", str(ROOT), "archive", EARLIER, "src/leftoff"]
    packed = subprocess.run(archive, capture_output=True, check=False)
    if packed.returncode != 0:
        print(f"Not compared with {EARLIER}: this clone lacks that commit.", file=sys.stderr)
        yield {}
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as tar:
            # Python 3.11 has filters only from 3.11.4 on; the archive is our own.
            tar.extraction_filter = getattr(tarfile, "data_filter", None)
            tar.extractall(folder)  # noqa: S202 - filtered above
        (folder / "sets.json").write_bytes(msgspec.json.encode(sets))
        program = [sys.executable, "-c", _WORKER, str(folder / "sets.json")]
        environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
        with subprocess.Popen(
            program, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as worker:
            yield {f"earlier {each}": partial(_ask, worker, each) for each in sets}


def _ask(worker: "subprocess.Popen[str]", name: str) -> Sample:
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(name + "\n")
    worker.stdin.flush()
    wall, cpu = worker.stdout.readline().split()
    return Sample(float(wall), float(cpu))


def _speeds(
    what: str,
    name: str,
    samples: dict[str, list[Sample]],
    sets: dict[str, list[str]],
    *,
    limit: float | None = None,
) -> Iterator[Figure]:
    mine, decoded, earlier = (samples.get(kind + name) for kind in ("", "decode ", "earlier "))
    assert mine is not None
    assert decoded is not None
    megabytes = sum(len(text.encode("utf-8", "surrogatepass")) for text in sets[name]) / 1e6
    # CPU time, so that other programs on the machine do not change it.
    speed = f"{megabytes / median(times(mine, 'cpu')):.0f} MB/s"
    note = f"of decoding {len(sets[name])} texts, {megabytes:.1f} MB; {speed}"
    yield Figure(what=what, value=ratio(mine, decoded, "cpu"), limit=limit, note=note)
    if earlier is not None:
        before = ratio(earlier, decoded, "cpu")
        note = f"of commit {EARLIER}, which takes {before:.1f} x of decoding"
        value = ratio(mine, earlier, "cpu")
        yield Figure(what="  beside the earlier version", value=value, limit=NO_SLOWER, note=note)


def hostile(size: int) -> tuple[list[str], str]:
    """Describe each text that takes far more than four times as long at four times the size.

    Also describes the slowest text.
    """
    found: list[str] = []
    slowest = (0.0, "")
    for seed in dict.fromkeys(seeds()):
        both = [repeated(seed, each) for each in (size, 4 * size)]
        small, large = (_cpu(text, runs=2) for text in both)
        if _is_steep(small, large):
            # Another program on the machine can slow down two short runs, but not all of nine.
            small, large = (_cpu(text, runs=9) for text in both)
        slowest = max(slowest, (large, seed))
        if _is_steep(small, large):
            found.append(f"{seed!r}: {small:.3f} s, then {large:.3f} s")
    seconds, seed = slowest
    return found, f"The slowest text repeats {seed!r}: {4 * size / 1e6 / seconds:.2f} MB/s."


def _is_steep(small: float, large: float) -> bool:
    return large > STEEPEST * max(small, LEAST)


def _cpu(text: str, *, runs: int) -> float:
    return min(call(partial(redact, text)).cpu for _ in range(runs))


def main() -> int:
    """Print the figures; fail above a limit, or if a hostile text is not linear."""
    if sys.argv[1:2] == ["--hostile"]:
        size = int(sys.argv[2]) if sys.argv[2:] else 20_000
        steep, slowest = hostile(size)
        print("\n".join(steep) or f"All hostile texts are linear from {size} to {4 * size} bytes.")
        print(slowest)
        return int(bool(steep))
    measured = figures(of_sessions(sys.argv[1:]) if sys.argv[1:] else None)
    print(table("Redaction", measured))
    return int(any(figure.is_over for figure in measured))


if __name__ == "__main__":
    sys.exit(main())

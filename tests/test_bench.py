"""The benchmarks measure what they claim: the transcript, the verdicts, the order of runs."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
HARNESS = """
from bench.harness import Figure, Sample, interleave, ratio, table

ran = []
cases = {name: lambda name=name: ran.append(name) or Sample(1.0, 1.0) for name in "abc"}
samples = interleave(cases, 20)
rounds = [ran[at : at + 3] for at in range(3, 63, 3)]
assert all(sorted(each) == list("abc") for each in rounds)
assert len({tuple(each) for each in rounds}) > 2
assert all(len(each) == 20 for each in samples.values())

fast, slow = [Sample(1.0, 2.0), Sample(9.0, 2.0)], [Sample(2.0, 8.0), Sample(18.0, 8.0)]
assert (ratio(slow, fast), ratio(slow, fast, "cpu")) == (2.0, 4.0)

shown = table("t", [
    Figure(what="most", value=2.0, limit=1.0),
    Figure(what="least", value=2.0, limit=3.0, is_floor=True),
    Figure(what="kept", value=2.0, limit=2.0),
    Figure(what="seen", value=2.0),
])
assert [line.split()[-1] for line in shown.splitlines()[2:6]] == ["OVER", "UNDER", "PASS", "x"]
"""
FAILS = """
import os
from pathlib import Path
from bench.harness import Program, run

program = Program(
    arguments=("/bin/sh", "-c", "echo reason; echo why >&2; exit 3"),
    environment=os.environ,
    folder=Path("/"),
    printed=Path(PRINTED),
)
try:
    run(program)
except AssertionError as error:
    print(error)
"""
LINES = """
import sys
from itertools import islice
from bench import transcript
sys.stdout.buffer.writelines(islice(transcript.lines(), 4000))
"""


def run(code: str) -> bytes:
    # In a process of its own: the tests do not see what lies beside them.
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, timeout=120
    )
    return done.stdout


def test_cases_run_in_turn_and_are_judged_by_their_limits() -> None:
    run(HARNESS)


def test_a_program_that_fails_is_reported_with_its_output(tmp_path: Path) -> None:
    output = run(FAILS.replace("PRINTED", repr(str(tmp_path / "printed.txt")))).decode()

    assert "exit 3 ended with 3.\nreason\nwhy\n" in output


def test_the_made_up_transcript_has_the_mix_of_long_ones() -> None:
    entries = [json.loads(line) for line in run(LINES).splitlines()]
    kinds = Counter(entry["type"] for entry in entries)

    assert 0.27 < kinds["progress"] / len(entries) < 0.35
    assert 1.7 < kinds["assistant"] / kinds["user"] < 2.3
    assert max(len(json.dumps(entry)) for entry in entries) > 60_000


def test_an_unknown_part_is_named() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench", "speed"], cwd=ROOT, check=False, capture_output=True
    )

    assert done.returncode == 2
    assert b"capture, redact, hooks, store" in done.stdout

"""Fuzz for some minutes: `fuzz.py [TARGET]... [--minutes N]`.

An input that fails is saved as a file.
"""

import argparse
import os
import random
import sys
import tempfile
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOUND = ROOT / ".cache" / "fuzz"


def main() -> int:
    """Run the targets in turn until the time is up, and print how many inputs were tried."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", help="Targets to run (default: all).")
    parser.add_argument("--minutes", type=float, default=2.0, help="How long to run in total (2).")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31), help="Repeat a run.")  # noqa: S311
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ["HOME"] = home
        return _fuzz(given.targets, given.minutes * 60, given.seed)


def _fuzz(names: list[str], seconds: float, seed: int) -> int:
    from fuzz.targets import TARGETS  # noqa: PLC0415 - reads what HOME says

    unknown = [name for name in names if name not in TARGETS]
    if unknown:
        print(f"Unknown target {unknown[0]!r}. Targets: {', '.join(TARGETS)}.")
        return 2
    chosen = names or [*TARGETS]
    counts, failures = dict.fromkeys(chosen, 0), 0
    ends_at = time.monotonic() + seconds
    while time.monotonic() < ends_at and not failures:
        for name in chosen:
            failures += _run(name, seed, counts)
        seed += 1
    for name, count in counts.items():
        print(f"{name:<20} {count:>9,} inputs")
    print(f"Failed inputs: {failures}. Last seed: {seed - 1}." if failures else "No input failed.")
    return 1 if failures else 0


def _run(name: str, seed: int, counts: dict[str, int]) -> int:
    """Run a target for a while; if an input fails, save it and return 1."""
    from hypothesis import HealthCheck, Phase, given, settings  # noqa: PLC0415 - see _fuzz
    from hypothesis import seed as seeded  # noqa: PLC0415

    from fuzz.mutations import mutated  # noqa: PLC0415
    from fuzz.targets import TARGETS, ending  # noqa: PLC0415

    target, last = TARGETS[name], [b""]

    @seeded(seed)
    @settings(
        max_examples=20 if target.is_slow else 300,
        deadline=None,
        database=None,
        suppress_health_check=[*HealthCheck],
        phases=[Phase.generate, Phase.shrink],
    )
    @given(mutated(target.seeds))
    def holds(data: bytes) -> None:
        counts[name] += 1
        last[0] = data
        with ending():
            target.check(data)

    try:
        holds()
    except Exception:  # noqa: BLE001 - every failure is shown
        FOUND.mkdir(parents=True, exist_ok=True)
        path = FOUND / f"{name}-{seed}"
        path.write_bytes(last[0])
        print(f"{name} failed. The input was saved to {path}\n{traceback.format_exc()}")
        return 1
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests"))
    sys.exit(main())

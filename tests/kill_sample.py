"""Kill something simple, and print the files after each attempt: `kill_sample.py ARM FOLDER`."""

import json
import os
import sys
from pathlib import Path

from deaths import Trial, kill_at_every_step


def _act(place: Path) -> None:
    for name, data in (("a", b"12"), ("b", b"34")):
        file = os.open(place / name, os.O_CREAT | os.O_RDWR)
        os.write(file, data)
        os.fsync(file)
        os.pread(file, 2, 0)
        os.close(file)
    os.unlink(place / "a")  # noqa: PTH108 - a step that is counted


def _look(place: Path) -> list[str]:
    return [f"{path.name} {path.read_text()}" for path in sorted(place.iterdir())]


def main() -> None:
    """Kill it at every step, and print what was left."""
    left: list[list[str]] = []
    trial = Trial(
        prepare=lambda _: None,
        act=_act,
        look=_look,
        check=lambda place, _: left.append(_look(place)),
    )
    kill_at_every_step(trial, Path(sys.argv[2]), trial.arms[sys.argv[1]])
    sys.stdout.write(json.dumps(left))


if __name__ == "__main__":
    main()

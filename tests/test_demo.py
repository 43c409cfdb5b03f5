"""The demo runs to its end and leaves nothing behind."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow("plays the whole demo")

DEMO = Path(__file__).parent.parent / "scripts" / "demo.py"


@pytest.fixture
def told(tmp_path: Path) -> str:
    done = subprocess.run(
        [sys.executable, DEMO],
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_demo_shows_what_it_promises_and_leaves_nothing_behind(
    told: str, tmp_path: Path
) -> None:
    flat = " ".join(told.split())
    found = re.search(r"acknowledged (\d+) saves .*? (\d+) of them are in the store", flat)
    assert found is not None
    assert int(found[1]) >= 8
    assert found[1] == found[2]
    assert "- changed: src/cart.py" in told
    assert "Undid clearing cart-totals" in told
    assert "fail: AssertionError: 200 != 429." in flat
    assert "leftoff: This failed before: round() on every item — the errors add up" in told
    assert re.search(
        r"- Decimal instead of floats \(20[-\d]+\): a rounded float is still a float", flat
    )
    assert "Imported 1 checkpoint from" in told
    assert "Task: The yearly report sums net prices." in told
    assert "- **cart-totals** (cents, " in told
    assert "left out .env: its name suggests that it contains secrets" in told
    assert " feat(feature-001): Round cart totals to cents" in told
    assert "Pushed to origin/cents" in told
    assert "\x1b[" not in told
    assert {path.name for path in tmp_path.rglob("*")} == {"home", "tmp"}

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
def output(tmp_path: Path) -> str:
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
    output: str, tmp_path: Path
) -> None:
    flat = " ".join(output.split())
    found = re.search(r"acknowledged (\d+) saves .*? (\d+) of them are in the store", flat)
    assert found is not None
    assert int(found[1]) >= 8
    assert found[1] == found[2]
    shown = output.partition("$ leftoff log cart-totals --json\n")[2]
    assert shown.startswith('{\n  "id": "')
    assert re.search(r"^… and \d+ more revisions$", shown, re.MULTILINE)
    assert "- changed: src/cart.py" in output
    assert "Undid clearing cart-totals" in output
    assert "fail (exit 1): AssertionError: 200 != 429." in flat
    assert "leftoff resume limit-login-5-tries --accept" in output
    assert re.search(r"Left off \S+ \S+ \(1h ago\)", output)
    assert 'Saved "cart-totals"' in output
    assert "leftoff: This failed before: round() on every item — the errors add up" in output
    assert re.search(
        r"- Decimal instead of floats \(20[-\d]+\): a rounded float is still a float", flat
    )
    assert "Imported 1 checkpoint from" in output
    assert "Task: The yearly report sums net prices." in output
    assert "the uncommitted work in 3 files is gone from the worktree: src/cart.py" in flat
    assert re.search(r"Restored \d files from snapshot", output)
    assert "- **cart-totals** (cents, " in output
    assert "left out .env: its name suggests that it contains secrets" in output
    assert " feat(feature-001): Round cart totals to cents" in output
    assert "Pushed to origin/cents" in output
    assert re.search(r"The page was at http://127\.0\.0\.1:\d+ and has ended", flat)
    assert "\x1b[" not in output
    assert {path.name for path in tmp_path.rglob("*")} == {"home", "tmp"}

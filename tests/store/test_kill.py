import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import deaths
from deaths import SCENARIOS


def run(how: str, what: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, deaths.__file__, how, what, str(folder)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.accept(164)
@pytest.mark.accept(62)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_killed_at_any_step_it_is_done_or_not_begun_and_the_store_works_on(
    scenario: str, quick_folder: Path
) -> None:
    kills = json.loads(run("step", scenario, quick_folder))

    # So many that none of the wrapped functions can have slipped past the store.
    assert kills["steps"] >= 10
    assert kills["writes"] >= (0 if scenario == "list" else 1)


@pytest.mark.accept(62)
def test_nothing_acknowledged_is_lost_in_500_kills_at_random_moments(quick_folder: Path) -> None:
    acknowledged = int(run("any", "500", quick_folder))

    # However slow the machine, so many came through, and each of them was found again.
    assert acknowledged > 500

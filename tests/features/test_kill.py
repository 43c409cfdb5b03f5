import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from features import dying


@pytest.mark.accept(164)
@pytest.mark.parametrize("scenario", dying.SCENARIOS)
def test_killed_at_any_step_no_file_is_half_no_entry_lost_and_doing_it_again_does_it(
    scenario: str, quick_folder: Path
) -> None:
    done = subprocess.run(
        [sys.executable, dying.__file__, scenario, str(quick_folder)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    kills = json.loads(done.stdout)
    assert kills["steps"] >= 10
    assert kills["writes"] >= 1

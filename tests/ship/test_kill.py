import os
import subprocess
import sys
from pathlib import Path

import pytest

from ship import dying
from ship.hub import Hub


@pytest.mark.accept(164)
@pytest.mark.parametrize(("scenario", "least"), [("open", 50), ("update", 10)])
def test_killed_at_any_step_the_next_run_finishes_and_nothing_is_done_twice(
    scenario: str, least: int, quick_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Hub(tmp_path / "github").install(monkeypatch)

    done = subprocess.run(
        (sys.executable, dying.__file__, scenario, str(quick_folder)),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )

    assert (done.returncode, done.stderr) == (0, "")
    # So many that none of the programs and none of the writes can have slipped past.
    assert int(done.stdout) >= least

from pathlib import Path

import pytest

from programs import run_module
from ship import dying
from ship.hub import Hub


@pytest.mark.accept(164)
@pytest.mark.parametrize(("scenario", "least"), [("open", 50), ("update", 10)])
def test_killed_at_any_step_the_next_run_finishes_and_nothing_is_done_twice(
    scenario: str, least: int, quick_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Hub(tmp_path / "github").install(monkeypatch)

    kills = int(run_module(dying, scenario, str(quick_folder), seconds=600))

    # So many that none of the programs and none of the writes can have slipped past.
    assert kills >= least

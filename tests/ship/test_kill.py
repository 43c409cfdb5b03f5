from pathlib import Path

import pytest

from deaths import count_kills
from ship import dying
from ship.hub import Hub

pytestmark = pytest.mark.slow("kills at every step")


@pytest.mark.accept(164)
@pytest.mark.parametrize(("scenario", "least"), [("open", 30), ("update", 10)])
def test_killed_at_any_step_the_next_run_finishes_and_nothing_is_done_twice(
    scenario: str, least: int, quick_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Hub(tmp_path / "github").install(monkeypatch)

    kills = count_kills(dying, scenario, quick_folder)["steps"]

    # So many that none of the programs and none of the writes can have slipped past.
    assert kills >= least

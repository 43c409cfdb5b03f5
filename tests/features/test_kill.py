import json
from pathlib import Path

import pytest

from features import dying
from programs import run_module


@pytest.mark.accept(164)
@pytest.mark.parametrize("scenario", dying.SCENARIOS)
def test_killed_at_any_step_no_file_is_half_no_entry_lost_and_doing_it_again_does_it(
    scenario: str, quick_folder: Path
) -> None:
    kills = json.loads(run_module(dying, scenario, str(quick_folder)))

    assert kills["steps"] >= 10
    assert kills["writes"] >= 1

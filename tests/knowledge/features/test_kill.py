from pathlib import Path

import pytest

from deaths import count_kills
from knowledge.features import dying

pytestmark = pytest.mark.slow("kills at every step")


@pytest.mark.accept(164)
@pytest.mark.parametrize("scenario", dying.TRIALS)
def test_killed_at_any_step_no_file_is_half_no_entry_lost_and_doing_it_again_does_it(
    scenario: str, quick_folder: Path
) -> None:
    kills = count_kills(dying, scenario, quick_folder)

    assert kills["steps"] >= 4
    assert kills["writes"] >= 1

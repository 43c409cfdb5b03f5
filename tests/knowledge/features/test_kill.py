from pathlib import Path

import pytest

from deaths import count_all_kills, split
from knowledge.features import dying

pytestmark = pytest.mark.slow("kills at every step")


@pytest.mark.accept(164)
@pytest.mark.parametrize("scenarios", split(dying.TRIALS, 2))
def test_killed_at_any_step_no_file_is_half_no_entry_lost_and_doing_it_again_does_it(
    scenarios: list[str], quick_folder: Path
) -> None:
    for scenario, kills in count_all_kills(dying, scenarios, quick_folder).items():
        assert kills["steps"] >= 4, scenario
        assert kills["writes"] >= 1, scenario

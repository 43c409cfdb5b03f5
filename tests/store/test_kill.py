from pathlib import Path

import pytest

from deaths import count_all_kills, split
from programs import run_module
from store import dying

pytestmark = pytest.mark.slow("kills at every step")


@pytest.mark.accept(164)
@pytest.mark.accept(62)
@pytest.mark.parametrize("scenarios", split(dying.TRIALS, 5))
def test_killed_at_any_step_it_is_done_or_not_begun_and_the_store_works_on(
    scenarios: list[str], quick_folder: Path
) -> None:
    for scenario, kills in count_all_kills(dying, scenarios, quick_folder).items():
        # So many that none of the wrapped functions can have slipped past the store.
        assert kills["steps"] >= 6 // dying.TRIALS[scenario].every, scenario
        assert kills["writes"] >= (0 if scenario == "list" else 1), scenario


@pytest.mark.accept(62)
def test_nothing_acknowledged_is_lost_in_500_kills_at_random_moments(quick_folder: Path) -> None:
    acknowledged = int(run_module(dying, "any", str(quick_folder)))

    # However slow the machine, so many came through, and each of them was found again.
    assert acknowledged > 500

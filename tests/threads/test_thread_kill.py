from pathlib import Path

import pytest

from deaths import count_all_kills, split
from threads import dying

pytestmark = pytest.mark.slow("kills at every step")


@pytest.mark.accept(164)
@pytest.mark.parametrize("workloads", split(dying.TRIALS, 2))
def test_killed_at_any_step_a_thread_is_as_before_or_as_after(
    workloads: list[str], quick_folder: Path
) -> None:
    for workload, kills in count_all_kills(dying, workloads, quick_folder).items():
        assert kills["steps"] >= 8, workload
        assert kills["writes"] >= 1, workload

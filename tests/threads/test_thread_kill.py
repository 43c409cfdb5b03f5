from pathlib import Path

import pytest

from deaths import count_all_kills, split
from threads import dying

pytestmark = pytest.mark.slow("kills at every step")


@pytest.mark.accept(164)
@pytest.mark.parametrize("deeds", split(dying.TRIALS, 2))
def test_killed_at_any_step_a_thread_is_as_before_or_as_after(
    deeds: list[str], quick_folder: Path
) -> None:
    for deed, kills in count_all_kills(dying, deeds, quick_folder).items():
        assert kills["steps"] >= 8, deed
        assert kills["writes"] >= 1, deed

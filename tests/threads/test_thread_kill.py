from pathlib import Path

import pytest

from deaths import count_kills
from threads import dying

pytestmark = pytest.mark.slow("kills at every step")


@pytest.mark.accept(164)
@pytest.mark.parametrize("deed", dying.TRIALS)
def test_killed_at_any_step_a_thread_is_as_before_or_as_after(
    deed: str, quick_folder: Path
) -> None:
    kills = count_kills(dying, deed, quick_folder)

    assert kills["steps"] >= 8
    assert kills["writes"] >= 1

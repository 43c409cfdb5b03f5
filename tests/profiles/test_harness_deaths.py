"""harness: a process that dies while it writes leaves whole files, and the next one continues."""

from pathlib import Path

import pytest

from deaths import count_kills
from profiles.mirror import dying

pytestmark = pytest.mark.slow("kills at every step")


@pytest.mark.accept(164)
def test_killed_at_any_step_every_file_is_whole_and_nothing_is_reported_twice(
    quick_folder: Path,
) -> None:
    kills = count_kills(dying, "harness", quick_folder)

    assert kills["steps"] > 25
    assert kills["writes"] > 5

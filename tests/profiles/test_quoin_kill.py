"""After a kill of a mirror at any step, each file, mark and row is there once."""

from pathlib import Path

import pytest

from deaths import count_kills
from profiles import quoindying

pytestmark = pytest.mark.slow("kills at every step")


@pytest.mark.accept(87, 164)
def test_nothing_is_missing_or_doubled_wherever_a_mirror_is_killed(quick_folder: Path) -> None:
    assert sum(count_kills(quoindying, "mirror", quick_folder).values()) > 50

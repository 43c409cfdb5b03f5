"""After a kill at any step, the next process finishes: each file, line and note is there once."""

from pathlib import Path

import pytest

from deaths import count_kills
from profiles import openclawdying

pytestmark = pytest.mark.slow("kills at every step")


@pytest.mark.accept(164)
@pytest.mark.parametrize(("what", "steps"), [("mirror", 40), ("note", 2)])
def test_nothing_is_missing_or_doubled_wherever_it_is_killed(
    quick_folder: Path, what: str, steps: int
) -> None:
    assert sum(count_kills(openclawdying, what, quick_folder).values()) > steps

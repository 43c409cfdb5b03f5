"""A kill at any step loses no snapshot, and no file of the worktree."""

from pathlib import Path

import pytest

from deaths import count_kills
from snapshots import dying

pytestmark = pytest.mark.slow("kills at every step")


@pytest.mark.parametrize("trial", dying.TRIALS)
def test_a_kill_at_any_step_loses_nothing(trial: str, quick_folder: Path) -> None:
    assert sum(count_kills(dying, trial, quick_folder).values()) > 5

"""A kill at any step loses no snapshot, and no file of the worktree."""

from pathlib import Path

import pytest

from deaths import count_all_kills
from snapshots import dying

pytestmark = pytest.mark.slow("kills at every step")


def test_a_kill_at_any_step_loses_nothing(quick_folder: Path) -> None:
    for trial, kills in count_all_kills(dying, [*dying.TRIALS], quick_folder).items():
        assert sum(kills.values()) > 5, trial

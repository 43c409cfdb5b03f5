"""A mirror that dies at any step is made up for: each file, mark and row is there once."""

from pathlib import Path

import pytest

from profiles import quoindying
from programs import run_module


@pytest.mark.accept(87, 164)
def test_nothing_is_missing_or_doubled_wherever_a_mirror_is_killed(quick_folder: Path) -> None:
    assert int(run_module(quoindying, str(quick_folder))) > 100

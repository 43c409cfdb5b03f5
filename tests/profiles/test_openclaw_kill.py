"""Whoever dies at any step is made up for: each file, line and note is there once."""

from pathlib import Path

import pytest

from profiles import openclawdying
from programs import run_module


@pytest.mark.accept(164)
@pytest.mark.parametrize(("what", "steps"), [("mirror", 60), ("note", 8)])
def test_nothing_is_missing_or_doubled_wherever_it_is_killed(
    quick_folder: Path, what: str, steps: int
) -> None:
    assert int(run_module(openclawdying, what, str(quick_folder))) > steps

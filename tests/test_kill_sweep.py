"""A kill sweep leaves every state of the files once, and each of them is checked."""

import json
from pathlib import Path

import kill_sample
from programs import run_module


def test_every_state_that_a_kill_can_leave_is_left_once(tmp_path: Path) -> None:
    states = json.loads(run_module(kill_sample, "steps", str(tmp_path)))

    # A read, a sync and a close change nothing, so no kill comes before the step after them.
    assert states == [[], ["a "], ["a 12"], ["a 12", "b "], ["a 12", "b 34"], ["b 34"]]


def test_a_write_is_cut_in_half_wherever_it_is(tmp_path: Path) -> None:
    states = json.loads(run_module(kill_sample, "writes", str(tmp_path)))

    assert states == [["a 1"], ["a 12", "b 3"], ["b 34"]]

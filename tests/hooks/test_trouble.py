"""Errors in hooks are kept for doctor, and never fill the disk."""

import os
from pathlib import Path

from leftoff.hooks import spool, trouble


def test_the_newest_are_reported_oldest_first(tmp_path: Path) -> None:
    for n in range(3):
        trouble.note(tmp_path, f"settle {n}", ValueError("made up"))

    known = trouble.list_recent(tmp_path)
    assert [each.where for each in known] == ["settle 0", "settle 1", "settle 2"]
    assert known[0].what == "ValueError: made up"


def test_what_goes_wrong_all_the_time_does_not_fill_the_disk(tmp_path: Path) -> None:
    for n in range(1500):
        trouble.note(tmp_path, f"settle {n}", ValueError("x" * 400))

    assert (tmp_path / "trouble.jsonl").stat().st_size < 300_000
    assert trouble.list_recent(tmp_path)[-1].where == "settle 1499"


def test_where_nothing_can_be_kept_nothing_fails(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("in the way", encoding="utf-8")

    trouble.note(tmp_path / "state", "settle", ValueError("made up"))


def test_problems_are_counted_as_they_are_listed(tmp_path: Path) -> None:
    state = tmp_path
    assert trouble.count_recent(state) == len(trouble.list_recent(state)) == 0
    for name in ("first", "second"):
        letter = spool.keep(state, "claude", "Stop", name.encode())
        os.utime(letter.path, (1, 1))
    (state / "lost").touch()
    trouble.note(state, "settle", OSError("no space"))

    assert trouble.count_recent(state) == len(trouble.list_recent(state)) == 3

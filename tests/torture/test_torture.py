"""The torture finds no problem in leftoff, and finds what was broken on purpose."""

import json
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.runs import Cli
from leftoff import torture
from leftoff.torture import PARTS, child_programs, crew
from torture import broken


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch) -> Cli:
    return Cli(monkeypatch)


def tortured(cli: Cli, *words: str) -> tuple[int, dict[str, Any]]:
    """Run a short torture, bounded by counts; return its exit code and what it reports."""
    result = cli("torture", *words, "--seed", "1", "--json")
    answer = json.loads(result.out)
    if answer["folder"]:
        shutil.rmtree(answer["folder"])
    return result.code, answer


# Enough of each part that every kind of trial comes up; none takes long.
ROUNDS = {"kills": 2, "faults": 1, "cuts": 2, "files": 15, "repositories": 13, "load": 1}


@pytest.mark.parametrize("part", PARTS)
def test_nothing_is_lost_and_nothing_breaks(cli: Cli, part: str, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))

    code, found = tortured(cli, "--only", part, "--rounds", str(ROUNDS[part]))

    (report,) = found["reports"]
    assert (report["lost"], report["broken"]) == ([], [])
    assert code == 0
    assert report["tried"] or report["skipped"]
    # The user's own store and home are never touched.
    assert sorted(tmp_path.rglob("*")) == before


BROKEN = {
    "show_halves": ("kills", "cannot be read"),
    "forget_sync": ("cuts", "was acknowledged but is lost"),
    "swallow_errors": ("faults", "cannot be read"),
    "hide_entries": ("files", "is not listed"),
    "read_outside": ("repositories", "showed a private file"),
    "settle_twice": ("load", "was settled 2 times"),
    "crash": ("kills", "a worker crashed with exit code 3"),
}


def end_when_found(expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """End each part when it has found what was broken; the rest need not be tried."""
    reports = crew.Crew.reports

    def reports_until_found(workers: crew.Crew) -> Iterator[torture.TortureReport]:
        for report in reports(workers):
            yield report
            if any(expected in each.what for each in [*report.lost, *report.broken]):
                return

    monkeypatch.setattr(crew.Crew, "reports", reports_until_found)


@pytest.mark.parametrize("how", BROKEN)
def test_what_is_broken_on_purpose_is_found(
    cli: Cli, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    part, expected = BROKEN[how]
    if part == "cuts" and shutil.which("cc") is None:
        pytest.skip("power cuts need a C compiler")
    monkeypatch.setattr(crew, "WORKER", (sys.executable, broken.__file__, how))
    end_when_found(expected, monkeypatch)

    rounds = 1 if part in {"faults", "files", "load"} else 2
    code, answer = tortured(cli, "--only", part, "--rounds", str(rounds))

    (report,) = answer["reports"]
    found = [each["what"] for each in [*report["lost"], *report["broken"]]]
    assert code == 1
    assert any(expected in what for what in found), found
    assert not any("the torture itself failed: T" in what for what in found), found


def test_every_way_to_break_is_tried() -> None:
    # The table is of what the first one breaks.
    assert {"lose_records", *BROKEN} == set(broken.WAYS)
    assert {part for part, _ in BROKEN.values()} == set(PARTS)


def test_a_table_says_what_was_tried_and_what_was_lost(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crew, "WORKER", (sys.executable, broken.__file__, "lose_records"))

    result = cli("torture", "--only", "kills", "--rounds", "1", "--seed", "7")

    assert result.code == 1
    assert "was acknowledged but is lost" in result.out
    assert result.out.splitlines()[0].split() == ["part", "tried", "lost", "broken"]
    assert "seed 7" in result.out
    folder = Path(result.out.split("projects are in ")[1].splitlines()[0])
    assert folder.is_dir()
    shutil.rmtree(folder)


def test_what_cannot_be_tried_is_named(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name, **_: None if name != "git" else name)

    code, found = tortured(cli, "--only", "cuts", "--rounds", "1")

    assert found["reports"][0]["skipped"] == ["power cuts (no C compiler (cc) was found)"]
    assert code == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_leaves_nothing_behind(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "torture"
    folder.mkdir()
    monkeypatch.setattr(torture, "_roomy_folder", lambda: str(folder))

    def interrupt(report: torture.TortureReport) -> None:
        if report.tried:
            os.kill(os.getpid(), number)

    with pytest.raises(KeyboardInterrupt):
        torture.run(torture.TorturePlan(parts=["kills"], seed=1, seconds=600), interrupt)

    assert [*folder.iterdir()] == []
    assert child_programs._processes_below(folder) == []  # noqa: SLF001

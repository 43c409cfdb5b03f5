"""`leftoff stats` on a terminal, in a pipe and as JSON."""

from contextlib import closing

import msgspec
import pytest

from cli.runs import Cli
from gitrepo import Repo
from leftoff.checkpoint import TRIGGERS, ContextUse
from leftoff.cli.stats import draw_bars, draw_sparkline
from leftoff.context import find_project
from leftoff.store import Store
from stores import draft


def test_nothing_to_count_is_said(cli: Cli) -> None:
    assert "Nothing was saved in this period." in cli.ok("stats").out
    assert cli.json("stats")["triggers"] == {}


def test_it_counts_and_says_how(cli: Cli) -> None:
    cli.ok("save", "exporter", "--summary=Export orders", "--next=Run pytest")

    out = cli.ok("stats", "--days", "7").out

    assert "threads      1: 1 open\n" in out
    assert "saves        1: 1 by hand, 0 automatic\n" in out
    assert "             saved on request  ████████████████████████ 1\n" in out
    assert "Times are lower bounds; `leftoff stats --help` says how they are counted." in out
    page = " ".join(cli.ok("stats", "--help").out.split())
    assert "It counts the saves in this project's store." in page
    assert cli.json("stats")["triggers"] == {"manual": 1}


@pytest.mark.parametrize("columns", [60, 140])
def test_it_fits_the_terminal(cli: Cli, repo: Repo, columns: int) -> None:
    with closing(Store(find_project(repo.folder))) as store:
        for trigger in TRIGGERS:
            use = ContextUse(percent=95.0)
            made = draft("work-one", agent="claude", session_id=trigger, context=use)
            store.save(msgspec.structs.replace(made, trigger=trigger), overwrite=True)
    with cli.terminal("stats", "--days=365", columns=columns) as terminal:
        lines = terminal.rest().splitlines()

    assert max(map(len, lines)) <= columns
    assert any("highest" in line for line in lines)


def test_drawings_show_shares() -> None:
    assert draw_sparkline([0, 1, 4, 8]) == " ▂▅█"
    assert draw_sparkline([50.0, 100.0], 100.0) == "▅█"
    assert draw_sparkline([0, 0]) == "  "
    assert draw_bars({"a": 1, "long": 2}, 80, "session") == [
        f"a     {'█' * 12} 1 session",
        f"long  {'█' * 24} 2 sessions",
    ]
    assert draw_bars({"a": 1, "very long": 2}, 20) == [
        "a",
        f"  {'█' * 5} 1",
        "very long",
        f"  {'█' * 10} 2",
    ]

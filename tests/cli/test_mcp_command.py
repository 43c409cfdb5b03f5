"""`leftoff mcp` for people who start it by hand; tests/mcp_server has the rest."""

from pathlib import Path

import pytest

from cli.runs import Cli


def test_on_a_terminal_it_says_what_it_waits_for_and_how_to_end_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Cli(monkeypatch).terminal("mcp") as terminal:
        terminal.expect("Waiting for an MCP client on standard input. Press Ctrl-D to end.")
        terminal.child.sendeof()
        terminal.child.wait()

    assert terminal.child.exitstatus == 0

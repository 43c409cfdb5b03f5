"""Every agent is wired where its own variable says, and unwired to the byte: one table for all."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cli.runs import Cli
from leftoff.wiring import jsonc_edit
from leftoff.wiring.agent_wirings import WIRINGS
from stores import contents

_FIRST = {"hooks": [{"type": "command", "command": "true"}]}
_LATER: dict[str, Any] = {"hooks": [{"type": "command", "command": "./later.sh"}]}


class Home(msgspec.Struct, frozen=True, kw_only=True):
    """Where an agent's settings are, and what others keep there."""

    variable: str = ""
    below: str = ""
    """The folder below the one that the variable names."""
    file: str
    before: bytes
    """What others wrote into the file before leftoff, or into one beside leftoff's own."""
    event: str = ""
    """The event for which others add a hook after leftoff; empty for a file of leftoff's own."""
    other: object = msgspec.field(default_factory=lambda: _LATER)


HOMES = {
    "claude": Home(
        variable="CLAUDE_CONFIG_DIR",
        file="settings.json",
        before=b'{\r\n\t"theme": "dark",\r\n\t"hooks": {"Stop": [{"hooks": []}]} }',
        event="Stop",
    ),
    "codex": Home(
        variable="CODEX_HOME",
        file="hooks.json",
        before=json.dumps({"hooks": {"Stop": [_FIRST]}}, indent=3).encode(),
        event="Stop",
    ),
    "gemini": Home(
        variable="GEMINI_CLI_HOME",
        below=".gemini",
        file="settings.json",
        before=b'{\n  // mine\n  "hooks": {"AfterAgent": [{"hooks": []}],},\n}\n',
        event="AfterAgent",
    ),
    "opencode": Home(
        variable="XDG_CONFIG_HOME",
        below="opencode",
        file="plugins/other.js",
        before=b"export const Mine = 1\n",
    ),
    "copilot": Home(
        variable="COPILOT_HOME",
        file="hooks/other.json",
        before=b'{"version": 1, "hooks": {}}',
    ),
    # CURSOR_CONFIG_DIR moves only what the settings of its program are in, not the hooks.
    "cursor": Home(
        file="hooks.json",
        before=b'{"version": 1, "hooks": {"stop": [{"command": "./format.sh"}]}}\r\n',
        event="stop",
        other={"command": "./later.sh"},
    ),
}


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Move each agent's settings, and leave there what others wrote."""
    monkeypatch.setenv("CURSOR_CONFIG_DIR", str(tmp_path / "not-for-hooks"))
    found = {}
    for agent, home in HOMES.items():
        moved = tmp_path / "moved" / agent
        if home.variable:
            monkeypatch.setenv(home.variable, str(moved))
        found[agent] = moved / home.below if home.variable else tmp_path / "home" / f".{agent}"
        path = found[agent] / home.file
        path.parent.mkdir(parents=True)
        path.write_bytes(home.before)
    return found


def _list_files(tmp_path: Path) -> dict[str, str]:
    """Return every file but those in leftoff's own folder, and its hash."""
    own = "home/.local/state/leftoff"
    return {path: found for path, found in contents(tmp_path).items() if not path.startswith(own)}


def _choose(agents: Sequence[str]) -> list[str]:
    return ["--all"] if len(agents) > 1 else ["--agent", agents[0]]


CHOICES = [*([agent] for agent in HOMES), [*HOMES]]


def test_every_agent_has_a_row() -> None:
    assert [*HOMES] == [*WIRINGS]


@pytest.mark.parametrize("agents", CHOICES, ids="-".join)
def test_hooks_come_once_where_the_variable_says_and_go_to_the_byte(
    cli: Cli, tmp_path: Path, folders: dict[str, Path], agents: list[str]
) -> None:
    before = _list_files(tmp_path)
    planned = cli.json("init", *_choose(agents), "--dry-run")
    assert _list_files(tmp_path) == before

    done = cli.json("init", *_choose(agents), "--yes")

    assert done["agents"] == planned["agents"] == agents
    # Only a dry run shows the diffs.
    assert done["changes"] == [
        {key: value for key, value in change.items() if key != "diff"}
        for change in planned["changes"]
    ]
    assert all("diff" in change for change in planned["changes"])
    for agent, folder in folders.items():
        hooks = folder / WIRINGS[agent].table.file
        is_wired = hooks.is_file() and b"leftoff/hook" in hooks.read_bytes()
        assert is_wired == (agent in agents)
        if HOMES[agent].variable:
            assert not (tmp_path / "home" / f".{agent}").exists()
    after = contents(tmp_path)
    assert cli.json("init", *_choose(agents), "--yes")["changes"] == []
    assert contents(tmp_path) == after

    cli.ok("uninstall", "--yes")
    assert _list_files(tmp_path) == before


def _read_groups(agent: str, path: Path) -> list[Any]:
    """Return the groups of hooks for the event to which others add theirs."""
    groups: list[Any] = jsonc_edit.read(path.read_text(encoding="utf-8"))["hooks"][
        HOMES[agent].event
    ]
    return groups


def test_what_others_add_after_the_hooks_stays_as_they_wrote_it(
    cli: Cli, folders: dict[str, Path]
) -> None:
    cli.ok("init", "--all", "--yes")
    for agent, home in HOMES.items():
        path = folders[agent] / home.file
        if home.event:
            path.write_bytes(_add_hook(home, path.read_bytes()))
        else:
            path.with_name("later").write_bytes(b"later")
    codex = folders["codex"] / HOMES["codex"].file
    place = _read_groups("codex", codex).index(HOMES["codex"].other)
    cli.ok("uninstall", "--yes")

    for agent, home in HOMES.items():
        path = folders[agent] / home.file
        if agent == "codex":
            # An empty group holds the place of leftoff's: Codex trusts a hook by its position.
            assert _read_groups(agent, path)[place] == home.other
            assert b"leftoff" not in path.read_bytes()
        elif home.event:
            assert path.read_bytes() == _add_hook(home, home.before)
        else:
            assert sorted(each.name for each in path.parent.iterdir()) == ["later", path.name]
            assert path.read_bytes() == home.before


def _add_hook(home: Home, text: bytes) -> bytes:
    """Write a hook after all others of an event; the rest of the file stays as it is."""
    return jsonc_edit.append(text.decode(), ("hooks", home.event), home.other).encode()

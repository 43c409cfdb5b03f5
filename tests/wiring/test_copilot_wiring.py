"""Copilot CLI is wired by a file of leftoff's own."""

import json
from pathlib import Path

import msgspec
import pytest

from leftoff import __version__
from leftoff.agents.copilot.copilot_hook_table import TABLE
from leftoff.context import read_environment
from leftoff.wiring import install
from leftoff.wiring.agent_wirings import WIRINGS
from leftoff.wiring.findings import World
from leftoff.wiring.install_places import Places, find_places
from leftoff.wiring.own_file_wiring import OwnFileWiring
from stores import contents


@pytest.fixture
def places(tmp_path: Path) -> Places:
    (tmp_path / "home" / ".copilot").mkdir()
    return find_places(read_environment())


@pytest.fixture
def hooks(places: Places) -> Path:
    return WIRINGS["copilot"].find_file(places)


def _install(places: Places) -> None:
    install.install(places, install.plan_install(places, ["copilot"]))


def _uninstall(places: Places) -> None:
    install.uninstall(places, install.plan_uninstall(places))


def _inspect(places: Places) -> list[tuple[str, str]]:
    found = WIRINGS["copilot"].inspect(World(places=places))
    return [(each.level, each.what) for each in found]


def test_the_file_names_each_event_once(places: Places, hooks: Path) -> None:
    _install(places)

    written = json.loads(hooks.read_bytes())
    assert written["version"] == 1
    assert [*written["hooks"]] == [each.event for each in TABLE.events]
    # A hook before a tool call that fails for any reason would deny the call.
    (before,) = written["hooks"]["PreToolUse"]
    assert before["matcher"] == "bash"
    assert before["bash"].endswith(" copilot PreToolUse || true")
    assert written["hooks"]["Stop"] == [
        {"type": "command", "bash": f"{places.hook} copilot Stop", "timeoutSec": 5}
    ]


def test_uninstall_removes_the_file_and_the_folder_that_was_made_for_it(
    places: Places, hooks: Path
) -> None:
    _install(places)
    assert WIRINGS["copilot"].is_wired(places)
    assert install.plan_install(places, ["copilot"]) == []

    _uninstall(places)

    assert list(contents(hooks.parent.parent)) == []


def test_other_hooks_beside_it_stay(places: Places, hooks: Path) -> None:
    hooks.parent.mkdir()
    theirs = hooks.with_name("theirs.json")
    theirs.write_bytes(b'{"version": 1}\r\n')

    _install(places)
    _uninstall(places)

    assert list(contents(hooks.parent)) == ["theirs.json"]
    assert theirs.read_bytes() == b'{"version": 1}\r\n'


def test_a_file_of_that_name_that_was_there_comes_back(places: Places, hooks: Path) -> None:
    hooks.parent.mkdir()
    hooks.write_bytes(b"{ }")
    _install(places)

    _uninstall(places)

    assert hooks.read_bytes() == b"{ }"


def test_its_own_variable_moves_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COPILOT_HOME", str(tmp_path / "moved"))
    places = find_places(read_environment())

    _install(places)

    assert (tmp_path / "moved" / "hooks" / "leftoff.json").is_file()
    _uninstall(places)
    assert not (tmp_path / "moved").exists()


def test_doctor_reports_a_missing_or_changed_file(places: Places, hooks: Path) -> None:
    assert _inspect(places) == [
        ("warning", "Copilot CLI was found, but its hooks are not installed")
    ]
    _install(places)
    assert _inspect(places) == [("ok", f"The hooks are in {hooks}")]

    hooks.write_bytes(hooks.read_bytes().replace(b"15", b"1"))

    assert _inspect(places) == [("warning", f"{hooks} does not match leftoff {__version__}")]
    _install(places)
    assert _inspect(places) == [("ok", f"The hooks are in {hooks}")]


def test_another_agents_file_of_the_same_name_is_left_to_that_agent(
    places: Places, hooks: Path, tmp_path: Path
) -> None:
    table = msgspec.structs.replace(TABLE, agent="opencode")
    other = OwnFileWiring(table, lambda _: b"opencode", what="another agent's hooks")
    _install(places)

    planned = other.plan_removal(places, [hooks, tmp_path / "gone" / "hooks" / "leftoff.json"])

    assert planned == []
    (change,) = WIRINGS["copilot"].plan_removal(places, [hooks])
    assert (change.path, change.after) == (hooks, None)

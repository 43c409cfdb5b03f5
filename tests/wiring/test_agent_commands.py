"""Agents with a folder for slash commands get leftoff's, which come and go without a trace."""

from pathlib import Path

import pytest

from leftoff.context import read_environment
from leftoff.wiring import install
from leftoff.wiring.agent_wirings import WIRINGS
from leftoff.wiring.install_places import Places, find_places

AGENTS = [agent for agent, wiring in WIRINGS.items() if wiring.table.commands]


@pytest.fixture
def places() -> Places:
    return find_places(read_environment())


def _find_files(places: Places, agent: str) -> list[Path]:
    folder = places.environment.find_config_folder(agent)
    return [folder / each for each in WIRINGS[agent].table.commands]


def _uninstall(places: Places) -> None:
    install.uninstall(places, install.plan_uninstall(places))


def test_the_commands_of_all_agents_come_and_go_with_the_hooks(places: Places) -> None:
    files = [path for agent in AGENTS for path in _find_files(places, agent)]
    install.install(places, install.plan_install(places, AGENTS))

    for path in files:
        name = path.stem.removeprefix("leftoff-")
        # It begins as what the user typed: such a prompt is never taken for a task.
        assert f"\n/leftoff:{name}" in f"\n{path.read_text(encoding='utf-8')}"
    assert install.plan_install(places, AGENTS) == []
    _uninstall(places)

    assert [path for path in files if path.parent.exists()] == []


@pytest.mark.parametrize("agent", AGENTS)
def test_a_command_that_somebody_wrote_stays(places: Places, agent: str) -> None:
    theirs, ours = _find_files(places, agent)
    theirs.parent.mkdir(parents=True)
    theirs.write_bytes(b"mine")

    install.install(places, install.plan_install(places, [agent]))
    assert ours.is_file()
    assert install.plan_install(places, [agent]) == []
    _uninstall(places)

    assert theirs.read_bytes() == b"mine"
    assert not ours.exists()


def test_a_command_of_an_earlier_place_is_removed(
    places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install.install(places, install.plan_install(places, ["opencode"]))
    earlier = _find_files(places, "opencode")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "moved"))

    _uninstall(find_places(read_environment()))

    assert [path for path in earlier if path.exists()] == []

"""`init --mcp` registers the server with every agent, and `uninstall` removes it exactly."""

import json
import sys
from pathlib import Path

import pytest

from leftoff.agents.registry import AGENTS
from leftoff.context import read_environment
from leftoff.errors import LeftoffError
from leftoff.wiring import install, mcp_entries, mcp_wiring
from leftoff.wiring.findings import World
from leftoff.wiring.install_places import Places, find_places

BEFORE = {
    "claude": b'{"numStartups": 3}',
    "codex": b'# mine\nmodel = "x"\n',
    "gemini": b'{\n  "theme": "dark"\n}\n',
    "opencode": b'{\n  // mine\n  "model": "x",\n}\n',
    "copilot": b'{"mcpServers": {"other": {"command": "x"}}}',
    "cursor": None,
}


@pytest.fixture
def places() -> Places:
    return find_places(read_environment())


def _install(places: Places, *agents: str, with_mcp: bool = True) -> None:
    install.install(places, install.plan_install(places, agents, with_mcp=with_mcp))


def _uninstall(places: Places) -> None:
    install.uninstall(places, install.plan_uninstall(places))


@pytest.mark.parametrize("agent", AGENTS)
def test_the_server_is_registered_once_and_removed_to_the_byte(places: Places, agent: str) -> None:
    path, before = mcp_entries.find_file(places.environment, agent), BEFORE[agent]
    path.parent.mkdir(parents=True, exist_ok=True)
    if before is not None:
        path.write_bytes(before)

    _install(places, agent)

    entry = mcp_entries.read_entry(agent, path.read_text(encoding="utf-8"))
    assert entry is not None
    assert str(Path(sys.executable).parent / "leftoff") in json.dumps(entry)
    assert install.plan_install(places, [agent], with_mcp=True) == []
    _uninstall(places)
    assert (path.read_bytes() if path.exists() else None) == before


def test_without_the_option_nothing_is_registered_and_nothing_is_lost(places: Places) -> None:
    path = mcp_entries.find_file(places.environment, "gemini")
    _install(places, "gemini", with_mcp=False)
    assert mcp_entries.read_entry("gemini", path.read_text(encoding="utf-8")) is None

    _install(places, "gemini")
    assert install.plan_install(places, ["gemini"]) == []
    assert mcp_entries.read_entry("gemini", path.read_text(encoding="utf-8")) is not None


def test_an_entry_of_an_earlier_installation_is_brought_up_to_date(places: Places) -> None:
    path = mcp_entries.find_file(places.environment, "cursor")
    path.parent.mkdir()
    path.write_text(mcp_entries.add_entry("cursor", "", ["/old/bin/leftoff", "mcp"]), "utf-8")

    _install(places, "cursor", with_mcp=False)

    assert "/old/bin" not in path.read_text(encoding="utf-8")


def test_what_others_wrote_in_the_meantime_stays(places: Places) -> None:
    _install(places, "cursor")
    path = mcp_entries.find_file(places.environment, "cursor")
    values = json.loads(path.read_bytes())
    values["mcpServers"]["other"] = {"command": "x"}
    path.write_text(json.dumps(values), encoding="utf-8")

    _uninstall(places)

    assert json.loads(path.read_bytes()) == {"mcpServers": {"other": {"command": "x"}}}


@pytest.mark.parametrize("agent", ["codex", "gemini", "copilot", "opencode"])
def test_it_is_removed_where_the_agents_folder_was_before(
    places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    for variable in ("CODEX_HOME", "GEMINI_CLI_HOME", "COPILOT_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / "elsewhere"))
    path = mcp_entries.find_file(read_environment(), agent)
    path.parent.mkdir(parents=True)
    before = BEFORE[agent] or b""
    path.write_bytes(before)
    _install(find_places(read_environment()), agent)
    assert path.read_bytes() != before

    _uninstall(places)

    assert path.read_bytes() == before


def test_it_is_removed_from_the_file_of_opencode_that_another_replaced(places: Places) -> None:
    path = mcp_entries.find_file(places.environment, "opencode")
    path.parent.mkdir(parents=True)
    path.write_bytes(b'{"model": "x"}')
    _install(places, "opencode")
    path.with_suffix(".jsonc").write_bytes(b"{}")

    _uninstall(places)

    assert path.read_bytes() == b'{"model": "x"}'


def test_an_entry_of_the_same_name_that_somebody_else_wrote_stays(places: Places) -> None:
    path = mcp_entries.find_file(places.environment, "cursor")
    path.parent.mkdir()
    theirs = json.dumps({"mcpServers": {"leftoff": {"command": "docker", "args": ["run", "x"]}}})
    path.write_text(theirs, encoding="utf-8")

    _uninstall(places)

    assert path.read_text(encoding="utf-8") == theirs


def test_settings_that_cannot_be_read_are_refused_before_anything_changes(places: Places) -> None:
    path = mcp_entries.find_file(places.environment, "codex")
    path.parent.mkdir()
    path.write_bytes(b"model = \xff")

    with pytest.raises(LeftoffError, match="is not UTF-8"):
        install.plan_install(places, ["codex"], with_mcp=True)


def test_doctor_finds_a_server_that_is_gone(places: Places) -> None:
    assert list(mcp_wiring.inspect(World(places=places))) == []
    _install(places, "cursor")
    (found,) = mcp_wiring.inspect(World(places=places))
    assert found.level == "ok"
    path = mcp_entries.find_file(places.environment, "cursor")
    path.write_text(mcp_entries.add_entry("cursor", "", ["/gone/leftoff", "mcp"]), "utf-8")
    (found,) = mcp_wiring.inspect(World(places=places))
    assert (found.level, "does not exist: /gone/leftoff" in found.what) == ("broken", True)
    path.write_text("{", encoding="utf-8")
    assert list(mcp_wiring.inspect(World(places=places))) == []

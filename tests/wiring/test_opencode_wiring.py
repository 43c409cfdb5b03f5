"""opencode is wired by a plugin in a file of its own, which comes and goes without a trace."""

from pathlib import Path

import pytest

from leftoff import __version__
from leftoff.agents.opencode.opencode_hook_table import TABLE, render
from leftoff.context import read_environment
from leftoff.wiring import install
from leftoff.wiring.agent_wirings import WIRINGS
from leftoff.wiring.findings import World
from leftoff.wiring.install_places import Places, find_places

WIRING = WIRINGS["opencode"]


@pytest.fixture
def places(tmp_path: Path) -> Places:
    (tmp_path / "home" / ".config" / "opencode").mkdir(parents=True)
    return find_places(read_environment())


@pytest.fixture
def plugin(places: Places) -> Path:
    return WIRING.find_file(places)


def _install(places: Places) -> None:
    install.install(places, install.plan_install(places, ["opencode"]))


def _uninstall(places: Places) -> None:
    install.uninstall(places, install.plan_uninstall(places))


def _inspect(places: Places) -> list[tuple[str, str]]:
    return [(each.level, each.what) for each in WIRING.inspect(World(places=places))]


def test_the_plugin_names_the_hook_program_and_passes_every_event(
    places: Places, plugin: Path
) -> None:
    _install(places)

    text = plugin.read_text(encoding="utf-8")
    assert f'const HOOK = "{places.hook}"' in text
    assert [each.name for each in TABLE.events if f'"{each.name}"' not in text] == []
    assert [each.event for each in TABLE.events if each.event not in text] == []
    assert plugin.parts[-2:] == ("plugins", "leftoff.js")


def test_a_path_with_quotes_stays_one_string() -> None:
    text = render(Path('/home/it"s \\ here/hook')).decode()

    assert r'const HOOK = "/home/it\"s \\ here/hook"' in text


@pytest.mark.parametrize("before", [None, b"export const Mine = 1\n"])
def test_uninstall_restores_the_very_bytes(
    places: Places, plugin: Path, before: bytes | None
) -> None:
    if before is not None:
        plugin.parent.mkdir()
        plugin.write_bytes(before)
    _install(places)
    assert WIRING.is_wired(places)
    assert WIRING.is_active(places)
    assert install.plan_install(places, ["opencode"]) == []

    _uninstall(places)

    assert (plugin.read_bytes() if plugin.exists() else None) == before
    assert plugin.parent.exists() == (before is not None)


def test_other_plugins_stay(places: Places, plugin: Path) -> None:
    _install(places)
    other = plugin.with_name("other.js")
    other.write_bytes(b"export const Other = 1\n")

    _uninstall(places)

    assert [path.name for path in plugin.parent.iterdir()] == ["other.js"]


def test_doctor_says_whether_the_plugin_is_this_versions(places: Places, plugin: Path) -> None:
    assert _inspect(places) == [("warning", "opencode was found, but its hooks are not installed")]
    _install(places)
    assert _inspect(places) == [("ok", f"The hooks are in {plugin}")]
    plugin.write_bytes(plugin.read_bytes() + b"// mine\n")
    assert _inspect(places) == [("warning", f"{plugin} does not match leftoff {__version__}")]

"""Cursor's hooks are appended to a flat list that others edit, too, and removed exactly."""

import json
from pathlib import Path
from typing import Any

import pytest

from leftoff.agents.cursor.cursor_hook_table import TABLE
from leftoff.context import read_environment
from leftoff.errors import LeftoffError
from leftoff.wiring import cursor_hooks, install
from leftoff.wiring.agent_wirings import WIRINGS
from leftoff.wiring.findings import World
from leftoff.wiring.install_places import Places, find_places

WIRING = WIRINGS["cursor"]
THEIRS: dict[str, Any] = {"command": "./format.sh", "matcher": "x"}
EVENTS = [each.event for each in TABLE.events]


@pytest.fixture
def places(tmp_path: Path) -> Places:
    (tmp_path / "home" / ".cursor").mkdir()
    return find_places(read_environment())


@pytest.fixture
def hooks(places: Places) -> Path:
    return WIRING.find_file(places)


def _install(places: Places) -> None:
    install.install(places, install.plan_install(places, ["cursor"]))


def _uninstall(places: Places) -> None:
    install.uninstall(places, install.plan_uninstall(places))


def _inspect(places: Places) -> list[tuple[str, str]]:
    return [(each.level, each.what) for each in WIRING.inspect(World(places=places))]


@pytest.mark.parametrize(
    "before",
    [
        None,
        b"",
        b"{}",
        b'{"version": 1, "hooks": {}}\r\n',
        json.dumps({"version": 1, "hooks": {"stop": [THEIRS]}}, indent="\t").encode(),
    ],
)
def test_uninstall_restores_the_very_bytes(
    places: Places, hooks: Path, before: bytes | None
) -> None:
    if before is not None:
        hooks.write_bytes(before)
    _install(places)
    assert WIRING.is_wired(places)
    assert install.plan_install(places, ["cursor"]) == []

    _uninstall(places)

    assert (hooks.read_bytes() if hooks.exists() else None) == before


def test_the_file_names_its_version_and_one_command_for_each_event(
    places: Places, hooks: Path
) -> None:
    _install(places)

    written = json.loads(hooks.read_bytes())
    assert written["version"] == 1
    assert list(written["hooks"]) == EVENTS
    assert written["hooks"]["beforeSubmitPrompt"] == [
        {"command": f"{places.hook} cursor UserPromptSubmit", "timeout": 5}
    ]


def test_what_others_added_in_the_meantime_stays(places: Places, hooks: Path) -> None:
    hooks.write_text(json.dumps({"version": 1, "hooks": {"stop": [THEIRS]}}), encoding="utf-8")
    _install(places)
    now = json.loads(hooks.read_bytes())
    assert now["hooks"]["stop"][0] == THEIRS
    now["hooks"]["stop"].append(THEIRS)
    now["hooks"]["afterFileEdit"] = [THEIRS]
    hooks.write_text(json.dumps(now), encoding="utf-8")

    _uninstall(places)

    kept = {"stop": [THEIRS, THEIRS], "afterFileEdit": [THEIRS]}
    assert json.loads(hooks.read_bytes()) == {"version": 1, "hooks": kept}


def test_an_outdated_or_doubled_command_is_replaced_and_a_longer_timeout_stays() -> None:
    hook = Path("/new/leftoff/hook")
    old = cursor_hooks.wire("{}", Path("/old/leftoff/hook"))
    doubled = json.loads(old)
    doubled["hooks"]["stop"] *= 2

    text = cursor_hooks.wire(json.dumps(doubled), hook)

    assert cursor_hooks.is_complete(json.loads(text), hook)
    assert "/old/" not in text
    slower = text.replace('"timeout": 15', '"timeout": 60')
    assert cursor_hooks.wire(slower, hook) == slower


@pytest.mark.parametrize("broken", ['{"hooks": []}', '{"hooks": {"stop": {}}}', "[]", "{"])
def test_a_file_of_another_shape_is_left_alone(places: Places, hooks: Path, broken: str) -> None:
    hooks.write_text(broken, encoding="utf-8")

    with pytest.raises(LeftoffError):
        install.plan_install(places, ["cursor"])

    assert hooks.read_text(encoding="utf-8") == broken


def test_doctor_says_which_hooks_are_missing(places: Places, hooks: Path) -> None:
    assert _inspect(places) == [("warning", "Cursor was found, but its hooks are not installed")]
    _install(places)
    assert _inspect(places) == [("ok", f"{len(EVENTS)} hooks in {hooks}")]
    now = json.loads(hooks.read_bytes())
    del now["hooks"]["stop"]
    hooks.write_text(json.dumps(now), encoding="utf-8")
    assert _inspect(places) == [("broken", f"{hooks} has no hook for stop")]

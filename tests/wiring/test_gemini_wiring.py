"""Gemini CLI is wired in its settings, which otherwise stay as they are."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from leftoff.agents.gemini.gemini_hook_table import TABLE
from leftoff.context import read_environment
from leftoff.errors import LeftoffError
from leftoff.wiring import install
from leftoff.wiring.agent_wirings import WIRINGS
from leftoff.wiring.findings import World
from leftoff.wiring.install_places import Places, find_places

THEIRS: dict[str, Any] = {"hooks": [{"type": "command", "command": "true", "timeout": 100}]}


@pytest.fixture
def places(tmp_path: Path) -> Places:
    (tmp_path / "home" / ".gemini").mkdir()
    return find_places(read_environment())


@pytest.fixture
def settings(places: Places) -> Path:
    return WIRINGS["gemini"].find_file(places)


def _install(places: Places) -> None:
    install.install(places, install.plan_install(places, ["gemini"]))


def _inspect(places: Places) -> list[tuple[str, str]]:
    found = WIRINGS["gemini"].inspect(World(places=places))
    return [(each.level, each.what) for each in found]


@pytest.mark.parametrize(
    "before",
    [
        None,
        b"",
        b"{}",
        b"\xef\xbb\xbf{}\n",
        b'{"security":{"auth":{"selectedType":"gemini-api-key"}}}\r\n',
        json.dumps({"hooks": {"AfterAgent": [THEIRS]}, "ui": {}}, indent="\t").encode(),
    ],
)
def test_uninstall_restores_the_very_bytes(
    places: Places, settings: Path, before: bytes | None
) -> None:
    if before is not None:
        settings.write_bytes(before)
    _install(places)
    assert WIRINGS["gemini"].is_wired(places)
    assert install.plan_install(places, ["gemini"]) == []

    install.uninstall(places, install.plan_uninstall(places))

    assert (settings.read_bytes() if settings.exists() else None) == before


def test_what_others_added_since_stays(places: Places, settings: Path) -> None:
    _install(places)
    now = json.loads(settings.read_bytes())
    now["hooks"]["AfterAgent"].append(THEIRS)
    settings.write_text(json.dumps({**now, "ui": {"theme": "x"}}), encoding="utf-8")

    install.uninstall(places, install.plan_uninstall(places))

    kept = {"hooks": {"AfterAgent": [THEIRS]}, "ui": {"theme": "x"}}
    assert json.loads(settings.read_bytes()) == kept


def test_the_limits_are_in_milliseconds_and_only_the_shell_is_watched(
    places: Places, settings: Path
) -> None:
    _install(places)

    hooks = json.loads(settings.read_bytes())["hooks"]
    assert [*hooks] == [each.event for each in TABLE.events]
    assert hooks["BeforeAgent"] == [
        {
            "hooks": [
                {
                    "name": "leftoff",
                    "type": "command",
                    "command": f"{places.hook} gemini UserPromptSubmit",
                    "timeout": 5000,
                }
            ]
        }
    ]
    assert hooks["BeforeTool"][0]["matcher"] == "run_shell_command"


def test_its_own_variable_moves_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_CLI_HOME", str(tmp_path / "moved"))
    places = find_places(read_environment())

    _install(places)

    assert (tmp_path / "moved" / ".gemini" / "settings.json").is_file()
    install.uninstall(places, install.plan_uninstall(places))
    assert not (tmp_path / "moved").exists()


@pytest.mark.parametrize(
    ("switches", "what"),
    [
        ({"enabled": False}, "hooksConfig.enabled is false"),
        ({"disabled": ["other", "leftoff"]}, "hooksConfig.disabled names leftoff"),
    ],
)
def test_doctor_and_init_say_that_hooks_are_disabled(
    places: Places, settings: Path, switches: dict[str, Any], what: str
) -> None:
    assert _inspect(places) == [
        ("warning", "Gemini CLI was found, but its hooks are not installed")
    ]
    _install(places)
    assert _inspect(places) == [("ok", f"6 hooks in {settings}")]
    assert WIRINGS["gemini"].explain(places) == []

    now = {**json.loads(settings.read_bytes()), "hooksConfig": switches}
    settings.write_text(json.dumps(now), encoding="utf-8")

    assert _inspect(places)[1:] == [("warning", f"{what} in {settings}")]
    (note,) = WIRINGS["gemini"].explain(places)
    assert note.startswith(what)


COMMENTED = [
    '{\n  // mine\n  "ui": {}\n}\n',
    '// at the top\n{\n  "ui": {}, // why\n  /* "hooks": {} */\n}\n// at the end\n',
    '{ /* all in one line */ "ui": {"theme": "a // b"} }',
    '{\r\n\t"ui": {}, // windows\r\n}\r\n',
    '{\n  "hooks": {\n    // their own\n    "AfterAgent": [\n      {\n        "hooks": ['
    + json.dumps(THEIRS["hooks"][0])
    + "] // stays\n      } // last\n    ] // list\n  } // hooks\n}\n",
    '{\n  "hooks": {\n    "AfterAgent": [\n      // nothing yet\n    ],\n  },\n}\n',
]


def _split(text: str) -> list[str]:
    """Return the comments of a text."""
    return re.findall(r"// [^\n\r\"]*|/\*.*?\*/", text)


@pytest.mark.parametrize("before", COMMENTED)
def test_comments_stay_where_they_are(places: Places, settings: Path, before: str) -> None:
    settings.write_bytes(before.encode())

    _install(places)

    added = settings.read_bytes().decode()
    assert _split(added) == _split(before)
    for line in before.splitlines():
        # At most a comma was added, or a closing bracket moved.
        assert line.strip(" \t\r]}") in added.replace(", //", " //") or line in added
    assert _inspect(places) == [("ok", f"6 hooks in {settings}")]
    assert install.plan_install(places, ["gemini"]) == []
    install.uninstall(places, install.plan_uninstall(places))
    assert settings.read_bytes().decode() == before


@pytest.mark.parametrize("before", COMMENTED[:-1])
def test_what_changed_since_stays_when_the_hooks_go(
    places: Places, settings: Path, before: str
) -> None:
    settings.write_bytes(before.encode())
    _install(places)
    later = settings.read_bytes().decode() + "// later\n"
    settings.write_bytes(later.encode())

    install.uninstall(places, install.plan_uninstall(places))

    assert settings.read_bytes().decode() == before + "// later\n"


def test_settings_that_are_not_json_even_without_comments_are_left_alone(
    places: Places, settings: Path
) -> None:
    settings.write_bytes(b"{ // mine\n")

    with pytest.raises(LeftoffError) as found:
        install.plan_install(places, ["gemini"])

    assert "with or without comments" in (found.value.hint or "")
    assert settings.read_bytes() == b"{ // mine\n"
    assert WIRINGS["gemini"].explain(places) == []


def test_slash_commands_come_and_go_with_the_hooks(places: Places, settings: Path) -> None:
    folder = settings.parent / "commands" / "leftoff"
    _install(places)

    for path in (folder / "checkpoint.toml", folder / "continue.toml"):
        written = tomllib.loads(path.read_text(encoding="utf-8"))
        # It begins as what the user typed: such a prompt is never taken for a task.
        assert written["prompt"].startswith(f"/leftoff:{path.stem} {{{{args}}}}\n")
        assert written["description"]
    install.uninstall(places, install.plan_uninstall(places))

    assert not folder.parent.exists()

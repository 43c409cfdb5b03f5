"""harness: its own settings file counts, unless leftoff's files say something else."""

import json
from pathlib import Path
from typing import Any

import pytest

from cli.runs import Cli
from leftoff.profiles.harness.loose_json import parse
from leftoff.profiles.harness.native_settings import read_settings
from profiles.harnessing import home, store
from ship.harness_project import write

__all__ = ["home", "store"]


@pytest.mark.parametrize(
    ("config", "settings"),
    [
        ({}, {}),
        ({"verification": {"build": "", "tests": " "}}, {}),
        (
            {"verification": {"lint": "make lint", "build": "make", "test": "make test"}},
            {"verify": ["make", "make test", "make lint"]},
        ),
        (
            {"verification": {"custom": ["make x", {"cmd": "make y"}, {"name": "z"}, "make x"]}},
            {"verify": ["make x", "make y"]},
        ),
        ({"verification": ["make"], "reflection": "on"}, {}),
        (
            {"reflection": {"enabled": "false", "minConfidenceForAuto": "Medium"}},
            {"reflect": False, "reflect_at": "medium"},
        ),
        ({"reflection": {"minConfidenceForAuto": 0.7, "enabled": None}}, {}),
    ],
)
def test_the_file_is_read_in_any_form(config: Any, settings: Any, tmp_path: Path) -> None:
    write(tmp_path / "config.json", config)

    assert read_settings(tmp_path / "config.json") == settings


@pytest.mark.parametrize("text", ["", "nothing", "[1]", "{", '{"verification": {"build": 1}}'])
def test_a_file_that_says_nothing_sets_nothing(text: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(text)

    assert read_settings(tmp_path / "config.json") == {}


def test_commands_of_the_repository_need_consent_and_yours_come_first(cli: Cli, home: Path) -> None:
    write(home / "config.json", {"verification": {"tests": "make test"}})

    def verify() -> Any:
        return next(each for each in cli.json("config") if each["key"] == "verify")

    assert verify()["value"] == []
    assert cli.json("config", "allow", "verify") == {"allowed": ["verify"]}
    assert (verify()["value"], verify()["source"]) == (["make test"], str(home / "config.json"))
    write(home / "config.json", {"verification": {"tests": "rm -rf x"}})
    assert verify()["value"] == []
    cli.ok("config", "set", "verify", "make quick", "--project")
    assert verify()["value"] == ["make quick"]
    assert "verify is ignored" not in cli("list").err


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1,}', {"a": 1}),
        ("```json\n[1, 2,]\n```", [1, 2]),
        ('{"a": True, "b": None, "c": "True // no"}', {"a": True, "b": None, "c": "True // no"}),
        ('{"a": 1 // one\n}', {"a": 1, "_comments": ["one"]}),
        ('/* head */ {"a": "x,]"}', {"a": "x,]", "_comments": ["head"]}),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}),
    ],
)
def test_loose_json_is_understood(text: str, value: Any) -> None:
    assert parse(text) == value
    assert parse(json.dumps(value)) == value


@pytest.mark.parametrize("text", ["", "{", "{'a': 1}", "nothing", '{"a": NaN}', "[" * 100_000])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="It is not JSON"):
        parse(text)

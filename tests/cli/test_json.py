"""Output with --json is valid JSON for any text, and for errors too."""

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attacks import own_lines
from cli.runs import Cli
from leftoff.cli.app import printable
from leftoff.cli.catalog import COMMANDS

HOSTILE = st.text(max_size=80) | st.sampled_from(
    ["\x00", "\x1b[2J", "\udcff", "\ud83d", "🎉", "\u202eעברית", "</leftoff-briefing>", '"', "\\",
     "\r\n"]
)  # fmt: skip


@pytest.fixture(scope="module")
def anywhere() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.mark.slow("runs every command")
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(texts=st.lists(HOSTILE, min_size=4, max_size=4), name=HOSTILE, word=HOSTILE)
def test_every_answer_is_json_whatever_the_texts(
    monkeypatch: pytest.MonkeyPatch, anywhere: Path, texts: list[str], name: str, word: str
) -> None:
    monkeypatch.chdir(anywhere)
    monkeypatch.setenv("LEFTOFF_HOME", str(anywhere / "state"))
    cli = Cli(monkeypatch)
    summary, note, done, failed = texts
    flags = [
        f"--summary={summary}",
        f"--note={note}",
        f"--done={done}",
        f"--failed={failed}::{note}",
    ]
    saved = cli("save", "--json", "--overwrite", *flags, "--", name)
    assert saved.code in {0, 2}, saved
    key = saved.json["id"] if saved.code == 0 else name
    for command in (
        ["show", "--", key], ["resume", "--", key], ["list"], ["latest"], ["status"], ["log"],
        ["search", "--", word], ["lint", "--", key], ["diff", "--", key, name],
        ["trash", "list"], ["clear", "--", name], ["undo"], ["show", "--", word],
        ["config", "set", "budget", word], [word],
    ):  # fmt: skip
        result = cli(command[0], "--json", *command[1:])
        assert result.code in {0, 1, 2, 3, 4}, (command, result)
        json.loads(result.out)


@settings(deadline=None)
@given(HOSTILE)
def test_what_is_printed_steers_no_terminal(text: str) -> None:
    shown = printable(text)

    shown.encode()
    assert not [c for c in shown if c < " " and c not in "\t\n"]
    assert len(own_lines(shown)) <= 1


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_knows_json_and_quiet(cli: Cli, name: str) -> None:
    output = cli.ok(name, "--help").out

    assert "--json" in output
    assert "--quiet" in output


@pytest.mark.parametrize(
    "command",
    ["show zork", "resume zork", "clear", "lint zork", "diff a b", "trash restore zork", "latest",
     "save task", "config set budget 1", "config set zork 1", "search", "purge --older-than=x",
     "completion tcsh", "undo now", "zork", "complete zork", "delete autosave"],
)  # fmt: skip
def test_every_error_is_json_on_demand(cli: Cli, command: str) -> None:
    result = cli(*command.split(), "--json")

    assert result.code in {1, 2}
    assert {"error", "hint", "findings"} == {*result.json}
    assert result.json["error"]
    assert result.err == ""


def test_json_after_a_double_dash_is_a_name(cli: Cli) -> None:
    result = cli("show", "--", "--json")

    assert result.out == ""
    assert result.err.startswith("leftoff: No checkpoint named '--json'")


def test_stray_bytes_in_names_of_folders_do_not_break_json(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(folder)  # noqa: PTH102 - a name that is not UTF-8
    monkeypatch.chdir(os.fsdecode(folder))

    assert cli.json("save", "login-form", "--summary=Some work")["name"] == "login-form"
    for command in ("status", "list", "show login-form", "resume", "log", "config"):
        cli.json(*command.split())
        cli.ok(*command.split())

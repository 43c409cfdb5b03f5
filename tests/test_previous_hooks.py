"""Hooks that commit 68ed2b0 installed go on, however the package that is now here was installed.

It was the last whose package was named `leftoff`. Its hooks, settings and store are in
previous_version/hooks.tar.xz, which previous_version/make_hooks.py created.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cli.runs import Cli
from leftoff.hooks import settle
from previous_version.make import answer, ask, result
from previous_version.make_hooks import SETTINGS
from previous_version.unpack import munge, unpack

ARCHIVE = Path(__file__).parent / "previous_version" / "hooks.tar.xz"
# What the file `python` names once the old package is gone.
RECORDS = {
    "into the same environment": f"{sys.executable}\n{settle.__file__}\n",
    "into the same environment, recorded by 0.1": f"{sys.executable}\n",
    "into another environment": "/gone/leftoff/bin/python\n/gone/leftoff/hooks/settle.py\n",
}


class Machine:
    """A home and a repository with the hooks of the old version."""

    def __init__(self, root: Path) -> None:
        self.home, self.repo = root / "home", root / "repo"
        self.state = self.home / ".local" / "state" / "leftoff"
        self.settings = self.home / ".claude" / "settings.json"

    def fire(self, event: str, path: str, **fields: Any) -> str:
        """Run every command for an event, as Claude Code does, and return leftoff's reply."""
        groups = json.loads(self.settings.read_text(encoding="utf-8"))["hooks"][event]
        common = {"session_id": "session-2", "cwd": str(self.repo), "hook_event_name": event}
        given = json.dumps({**common, "transcript_path": str(self.transcript), **fields})
        printed = [
            subprocess.run(
                ["/bin/sh", "-c", each["command"]],
                cwd=self.repo,
                env={**os.environ, "PATH": path, "CLAUDE_CODE_SESSION_ID": "session-2"},
                input=given,
                capture_output=True,
                text=True,
                check=True,
                timeout=120,
            ).stdout
            for group in groups
            for each in group["hooks"]
        ]
        assert settle.run(self.state, wait_seconds=120)
        return "".join(printed)

    @property
    def transcript(self) -> Path:
        folder = self.home / ".claude" / "projects" / munge(str(self.repo))
        return folder / "session-2.jsonl"

    def talk(self, *entries: dict[str, Any]) -> None:
        common = {"cwd": str(self.repo), "sessionId": "session-2", "gitBranch": "main"}
        lines = [
            json.dumps({**common, "uuid": f"2-{n}", "timestamp": f"2026-11-19T12:00:0{n}Z", **each})
            for n, each in enumerate(entries)
        ]
        self.transcript.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine(unpack(ARCHIVE, "hooks", tmp_path))
    monkeypatch.setenv("HOME", str(machine.home))
    monkeypatch.chdir(machine.repo)
    return machine


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Make a PATH on which the new leftoff is."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "leftoff"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m leftoff "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return f"{program.parent}:{os.environ['PATH']}"


@pytest.mark.slow("fires real hooks")
@pytest.mark.parametrize("installed", RECORDS)
def test_the_old_hooks_offer_old_work_and_save_new_work(
    machine: Machine, path: str, installed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine.state / "python").write_text(RECORDS[installed], encoding="utf-8")

    offer = machine.fire("SessionStart", path, source="startup")
    prompt = "Write a parser for dates in dates.py"
    machine.fire("UserPromptSubmit", path, prompt=prompt)
    edit = {"type": "tool_use", "id": "1", "name": "Edit", "input": {"file_path": "dates.py"}}
    machine.talk(ask(prompt), answer(edit), result("1", "The file has been updated."))
    machine.fire("Stop", path, last_assistant_message="Done.")
    machine.fire("SessionEnd", path, reason="other")

    assert "add-retries" in offer
    cli = Cli(monkeypatch)
    tasks = [each["summary"] for each in cli.json("list")]
    assert tasks == [prompt, "Add retries to the client in app.py"]
    python = (machine.state / "python").read_text(encoding="utf-8")
    assert python == f"{sys.executable}\n{settle.__file__}\n"


@pytest.mark.slow("fires real hooks")
def test_init_updates_the_hook_alone_and_uninstall_brings_back_what_was_there_before(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli = Cli(monkeypatch)
    wired = machine.settings.read_bytes()

    cli.ok("init", "--yes", "--agent", "claude")

    assert machine.settings.read_bytes() == wired
    levels = {each["check"]: each["level"] for each in cli("doctor", "--json").json["findings"]}
    assert [levels[name] for name in ("settings", "hook", "python", "round trip")] == ["ok"] * 4
    settings = {each["key"]: each["value"] for each in cli.json("config", "explain")}
    assert settings["offer_days"] == 3000

    cli.ok("uninstall", "--yes")
    assert machine.settings.read_text(encoding="utf-8") == SETTINGS
    assert [each["name"] for each in cli.json("list")] == ["add-retries-client-app"]

"""A GitHub for tests: a fake `gh` on the PATH, and the calls it received."""

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from ship import fake_gh


class Hub:
    """The stand-in's state and the calls it got."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Put it on the PATH, before whatever is there."""
        program = self.folder / "bin" / "gh"
        program.parent.mkdir(exist_ok=True)
        script = shlex.quote(fake_gh.__file__)
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -S {script} "$@"\n')
        program.chmod(0o755)
        monkeypatch.setenv("FAKE_GH", str(self.folder))
        monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")

    @property
    def state(self) -> dict[str, Any]:
        """All that it knows."""
        return fake_gh.Hub(self.folder).state

    def know(self, **values: Any) -> None:
        """Let it know something else."""
        hub = fake_gh.Hub(self.folder)
        hub.state |= values
        hub.keep()

    @property
    def pulls(self) -> list[dict[str, Any]]:
        """The pull requests, oldest first."""
        found: list[dict[str, Any]] = self.state["pulls"]
        return found

    @property
    def calls(self) -> list[list[str]]:
        """Every call, as words."""
        log = self.folder / "calls.jsonl"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    def labels(self, number: int = 0) -> set[str]:
        """The labels of a pull request."""
        return {label["name"] for label in self.pulls[number]["labels"]}

"""A project that uses sail, with the files beside its code."""

import json
from pathlib import Path
from typing import Any

import pytest

from cli.runs import Cli
from gitrepo import Repo
from talk import Talk


@pytest.fixture
def folder(cli: Cli, repo: Repo) -> Path:
    """Follow sail; return the folder of its files."""
    cli.ok("config", "set", "profile", "sail", "--project")
    cli.ok("config", "set", "mirror", "sail", "--project")
    return repo.folder / ".claude"


@pytest.fixture
def talk(folder: Path) -> Talk:
    return Talk(folder.parent)


def put(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def index_of(folder: Path) -> Any:
    return json.loads((folder / "state-index.json").read_text(encoding="utf-8"))


def plan(folder: Path, name: str, stage: object, execute: str = "pending") -> Path:
    stages = {"describe": {"status": "complete"}, "execute": {"status": execute}}
    state = {"name": name, "current_stage": stage, "stages": stages}
    return put(folder / "plans" / name / "state.json", state)

"""A project that uses harness, and its files as other programs change them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.runs import Cli
from gitrepo import Repo
from leftoff.context import find_project
from leftoff.store import Store


@pytest.fixture
def home(cli: Cli, repo: Repo) -> Path:
    """Follow harness; return its folder."""
    cli.ok("config", "set", "profile", "harness", "--project")
    cli.ok("config", "set", "mirror", "harness", "--project")
    repo.git("config", "user.name", "Ada")
    repo.git("config", "user.email", "ada@example.org")
    return repo.folder / ".claude-harness"


@pytest.fixture
def store(repo: Repo) -> Iterator[Store]:
    """Open the repository's store."""
    store = Store(find_project(repo.folder))
    yield store
    store.close()


def read(path: Path) -> Any:
    """Read a file of the layout."""
    return json.loads(path.read_text(encoding="utf-8"))


def edit(path: Path, **values: Any) -> None:
    """Change keys of a file in place, as an editor or another program does."""
    path.write_text(json.dumps({**read(path), **values}, indent=4), encoding="utf-8")

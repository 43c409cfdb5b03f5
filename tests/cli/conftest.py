"""What the tests of commands share: a repository to stand in, and the command line."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.runs import Cli
from gitrepo import Repo


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """Make a repository with one commit, and stand in it."""
    made = Repo(tmp_path / "repo")
    made.commit("Begin", {"app.py": "print('hello')\n"})
    monkeypatch.chdir(made.folder)
    return made


@pytest.fixture
def cli(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run leftoff in the repository."""
    del repo
    return Cli(monkeypatch)


@pytest.fixture
def stored(repo: Repo) -> Path:
    """Tell where the repository's store is."""
    return repo.folder / ".git" / "leftoff"

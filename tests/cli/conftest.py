"""Fixtures for command tests: a repository as the working directory, and the command line."""

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
def repo(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """Stand in a repository with one commit."""
    monkeypatch.chdir(repo.folder)
    return repo


@pytest.fixture
def cli(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run leftoff in the repository."""
    del repo
    return Cli(monkeypatch)


@pytest.fixture
def stored(repo: Repo) -> Path:
    """Tell where the repository's store is."""
    return repo.folder / ".git" / "leftoff"

"""Fixtures for ship tests: a project, its command line, and a GitHub."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.runs import Cli
from leftoff.context import find_project
from leftoff.store import Store
from ship.hub import Hub
from ship.shop import Shop


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """Make a repository on a branch, with a remote, and stand in it."""
    made = Shop(tmp_path)
    monkeypatch.chdir(made.folder)
    return made


@pytest.fixture
def cli(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run leftoff in the repository."""
    del shop
    return Cli(monkeypatch)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    """Put a stand-in for `gh` on the PATH."""
    made = Hub(tmp_path / "github")
    made.install(monkeypatch)
    return made


@pytest.fixture
def store(shop: Shop) -> Iterator[Store]:
    """Open the repository's store."""
    store = Store(find_project(shop.folder))
    yield store
    store.close()

"""A repository with a conversation in it."""

from collections.abc import Iterator

import pytest

from gitrepo import Repo
from leftoff.context import find_project
from leftoff.store import Store
from talk import Talk


@pytest.fixture
def talk(repo: Repo) -> Talk:
    return Talk(repo.folder)


@pytest.fixture
def store(repo: Repo) -> Iterator[Store]:
    store = Store(find_project(repo.folder))
    yield store
    store.close()

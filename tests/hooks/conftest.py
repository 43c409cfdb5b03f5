"""A repository with a conversation in it."""

from collections.abc import Iterator

import pytest

from gitrepo import Repo
from leftoff import context
from leftoff.context import find_project
from leftoff.store import Store
from reply_contracts import check_prepared
from talk import Talk


@pytest.fixture(autouse=True)
def _hold_replies_to_the_contract() -> Iterator[None]:
    """Whatever a test does, no agent must be given a reply that it does not accept."""
    yield
    check_prepared(context.state_folder())


@pytest.fixture
def talk(repo: Repo) -> Talk:
    return Talk(repo.folder)


@pytest.fixture
def store(repo: Repo) -> Iterator[Store]:
    store = Store(find_project(repo.folder))
    yield store
    store.close()

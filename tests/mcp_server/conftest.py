"""A real server in a fresh repository."""

from collections.abc import Iterator

import pytest

from gitrepo import Repo
from mcp_server.raw_client import RawClient


@pytest.fixture
def client(repo: Repo) -> Iterator[RawClient]:
    with RawClient(repo.folder) as client:
        yield client

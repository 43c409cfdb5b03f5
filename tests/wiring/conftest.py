"""Fixtures for wiring tests: a user with Claude Code's folder, and where leftoff's files go."""

from pathlib import Path

import pytest

from leftoff.context import read_environment
from leftoff.wiring.install_places import Places, find_places


@pytest.fixture
def places(tmp_path: Path) -> Places:
    (tmp_path / "home" / ".claude").mkdir()
    return find_places(read_environment())

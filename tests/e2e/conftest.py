"""A fresh home and repository for every test, with the real programs from the project's cache."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.claude import Bench
from e2e.model import Model
from e2e.recorder import Recorder
from e2e.user import User

_INSTALLER = Path(__file__).resolve().parents[2] / "scripts" / "agents.py"


def _program(name: str) -> Path:
    """Return a program's path; where it cannot be had, fail in CI and skip elsewhere."""
    done = subprocess.run(
        (sys.executable, _INSTALLER, name), capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return Path(done.stdout.strip())
    if os.environ.get("CI") == "true":
        pytest.fail(done.stderr.strip(), pytrace=False)
    pytest.skip(done.stderr.strip())


@pytest.fixture(scope="session")
def claude_program() -> Path:
    return _program("claude")


@pytest.fixture(scope="session")
def tmux_program() -> Path:
    return _program("tmux")


@pytest.fixture
def folder() -> Iterator[Path]:
    # The folder of a test is too long a path for a socket, and unlike any that people have.
    folder = Path(tempfile.mkdtemp(prefix="lo-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def bench(folder: Path, claude_program: Path, tmux_program: Path) -> Iterator[Bench]:
    bench = Bench(folder, claude=claude_program, tmux=tmux_program)
    with bench.model:
        yield bench
        bench.close()


@pytest.fixture
def model(bench: Bench) -> Model:
    return bench.model


@pytest.fixture
def recorder(bench: Bench) -> Recorder:
    return Recorder(bench)


@pytest.fixture
def newcomer(bench: Bench) -> Iterator[User]:
    """Somebody who has leftoff, and has not wired it to any agent."""
    user = User(bench)
    yield user
    trouble = user.trouble()
    # Closing may cut a hook short, and Claude Code says so; that is no trouble of leftoff's.
    bench.close()
    user.settled()
    assert [*trouble, *user.own_trouble()] == []


@pytest.fixture
def user(newcomer: User) -> User:
    newcomer.installs()
    return newcomer

"""A fresh home and repository for every test, with the real programs from the project's cache."""

import functools
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest

import real_programs
from e2e.bench import AgentBench
from e2e.claude import Bench
from e2e.codex import CodexBench
from e2e.copilot import CopilotBench
from e2e.gemini import GeminiBench
from e2e.model import Model
from e2e.opencode import OpencodeBench
from e2e.recorder import Recorder
from e2e.user import User


class BenchType(Protocol):
    """How every bench is made."""

    def __call__(self, root: Path, *, program: Path, tmux: Path) -> AgentBench:
        """Make the bench in a folder."""


@pytest.fixture(scope="session")
def find_program() -> Callable[[str], Path]:
    """What finds, and if need be installs, one of the programs."""
    return functools.cache(real_programs.find_program)


@pytest.fixture
def folder() -> Iterator[Path]:
    # The folder of a test is too long a path for a socket, and unlike any that people have.
    folder = Path(tempfile.mkdtemp(prefix="lo-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder)


def _provide_bench(agent: str, kind: BenchType) -> object:
    """Define the fixture with an agent's bench, which is named after the agent."""

    @pytest.fixture(name=agent)
    def provide(folder: Path, find_program: Callable[[str], Path]) -> Iterator[AgentBench]:
        bench = kind(folder, program=find_program(agent), tmux=find_program("tmux"))
        with bench.model:
            yield bench
            bench.close()

    return provide


def _provide_user(agent: str) -> object:
    """Define the fixture with a user of an agent who has installed leftoff."""

    @pytest.fixture(name=f"{agent}_user")
    def provide(request: pytest.FixtureRequest) -> Iterator[User]:
        bench: AgentBench = request.getfixturevalue(agent)
        user = User(bench)
        user.installs()
        yield user
        bench.close()
        user.settled()
        assert user.own_trouble() == []

    return provide


claude_bench, claude_user = _provide_bench("claude", Bench), _provide_user("claude")
codex_bench, codex_user = _provide_bench("codex", CodexBench), _provide_user("codex")
gemini_bench, gemini_user = _provide_bench("gemini", GeminiBench), _provide_user("gemini")
opencode_bench, opencode_user = _provide_bench("opencode", OpencodeBench), _provide_user("opencode")
copilot_bench, copilot_user = _provide_bench("copilot", CopilotBench), _provide_user("copilot")


@pytest.fixture
def bench(claude: Bench) -> Bench:
    """The bench of Claude Code, which most tests use."""
    return claude


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
    # Closing may cut a hook short, and Claude Code says so; that is not leftoff's fault.
    bench.close()
    user.settled()
    assert [*trouble, *user.own_trouble()] == []


@pytest.fixture
def user(newcomer: User) -> User:
    newcomer.installs()
    return newcomer

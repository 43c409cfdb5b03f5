"""Every test runs as a user with an empty home, no settings and its own temp folder."""

import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from gitrepo import ISOLATED_ENVIRONMENT, Repo
from leftoff.context import find_project
from leftoff.hooks import start_recovery
from leftoff.projects.project import Project
from leftoff.store import Store
from open_databases import close_forgotten, note_opened
from stores import MEMORY, Clock

_TESTS = Path(__file__).resolve().parent
_REAL_HOME = Path("~").expanduser().resolve()
# What leftoff, git and the agents keep in a home folder. The whole home cannot be barred: the
# project itself may well lie in it.
_BARRED = tuple(
    str(_REAL_HOME / name)
    for name in (
        ".agents", ".claude", ".claude.json", ".codex", ".config", ".copilot", ".cursor",
        ".gemini", ".gitconfig", ".local/share/opencode", ".local/state",
    )
)  # fmt: skip
_WATCHED = frozenset(
    {"open", "os.listdir", "os.mkdir", "os.remove", "os.rename", "os.scandir", "sqlite3.connect"}
)
_INHERITED = ("CLAUDE", "CODEX", "GEMINI", "COPILOT", "CURSOR", "OPENCODE", "LEFTOFF_", "XDG_")


# Whole folders that `make quick` leaves out; elsewhere a test or module is marked itself.
_SLOW_FOLDERS = {
    "e2e": "runs the real agents",
    "fuzz": "feeds mutated inputs to every parser",
    "torture": "kills, fails and cuts everything that writes",
}


# The tests of the parts whose coverage `make test` checks; the Makefile lists them, too.
_MEASURED = (
    "store", "profiles", "threads", "projects", "cli/test_clear.py", "test_checkpoint.py",
)  # fmt: skip


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what lies in a slow folder, and the quick tests whose coverage is measured."""
    for item in items:
        path = item.path.relative_to(_TESTS)
        why = _SLOW_FOLDERS.get(path.parts[0])
        if why is not None:
            item.add_marker(pytest.mark.slow(why))
        elif item.get_closest_marker("slow") is None and any(
            path.is_relative_to(part) for part in _MEASURED
        ):
            item.add_marker(pytest.mark.measured)


def pytest_configure() -> None:
    """Hear an interrupt: whatever is started in the background ignores it, children included."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    if event == "sqlite3.connect/handle":
        note_opened(arguments[0])
    elif event in _WATCHED and arguments and isinstance(arguments[0], str | bytes):
        _keep_out(os.fsdecode(arguments[0]))


def _keep_out(path: str) -> None:
    if path.startswith(_BARRED):
        raise AssertionError(f"A test touches the real home folder: {path}")


sys.addaudithook(_watch)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Iterator[None]:
    """Fail a test that leaves a database open."""
    try:
        yield
    finally:
        forgotten = close_forgotten()
    if forgotten:
        pytest.fail("The test left a database open: " + "\n".join(forgotten), pytrace=False)


# A busy machine is no fault of a property.
hypothesis.settings.register_profile("leftoff", deadline=None)
# For `make quick`, which passes --hypothesis-profile.
hypothesis.settings.register_profile("quick", deadline=None, max_examples=15)
hypothesis.settings.load_profile("leftoff")


@pytest.fixture(autouse=True)
def _isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(_INHERITED):
            monkeypatch.delenv(name)
    for name, value in ISOLATED_ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    # Warnings are errors in the programs that a test starts, too. Only what a program leaves open
    # at its end is not: some of them end as if they were killed.
    monkeypatch.setenv("PYTHONWARNINGS", "error,ignore::ResourceWarning")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    # On a busy machine a process may need long to get its turn.
    monkeypatch.setattr(start_recovery, "WALL_SECONDS", 120.0)
    for folder in ("home", "tmp"):
        (tmp_path / folder).mkdir()


@pytest.fixture
def quick_folder(tmp_path: Path) -> Iterator[Path]:
    """Return a folder in memory, where there is one.

    A process that is killed leaves its files to the system, synced or not, so nothing is lost by
    it but the time that a disk shared with others takes to sync.
    """
    with tempfile.TemporaryDirectory(dir=MEMORY or tmp_path) as folder:
        yield Path(folder)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    folder = tmp_path / "project"
    folder.mkdir()
    return find_project(folder)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """Make a repository with one commit."""
    return Repo.begun(tmp_path / "repo")


@pytest.fixture
def store(project: Project, clock: Clock) -> Iterator[Store]:
    store = Store(project, now=clock)
    yield store
    store.close()

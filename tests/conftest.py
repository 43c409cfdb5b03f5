"""Every test runs as a user with an empty home, no settings and its own temp folder."""

import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from hypothesis import is_hypothesis_test

import gitrepo
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
# A container may have as little as 64 MB in memory.
_ENOUGH_BYTES = 4 << 30
_INHERITED = ("CLAUDE", "CODEX", "GEMINI", "COPILOT", "CURSOR", "OPENCODE", "LEFTOFF_", "XDG_")


# Whole folders that `make quick` leaves out; elsewhere a test or module is marked itself.
_SLOW_FOLDERS = {
    "e2e": "runs the real agents",
    "fuzz": "feeds mutated inputs to every parser",
    "torture": "kills, fails and cuts everything that writes",
}


# The tests of the parts whose coverage `make test` checks; the Makefile lists them, too. Properties
# are among them for the store only: measuring makes them slow, and chance should cover nothing.
_MEASURED = (
    "store", "profiles", "threads", "projects", "cli/test_clear.py", "test_checkpoint.py",
)  # fmt: skip

# The longest tests start first: a worker that starts one last leaves the others idle.
_LONGEST = ("e2e/test_story.py", "ship/test_kill.py", "e2e/test_relay.py")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what lies in a slow folder or is measured, and put the longest tests first."""
    for item in items:
        path = item.path.relative_to(_TESTS)
        why = _SLOW_FOLDERS.get(path.parts[0])
        if why is not None:
            item.add_marker(pytest.mark.slow(why))
        elif (
            any(path.is_relative_to(part) for part in _MEASURED)
            and item.get_closest_marker("slow") is None
            and (path.parts[0] == "store" or not is_hypothesis_test(getattr(item, "obj", None)))
        ):
            item.add_marker(pytest.mark.measured)
    items.sort(key=lambda item: str(item.path.relative_to(_TESTS)) not in _LONGEST)


def pytest_configure() -> None:
    """Hear signals: what is started in the background or by nohup ignores them, children included.

    And keep the folders of the tests in memory, where there is room: they sync each file to disk.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if MEMORY is not None and shutil.disk_usage(MEMORY).free > _ENOUGH_BYTES:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)


def pytest_collection() -> None:
    """Turn the garbage collector off while pytest collects: what it makes lives until the end."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Leave the thousands of collected tests out of every later garbage collection.

    Tests that run in this process need about a tenth less CPU time by it.
    """
    gc.collect()
    gc.freeze()
    gc.enable()


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


# How many examples of a property are tried, unless the test says otherwise. `make quick` names the
# second; after a change of a format, try the third. A busy machine does not make a property wrong.
for _name, _examples in (("leftoff", 40), ("quick", 15), ("thorough", 1000)):
    hypothesis.settings.register_profile(_name, deadline=None, max_examples=_examples)
hypothesis.settings.load_profile("leftoff")


@pytest.fixture(autouse=True, scope="session")
def _templates(tmp_path_factory: pytest.TempPathFactory) -> None:
    gitrepo.template_folder = tmp_path_factory.mktemp("templates")


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

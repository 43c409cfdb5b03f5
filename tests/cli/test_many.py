"""With 10,000 checkpoints, a command reads only what it shows."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from gitrepo import Repo
from leftoff.checkpoint import encode, new_id
from leftoff.context import find_project
from leftoff.store import Store
from leftoff.store.layout import Area
from stores import draft
from talk import Talk

pytestmark = pytest.mark.slow("needs thousands of checkpoints")

MANY = 10_000
SHOWN = 20

_COUNTED = """
import json, sys
opened = []
def hook(event, arguments):
    if event == "open" and "/checkpoints/" in str(arguments[0]) and "json" in str(arguments[0]):
        opened.append(arguments[0])
sys.addaudithook(hook)
from leftoff.cli import run
sys.stderr = open("/dev/null", "w")
code = run(sys.argv[1:])
print("OPENED", json.dumps([code, len(opened)]))
"""


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a repository with a store of many checkpoints, and its index."""
    repo = Repo(tmp_path_factory.mktemp("many") / "repo")
    repo.commit("Begin", {"app.py": "print('hello')\n"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(repo.folder.parent / "state"))
        _fill(repo.folder)
    return repo.folder


def _fill(folder: Path) -> None:
    project = find_project(folder)
    area = Area(project.store)
    area.prepare()
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    for number in range(MANY):
        moment += timedelta(minutes=40)
        made = msgspec.structs.replace(
            draft(f"work-{number}"), id=new_id(moment), saved_at=moment, branch="main"
        )
        path = area.path_of(made.id)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.write_bytes(encode(made))
        # Long ago, so that the folder counts as settled.
        os.utime(path.parent, (1, 1))
    store = Store(project)
    store.index()
    store.close()


def opened(folder: Path, *words: str) -> int:
    """Run a command; count the checkpoints it opens."""
    done = subprocess.run(
        [sys.executable, "-c", _COUNTED, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    code, count = json.loads(done.stdout.rpartition("OPENED ")[2])
    assert code == 0, done.stdout
    return int(count)


@pytest.mark.slow("takes many files")
@pytest.mark.accept(165)
@pytest.mark.parametrize(
    ("words", "most"),
    [
        (["list"], SHOWN),
        (["resume", "work-17"], 5),
        (["latest"], 5),
        (["status"], SHOWN),
        (["save", "one-more", "--summary", "One more"], 5),
    ],
)
def test_a_command_opens_what_it_shows(many: Path, words: list[str], most: int) -> None:
    assert opened(many, *words) <= most


@pytest.mark.accept(165)
def test_session_start_opens_what_it_offers(many: Path, capfd: pytest.CaptureFixture[str]) -> None:
    del capfd
    seen: list[str] = []

    def note(event: str, arguments: tuple[object, ...]) -> None:
        if is_on[0] and event == "open" and "/checkpoints/" in str(arguments[0]):
            seen.append(str(arguments[0]))

    is_on = [False]
    sys.addaudithook(note)
    is_on[0] = True
    reply = Talk(many).start()
    is_on[0] = False

    assert "work-" in reply
    assert len(seen) <= SHOWN

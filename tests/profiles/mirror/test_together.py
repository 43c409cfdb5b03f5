"""All five profiles mirrored at once, by two processes at the same time."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cli.runs import Cli
from gitrepo import Repo
from leftoff import profiles
from leftoff.context import find_project

pytestmark = pytest.mark.slow("lets processes race")

EACH = 50
NAMES = {f"{who}-{number}" for who in ("left", "right") for number in range(EACH)}

_SAVES = """
import sys
from leftoff.cli import run
for number in range(int(sys.argv[2])):
    name = f"{sys.argv[1]}-{number}"
    code = run(["save", name, "--summary", f"Work on {name}", "--next", f"Run pytest {name}"])
    assert code == 0, name
"""


@pytest.fixture
def saved(cli: Cli, repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """Let two processes save, with the files of all five written after every save."""
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "session-1")
    cli.ok("config", "set", "mirror", ",".join(profiles.PROFILES), "--project")
    running = [
        subprocess.Popen(
            [sys.executable, "-c", _SAVES, who, str(EACH)],
            cwd=repo.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for who in ("left", "right")
    ]
    output = [process.communicate()[1] for process in running]
    assert [process.returncode for process in running] == [0, 0], output
    assert not [line for text in output for line in text.splitlines() if "could not" in line]
    return repo


def home(repo: Repo, name: str) -> Path:
    return profiles.load(name).home(find_project(repo.folder))


@pytest.mark.accept(12)
def test_two_processes_with_all_five_mirrors_lose_nothing_and_every_file_is_read_back(
    saved: Repo, cli: Cli
) -> None:
    assert {each["name"] for each in cli.json("list", "--limit", "1000")} == NAMES

    guardz = home(saved, "guardz")
    assert {path.stem.removeprefix("checkpoint-") for path in guardz.glob("c*.md")} == NAMES
    index = (guardz / "MEMORY.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"- \*\*(.+?)\*\* \(", index)) == sorted(NAMES)

    openclaw = home(saved, "openclaw") / "memory" / "checkpoints"
    assert {path.stem for path in openclaw.glob("*.md")} - {"autosave-log"} == NAMES

    sail = [
        json.loads(path.read_bytes()) for path in home(saved, "sail").rglob("checkpoints/*.json")
    ]
    assert sorted(each["summary"] for each in sail) == sorted(f"Work on {name}" for name in NAMES)

    quoin = home(saved, "quoin")
    natives = [path.read_text(encoding="utf-8") for path in quoin.rglob("checkpoints/*.md")]
    tasks = [re.search(r"## Active task\n(.+)\n", text) for text in natives]
    assert sorted(task[1] for task in tasks if task) == sorted(NAMES)
    rows = [
        line
        for path in quoin.rglob("cost-ledger.md")
        for line in path.read_text(encoding="utf-8").splitlines()
        if "| save |" in line
    ]
    assert len(rows) == len(NAMES)

    progress = json.loads((home(saved, "harness") / "claude-progress.json").read_bytes())
    assert progress["lastSession"]["summary"] in {f"Work on {name}" for name in NAMES}

    for name in profiles.PROFILES:
        assert cli.json("import", "--from", name)["problems"] == [], name
    again = [each["name"] for each in cli.json("list", "--limit", "1000")]
    assert sorted(again) == sorted(NAMES), "importing the native files made others"

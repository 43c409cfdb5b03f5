"""docs/privacy.md names every file that leftoff stores."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gitrepo import Repo
from programs import with_our_path

PAGE = Path(__file__).parent.parent / "docs" / "privacy.md"
LETTERBOX = Path(__file__).parent.parent / "src/leftoff/hooks/letterbox.sh"
DAY = """
    init --yes --all --mcp --statusline
    save first --summary Sums --next 'Run pytest' --decision 'Cents :: exact' --failed 'Nil :: No'
    save first --overwrite --summary Sums --next 'Run pytest again'
    memory add decision 'Cents, not floats'
    feature add Sums
    feature start 1
    wal add --kind decision 'Keep the old names'
    wal reset
    config set --project mirror sail
    config set budget 900
    save second --summary Other --next 'Run make'
    list
    clear second
    snapshot
    off
"""


@pytest.mark.slow("plays a day")
def test_every_file_that_a_day_leaves_is_named(repo: Repo, tmp_path: Path) -> None:
    home = tmp_path / "home"
    state = home / ".local" / "state" / "leftoff"
    repo.write("app.py", "print(1)\n")
    for line in DAY.strip().splitlines():
        _leftoff(repo, *(part.strip("'") for part in re.findall(r"'[^']*'|\S+", line)))
    said = {"session_id": "a", "cwd": str(tmp_path), "prompt": "good night", "transcript_path": "/"}
    (state / "spool").mkdir(mode=0o700, exist_ok=True)
    (state / "spool" / "claude.UserPromptSubmit.1.0").write_text(json.dumps(said), "utf-8")
    _python(repo, "-m", "leftoff.hooks.settle", str(state))

    stored = _names(repo.folder / ".git" / "leftoff") | _names(state)

    assert {"checkpoints", "memory.jsonl", "features.json", "mirrors", "backups"} <= stored
    assert stored - _documented() == set()
    assert _readable_by_others(repo.folder / ".git" / "leftoff", state) == {state / "hook"}
    outside = [each for each in home.rglob("*") if each.is_file() and state not in each.parents]
    page, kept = PAGE.read_text(encoding="utf-8"), {".gitconfig"}
    assert len(outside) > len(kept)
    for each in outside:
        path = f"~/{each.relative_to(home)}"
        # A folder stands for the slash commands in it.
        names = (f"`{path}`", f"`{path.removesuffix(each.name)}`")
        assert each.name in kept or any(name in page for name in names), path


def test_the_steps_to_remove_all_find_every_store_and_nothing_else(
    repo: Repo, tmp_path: Path
) -> None:
    library = Repo.begun(tmp_path / "library")
    for name in ("deep/inner", "leftoff"):
        repo.git("submodule", "--quiet", "add", str(library.folder), name)
    inner = Repo(repo.folder / "deep" / "inner", init=False)
    repo.commit("Add submodules", {"a.txt": "a\n"})
    for each in (repo, inner):
        _leftoff(each, "save", "first", "--summary", "Sums")
        each.git("branch", "leftoff/other")
    repo.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "leftoff"))
    steps = re.findall(r"^ +\$ (find ~ .*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    before = {each for each in tmp_path.rglob("*") if "leftoff" not in each.parts[-1:]}

    for step in steps:
        subprocess.run(["sh", "-c", step.replace("~", str(tmp_path), 1)], check=True)

    assert len(steps) == 2
    gone = {each for each in before if not each.exists()}
    stores = [repo.folder / ".git" / "leftoff", repo.folder / ".git/modules/deep/inner/leftoff"]
    assert not any(each.exists() for each in stores)
    assert [each for each in gone if not any(each.is_relative_to(store) for store in stores)] == []
    assert "leftoff/other" in inner.git("branch", "--all")
    for place in (repo.folder, repo.folder / "leftoff", tmp_path / "leftoff"):
        Repo(place, init=False).git("status")


def test_every_file_that_the_hook_script_names_is_documented() -> None:
    script = LETTERBOX.read_text(encoding="utf-8")

    named = set(re.findall(r"\$state/([a-z.]+)", script))
    page = PAGE.read_text(encoding="utf-8")

    assert {"spool", "full", "lost", "waking."} <= named
    assert [each for each in named if f"`{each}" not in page] == []


def test_the_state_folder_is_private_whatever_makes_it(repo: Repo, tmp_path: Path) -> None:
    _leftoff(repo, "save", "first", "--summary", "Sums")
    state = tmp_path / "home" / ".local" / "state" / "leftoff"
    for words in ("save again --summary Sums", "list", "stats", "prompt-segment"):
        shutil.rmtree(state)

        _leftoff(repo, *words.split())

        assert state.stat().st_mode & 0o777 == 0o700, words


def _leftoff(repo: Repo, *words: str) -> None:
    _python(repo, "-m", "leftoff", *words)


def _python(repo: Repo, *words: str) -> None:
    subprocess.run(
        (sys.executable, *words),
        cwd=repo.folder,
        env=with_our_path(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        timeout=120,
    )


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def _documented() -> set[str]:
    rows = re.findall(r"^\| (`.*?) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return {name.strip("/") for row in rows for name in re.findall(r"`([^`]+)`", row)}


def _readable_by_others(*folders: Path) -> set[Path]:
    found = [path for folder in folders for path in (folder, *folder.rglob("*"))]
    return {path for path in found if path.stat().st_mode & 0o077}

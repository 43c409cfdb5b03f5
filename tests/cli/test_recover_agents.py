"""Sessions of every agent are found where its variables say, and recovered with git's state."""

import fcntl
import os
import time
from pathlib import Path

import msgspec
import pytest

from cli.runs import Cli
from gitrepo import Repo
from leftoff.context import find_project
from leftoff.git import query
from leftoff.git.repository import find_ref
from leftoff.session import records
from leftoff.store import Store
from recordings import SESSION_IDS, leave_session

# The variable that moves an agent's folder, and the folder's place below it.
FOLDERS = {
    "codex": ("CODEX_HOME", "."),
    "gemini": ("GEMINI_CLI_HOME", ".gemini"),
    "opencode": ("XDG_DATA_HOME", "opencode"),
    "copilot": ("COPILOT_HOME", "."),
}


@pytest.fixture(params=FOLDERS)
def agent(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def path(agent: str, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Leave a session in a folder that only a variable names."""
    variable, below = FOLDERS[agent]
    monkeypatch.setenv(variable, str(tmp_path / "moved"))
    found = leave_session(agent, tmp_path / "moved" / below, repo.folder)
    hour_ago = time.time() - 3600
    os.utime(found, (hour_ago, hour_ago))
    return found


def test_a_recovered_session_has_the_state_of_git(
    cli: Cli, agent: str, path: Path, repo: Repo
) -> None:
    for name, changed_at in {"changed.txt": 1, "after.txt": time.time()}.items():
        repo.write(name, "new\n")
        os.utime(repo.folder / name, (changed_at, changed_at))
    cli.ok("recover", "--since", "30d")

    (row,) = cli.json("list")
    saved = cli.json("show", row["id"])
    assert saved["agent"] == agent
    assert saved["head"] == repo.git("rev-parse", "HEAD").strip()
    # Some sessions name their branch; for the others, git knows which one it was.
    assert saved["branch"] in {"main", "feature/x"}
    # What was changed after the session is not its own; on another branch, nothing is known.
    assert saved.get("dirty", []) == (["changed.txt"] if saved["branch"] == "main" else [])
    assert path.exists()
    # So the next session is told what has moved since.
    repo.commit("Later", {"later.txt": "new\n"})
    assert "1 commit" in cli.ok("resume", row["name"], "--for", agent).out


@pytest.mark.parametrize("agent", ["gemini", "opencode"])
def test_a_session_whose_transcript_names_no_branch_has_the_one_that_hooks_saw(
    cli: Cli, agent: str, repo: Repo, path: Path
) -> None:
    repo.git("switch", "-q", "-c", "topic")
    store = Store(find_project(repo.folder))
    record = records.SessionRecord(
        agent=agent, session_id=SESSION_IDS[agent], head=query.find_head_sha(repo.folder) or ""
    )
    records.keep(store, msgspec.structs.replace(record, branch=find_ref(repo.folder)))
    store.close()
    assert path.exists()
    repo.git("switch", "-q", "main")
    repo.commit("Other work", {"other.txt": "1\n"})

    assert cli.json("sessions")[0]["branch"] == "topic"
    cli.ok("recover", "--since", "30d")

    (row,) = cli.json("list", "--all")
    assert row["branch"] == "topic"


def test_a_title_that_comes_later_is_neither_work_nor_a_sign_of_life(
    cli: Cli, repo: Repo, tmp_path: Path
) -> None:
    """Gemini CLI adds a title to the last session's transcript when the next one starts."""
    chat = leave_session("gemini", tmp_path / "home" / ".gemini", repo.folder)
    # The session died in the middle of its turn.
    lines = chat.read_bytes().splitlines(keepends=True)
    called = max(n for n, line in enumerate(lines) if b'"toolCalls"' in line)
    chat.write_bytes(b"".join(lines[: called + 1]))
    hour_ago = time.time() - 3600
    os.utime(chat, (hour_ago, hour_ago))
    cli.ok("recover", "--since", "30d")

    with chat.open("a", encoding="utf-8") as file:
        file.write('{"$set":{"summary":"Write notes"}}\n')

    assert "unsaved work" not in cli.ok("list").out
    (listed,) = cli.json("sessions")
    assert listed["state"] == "saved"


def test_a_session_that_was_killed_a_moment_ago_is_recovered_if_its_lock_is_free(
    cli: Cli, repo: Repo, tmp_path: Path
) -> None:
    root = tmp_path / "home" / ".codex"
    rollout = leave_session("codex", root, repo.folder)
    lock = root / "thread-writer-locks" / f"{rollout.stem[-36:]}.lock"
    lock.parent.mkdir()
    lock.touch()
    with lock.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert cli.json("recover") == []
        (listed,) = cli.json("sessions")
        assert listed["state"] == "active"

    assert len(cli.json("recover")) == 1


def test_a_session_of_copilot_that_was_killed_a_moment_ago_is_recovered_if_its_process_is_gone(
    cli: Cli, repo: Repo, tmp_path: Path
) -> None:
    log = leave_session("copilot", tmp_path / "home" / ".copilot", repo.folder)
    mark = log.with_name(f"inuse.{os.getpid()}.lock")
    mark.touch()
    assert cli.json("recover") == []

    # More than the highest process id of Linux.
    mark.rename(log.with_name("inuse.4194304.lock"))

    assert len(cli.json("recover")) == 1

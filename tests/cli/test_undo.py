"""After each thing that you do, `undo` says what it takes back, and the state before is shown."""

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.runs import Cli
from gitrepo import Repo

SAIL = Path(__file__).parent.parent / "profiles" / "golden" / "sail" / "mixed"
TASKS = {
    "aaaa-1": "Add the password rule to app.py",
    "bbbb-2": "Port the exporter to streams",
    "cccc-3": "Fix the flaky login test",
}
RECOVERED = ["add-password-rule-app", "port-exporter-streams", "fix-flaky-login-test"]


@pytest.fixture(autouse=True)
def _dead_sessions(repo: Repo, tmp_path: Path) -> None:
    """Leave three sessions of Claude Code behind, the first of which ended last."""
    key = re.sub("[^a-zA-Z0-9]", "-", str(repo.folder))
    folder = tmp_path / "home" / ".claude" / "projects" / key
    folder.mkdir(parents=True)
    for number, (session_id, task) in enumerate(TASKS.items()):
        path = folder / f"{session_id}.jsonl"
        path.write_text("".join(_transcript(session_id, task, repo.folder)))
        ended = path.stat().st_mtime - 86_400 - number
        os.utime(path, (ended, ended))


def _transcript(session_id: str, task: str, folder: Path) -> list[str]:
    edit = {"type": "tool_use", "id": "t1", "name": "Edit", "input": {"file_path": "app.py"}}
    done = {"type": "tool_result", "tool_use_id": "t1", "content": "The file was updated."}
    said = [("user", task), ("assistant", [edit]), ("user", [done])]
    whose = {"parentUuid": None, "cwd": str(folder), "gitBranch": "main", "sessionId": session_id}
    entries = [
        {**whose, "type": kind, "message": {"role": kind, "content": content}}
        for kind, content in said
    ]
    return [json.dumps(entry) + "\n" for entry in entries]


def shown(cli: Cli) -> dict[str, Any]:
    """Tell what a user sees of threads and sessions."""
    listed = [(each["name"], each["state"], each["summary"]) for each in cli.json("list")]
    sessions = {each["session_id"]: each["state"] for each in cli.json("sessions")}
    status = cli.ok("status").out
    return {"list": listed, "sessions": sessions, "status": status, "resume": cli("resume").out}


def save(cli: Cli, *words: str) -> None:
    cli.ok("save", *words, "--summary", "Validate the form", "--next", "Run make", "--no-capture")


Steps = dict[str, tuple[list[Callable[[Cli], object]], Callable[[Cli], object], str]]
STEPS: Steps = {
    "save": ([], lambda cli: save(cli, "login-form"), "saving login-form"),
    "overwrite": (
        [lambda cli: save(cli, "login-form")],
        lambda cli: cli.ok("save", "login-form", "--overwrite", "--next", "Run all", "-q"),
        "saving login-form again",
    ),
    "accept": (
        [lambda cli: save(cli, "login-form")],
        lambda cli: cli.ok("resume", "login-form", "--accept"),
        "resuming login-form",
    ),
    "decline": (
        [lambda cli: save(cli, "login-form")],
        lambda cli: cli.ok("resume", "login-form", "--decline"),
        "declining login-form",
    ),
    "done": (
        [lambda cli: save(cli, "login-form")],
        lambda cli: cli.ok("done", "login-form"),
        "marking login-form as done",
    ),
    "drop": (
        [lambda cli: save(cli, "login-form")],
        lambda cli: cli.ok("drop", "login-form"),
        "dropping login-form",
    ),
    "clear": (
        [lambda cli: save(cli, "login-form"), lambda cli: save(cli, "search-page")],
        lambda cli: cli.ok("clear", "login-form", "search-page"),
        "clearing login-form, search-page",
    ),
    "recover": (
        [],
        lambda cli: cli.ok("recover"),
        f"recovering 3 sessions: {', '.join(RECOVERED)}",
    ),
    "import": (
        [],
        lambda cli: cli.ok("import", "--from", "sail", str(SAIL)),
        "importing 2 checkpoints: newest-timestamp, older-despite-name",
    ),
}


@pytest.mark.parametrize("step", STEPS)
def test_undo_takes_back_the_last_act_and_redo_brings_it_back(cli: Cli, step: str) -> None:
    prepare, act, change = STEPS[step]
    for each in prepare:
        each(cli)
    before = shown(cli)
    act(cli)
    after = shown(cli)
    assert after != before

    assert cli.ok("undo", "--dry-run").out == f"Would undo {change} (just now).\n"
    assert cli.ok("undo").out == f"Undid {change}\nRun `leftoff redo` to do it again.\n"
    assert shown(cli) == before
    assert cli.ok("redo", "--dry-run").out == f"Would redo {change} (just now).\n"
    assert cli.ok("redo").out == f"Redid {change}\n"
    assert shown(cli) == after


def test_a_thread_that_was_named_by_saving_gets_its_old_name_back(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.ok("recover")
    before = shown(cli)["list"]
    with monkeypatch.context() as inside:
        inside.setenv("CLAUDE_CODE_SESSION_ID", "aaaa-1")
        cli.ok("save", "password-rule", "--next", "Run make")
    assert "password-rule" in [each["name"] for each in cli.json("list")]

    assert cli.ok("undo").out.startswith("Undid saving add-password-rule-app as password-rule\n")
    assert shown(cli)["list"] == before


def test_the_acts_of_several_recovers_are_undone_one_by_one(cli: Cli) -> None:
    assert len(cli.json("recover", "--since", "1d")) == 0
    first = cli.json("recover")
    assert len(first) == 3
    save(cli, "login-form")

    assert [cli.json("undo")["undone"] for _ in range(3)] == ["saved", "recovered", None]
    assert [cli.json("redo")["redone"] for _ in range(3)] == ["recovered", "saved", None]


def test_what_was_recovered_and_undone_can_be_recovered_again(cli: Cli) -> None:
    cli.ok("recover")
    cli.ok("undo")
    assert "Saved 3 sessions." in cli.ok("recover").out

    assert sorted(each["name"] for each in cli.json("list")) == sorted(RECOVERED)


def test_what_was_imported_and_undone_can_be_imported_again(cli: Cli) -> None:
    cli.ok("import", "--from", "sail", str(SAIL))
    cli.ok("undo")
    assert "Imported 2 checkpoints; 0 already" in cli.ok("import", "--from", "sail", str(SAIL)).out
    assert len(cli.json("list")) == 2
    result = cli.json("undo")

    assert (result["undone"], len(result["ids"])) == ("imported", 2)
    assert cli.json("list") == []


def test_undoing_an_import_leaves_what_was_there_before(cli: Cli, tmp_path: Path) -> None:
    """An imported revision may be older than what you saved under its name."""
    save(cli, "newest-timestamp")
    before = shown(cli)["list"]
    cli.ok("import", "--from", "sail", str(shutil.copytree(SAIL, tmp_path / "sail")))
    cli.ok("undo")

    assert shown(cli)["list"] == before


def test_the_log_names_what_was_undone_together(cli: Cli) -> None:
    cli.ok("recover")
    cli.ok("undo")
    newest = cli.ok("log", "--limit", "1").out

    assert newest.split("  ")[1] == "undone (saved)"
    assert newest.strip().endswith(", ".join(RECOVERED))


@pytest.fixture
def shop(repo: Repo, tmp_path: Path) -> Repo:
    """Return the repository on a branch, with a remote to ship to."""
    remote = Repo(tmp_path / "remote", bare=True)
    for words in (
        ("config", "user.name", "Ada"),
        ("config", "user.email", "ada@example.org"),
        ("remote", "add", "origin", str(remote.folder)),
        ("checkout", "-q", "-b", "topic"),
    ):
        repo.git(*words)
    return repo


def test_a_ship_is_one_act_and_its_commit_stays(cli: Cli, shop: Repo) -> None:
    before = shown(cli)["list"]
    (shop.folder / "app.py").write_text("changed\n")
    cli.ok("ship", "-m", "Change the app", "--no-pr")
    head = shop.git("rev-parse", "HEAD")
    output = cli.ok("undo").out

    assert output.startswith('Undid saving "Change the app" as shipped; its commits stay\n')
    assert shown(cli)["list"] == before
    assert shop.git("rev-parse", "HEAD") == head
    assert cli.json("redo")["redone"] == "shipped"
    assert shown(cli)["list"] == before


def test_a_ship_in_a_session_keeps_the_task_of_its_thread(
    cli: Cli, shop: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.ok("recover")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "aaaa-1")
    cli.ok("save", "password-rule", "--next", "Write the docs")
    before = shown(cli)["list"]
    for number in range(2):
        (shop.folder / "app.py").write_text(f"changed {number}\n")
        cli.ok("ship", "-m", f"Change {number}", "--no-pr")
        assert shown(cli)["list"] == before

    assert "saving password-rule as shipped" in cli.ok("undo").out
    assert shown(cli)["list"] == before

"""Files that are only needed next are watched for changes, like those that were edited."""

import os
from datetime import timedelta

import msgspec
import pytest

from cli.runs import Cli
from gitrepo import Repo
from leftoff.checkpoint import Checkpoint
from leftoff.context import find_project
from leftoff.threads import check_claims
from leftoff.threads.compose import with_files
from stores import NOON, draft


def list_changed(checkpoint: Checkpoint, repo: Repo) -> dict[str, str]:
    """Return the files that are not as they were, with their state."""
    checks = check_claims.check(checkpoint, find_project(repo.folder), NOON)
    return {file.path: file.state for file in checks.files if file.state != "same"}


def test_a_file_that_is_only_needed_next_is_watched(repo: Repo) -> None:
    for name in ("edited.py", "needed.py", "kept.py", "gone.py"):
        repo.write(name, "1\n")
    needed = ["needed.py", "kept.py", "gone.py", "new.py", "never.py", "edited.py"]
    made = draft("login-form", files_modified=["edited.py"], focus_files=needed)

    saved = with_files(made, repo.folder)

    assert list_changed(saved, repo) == {}
    assert [file.path for file in saved.files] == ["edited.py"]
    repo.write("needed.py", "22\n")
    repo.write("new.py", "1\n")
    (repo.folder / "gone.py").unlink()
    wanted = {"needed.py": "changed", "gone.py": "missing", "new.py": "changed"}
    assert list_changed(saved, repo) == wanted


def test_a_recovered_session_does_not_know_what_changed_after_it(repo: Repo) -> None:
    for name in ("before.py", "after.py"):
        repo.write(name, "1\n")
    then = NOON - timedelta(days=3)
    os.utime(repo.folder / "before.py", (then.timestamp() - 60,) * 2)
    made = draft("login-form", focus_files=["before.py", "after.py"], as_of=then)
    made = msgspec.structs.replace(made, trigger="recovered")

    saved = with_files(made, repo.folder)

    assert list_changed(saved, repo) == {"after.py": "changed"}


def test_the_file_in_a_stated_next_action_is_watched(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo.folder)
    cli, action = Cli(monkeypatch), "Run pytest tests/test_login.py and/or ask"
    repo.commit("Tests", {"tests/test_login.py": "1\n"})
    cli.ok("save", "login-form", "--summary=Validate it", "--next", action)
    assert "Changed since" not in cli.ok("resume", "login-form").out

    repo.write("tests/test_login.py", "2222\n")

    assert "- changed: tests/test_login.py" in cli.ok("resume", "login-form").out
    # Nobody named these files, so no page lists them.
    assert "watched" not in cli.ok("show", "login-form").out

"""Worktrees share a store, and their work does not mix."""

from pathlib import Path

import pytest

from gitrepo import Repo
from leftoff import context
from leftoff.context import find_project
from leftoff.hooks import settle
from leftoff.session import records
from leftoff.session.records import Life
from leftoff.store import Store
from talk import Talk


@pytest.fixture
def other(repo: Repo, tmp_path: Path) -> Path:
    return repo.worktree(tmp_path / "other", "other-branch").folder


def worktrees(store: Store) -> dict[str | None, tuple[str | None, str | None]]:
    heads = store.index().heads(["open"], 9)
    return {entry.session_id: (entry.worktree, entry.branch) for entry in heads}


def test_events_of_two_worktrees_settled_at_once_stay_apart(
    talk: Talk, store: Store, other: Path
) -> None:
    elsewhere = Talk(other, "session-2")
    for each in (talk, elsewhere):
        each.ask("Add a login form")
        each.edit("form.py")
        each.line(type="system", gitBranch="main" if each is talk else "other-branch")
        each.post("SessionEnd", reason="other")

    settle.run(context.state_folder())

    assert {session: place[0] for session, place in worktrees(store).items()} == {
        talk.session_id: str(talk.folder),
        "session-2": str(other),
    }


def test_a_crash_is_recovered_in_the_worktree_it_happened_in(
    talk: Talk, store: Store, other: Path
) -> None:
    crashed = Talk(other, "session-2")
    crashed.ask("Add a login form")
    crashed.begin("pytest -k login")
    crashed.line(type="system", gitBranch="other-branch")
    crashed.fire("PreToolUse", tool_name="Bash", tool_input={"command": "pytest -k login"})
    life = Life(
        agent="claude",
        session_id="session-2",
        store=str(find_project(other).store),
        cwd=str(other),
        pid=2**30,
    )
    records.keep_life(context.state_folder(), life)

    assert "in other worktrees" in talk.start()
    assert worktrees(store)["session-2"][0] == str(other)
    assert "Add a login form" in Talk(other, "session-3").start()

"""Files that a save writes are not counted as work, and worktrees do not share work."""

from pathlib import Path

import pytest

from gitrepo import Repo
from leftoff import config
from leftoff.context import find_project
from leftoff.store import Store
from leftoff.threads import memory_briefing
from talk import Talk

MIRRORED = "sail,quoin,harness"


@pytest.fixture
def talk(repo: Repo) -> Talk:
    config.set_for(find_project(repo.folder), "mirror", MIRRORED)
    return Talk(repo.folder)


def _checkpoints(folder: Path) -> list[Path]:
    return sorted((folder / ".claude" / "checkpoints").glob("*.json"))


def test_native_files_are_not_among_the_files_that_a_session_changed(
    talk: Talk, store: Store, repo: Repo
) -> None:
    talk.ask("Write it with a script")
    talk.run("python script.py")
    talk.fire("SessionEnd", reason="other")
    repo.write("made_by_a_script.py")
    repo.write(".claude/commands/own.md")
    talk.ask("And now?")
    talk.fire("SessionEnd", reason="other")

    newest = store.index().newest_of_session(talk.session_id)
    assert newest is not None
    assert store.load(newest).files_modified == [".claude/commands/own.md", "made_by_a_script.py"]


def test_a_state_that_did_not_change_is_saved_once_however_many_native_files_that_writes(
    talk: Talk, repo: Repo
) -> None:
    talk.ask("Fill the whole context")
    talk.say("So full.", percent=80)
    for _ in range(4):
        talk.fire("Stop")

    assert len(_checkpoints(repo.folder)) == 1


def test_the_page_of_one_worktree_does_not_show_the_next_steps_of_another(
    talk: Talk, repo: Repo
) -> None:
    other = repo.worktree(repo.folder.parent / "other", "side")
    talk.ask("Build the login page")
    talk.edit("app.py")
    talk.say("Half done.")
    talk.fire("SessionEnd", reason="other")
    side = Talk(other.folder, "session-2")
    side.ask("Build the CSV export")
    side.edit("app.py")
    side.say("Half done.")
    side.fire("SessionEnd", reason="other")

    for folder, own in ((repo.folder, "login page"), (other.folder, "CSV export")):
        store = Store(find_project(folder))
        standing = memory_briefing.gather(store).standing
        store.close()
        assert standing is not None
        assert standing.checkpoint.endswith(f": Build the {own}")

"""Hooks keep uncommitted code after each turn, and say when a command destroyed some."""

import contextlib
import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gitrepo import Repo
from hooks.letterboxes import BOXES, install_python, replied
from leftoff import context
from leftoff.agents.hook_events import HookEvent
from leftoff.config import Settings
from leftoff.context import find_project
from leftoff.hooks import before_command, replies, start, trouble
from leftoff.hooks.process_event import Following
from leftoff.projects.project import Project
from leftoff.snapshots.shelf import Snapshot, find_snapshot, list_snapshots
from leftoff.store import Store
from stores import draft
from talk import Talk


@pytest.fixture
def talk(repo: Repo) -> Talk:
    repo.commit("Add a file", {"app.py": "print(1)\n"})
    return Talk(repo.folder)


@pytest.fixture
def project(repo: Repo) -> Project:
    return find_project(repo.folder)


def taken(project: Project) -> list[Snapshot]:
    return [each for _, each in list_snapshots(project)]


def run_before(talk: Talk, command: str) -> None:
    """Do what the letterbox does before a risky command."""
    call = talk.payload("PreToolUse", tool_name="Bash", tool_input={"command": command})
    before_command.protect("claude", "PreToolUse", json.dumps(call).encode())


def test_a_turn_that_changed_a_file_leaves_a_snapshot(
    repo: Repo, talk: Talk, project: Project
) -> None:
    talk.work()
    repo.write("app.py", "print(2)\n")
    talk.fire("Stop")

    (found,) = taken(project)
    assert (found.trigger, found.session, found.files) == ("turn", talk.session_id, 1)
    talk.fire("Stop")
    assert len(taken(project)) == 1


def test_turns_that_have_all_ended_share_one_snapshot(
    repo: Repo, talk: Talk, project: Project
) -> None:
    def end_turn(at: float) -> int:
        event = HookEvent(
            agent="claude",
            kind="stop",
            session_id=talk.session_id,
            cwd=str(repo.folder),
            transcript_path=str(talk.transcript),
            at=at,
        )
        following.settle(event)
        return len(taken(project))

    talk.work()
    now = time.time()
    with contextlib.closing(Store(project)) as store:
        following = Following(store, Settings(), "claude", talk.session_id)
        repo.write("app.py", "print(2)\n")
        assert end_turn(now - 10) == 1
        repo.write("app.py", "print(3)\n")
        # The snapshot is newer than this turn.
        assert end_turn(now - 5) == 1
        assert end_turn(time.time()) == 2


def test_a_turn_without_work_leaves_none(repo: Repo, talk: Talk, project: Project) -> None:
    talk.ask("What is 2+2?")
    talk.say("4.")
    repo.write("app.py", "print(2)\n")
    talk.fire("Stop")

    assert taken(project) == []


def test_a_checkpoint_has_a_snapshot_of_its_thread(
    repo: Repo, talk: Talk, project: Project
) -> None:
    talk.work()
    repo.write("app.py", "print(2)\n")
    talk.fire("Stop")
    talk.fire("PreCompact", trigger="manual")
    talk.fire("SessionEnd", reason="other")

    newest = taken(project)[0]
    assert newest.trigger == "precompact"
    assert newest.thread is not None


def test_snapshots_can_be_off(repo: Repo, talk: Talk, project: Project) -> None:
    project.store.mkdir()
    (project.store / "config.toml").write_text('snapshots = "off"\n', encoding="utf-8")
    talk.work()
    repo.write("app.py", "print(2)\n")
    talk.fire("Stop")
    run_before(talk, "git reset --hard")

    assert taken(project) == []


def test_a_failing_snapshot_is_noted_and_stops_nothing(
    repo: Repo, talk: Talk, project: Project
) -> None:
    talk.work()
    repo.write("app.py", "print(2)\n")
    for place in (project.store, project.fallback):
        place.mkdir(parents=True)
        (place / "snapshots").write_text("in the way", encoding="utf-8")
    talk.fire("Stop")
    run_before(talk, "git reset --hard")

    assert [each.where for each in trouble.list_recent(context.state_folder())] == [
        "taking a snapshot",
        "taking a snapshot before a command",
    ]
    talk.fire("Stop")
    assert "no snapshot of the uncommitted code could be taken" in talk.waiting_reply()


@pytest.mark.parametrize("shell", BOXES)
def test_a_risky_command_waits_for_a_snapshot(
    repo: Repo, talk: Talk, project: Project, shell: str
) -> None:
    install_python()
    repo.write("app.py", "print(2)\n")
    call = talk.payload("PreToolUse", tool_name="Bash")
    for command, count in (("git status", 0), ("ls -la && cat app.py", 0), ("git reset --hard", 1)):
        event = {**call, "tool_input": {"command": command}}
        assert replied(talk, "PreToolUse", event, box=shell) is None
        assert len(taken(project)) == count

    assert taken(project)[0].command == "git reset --hard"
    repo.write("app.py", "print(3)\n")
    long = {**call, "tool_input": {"command": f"echo '{'x' * 100_000}' && rm -rf src"}}
    assert replied(talk, "PreToolUse", long, box=shell) is None
    assert len(taken(project)) == 2


def test_a_worktree_that_a_command_names_is_kept_too(
    repo: Repo, talk: Talk, tmp_path: Path
) -> None:
    tree = repo.worktree(tmp_path / "feature", "feature")
    tree.write("new.py", "new\n")
    run_before(talk, f"git worktree remove --force {tree.folder}")

    (found,) = taken(find_project(repo.folder))
    assert found.worktree == str(tree.folder)


def test_destroyed_code_is_reported_once(repo: Repo, talk: Talk, project: Project) -> None:
    talk.work()
    repo.write("app.py", "print(2)\n")
    for name in ("new.py", "old.py", "own.py", "x.py"):
        repo.write(name, f"{name}\n")
    run_before(talk, "git reset --hard && git clean -fd")
    repo.git("reset", "--quiet", "--hard")
    repo.git("clean", "-fdq")
    talk.fire("Stop")

    (found,) = taken(project)
    said = talk.waiting_reply()
    assert "the uncommitted work in 5 files is gone from the worktree" in said
    assert "app.py, new.py, old.py and 2 more. A snapshot has it." in said
    assert f"leftoff snapshot restore {found.short_id} --here" in said
    call = replies.path_of(
        context.state_folder(), str(repo.folder), "claude", "PreToolUse", talk.session_id
    )
    assert found.short_id in call.read_text(encoding="utf-8")
    talk.fire("UserPromptSubmit", prompt="Go on")
    assert talk.waiting_reply() == ""
    assert not call.exists()


def test_a_command_that_destroyed_nothing_is_not_mentioned(repo: Repo, talk: Talk) -> None:
    talk.work()
    repo.write("app.py", "print(2)\n")
    run_before(talk, "git stash && git stash pop")
    talk.fire("Stop")

    assert talk.waiting_reply() == ""
    repo.git("reset", "--quiet", "--hard")
    talk.fire("Stop")
    assert talk.waiting_reply() == ""


def test_a_file_removed_by_name_is_kept_and_not_mentioned(
    repo: Repo, talk: Talk, project: Project
) -> None:
    talk.work()
    repo.write("scratch.py", "x\n")
    run_before(talk, "rm scratch.py")
    (repo.folder / "scratch.py").unlink()
    talk.fire("Stop")

    assert talk.waiting_reply() == ""
    found = find_snapshot(project, taken(project)[-1].id)
    assert found is not None
    assert [each.path for each in found.content.work] == ["scratch.py"]


def test_the_user_reads_at_the_start_how_to_bring_destroyed_code_back(
    repo: Repo, talk: Talk
) -> None:
    (repo.folder / "app.py").write_text("new = 1\n", encoding="utf-8")
    talk.work()
    talk.fire("Stop", last_assistant_message="Next I will run the tests.")
    talk.fire("SessionEnd", reason="other")
    repo.git("checkout", "-q", ".")
    repo.git("clean", "-fdq")
    data = json.dumps(Talk(repo.folder, "session-2").payload("SessionStart", source="startup"))

    reply = json.loads(start.answer("claude", data.encode(), context.state_folder()))

    assert (
        "Uncommitted changes in 1 file are gone; run `leftoff snapshot restore "
        in (reply["systemMessage"])
    )


def destroy_parser(repo: Repo, talk: Talk) -> None:
    """Let a session write a file and destroy it, before it has a thread."""
    talk.ask("Write a config parser in src/parser.py")
    talk.edit("src/parser.py")
    repo.write("src/parser.py", "def parse(): ...\n")
    command = "git reset --hard && git clean -fd"
    run_before(talk, command)
    repo.git("reset", "--quiet", "--hard")
    repo.git("clean", "-fdq")
    talk.run(command, "HEAD is now at 1")
    talk.say("The tree is clean now.")
    talk.fire("Stop")
    talk.fire("SessionEnd", reason="other")


def play_next(repo: Repo, number: int, *, edits: bool = False) -> str:
    """Play a session that goes on; return what its start gave the model."""
    talk = Talk(repo.folder, f"session-{number}")
    offered = talk.start()
    prompt = "go on with the parser"
    talk.fire("UserPromptSubmit", prompt=prompt)
    talk.ask(prompt)
    if edits:
        repo.write(f"other{number}.py", "print(3)\n")
        talk.edit(f"other{number}.py")
    talk.say("I'll read the code first.")
    talk.fire("Stop")
    talk.fire("SessionEnd", reason="other")
    return offered


@pytest.mark.parametrize("edits", [False, True])
def test_every_later_session_reads_how_to_bring_destroyed_code_back(
    repo: Repo, talk: Talk, project: Project, *, edits: bool
) -> None:
    destroy_parser(repo, talk)
    (found,) = taken(project)
    command = f"leftoff snapshot restore {found.short_id} --here"

    assert all(command in play_next(repo, number, edits=edits) for number in (2, 3, 4))
    repo.write("src/parser.py", "def parse(): ...\n")
    assert command not in play_next(repo, 5)


def test_a_file_that_a_later_command_removed_by_name_was_not_destroyed_before(
    repo: Repo, talk: Talk
) -> None:
    talk.work()
    repo.write("scratch.py", "x\n")
    repo.write("build.sh", "#!/bin/sh\n")
    run_before(talk, "./build.sh")
    run_before(talk, "python3 scratch.py --fix")
    repo.write("app.py", "print(2)\n")
    run_before(talk, "rm scratch.py")
    (repo.folder / "scratch.py").unlink()
    talk.fire("Stop")

    assert talk.waiting_reply() == ""


def test_the_way_to_bring_code_back_is_the_last_thing_that_an_offer_leaves_out(
    repo: Repo, talk: Talk, project: Project
) -> None:
    with contextlib.closing(Store(project)) as store:
        for name in ("login-form", "invoice-totals"):
            store.save(draft(name, "Improve it. " * 9))
    talk.now = datetime.now(UTC) + timedelta(minutes=1)
    destroy_parser(repo, talk)
    (found,) = taken(project)
    (project.store / "config.toml").write_text("start_budget = 230\n", encoding="utf-8")

    offered = Talk(repo.folder, "session-2").start()

    assert f"leftoff snapshot restore {found.short_id} --here" in offered
    assert "Also open" not in offered

"""A transcript is read once until it changes, and what is said of its session stays true."""

import json
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gitrepo import Repo
from leftoff.context import find_project
from leftoff.session import records, sessions
from leftoff.session.records import Life
from leftoff.session.unsaved_work import find_unsaved_work, find_verdicts
from leftoff.store import Store
from leftoff.threads.recover import recover_sessions
from recordings import leave_session
from stores import draft
from talk import Talk

HOUR = 3600.0


@pytest.fixture
def talk(repo: Repo) -> Talk:
    return Talk(repo.folder)


@pytest.fixture
def store(repo: Repo) -> Iterator[Store]:
    store = Store(find_project(repo.folder))
    yield store
    store.close()


@pytest.fixture
def old(talk: Talk, store: Store) -> Talk:
    """Leave a session behind, where Claude Code stores it."""
    made = Talk(talk.folder, "old")
    key = "".join(each if each.isalnum() else "-" for each in str(talk.folder))
    folder = store.project.environment.find_agent_folder("claude") / "projects" / key
    folder.mkdir(parents=True)
    made.transcript = folder / "old.jsonl"
    return made


@pytest.fixture
def read(store: Store) -> Callable[[], bool]:
    """Return a function that says whether a transcript was read since its last call."""
    # Reading a transcript stores how far it was read.
    folder = store.project.store / "sessions"

    def was_read() -> bool:
        was = folder.exists()
        shutil.rmtree(folder, ignore_errors=True)
        return was

    return was_read


def set_back(path: Path, seconds: float = HOUR) -> None:
    at = time.time() - seconds
    os.utime(path, (at, at))


def name_unsaved(store: Store) -> list[str]:
    return [each.request for each in find_unsaved_work(store)]


def test_work_is_read_once_until_the_transcript_changes(
    old: Talk, store: Store, read: Callable[[], bool]
) -> None:
    old.ask("Add a login form to app.py")
    old.edit("app.py")
    set_back(old.transcript)
    (found,) = find_unsaved_work(store)
    assert (found.session_id, found.branch, found.checkpoint) == ("old", "main", None)
    assert read()

    assert find_unsaved_work(store) == [found]
    assert not read()

    old.say("Now I add a test.")
    set_back(old.transcript)
    assert name_unsaved(store) == ["Add a login form to app.py"]
    assert read()


def test_small_talk_is_read_once_until_there_is_work(
    old: Talk, store: Store, read: Callable[[], bool]
) -> None:
    old.ask("What does a CSV header look like?")
    old.say("It names the columns.")
    set_back(old.transcript)
    assert name_unsaved(store) == []
    assert read()
    assert name_unsaved(store) == []
    assert not read()

    old.ask("Add one to export.py, please")
    old.edit("export.py")
    set_back(old.transcript)
    assert len(name_unsaved(store)) == 1


def test_a_session_that_only_got_a_blocked_prompt_is_saved_with_its_last_checkpoint(
    old: Talk, store: Store
) -> None:
    old.ask("continue")
    old.say("Resumed.")
    blocked = (
        "UserPromptSubmit operation blocked by hook\n\nOriginal prompt: rename it to limits.py"
    )
    ending = {"ending": {"kind": "blocked_by_hook"}, "promptKept": False}
    old.line(type="system", subtype="informational", content=blocked, promptSubmitEnding=ending)
    set_back(old.transcript)
    assert name_unsaved(store) == ["continue"]

    long_ago = store.now() - timedelta(days=1)
    with closing(Store(store.project, now=lambda: long_ago)) as then:
        then.save(draft("rate-limit", session_id="old", agent="claude"))

    # It ended after that, and did nothing else.
    assert name_unsaved(store) == []
    old.edit("app.py")
    set_back(old.transcript)
    assert len(name_unsaved(store)) == 1


def test_the_work_of_a_sub_agent_changes_its_session(
    old: Talk, store: Store, read: Callable[[], bool]
) -> None:
    old.ask("What does a CSV header look like?")
    old.say("It names the columns.")
    set_back(old.transcript)
    assert name_unsaved(store) == []
    assert read()

    child = Talk(old.folder, "child")
    child.transcript = old.transcript.with_suffix("") / "subagents" / "agent-1.jsonl"
    child.transcript.parent.mkdir(parents=True)
    child.edit("export.py")
    name_unsaved(store)
    assert read()


@pytest.mark.parametrize("agent", ["codex", "gemini", "copilot", "opencode"])
def test_a_session_of_every_agent_is_read_once(
    agent: str, talk: Talk, store: Store, read: Callable[[], bool]
) -> None:
    root = store.project.environment.find_agent_folder(agent)
    path = leave_session(agent, root, talk.folder)
    set_back(path)
    if agent == "opencode":
        # Its database says when a session was active.
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("UPDATE session SET time_updated = ?", [(time.time() - HOUR) * 1000])
    first = name_unsaved(store)
    assert len(first) == 1
    assert read()

    assert name_unsaved(store) == first
    assert not read()


def test_saved_work_is_no_longer_named_although_nothing_is_read(
    old: Talk, store: Store, read: Callable[[], bool]
) -> None:
    old.work()
    set_back(old.transcript)
    assert len(name_unsaved(store)) == 1
    recover_sessions(store, sessions.list_dead(store, since=store.now() - timedelta(days=1)))
    read()

    assert name_unsaved(store) == []
    assert not read()


def test_whether_a_session_may_still_run_is_looked_up_each_time(
    old: Talk, store: Store, read: Callable[[], bool]
) -> None:
    old.work()
    assert name_unsaved(store) == []
    assert read()

    # The same transcript, but its process is known to be gone.
    life = Life(agent="claude", session_id="old", store=str(store.project.store), pid=records.GONE)
    records.keep_life(store.project.state_folder, life)
    assert len(name_unsaved(store)) == 1
    assert not read()


def test_what_a_session_start_saw_at_a_glance_is_read_before_it_is_named(
    old: Talk, store: Store, read: Callable[[], bool]
) -> None:
    old.ask("Add a login form with a password of 8 characters to app.py")
    old.edit("app.py")
    set_back(old.transcript)
    assert "Add a login form with" in Talk(old.folder, "new").start()
    assert not read()

    assert name_unsaved(store) == ["Add a login form with a password of 8 characters to app.py"]
    assert read()


@pytest.mark.parametrize("damage", [b"{", b'{"version": "0.0.1", "verdicts": {}}', b"{}"])
def test_verdicts_of_another_version_and_damaged_ones_are_replaced(
    damage: bytes, old: Talk, store: Store
) -> None:
    old.work()
    set_back(old.transcript)
    first = find_unsaved_work(store)
    find_verdicts(store).write_bytes(damage)

    assert find_unsaved_work(store) == first
    assert json.loads(find_verdicts(store).read_bytes())["verdicts"]


def test_without_a_place_to_remember_it_is_read_each_time(
    old: Talk, store: Store, read: Callable[[], bool]
) -> None:
    old.work()
    set_back(old.transcript)
    store.project.state_folder.mkdir(parents=True, exist_ok=True)
    (store.project.state_folder / "contacted").write_bytes(b"")

    for _ in range(2):
        assert len(name_unsaved(store)) == 1
        assert read()


@pytest.mark.parametrize(
    ("hours", "is_dead"), [(-11, False), (-13, True), (0, False), (9999, True)]
)
def test_a_session_without_a_process_is_dead_if_its_last_sign_is_far_from_now(
    hours: int, *, is_dead: bool
) -> None:
    now = datetime(2026, 11, 15, 12, tzinfo=UTC)
    seen_at = (now + timedelta(hours=hours)).timestamp()
    life = Life(agent="claude", session_id="s", store="", seen_at=seen_at)

    assert life.is_dead(now) == is_dead


def test_a_session_without_hooks_is_named_with_the_thread_whose_briefing_it_got(
    old: Talk, store: Store
) -> None:
    saved = store.save(draft("css-file", summary="Create a css file"))
    header = "Checkpoint: css-file. Left off 2026-11-18 02:07 (just now), on branch main."
    old.ask(f"<leftoff-briefing>\n{header}\nTask: Create a css file\n</leftoff-briefing>")
    old.edit("style.css")
    an_hour_ago = time.time() - HOUR
    os.utime(old.transcript, (an_hour_ago, an_hour_ago))

    (found,) = find_unsaved_work(store)

    assert found.request.endswith(" (in css-file)")
    assert found.thread == saved.checkpoint.thread
    (again,) = find_unsaved_work(store)
    assert again.thread == found.thread
    store.record("consumed", [saved.checkpoint.id])
    (later,) = find_unsaved_work(store)
    assert later.thread is None

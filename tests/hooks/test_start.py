"""What a session gets when it starts."""

import json
import os
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitrepo import Repo
from leftoff import context, profiles
from leftoff.agents.hook_events import HookEvent
from leftoff.hooks import start, trouble
from leftoff.session import prompt_queue, records
from leftoff.session.records import Life
from leftoff.session.unsaved_work import find_unsaved_work
from leftoff.store import Store
from leftoff.text.budget import estimate
from leftoff.threads import persist
from leftoff.threads.compose import parse_fields
from stores import compose
from talk import Talk


def save(store: Store, name: str, **reply: object) -> None:
    plain = {"summary": "Add a login form", "next_action": {"text": "Run pytest -k login"}, **reply}
    persist.save(store, compose(plain, store), name=name)


def ended_session(folder: Path, session_id: str = "old") -> Talk:
    old = Talk(folder, session_id)
    old.ask("Add a login form to app.py")
    old.edit("app.py")
    old.say("Next I will run the tests.")
    old.fire("SessionEnd", reason="prompt_input_exit")
    return old


@pytest.mark.accept(160)
def test_a_project_without_checkpoints_gets_no_reply_and_no_files(talk: Talk, store: Store) -> None:
    assert talk.start() == ""
    assert not store.project.store.exists()


@pytest.mark.accept(66)
@pytest.mark.accept(115)
def test_the_one_open_checkpoint_is_offered(talk: Talk, store: Store) -> None:
    save(store, "login-form", blockers=["The staging database is down"])

    text = talk.start()

    assert "Add a login form" in text
    assert "Run pytest -k login" in text
    assert "just now" in text
    assert "The staging database is down" in text
    assert "leftoff resume login-form --accept" in text


def test_the_offer_says_what_changed_since(talk: Talk, store: Store, repo: Repo) -> None:
    save(store, "login-form", files=[{"path": "app.py"}])
    repo.commit("second", {"app.py": "print('two, and longer')\n"})

    text = talk.start()

    assert "HEAD moved by 1 commit" in text
    assert "changed: app.py" in text


@pytest.mark.accept(54)
def test_several_checkpoints_are_named_and_declining_keeps_them(talk: Talk, store: Store) -> None:
    save(store, "login-form")
    save(store, "csv-import", summary="Import CSV files")

    text = talk.start()

    assert "2 threads" in text
    assert "login-form, branch main" in text
    assert "leftoff resume csv-import --accept" in text
    assert [entry.state for entry in store.index().heads(["open"], 9)] == ["open", "open"]


@pytest.mark.parametrize("size", [1, 40])
def test_an_offer_stays_within_its_budget(talk: Talk, store: Store, size: int) -> None:
    words = "Rework the importer so that it reads files of any size. " * size
    save(store, "login-form", summary=words, done=[words[:1000]] * size, notes=[words[:500]] * size)

    assert estimate(talk.start()) <= 400


def test_a_session_that_ended_is_offered_to_the_next_one(talk: Talk) -> None:
    ended_session(talk.folder)

    text = talk.start()

    assert "Add a login form to app.py" in text
    assert "work was left off here" in text


def test_after_clear_the_next_session_is_told(talk: Talk) -> None:
    old = Talk(talk.folder, "old")
    old.ask("Add a login form to app.py")
    old.edit("app.py")
    old.fire("SessionEnd", reason="clear")

    assert "Add a login form to app.py" in talk.start("clear")


def test_every_unfinished_session_with_edits_is_offered(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEFTOFF_START_BUDGET", "800")
    for n in range(3):
        old = Talk(talk.folder, f"old-{n}")
        old.ask(f"Work on part {n} of the importer")
        old.edit(f"part{n}.py")
        old.fire("SessionEnd", reason="other")

    text = talk.start()

    assert "3 threads" in text
    assert "leftoff resume work-part-2-importer --accept" in text
    assert "- work-part-1-importer" in text
    assert "- work-part-0-importer" in text


@pytest.mark.accept(117)
def test_an_old_autosave_is_no_longer_offered_and_still_there(talk: Talk, store: Store) -> None:
    ended_session(talk.folder)

    assert talk.start(now=lambda: store.now() + timedelta(days=15)) == ""
    assert len(store.index().heads(["open"], 9)) == 1


@pytest.mark.accept(152)
def test_the_work_of_a_session_that_still_runs_is_not_offered(talk: Talk, store: Store) -> None:
    other = Talk(talk.folder, "other")
    other.ask("Add a login form to app.py")
    other.fire("PreCompact", trigger="auto")
    keep_life(store, "other", os.getpid())

    assert talk.start() == ""
    assert records.load(store, "claude", "other").ended_at is None


def keep_life(store: Store, session_id: str, pid: int) -> None:
    life = Life(agent="claude", session_id=session_id, store=str(store.project.store), pid=pid)
    records.keep_life(context.state_folder(), life)


@pytest.mark.accept(152)
def test_a_crashed_session_is_read_to_its_end_and_offered(talk: Talk, store: Store) -> None:
    dead = Talk(talk.folder, "dead")
    dead.ask("Add a login form to app.py")
    dead.edit("app.py")
    dead.fire("UserPromptSubmit", prompt="Add a login form to app.py")
    dead.begin("pytest -k login")
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    keep_life(store, "dead", process.pid)
    process.kill()
    process.communicate()

    text = talk.start()

    assert "a session died here" in text
    assert "Add a login form to app.py" in text
    assert "pytest -k login" in text
    assert records.load(store, "claude", "dead").end_reason == "crashed"
    assert talk.start().count("Add a login form") == text.count("Add a login form")
    assert len(store.index().newest(9)) == 1


@pytest.mark.accept(52)
def test_after_a_compaction_the_session_gets_its_own_state_back(talk: Talk, store: Store) -> None:
    save(store, "something-else")
    talk.ask("Add a login form to app.py")
    talk.edit("app.py")
    talk.say("Half done.", percent=65)
    talk.fire("UserPromptSubmit", prompt="the port is 8081")
    talk.ask("the port is 8081")
    talk.fire("PreCompact", trigger="auto")

    text = talk.start("compact")

    assert "this session was compacted" in text
    assert "the port is 8081" in text
    assert "app.py" in text
    assert "something-else" not in text


def test_a_resumed_session_gets_nothing_if_nothing_changed(talk: Talk) -> None:
    ended_session(talk.folder, talk.session_id)

    assert talk.start("resume") == ""


def test_a_file_that_was_not_there_is_not_shown_as_missing_since(talk: Talk, repo: Repo) -> None:
    talk.ask("Add a login form to app.py")
    for path in ("app.py", "only_in_the_other_worktree.py"):
        talk.edit(path)
    talk.fire("SessionEnd", reason="other")
    repo.folder.joinpath("app.py").unlink()

    text = talk.start("resume")

    assert "- missing: app.py" in text
    assert "only_in_the_other_worktree.py" not in text


def test_a_resumed_session_is_told_what_changed(talk: Talk, repo: Repo) -> None:
    ended_session(talk.folder, talk.session_id)
    repo.commit("teammate's work", {"other.py": "x = 1\n"})
    repo.git("switch", "-q", "-c", "elsewhere")

    text = talk.start("resume")

    assert "teammate's work" in text
    assert "elsewhere" in text


def test_trouble_is_reported_to_the_user_and_not_to_the_model(talk: Talk) -> None:
    trouble.note(context.state_folder(), "settle", OSError("no space"))
    data = json.dumps(talk.payload("SessionStart", source="startup")).encode()

    reply = json.loads(start.answer("claude", data, context.state_folder()))

    assert "leftoff doctor" in reply["systemMessage"]
    assert "hookSpecificOutput" not in reply


def test_a_disabled_start_says_nothing(
    talk: Talk, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(store, "login-form")
    monkeypatch.setenv("LEFTOFF_DISABLED_HOOKS", "session-start,stop")

    assert talk.start() == ""


@pytest.mark.accept(116)
@given(text=st.text(max_size=300), name=st.text(min_size=1, max_size=30))
@settings(max_examples=25, suppress_health_check=list(HealthCheck), deadline=None)
def test_whatever_is_saved_the_reply_is_one_small_json_document(
    talk: Talk, store: Store, text: str, name: str
) -> None:
    plain = {
        "summary": text,
        "next_action": {"text": text},
        "files": [{"path": f"{name}.py"}] if "\0" not in name else [],
        "pending_prompts": [text],
    }
    try:
        draft = compose(parse_fields(plain), store)
        persist.save(store, draft, name="login-form", overwrite=True)
    except Exception:  # noqa: BLE001 - what cannot be saved is not the subject here
        return
    data = json.dumps(talk.payload("SessionStart", source="startup")).encode()

    reply = start.answer("claude", data, context.state_folder())

    assert "\n" not in reply
    assert len(json.loads(reply)["hookSpecificOutput"]["additionalContext"]) < 10_000


def test_a_new_session_is_told_that_prompts_wait(talk: Talk, store: Store) -> None:
    blocked = HookEvent(
        agent="claude",
        kind="prompt",
        session_id="full",
        cwd=str(talk.folder),
        prompt="Rename the column, then rerun the migrations",
        at=1_794_767_867.0,
    )
    prompt_queue.keep(store, blocked)

    text = talk.start()

    assert "leftoff: 1 prompt was never answered." in text
    assert "- Rename the column, then rerun the migrations" in text
    assert "`leftoff prompts replay`" in text
    prompt_queue.record(store, prompt_queue.list_kept(store)[0], "replayed")
    assert talk.start() == ""


def test_a_prompt_of_a_running_session_does_not_wait(talk: Talk, store: Store) -> None:
    keep_life(store, "running", os.getpid())
    asked = HookEvent(
        agent="claude",
        kind="prompt",
        session_id="running",
        cwd=str(talk.folder),
        prompt="Rename the column, then rerun the migrations",
        at=1_794_767_867.0,
    )
    prompt_queue.keep(store, asked)

    assert talk.start() == ""


@pytest.fixture
def unsaved(talk: Talk) -> Path:
    """Leave a session of Claude Code behind that no hook saw, where the agent stores them."""
    old = Talk(talk.folder, "before-the-hooks")
    key = re.sub("[^a-zA-Z0-9]", "-", str(talk.folder))
    folder = context.read_environment().find_agent_folder("claude") / "projects" / key
    folder.mkdir(parents=True)
    old.transcript = folder / "before-the-hooks.jsonl"
    old.work()
    yesterday = old.transcript.stat().st_mtime - 86_400
    os.utime(old.transcript, (yesterday, yesterday))
    return old.transcript


def test_the_first_session_is_told_of_work_from_before_the_hooks(talk: Talk, unsaved: Path) -> None:
    text = talk.start()

    assert "leftoff: 1 session of this project has unsaved work." in text
    assert "- claude, 1d ago: Add a login form to app.py" in text
    assert "`leftoff recover`, then `leftoff resume`" in text
    assert unsaved.exists()


def test_a_store_without_checkpoints_is_empty_whatever_made_its_folders(
    talk: Talk, store: Store, unsaved: Path
) -> None:
    # `leftoff status` reads the session, which creates the store's folders.
    assert find_unsaved_work(store)
    assert (store.project.store / "checkpoints").is_dir()

    assert "1 session of this project has unsaved work" in talk.start()
    assert unsaved.exists()


def test_where_something_was_saved_no_transcript_is_read_at_the_start(
    talk: Talk, store: Store, unsaved: Path
) -> None:
    save(store, "login-form")

    assert "unsaved work" not in talk.start()
    assert unsaved.exists()


# --- the guide ---


@pytest.mark.parametrize("profile", ["guardz", "openclaw", "sail", "quoin", "harness"])
def test_a_profile_has_its_guide_mentioned_once_within_the_budget(
    talk: Talk, store: Store, monkeypatch: pytest.MonkeyPatch, profile: str
) -> None:
    monkeypatch.setenv("LEFTOFF_PROFILE", profile)
    monkeypatch.setenv("LEFTOFF_MEMORY_BUDGET", "0")
    assert talk.start().count("`leftoff guide`") == 1

    for number in range(12):
        save(store, f"work-{number}", left_off="The form has no field yet. " * 20)
    text = talk.start()

    assert text.count("`leftoff guide`") == 1
    assert estimate(text) <= profiles.load(profile).SETTINGS.get("start_budget", 400)
    assert talk.start("compact").count("`leftoff guide`") == 1


def test_without_a_profile_and_in_a_resumed_session_the_guide_is_not_mentioned(
    talk: Talk, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(store, "login-form")
    assert "leftoff guide" not in talk.start()

    monkeypatch.setenv("LEFTOFF_PROFILE", "sail")
    assert "leftoff guide" not in talk.start("resume")

"""What a session did for a thread before it ended is finished; what it did afterwards is not."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hooks.test_threads_across_sessions import TASK, chat, heads, only, resume_by_prompt, work
from leftoff import context
from leftoff.hooks import settle
from leftoff.session import sessions
from leftoff.session.unsaved_work import find_unsaved_work
from leftoff.store import LISTED, Store
from leftoff.store.layout import Action
from talk import Talk

# After anything that a test ends.
LATER = datetime.now(UTC) + timedelta(hours=1)


def find_transcript_of(talk: Talk) -> Path:
    """Return where Claude Code keeps the transcript, so that leftoff finds it without hooks."""
    name = re.sub(r"[^A-Za-z0-9]", "-", str(talk.folder))
    path = context.read_environment().home / ".claude" / "projects" / name
    path.mkdir(parents=True, exist_ok=True)
    return path / f"{talk.session_id}.jsonl"


def end_thread(store: Store, action: Action = "consumed") -> None:
    store.record(action, [store.index().heads([*LISTED], 9)[0].id])


def test_what_a_session_did_after_its_thread_ended_is_other_work(talk: Talk, store: Store) -> None:
    talk.work()
    talk.fire("PreCompact", trigger="auto")
    end_thread(store)
    chat(talk, "ok thanks", "You are welcome.")
    assert heads(store) == []

    talk.now = LATER
    talk.ask("Now rewrite the import of old backups")
    talk.edit("backup.py")
    talk.fire("SessionEnd", reason="other")

    found = only(store)
    assert found.task == "Now rewrite the import of old backups"
    assert found.name == "rewrite-import-old-backups"


@pytest.mark.parametrize("asked", ["continue", "yes please", "option 1", "thanks"])
def test_work_that_nobody_described_is_named_after_what_was_done(
    talk: Talk, store: Store, asked: str
) -> None:
    work(talk)
    later = Talk(talk.folder, "session-2")
    later.start()
    later.post("UserPromptSubmit", prompt=asked)
    later.ask(asked)
    # The thread ends before the prompt is processed, and the user agrees to something else.
    end_thread(store)
    later.now = LATER
    later.ask("yes please")
    later.edit("z.py")
    later.fire("PreCompact", trigger="auto")
    opened = only(store)
    later.edit("y.py")
    later.fire("SessionEnd", reason="other")

    assert (opened.name, opened.task) == ("edit-z", "Edit z.py")
    assert (only(store).name, only(store).task) == ("edit-z", "Edit z.py")
    assert only(store).intent is None


@pytest.mark.parametrize("is_late", [False, True], ids=["in-time", "late"])
@pytest.mark.parametrize("action", ["consumed", "dropped"])
@pytest.mark.parametrize("asked", ["continue", "yes", "finish the CSV exporter", "weiter bitte"])
def test_what_was_done_for_a_thread_before_it_ended_is_not_other_work(
    talk: Talk, store: Store, asked: str, action: Action, *, is_late: bool
) -> None:
    work(talk)
    later = Talk(talk.folder, "session-2")
    later.start()
    later.post("UserPromptSubmit", prompt=asked)
    if not is_late:
        settle.run(context.state_folder())
    later.ask(asked)
    later.edit("tests/conftest.py")
    end_thread(store, action)
    later.say("That is done.")
    later.fire("SessionEnd", reason="other")

    assert heads(store) == []
    assert store.undo() is not None
    assert only(store).task == TASK


def test_what_was_asked_and_done_before_a_thread_ended_is_finished_with_it(
    talk: Talk, store: Store
) -> None:
    work(talk)
    later = Talk(talk.folder, "session-2")
    resume_by_prompt(later)
    later.edit("writer.py")
    later.ask("and also describe the new option in docs/export.md")
    later.edit("docs/export.md")
    end_thread(store)
    later.fire("SessionEnd", reason="other")

    assert heads(store) == []


def test_what_the_agent_does_unasked_after_a_thread_was_cleared_is_named_after_it(
    talk: Talk, store: Store
) -> None:
    work(talk)
    later = Talk(talk.folder, "session-2")
    resume_by_prompt(later)
    end_thread(store, "cleared")
    later.now = LATER
    later.edit("z.py")
    later.fire("SessionEnd", reason="other")

    assert only(store).task == "Edit z.py"


@pytest.mark.parametrize("is_late", [False, True], ids=["in-time", "late"])
@pytest.mark.parametrize("goes_on", [False, True], ids=["stops", "tidies-up"])
@pytest.mark.parametrize("action", ["consumed", "dropped"])
def test_what_was_done_for_a_request_whose_thread_ended_is_finished(
    talk: Talk, store: Store, action: Action, *, goes_on: bool, is_late: bool
) -> None:
    work(talk)
    later = Talk(talk.folder, "session-2")
    later.transcript = find_transcript_of(later)
    later.now = datetime.now(UTC)
    later.start()
    later.post("UserPromptSubmit", prompt="continue")
    if not is_late:
        settle.run(context.state_folder())
    later.ask("continue")
    later.edit("tests/conftest.py")
    end_thread(store, action)
    if goes_on:
        later.now = LATER
        later.edit("z.py")
    later.say("That is done.")
    later.now = LATER + timedelta(minutes=1)
    later.ask("great, thanks!")
    later.say("You are welcome.")
    later.fire("SessionEnd", reason="other")

    assert heads(store) == []
    assert find_unsaved_work(store) == []
    assert sessions.list_dead(store, since=datetime(2026, 1, 1, tzinfo=UTC)) == []


def test_what_is_only_committed_after_a_thread_ended_is_not_other_work(
    talk: Talk, store: Store
) -> None:
    work(talk)
    later = Talk(talk.folder, "session-2")
    resume_by_prompt(later)
    (talk.folder / "writer.py").write_text("rows = iter(())\n", encoding="utf-8")
    later.edit("writer.py")
    end_thread(store)
    later.now = LATER
    later.run("git commit -qam 'Stream the rows' && git push")
    later.fire("SessionEnd", reason="other")

    assert heads(store) == []


def test_a_thread_that_was_reopened_gets_what_a_late_prompt_continued(
    talk: Talk, store: Store
) -> None:
    work(talk)
    later = Talk(talk.folder, "session-2")
    later.start()
    later.post("UserPromptSubmit", prompt="continue")
    end_thread(store)
    settle.run(context.state_folder())
    store.undo()
    later.ask("continue")
    later.edit("writer.py")
    later.fire("SessionEnd", reason="other")

    assert (only(store).task, only(store).session_id) == (TASK, "session-2")


def test_a_go_ahead_does_not_describe_what_follows_an_ended_thread(
    talk: Talk, store: Store
) -> None:
    work(talk)
    later = Talk(talk.folder, "session-2")
    resume_by_prompt(later)
    end_thread(store)
    later.now = LATER
    later.ask("Now rewrite the import of old backups")
    later.edit("backup.py")
    later.fire("SessionEnd", reason="other")

    found = only(store)

    assert found.task == "Now rewrite the import of old backups"
    assert found.name == "rewrite-import-old-backups"


@pytest.mark.parametrize("has_other", [False, True], ids=["alone", "beside-other-work"])
def test_a_session_that_names_a_declined_thread_joins_it(
    talk: Talk, store: Store, *, has_other: bool
) -> None:
    work(talk)
    store.record("declined", [only(store).id])
    if has_other:
        work(Talk(talk.folder, "session-2"), "Fix the flaky login test", "login.py")
    later = Talk(talk.folder, "session-3")
    resume_by_prompt(later, "go on with the CSV exporter")
    later.edit("writer.py")
    later.fire("SessionEnd", reason="other")

    found = {each.task: each for each in heads(store)}

    assert len(found) == (2 if has_other else 1)
    assert (found[TASK].session_id, "writer.py" in found[TASK].files_modified) == (
        "session-3",
        True,
    )


def test_a_declined_thread_is_not_joined_by_continue(talk: Talk, store: Store) -> None:
    work(talk)
    store.record("declined", [only(store).id])
    later = Talk(talk.folder, "session-2")
    resume_by_prompt(later)
    later.edit("writer.py")
    later.fire("SessionEnd", reason="other")

    assert {each.task for each in heads(store)} == {TASK, "Edit writer.py"}

"""A piece of work keeps its task, its words and its age across any number of sessions."""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from leftoff import config, context
from leftoff.checkpoint import Checkpoint
from leftoff.hooks import start
from leftoff.hooks.recover_crashed import recover
from leftoff.session import prompt_queue, records, sessions
from leftoff.session.records import Life
from leftoff.store import LISTED, Store
from leftoff.threads import persist
from stores import compose
from talk import Talk

TASK = "Port the CSV exporter to streaming writes"


def heads(store: Store) -> list[Checkpoint]:
    return [store.load(entry) for entry in store.index().heads([*LISTED], 99)]


def only(store: Store) -> Checkpoint:
    (found,) = heads(store)
    return found


def work(talk: Talk, text: str = TASK, path: str = "export.py") -> None:
    """Do something and end the session."""
    talk.ask(text)
    talk.edit(path)
    talk.say("Next I will run pytest tests/test_export.py.")
    talk.fire("SessionEnd", reason="other")


def chat(talk: Talk, asked: str, answered: str) -> None:
    talk.ask(asked)
    talk.say(answered)
    talk.fire("Stop", last_assistant_message=answered)
    talk.fire("SessionEnd", reason="other")


def resume_by_prompt(talk: Talk, prompt: str = "continue") -> None:
    talk.start()
    talk.fire("UserPromptSubmit", prompt=prompt)
    talk.ask(prompt)


def save_on_purpose(talk: Talk, store: Store, name: str, **told: object) -> None:
    session = sessions.find(store, str(talk.transcript))
    session = msgspec.structs.replace(session, session_id=talk.session_id)
    persist.save(store, compose(told, store, session=session), name=name)


@pytest.mark.parametrize("prompt", ["continue", "weiter", "go on"])
def test_the_task_stays_over_three_sessions(talk: Talk, store: Store, prompt: str) -> None:
    work(talk)
    first = only(store)
    for number in (2, 3):
        later = Talk(talk.folder, f"session-{number}")
        resume_by_prompt(later, prompt)
        later.edit(f"writer{number}.py")
        later.fire("SessionEnd", reason="other")

    found = only(store)

    assert (found.task, found.name, found.thread) == (TASK, first.name, first.id)
    assert first.name == "port-csv-exporter-streaming"
    assert {"export.py", "writer2.py", "writer3.py"} <= {*found.files_modified}
    assert found.requests == []
    assert found.session_id == "session-3"
    assert TASK in Talk(talk.folder, "session-4").start()


def test_small_talk_is_not_saved_or_offered(talk: Talk, store: Store) -> None:
    work(talk)
    before = only(store)
    chat(Talk(talk.folder, "session-2"), "What is 2+2?", "4")
    reader = Talk(talk.folder, "session-3")
    reader.ask("How does the parser read quoted fields?")
    reader.run("grep -rn quote src | head -20", "src/parser.py:1: quote")
    reader.say("It reads them character by character.")
    reader.fire("SessionEnd", reason="other")

    assert only(store) == before
    text = Talk(talk.folder, "session-4").start()
    assert "pieces of work" not in text
    assert f"leftoff resume {before.name} --accept" in text


def test_a_later_request_is_kept_and_the_task_stays(talk: Talk, store: Store) -> None:
    work(talk)
    later = Talk(talk.folder, "session-2")
    resume_by_prompt(later)
    later.ask("and afterwards update the changelog")
    later.edit("CHANGELOG.md")
    later.fire("SessionEnd", reason="other")

    found = only(store)

    assert found.task == TASK
    assert "and afterwards update the changelog" in [*found.requests, found.intent]


@pytest.mark.parametrize("words", ["ok thanks", "Thanks, bye!", "great"])
def test_a_stated_next_action_survives_thanks(talk: Talk, store: Store, words: str) -> None:
    talk.work()
    save_on_purpose(talk, store, "login-form", next_action={"text": "Run pytest -k login"})
    before = only(store)

    chat(talk, words, "You are welcome.")

    assert only(store) == before


def test_a_stated_next_action_survives_work_and_what_was_done_is_added(
    talk: Talk, store: Store
) -> None:
    talk.work()
    stated = {"next_action": {"text": "Run pytest -k login"}, "blockers": ["No key for staging"]}
    save_on_purpose(talk, store, "login-form", **stated)
    talk.edit("logout.py")
    talk.say("I will now look at the styles.")
    talk.fire("SessionEnd", reason="other")

    found = only(store)

    assert found.next_action is not None
    assert (found.next_action.text, found.next_action.origin) == ("Run pytest -k login", "stated")
    assert found.blockers == ["No key for staging"]
    assert "logout.py" in found.files_modified
    assert found.is_autosave
    assert found.name == "login-form"


@pytest.mark.parametrize("profile", ["harness", "sail"])
def test_native_files_are_not_rewritten_after_thanks(
    talk: Talk, store: Store, profile: str
) -> None:
    config.set_for(store.project, "mirror", profile)
    talk.work()
    talk.fire("Stop", last_assistant_message="Next I will run the tests.")
    save_on_purpose(talk, store, "login-form", next_action={"text": "Run pytest -k login"})
    talk.fire("Notification", message="waiting", notification_type="idle_prompt")
    before = {path: path.read_bytes() for path in _native_files(talk.folder)}
    assert any(b"Run pytest -k login" in data for data in before.values())

    chat(talk, "ok thanks", "You are welcome.")

    after = {path: path.read_bytes() for path in _native_files(talk.folder)}
    assert not any(b"Ask the user what comes next" in data for data in after.values())
    assert any(b"Run pytest -k login" in data for data in after.values())


def _native_files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and ".git/" not in str(path)]


@pytest.fixture
def old_talk(talk: Talk, store: Store) -> Talk:
    """Return a session that died four days ago, in the middle of its work."""
    then = datetime.now(UTC) - timedelta(days=4)
    for name in ("app.py", "gone.py", "kept.py"):
        path = talk.folder / name
        path.write_text("old\n", encoding="utf-8")
        os.utime(path, (then.timestamp() - 60,) * 2)
        talk.edit(name)
    talk.ask(TASK)
    talk.begin("pytest tests/test_export.py")
    lines = [json.loads(line) for line in talk.transcript.read_text().splitlines()]
    dated = [{**line, "timestamp": then.isoformat()} for line in lines]
    talk.transcript.write_text("".join(json.dumps(line) + "\n" for line in dated))
    record = records.SessionRecord(
        agent="claude",
        session_id=talk.session_id,
        cwd=str(talk.folder),
        transcript_path=str(talk.transcript),
        seen_at=then,
    )
    records.keep(store, record)
    return talk


def test_a_session_recovered_late_is_as_old_as_it_is(
    old_talk: Talk, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEFTOFF_START_BUDGET", "800")
    (old_talk.folder / "gone.py").unlink()
    (old_talk.folder / "app.py").write_text("changed since\n", encoding="utf-8")
    life = Life(
        agent="claude", session_id=old_talk.session_id, store=str(store.project.store), pid=2**30
    )
    recover(store, life)

    text = Talk(old_talk.folder, "session-2").start()

    found = only(store)
    assert timedelta(days=3) < datetime.now(UTC) - found.described_at < timedelta(days=5)
    assert "4d ago" in text
    assert "just now" not in text
    assert "gone.py" in text
    assert "app.py" in text, text
    assert found.head is None


def test_what_a_session_did_after_its_thread_ended_is_other_work(talk: Talk, store: Store) -> None:
    talk.work()
    talk.fire("PreCompact", trigger="auto")
    store.record("consumed", [store.index().heads([*LISTED], 9)[0].id])
    chat(talk, "ok thanks", "You are welcome.")
    assert heads(store) == []

    talk.ask("Now rewrite the import of old backups")
    talk.edit("backup.py")
    talk.fire("SessionEnd", reason="other")

    found = only(store)
    assert found.task == "Now rewrite the import of old backups"
    assert found.name == "rewrite-import-old-backups"


def test_a_fork_continues_the_thread_of_its_session(talk: Talk, store: Store) -> None:
    work(talk)
    fork = Talk(talk.folder, "session-fork")
    fork.transcript.write_bytes(talk.transcript.read_bytes())
    fork.edit("writer.py")
    fork.fire("SessionEnd", reason="other")

    assert only(store).task == TASK


def test_a_save_under_a_name_renames_what_a_hook_named(talk: Talk, store: Store) -> None:
    talk.work()
    talk.fire("PreCompact", trigger="auto")
    first = only(store)

    save_on_purpose(talk, store, "login-form")
    save_on_purpose(talk, store, "login-form", next_action={"text": "Run pytest"})

    found = only(store)
    assert (found.name, found.thread) == ("login-form", first.id)
    assert store.find(first.name or "").name == "login-form"


def test_undoing_nothing_a_resume_joins_and_the_log_knows_it(talk: Talk, store: Store) -> None:
    work(talk)
    thread = only(store).thread
    later = Talk(talk.folder, "session-2")
    resume_by_prompt(later)

    joined = store.index().find_open_thread("session-2")

    assert joined is not None
    assert joined.slot == thread
    assert joined.state == "resumed"


def test_where_resuming_is_always_confirmed_a_prompt_joins_nothing(
    talk: Talk, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    work(talk)
    monkeypatch.setenv("LEFTOFF_CONFIRM", "always")

    resume_by_prompt(Talk(talk.folder, "session-2"), "where did we stop?")

    assert store.index().find_open_thread("session-2") is None
    assert only(store).session_id == talk.session_id


def test_the_user_is_told_in_one_line_that_reads_well(talk: Talk, store: Store) -> None:
    told = {"summary": TASK, "next_action": {"text": "run pytest tests/test_export.py"}}
    persist.save(store, compose(told, store), name="port-csv-exporter")
    data = json.dumps(talk.payload("SessionStart", source="startup")).encode()
    in_two_hours = datetime.now(UTC) + timedelta(hours=2, minutes=1)

    reply = start.answer("claude", data, context.state_folder(), now=lambda: in_two_hours)

    assert json.loads(reply)["systemMessage"] == (
        'leftoff: "port-csv-exporter" was left off 2 hours ago: run pytest tests/test_export.py. '
        'Say "continue" to go on.'
    )


@pytest.mark.parametrize("asked", ["continue", "yes please", "option 1", "thanks"])
def test_work_that_nobody_described_is_named_after_what_was_done(
    talk: Talk, store: Store, asked: str
) -> None:
    work(talk)
    later = Talk(talk.folder, "session-2")
    later.start()
    later.post("UserPromptSubmit", prompt=asked)
    later.ask(asked)
    # The thread ends before the prompt is processed.
    store.record("consumed", [store.index().heads([*LISTED], 9)[0].id])
    later.edit("z.py")
    later.fire("PreCompact", trigger="auto")
    opened = only(store)
    later.edit("y.py")
    later.fire("SessionEnd", reason="other")

    assert (opened.name, opened.task) == ("edit-z-py", "Edit z.py")
    assert (only(store).name, only(store).task) == ("edit-z-py", "Edit z.py")
    assert only(store).intent is None


def test_a_go_ahead_does_not_describe_what_follows_an_ended_thread(
    talk: Talk, store: Store
) -> None:
    work(talk)
    later = Talk(talk.folder, "session-2")
    resume_by_prompt(later)
    store.record("consumed", [store.index().heads([*LISTED], 9)[0].id])
    later.ask("Now rewrite the import of old backups")
    later.edit("backup.py")
    later.fire("SessionEnd", reason="other")

    found = only(store)

    assert found.task == "Now rewrite the import of old backups"
    assert found.name == "rewrite-import-old-backups"


CART = "Add discounts to the shopping cart"


@pytest.mark.parametrize(
    "prompt",
    [
        "let's continue with the cart",
        "Continue with the shopping cart, please",
        "go on with the discounts",
        "ok, back to the cart",
        "weiter mit dem cart",
        "continuons avec le cart",
    ],
)
def test_a_prompt_joins_the_thread_that_it_names(talk: Talk, store: Store, prompt: str) -> None:
    work(talk, CART, "cart.py")
    work(Talk(talk.folder, "session-2"))
    later = Talk(talk.folder, "session-3")
    resume_by_prompt(later, prompt)
    later.edit("discounts.py")
    later.fire("SessionEnd", reason="other")

    found = {each.name: each for each in heads(store)}

    assert {*found} == {"add-discounts-shopping-cart", "port-csv-exporter-streaming"}
    cart = found["add-discounts-shopping-cart"]
    assert (cart.task, cart.session_id, cart.requests) == (CART, "session-3", [])
    assert cart.intent == CART
    assert "discounts.py" in cart.files_modified


@pytest.mark.parametrize(
    ("prompt", "task", "name"),
    [
        ("let's continue with the invoice printer", "the invoice printer", "invoice-printer"),
        ("continue with the writes", "the writes", "writes-session"),
    ],
)
def test_a_prompt_that_names_no_thread_or_several_is_a_request(
    talk: Talk, store: Store, prompt: str, task: str, name: str
) -> None:
    work(talk)
    work(Talk(talk.folder, "session-2"), "Make the cache use atomic writes", "cache.py")
    later = Talk(talk.folder, "session-3")
    resume_by_prompt(later, prompt)
    later.edit("invoice.py")
    later.fire("SessionEnd", reason="other")

    (found,) = (each for each in heads(store) if each.session_id == "session-3")

    assert len(heads(store)) == 3
    assert (found.task, found.intent, found.name) == (task, prompt, name)


def test_a_prompt_in_the_middle_of_other_work_joins_nothing(talk: Talk, store: Store) -> None:
    work(talk, CART, "cart.py")
    later = Talk(talk.folder, "session-2")
    later.start()
    later.ask("Write a parser for invoices")
    later.edit("invoice.py")
    later.fire("UserPromptSubmit", prompt="go on with the cart")
    later.fire("SessionEnd", reason="other")

    assert {each.task for each in heads(store)} == {CART, "Write a parser for invoices"}


WAITING = "Then add a changelog entry for it"


@pytest.fixture
def killed(talk: Talk, store: Store) -> Checkpoint:
    """Return what a session left that died in a call, with a prompt in its queue."""
    talk.start()
    talk.ask(TASK)
    talk.edit("export.py")
    talk.begin("python migrate.py --all")
    talk.line(type="queue-operation", operation="enqueue", content=WAITING)
    talk.fire("PreToolUse", tool_name="Bash", tool_input={"command": "python migrate.py --all"})
    place = str(store.project.store)
    recover(store, Life(agent="claude", session_id=talk.session_id, store=place, pid=2**30))
    found = only(store)
    assert found.in_flight is not None
    assert found.pending_prompts == [WAITING]
    return found


def test_what_a_crash_left_stays_until_a_session_deals_with_it(
    killed: Checkpoint, talk: Talk, store: Store
) -> None:
    later = Talk(talk.folder, "session-2")
    resume_by_prompt(later)
    later.say("OK, going on. Next I will update CHANGELOG.md.")
    later.fire("Stop", last_assistant_message="OK, going on. Next I will update CHANGELOG.md.")
    later.fire("SessionEnd", reason="other")

    assert only(store).in_flight == killed.in_flight
    assert only(store).pending_prompts == [WAITING]
    assert WAITING in Talk(talk.folder, "session-3").start()

    last = Talk(talk.folder, "session-4")
    resume_by_prompt(last)
    last.run("python migrate.py --all", "migrated")
    last.edit("CHANGELOG.md")
    last.fire("SessionEnd", reason="other")

    assert only(store).in_flight is None
    assert only(store).pending_prompts == []


def test_a_call_clears_what_was_interrupted_and_the_prompt_still_waits(
    killed: Checkpoint, talk: Talk, store: Store
) -> None:
    later = Talk(talk.folder, "session-2")
    resume_by_prompt(later)
    later.run("git status", "clean")
    later.ask("and use the new writer class everywhere")
    later.fire("SessionEnd", reason="other")

    assert killed.in_flight is not None
    assert only(store).session_id == "session-2"
    assert only(store).in_flight is None
    assert only(store).pending_prompts == [WAITING]
    assert [each.text for each in prompt_queue.pending(store)] == [WAITING]


@pytest.mark.parametrize("fate", ["asked again", "dropped"])
def test_a_prompt_that_was_dealt_with_does_not_come_back(
    killed: Checkpoint, talk: Talk, store: Store, fate: str
) -> None:
    (waiting,) = prompt_queue.pending(store)
    later = Talk(talk.folder, "session-2")
    resume_by_prompt(later)
    if fate == "asked again":
        later.fire("UserPromptSubmit", prompt=WAITING)
        later.ask(WAITING)
    else:
        prompt_queue.record(store, waiting, "dropped")
    later.say("There is one already.")
    later.fire("Stop", last_assistant_message="There is one already.")
    later.fire("SessionEnd", reason="other")

    assert killed.pending_prompts == [WAITING]
    assert only(store).pending_prompts == []

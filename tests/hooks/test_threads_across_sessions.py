"""A piece of work keeps its task, its words and its age across any number of sessions."""

import json
import os
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

import leftoff
from gitrepo import Repo
from leftoff import config, context
from leftoff.checkpoint import Checkpoint
from leftoff.git import query
from leftoff.hooks import start
from leftoff.hooks.recover_crashed import recover
from leftoff.mcp import mcp_prompts
from leftoff.session import prompt_queue, records, sessions
from leftoff.session.records import Life
from leftoff.store import LISTED, Store
from leftoff.threads import briefing, persist
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


def save_on_purpose(talk: Talk, store: Store, name: str, **fields: object) -> None:
    session = sessions.find(store, str(talk.transcript))
    session = msgspec.structs.replace(session, session_id=talk.session_id)
    persist.save(store, compose(fields, store, session=session), name=name)


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
    assert "threads were left off" not in text
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
    # No hook saw it, but git's own log says that HEAD was there four days ago.
    assert found.head == query.find_head_sha(old_talk.folder)
    assert found.dirty == ["kept.py"]


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
    fields = {"summary": TASK, "next_action": {"text": "run pytest tests/test_export.py"}}
    persist.save(store, compose(fields, store), name="port-csv-exporter")
    data = json.dumps(talk.payload("SessionStart", source="startup")).encode()
    in_two_hours = datetime.now(UTC) + timedelta(hours=2, minutes=1)

    reply = start.answer("claude", data, context.state_folder(), now=lambda: in_two_hours)

    assert json.loads(reply)["systemMessage"] == (
        'leftoff: "port-csv-exporter" was left off 2 hours ago: run pytest tests/test_export.py. '
        'Say "continue" to go on.'
    )


CART = "Add discounts to the shopping cart"


@pytest.mark.parametrize(
    "prompt",
    [
        "let's continue with the cart",
        "Continue with the shopping cart, please",
        "go on with the discounts",
        "continue with the carts thing",
        "go on with the discount work again",
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
    "prompt", ["let's go on with the shopping cart", "keep going with that", "keep going"]
)
def test_after_a_greeting_a_prompt_still_joins_the_thread_that_was_offered(
    talk: Talk, store: Store, prompt: str
) -> None:
    work(talk, CART, "cart.py")
    later = Talk(talk.folder, "session-2")
    later.start()
    for said, answer in (("hi", "Hello! Shall we go on?"), (prompt, "")):
        later.fire("UserPromptSubmit", prompt=said)
        later.ask(said)
        if answer:
            later.say(answer)
            later.fire("Stop", last_assistant_message=answer)
    later.edit("discounts.py")
    later.fire("SessionEnd", reason="other")

    assert (only(store).task, only(store).session_id) == (CART, "session-2")


@pytest.mark.parametrize(("prompt", "is_joined"), [("go on with {name}", True), ("hello", False)])
def test_a_prompt_joins_the_thread_that_it_names_although_another_session_is_open(
    talk: Talk, store: Store, prompt: str, *, is_joined: bool
) -> None:
    """Codex's daemon keeps a session for a minute after its window was closed."""
    work(talk)
    second, third = Talk(talk.folder, "two"), Talk(talk.folder, "three")
    resume_by_prompt(second)
    assert "work was left off here" not in third.start()

    asked = prompt.format(name=only(store).name)
    third.fire("UserPromptSubmit", prompt=asked)
    third.ask(asked)

    assert (store.index().find_open_thread("three") is not None) == is_joined


def test_a_prompt_that_names_a_thread_and_comes_before_the_start_leaves_the_offer(
    talk: Talk, store: Store
) -> None:
    """Copilot CLI runs both hooks at the same time."""
    work(talk)
    beside, later = Talk(talk.folder, "two"), Talk(talk.folder, "three")
    beside.start()
    beside.fire("UserPromptSubmit", prompt="Draw a logo")

    later.fire("UserPromptSubmit", prompt=f"continue {only(store).name}")

    assert "leftoff: work was left off here." in later.start()


def test_a_prompt_that_is_processed_late_joins_the_thread_that_it_names(
    talk: Talk, store: Store
) -> None:
    work(talk, CART, "cart.py")
    later = Talk(talk.folder, "session-2")
    later.start()
    later.post("UserPromptSubmit", prompt="go on with the cart")
    later.ask("go on with the cart")
    later.edit("discounts.py")
    later.fire("SessionEnd", reason="other")

    assert (only(store).task, only(store).session_id) == (CART, "session-2")
    assert "discounts.py" in only(store).files_modified


def test_what_a_go_ahead_answers_is_not_shown_for_an_older_request(
    talk: Talk, store: Store
) -> None:
    talk.ask(TASK)
    talk.ask("and afterwards update the changelog of the library")
    talk.edit("export.py")
    talk.fire("SessionEnd", reason="other")
    later = Talk(talk.folder, "session-2")
    later.start()
    later.say("Shall I go on with the tests?")
    later.fire("UserPromptSubmit", prompt="continue")
    later.ask("continue")
    later.edit("writer.py")
    later.fire("SessionEnd", reason="other")

    found = only(store)

    assert found.intent == "and afterwards update the changelog of the library"
    assert found.answers_to is None


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


def test_a_greeting_is_not_part_of_the_task(talk: Talk, store: Store) -> None:
    talk.ask("hi")
    talk.say("Hello! What shall we do?")
    work(talk, f"good morning, {TASK}")

    found = only(store)

    assert (found.task, found.name) == (TASK, "port-csv-exporter-streaming")


def test_a_long_request_ends_with_a_whole_sentence(talk: Talk, store: Store) -> None:
    rules = " ".join(f"Rule {n} says which column follows column {n} here." for n in range(150))
    work(talk, f"{TASK}. {rules}")
    later = Talk(talk.folder, "session-2")
    resume_by_prompt(later)
    later.ask(f"Now do the importer as well. {rules}")
    later.edit("import.py")
    later.ask("And write the tests for both of them")
    later.edit("tests.py")
    later.fire("SessionEnd", reason="other")

    found = only(store)

    assert len(rules) > 7_000
    assert len(found.requests) == 1
    for text in (found.task, *found.requests):
        assert text.startswith((TASK, "Now do the importer"))
        assert text.endswith(".")


FOLLOW_UP = "and also the one in the docstring"


def test_a_follow_up_in_a_new_session_joins_the_thread_that_it_goes_on_from(
    talk: Talk, store: Store
) -> None:
    talk.now = datetime.now(UTC) - timedelta(hours=1)
    work(talk)
    later = Talk(talk.folder, "session-2")
    later.now = datetime.now(UTC)
    resume_by_prompt(later, FOLLOW_UP)
    later.edit("export.py")
    later.say("It is replaced.")
    later.fire("SessionEnd", reason="other")

    found = only(store)

    assert (found.task, found.intent) == (TASK, FOLLOW_UP)
    assert found.session_id == "session-2"


@pytest.mark.parametrize(
    ("words", "reply", "joins"),
    [
        ("Shall I also log blocked attempts?", "yes, log them with the account hashed", True),
        ("Shall I also log blocked attempts?", "No, but bump the version", True),
        ("Shall I also log blocked attempts?", "Add a parser for invoices", False),
        ("Next I will run pytest tests/test_export.py.", "yes, we have no parser. Add one", False),
    ],
)
def test_an_answer_to_the_question_of_the_offer_joins_the_thread(
    talk: Talk, store: Store, words: str, reply: str, *, joins: bool
) -> None:
    talk.ask(TASK)
    talk.edit("export.py")
    talk.say(words)
    talk.fire("SessionEnd", reason="other")
    later = Talk(talk.folder, "session-2")
    resume_by_prompt(later, reply)
    later.edit("log.py")
    later.fire("SessionEnd", reason="other")

    assert [each.task for each in heads(store)] == ([TASK] if joins else [reply, TASK])


@pytest.mark.parametrize("fate", ["left", "checked", "committed"])
def test_a_failure_that_a_session_left_stays_until_something_overtakes_it(
    talk: Talk, store: Store, repo: Repo, fate: str
) -> None:
    talk.ask(TASK)
    talk.edit("export.py")
    talk.run("make test", "a.py:3: error: no rows", ok=False)
    talk.say("The rows stream, but make test fails.")
    talk.fire("SessionEnd", reason="other")
    before = only(store).next_action
    later = Talk(talk.folder, "session-2")
    resume_by_prompt(later)
    later.edit("docs.py")
    if fate == "checked":
        later.run("pytest tests", "3 passed")
    if fate == "committed":
        repo.git("commit", "-q", "--allow-empty", "-m", "Stream the rows")
    later.say("The docstring is written.")
    later.fire("SessionEnd", reason="other")

    found = only(store)

    assert before is not None
    assert before.text.startswith("Fix what made `make test` fail: a.py:3: error: no rows")
    assert (found.next_action == before) is (fate == "left")
    assert (found.last_failure is not None) is (fate == "left")


@pytest.mark.parametrize("doubt", ["two threads", "days later", "in the middle"])
def test_a_follow_up_in_doubt_opens_a_thread_of_its_own(
    talk: Talk, store: Store, doubt: str
) -> None:
    talk.now = datetime.now(UTC) - timedelta(days=2 if doubt == "days later" else 0)
    work(talk)
    if doubt == "two threads":
        work(Talk(talk.folder, "session-2"), CART, "cart.py")
    later = Talk(talk.folder, "session-3")
    if doubt == "in the middle":
        resume_by_prompt(later, "Write a parser for invoices")
        later.edit("invoice.py")
        later.fire("UserPromptSubmit", prompt=FOLLOW_UP)
        later.ask(FOLLOW_UP)
    else:
        resume_by_prompt(later, FOLLOW_UP)
    later.edit("docs.py")
    later.fire("SessionEnd", reason="other")

    assert "session-3" in {each.session_id for each in heads(store)}
    assert len(heads(store)) == 2 + (doubt == "two threads")


def test_calls_of_all_sessions_since_the_next_action_was_stated_are_listed(
    talk: Talk, store: Store
) -> None:
    talk.work()
    save_on_purpose(talk, store, "login-form", next_action={"text": "Run pytest -k login"})
    for number in (2, 3):
        later = Talk(talk.folder, f"session-{number}")
        resume_by_prompt(later)
        later.edit(f"step{number}.py")
        later.run(f"make step{number}", "ok")
        later.fire("Stop", last_assistant_message="")
        later.fire("SessionEnd", reason="other")

    text = briefing.render(only(store), None, budget=1500)

    since = text.partition("Since that was said:\n")[2]
    assert since.startswith(
        "- edited step2.py\n- Bash make step2: ok\n- edited step3.py\n- Bash make step3: ok\n"
    )
    data = json.dumps(Talk(talk.folder, "session-4").payload("SessionStart", source="startup"))
    reply = json.loads(start.answer("claude", data.encode(), context.state_folder()))
    # The user need not repeat what was done since.
    assert "run pytest -k login. Work has continued since then." in reply["systemMessage"]


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
    assert [each.text for each in prompt_queue.list_pending(store)] == [WAITING]
    last.say("The changelog has its entry.")
    last.fire("Stop", last_assistant_message="The changelog has its entry.")
    last.fire("SessionEnd", reason="other")

    assert only(store).in_flight is None
    assert only(store).pending_prompts == []
    assert prompt_queue.list_pending(store) == []
    assert [each.fate for each in prompt_queue.history(store)] == ["answered"]


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
    assert [each.text for each in prompt_queue.list_pending(store)] == [WAITING]


@pytest.mark.parametrize("fate", ["asked again", "dropped"])
def test_a_prompt_that_was_dealt_with_does_not_come_back(
    killed: Checkpoint, talk: Talk, store: Store, fate: str
) -> None:
    (waiting,) = prompt_queue.list_pending(store)
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


@pytest.mark.parametrize(
    ("more", "requests"),
    [
        ("", []),
        ("Then update the changelog, too.", ["Then update the changelog, too."]),
    ],
)
def test_a_session_that_was_given_the_briefing_as_its_prompt_goes_on_with_the_thread(
    store: Store, repo: Repo, more: str, requests: list[str]
) -> None:
    work(Talk(repo.folder, "one"))
    head = only(store)
    shown = briefing.render(head, None, budget=2000)
    found = f"leftoff: work was left off here.\n{shown}\n\nTo resume it, run `leftoff resume x`.\n"
    talk = Talk(repo.folder, "two")
    talk.start()
    talk.ask(f"{found}{more}")
    talk.edit("tests/test_export.py")
    talk.say("Next I will run the linter.")
    talk.fire("SessionEnd", reason="other")

    now = only(store)
    assert (now.thread, now.name, now.session_id) == (head.thread, head.name, "two")
    assert now.task == TASK
    asked = [each for each in (*now.requests, now.intent) if each not in {TASK, None}]
    assert asked == requests
    assert {"export.py", "tests/test_export.py"} <= {*now.files_modified}
    assert "leftoff-briefing" not in str(now)


def test_the_briefing_of_work_from_elsewhere_brings_its_task(store: Store, repo: Repo) -> None:
    text = (
        "<leftoff-briefing>\nCheckpoint: csv-export. Left off 2026-11-18 02:07 (just now).\n"
        f"Task: {TASK}\nNext action: Run it.\n</leftoff-briefing>\n"
    )
    work(Talk(repo.folder, "two"), text)

    assert only(store).task == TASK


def test_the_words_of_an_earlier_session_are_not_the_last_ones_after_other_calls(
    talk: Talk, store: Store
) -> None:
    work(talk)
    assert only(store).left_off == "Next I will run pytest tests/test_export.py."
    later = Talk(talk.folder, "session-2")
    resume_by_prompt(later)
    later.edit("app.py")
    later.fire("SessionEnd", reason="other")

    assert only(store).session_id == "session-2"
    assert only(store).left_off is None


def test_a_go_ahead_that_is_processed_before_the_start_joins_as_well(
    talk: Talk, store: Store
) -> None:
    talk.work()
    talk.fire("SessionEnd", reason="other")
    later = Talk(talk.folder, "session-2")
    later.ask("continue")

    # Copilot CLI runs the hooks for the start and the first prompt at once.
    later.fire("UserPromptSubmit", prompt="continue")
    assert later.start()
    later.edit("views.py")
    later.fire("SessionEnd", reason="other")

    found = only(store)
    assert (found.task, found.session_id) == ("Add a login form to app.py", "session-2")


def test_what_nobody_offers_is_not_joined_later(talk: Talk, store: Store) -> None:
    talk.ask("continue")
    talk.fire("UserPromptSubmit", prompt="continue")
    assert not talk.start()
    work(Talk(talk.folder, "session-2"))
    talk.edit("views.py")
    talk.fire("SessionEnd", reason="other")

    assert {each.session_id for each in heads(store)} == {talk.session_id, "session-2"}


def exchange(talk: Talk, asked: str, answered: str) -> None:
    """Ask and answer something in a session that goes on."""
    talk.fire("UserPromptSubmit", prompt=asked)
    talk.ask(asked)
    talk.say(answered)
    talk.fire("Stop", last_assistant_message=answered)


@pytest.mark.parametrize("prompt", ["continue", "let's go on with the shopping cart"])
def test_a_session_that_only_talked_joins_after_the_agent_has_resumed_it(
    talk: Talk, store: Store, prompt: str
) -> None:
    work(talk, CART, "cart.py")
    later = Talk(talk.folder, "session-2")
    later.start()
    exchange(later, "hi", "Hello! Shall we go on?")
    later.fire("SessionEnd", reason="other")
    later.start("resume")
    later.fire("UserPromptSubmit", prompt=prompt)
    later.ask(prompt)
    later.edit("discounts.py")
    later.fire("SessionEnd", reason="other")

    assert (only(store).task, only(store).session_id) == (CART, "session-2")


@pytest.mark.parametrize(("prompt", "count"), [("back to the cart", 1), ("continue", 2)])
def test_after_a_question_only_the_name_of_the_thread_joins_it(
    talk: Talk, store: Store, prompt: str, count: int
) -> None:
    work(talk, CART, "cart.py")
    later = Talk(talk.folder, "session-2")
    later.start()
    exchange(later, "Explain how the tax of an order is computed here", "By its country.")
    later.post("UserPromptSubmit", prompt=prompt)
    later.ask(prompt)
    later.edit("discounts.py")
    later.fire("SessionEnd", reason="other")

    assert len(heads(store)) == count


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Hello! Shall we go on with the discounts?", "yes"),
        ("Which one?\n1. The CSV exporter\n2. The shopping cart", "2"),
        ("Which one?\n1. The CSV exporter\n2. The shopping cart", "the second one"),
    ],
)
def test_an_answer_joins_the_thread_that_the_agent_asked_about(
    talk: Talk, store: Store, said: str, answer: str
) -> None:
    work(talk, CART, "cart.py")
    work(Talk(talk.folder, "session-2"))
    later = Talk(talk.folder, "session-3")
    later.start()
    exchange(later, "hi", said)
    later.fire("UserPromptSubmit", prompt=answer)
    later.ask(answer)
    later.edit("discounts.py")
    later.fire("SessionEnd", reason="other")

    assert {each.task: each.session_id for each in heads(store)} == {
        CART: "session-3",
        TASK: "session-2",
    }


@pytest.mark.parametrize(
    ("typed", "joined"),
    [("/leftoff:continue", True), ("/leftoff:continue cart", True), ("/leftoff:list", False)],
)
def test_a_slash_command_that_an_agent_expands_joins_the_thread(
    talk: Talk, store: Store, typed: str, *, joined: bool
) -> None:
    work(talk, CART, "cart.py")
    shipped = Path(leftoff.__file__).parent / "skill" / "gemini" / "continue.toml"
    below = tomllib.loads(shipped.read_text(encoding="utf-8"))["prompt"].split("\n", 2)[2]
    later = Talk(talk.folder, "session-2")
    later.start()
    later.fire("UserPromptSubmit", prompt=f"{typed}\n{below}")

    assert (store.index().find_joined("session-2") is not None) is joined


def test_a_slash_command_that_is_processed_late_joins_the_thread_that_it_names(
    talk: Talk, store: Store
) -> None:
    work(talk, CART, "cart.py")
    work(Talk(talk.folder, "session-2"))
    later = Talk(talk.folder, "session-3")
    later.start()
    # Gemini CLI leaves the command out of its transcript.
    later.edit("discounts.py")
    later.say("The discounts are there. Next I will round them.")
    later.fire("UserPromptSubmit", prompt="/leftoff:continue cart")
    later.fire("SessionEnd", reason="other")

    assert {each.task: each.session_id for each in heads(store)}[CART] == "session-3"


# The files of leftoff's commands, and the mark in whose place an agent puts the words after it.
EXPANSIONS = {
    "gemini": ("gemini/{}.toml", "{{args}}"),
    "opencode": ("opencode/leftoff-{}.md", "$ARGUMENTS"),
    # Cursor sends what was typed, the file's text, or both.
    "cursor": ("cursor/leftoff-{}.md", ""),
    "typed": ("", "/leftoff-"),
    "bare": ("", "/"),
    # The prompts of the MCP server, which agents offer as commands of their own.
    "mcp": ("", ""),
}


def expand(agent: str, command: str, words: str = "") -> str:
    """Return the message that an agent makes of a slash command of leftoff."""
    file, mark = EXPANSIONS[agent]
    if agent == "mcp":
        built = mcp_prompts.build({"name": command, "arguments": {"name": words}})
        return str(built["messages"][0]["content"]["text"])
    if not file:
        return f"{mark}{command} {words}".strip()
    shipped = Path(leftoff.__file__).parent / "skill" / file.format(command)
    text = shipped.read_text(encoding="utf-8")
    if agent == "gemini":
        text = tomllib.loads(text)["prompt"]
    text = text.split("---\n", 2)[-1]
    return text.replace(mark, words).strip() if mark else f"{text.strip()}\n{words}".strip()


@pytest.mark.parametrize("agent", EXPANSIONS)
def test_slash_commands_join_and_save_and_are_never_a_task(
    talk: Talk, store: Store, agent: str
) -> None:
    work(talk, CART, "cart.py")
    later = Talk(talk.folder, "session-2")
    later.start()
    for prompt in (expand(agent, "continue"), expand(agent, "checkpoint", "before lunch")):
        exchange(later, prompt, "Done.")
    later.edit("discounts.py")
    later.fire("SessionEnd", reason="other")

    saved = only(store)
    assert (saved.task, saved.session_id) == (CART, "session-2")
    assert (saved.requests, saved.pending_prompts) == ([], [])
    assert "leftoff guide" not in str(saved)
    assert "Call leftoff's" not in str(saved)


@pytest.mark.parametrize("agent", EXPANSIONS)
def test_a_slash_command_that_begins_a_session_is_not_its_task(
    talk: Talk, store: Store, agent: str
) -> None:
    for command in ("continue", "checkpoint"):
        prompt = expand(agent, command, "cart")
        exchange(talk, prompt, "There is nothing to continue.")
    exchange(talk, CART, "Done.")
    talk.edit("cart.py")
    talk.fire("SessionEnd", reason="other")

    assert [each.task for each in heads(store)] == [CART]


def test_a_slash_command_without_a_name_joins_none_of_several_threads(
    talk: Talk, store: Store
) -> None:
    work(talk, CART, "cart.py")
    work(Talk(talk.folder, "session-2"))
    later = Talk(talk.folder, "session-3")
    later.start()
    later.fire("UserPromptSubmit", prompt="/leftoff:continue")

    assert store.index().find_joined("session-3") is None


@pytest.mark.parametrize("prompt", ["👍", "cool", "good morning", "vas-y !", "so, please"])
def test_work_after_nothing_but_go_aheads_belongs_to_what_was_offered(
    talk: Talk, store: Store, prompt: str
) -> None:
    work(talk)
    later = Talk(talk.folder, "session-2")
    resume_by_prompt(later, prompt)
    later.edit("writer.py")
    later.say("writer.py is written.")
    later.ask("thanks")
    later.fire("SessionEnd", reason="other")

    found = only(store)

    assert (found.task, found.session_id) == (TASK, "session-2")


@pytest.mark.parametrize("prompt", ["fix typo", "/review 12", "/review"])
def test_a_short_request_or_a_command_is_other_work_than_what_was_offered(
    talk: Talk, store: Store, prompt: str
) -> None:
    work(talk)
    later = Talk(talk.folder, "session-2")
    resume_by_prompt(later, prompt)
    later.say("It has a typo. Shall I fix it?")
    later.fire("UserPromptSubmit", prompt="yes")
    later.ask("yes")
    later.edit("README.md")
    later.fire("SessionEnd", reason="other")

    assert len(heads(store)) == 2
    assert [each.session_id for each in heads(store) if each.task == TASK] == ["session-1"]


def test_an_answer_joins_the_thread_whose_question_it_answers(talk: Talk, store: Store) -> None:
    login = Talk(talk.folder, "session-2")
    login.ask("Fix the flaky login test")
    login.edit("login.py")
    login.say("I froze the clock. Shall I also remove the retry decorator?")
    login.fire("SessionEnd", reason="other")
    work(talk)
    later = Talk(talk.folder, "session-3")
    resume_by_prompt(later, "yes remove it")
    later.edit("retry.py")
    later.fire("SessionEnd", reason="other")

    found = {each.task: each.session_id for each in heads(store)}

    assert found == {TASK: "session-1", "Fix the flaky login test": "session-3"}


def test_thanks_do_not_clutter_the_next_action(talk: Talk, store: Store) -> None:
    talk.ask("hello")
    talk.say("Hello! What can I do for you?")
    talk.ask(TASK)
    talk.edit("export.py")
    talk.say("export.py is written. Next I will run pytest tests/test_export.py.")
    chat(talk, "danke", "Gern!")

    found = only(store)

    assert found.next_action is not None
    assert found.next_action.text == "Run pytest tests/test_export.py."
    # "What can I do for you?" is nothing that the task answers.
    assert "It answers" not in Talk(talk.folder, "session-2").start()


@pytest.mark.parametrize(
    ("said", "prompt", "joins"),
    [
        ("It returns pages.", "continue", True),
        ("It returns pages.", "ok", False),
        ("It returns pages. Shall I make it return rows?", "continue", False),
        ("It returns pages. Shall I make it return rows?", "yes", False),
        ("It returns pages. Shall I make it return rows?", "go on with the CSV exporter", True),
    ],
)
def test_a_go_ahead_after_a_question_may_mean_its_answer(
    talk: Talk, store: Store, said: str, prompt: str, *, joins: bool
) -> None:
    work(talk)
    later = Talk(talk.folder, "session-2")
    resume_by_prompt(later, "what does the search return?")
    later.say(said)
    later.fire("UserPromptSubmit", prompt=prompt)
    later.ask(prompt)
    later.edit("writer.py")
    later.fire("SessionEnd", reason="other")

    assert len(heads(store)) == (1 if joins else 2)


def test_what_declines_an_offer_is_not_part_of_the_task(talk: Talk, store: Store) -> None:
    work(talk, "No, let's fix the login test first")

    assert (only(store).task, only(store).name) == (
        "let's fix the login test first",
        "fix-login-test-first",
    )


def test_prompts_that_waited_stay_requests_of_the_thread(talk: Talk, store: Store) -> None:
    talk.start()
    talk.ask(TASK)
    talk.edit("export.py")
    for text in ("also handle quoted newlines", "and bump the version afterwards"):
        talk.line(type="queue-operation", operation="enqueue", content=text)
    talk.fire("SessionEnd", reason="other")
    assert only(store).pending_prompts
    later = Talk(talk.folder, "session-2")
    resume_by_prompt(later)
    later.edit("writer.py")
    later.say("Quoted newlines are handled.")
    later.fire("Stop", last_assistant_message="Quoted newlines are handled.")
    later.fire("SessionEnd", reason="other")

    assert only(store).requests == [
        "also handle quoted newlines",
        "and bump the version afterwards",
    ]


@pytest.mark.parametrize("who", ["user", "agent"])
def test_other_work_on_another_branch_is_a_thread_of_its_own(
    talk: Talk, store: Store, repo: Repo, who: str
) -> None:
    talk.now = datetime.now(UTC) - timedelta(seconds=10)
    talk.start()
    talk.fire("UserPromptSubmit", prompt=TASK)
    talk.ask(TASK)
    talk.edit("export.py")
    talk.say("Next I will run pytest tests/test_export.py.")
    talk.fire("Stop", last_assistant_message="Next I will run pytest tests/test_export.py.")
    asked = "Fix the flaky login test on a new branch"
    if who == "user":
        repo.git("checkout", "-q", "-b", "login")
    talk.now = datetime.now(UTC) + timedelta(seconds=10)
    talk.fire("UserPromptSubmit", prompt=asked)
    talk.ask(asked)
    if who == "agent":
        repo.git("checkout", "-q", "-b", "login")
    talk.edit("login.py")
    talk.say("Next I will run pytest tests/test_login.py.")
    talk.fire("Stop", last_assistant_message="Next I will run pytest tests/test_login.py.")
    talk.fire("PreCompact", trigger="auto")
    talk.edit("clock.py")
    talk.fire("SessionEnd", reason="other")

    found = {each.task: each for each in heads(store)}

    assert {*found} == {TASK, asked}
    exporter, login = found[TASK], found[asked]
    assert (exporter.branch, login.branch) == ("main", "login")
    assert (exporter.files_modified, login.files_modified) == (
        ["export.py"],
        ["clock.py", "login.py"],
    )
    assert exporter.next_action is not None
    assert exporter.next_action.text == "Run pytest tests/test_export.py."
    assert (login.requests, exporter.requests) == ([], [])


@pytest.mark.parametrize("prompt", ["continue", "and also the docstring", "what is a branch?"])
def test_who_goes_on_with_the_work_on_another_branch_stays_in_its_thread(
    talk: Talk, store: Store, repo: Repo, prompt: str
) -> None:
    talk.start()
    talk.fire("UserPromptSubmit", prompt=TASK)
    talk.ask(TASK)
    talk.edit("export.py")
    talk.say("Next I will run pytest tests/test_export.py.")
    talk.fire("Stop", last_assistant_message="Next I will run pytest tests/test_export.py.")
    repo.git("checkout", "-q", "-b", "export")
    talk.fire("UserPromptSubmit", prompt=prompt)
    talk.ask(prompt)
    talk.edit("docs.py")
    talk.fire("SessionEnd", reason="other")

    assert (only(store).task, only(store).branch) == (TASK, "export")


def test_files_of_a_session_beside_it_are_not_called_its_own(talk: Talk, store: Store) -> None:
    left, right = talk, Talk(talk.folder, "session-2")
    # The same for both, or the first would end before the second begins on a busy machine.
    begun = datetime.now(UTC)
    for each, name in ((left, "left.py"), (right, "right.py")):
        each.now = begun
        each.start()
        each.ask(f"Build the {name} page")
        (talk.folder / name).write_text("1\n", encoding="utf-8")
        each.edit(name)
    (talk.folder / "by-shell.py").write_text("1\n", encoding="utf-8")
    for each in (left, right):
        each.fire("SessionEnd", reason="other")

    by_task = {each.task: each.files_modified for each in heads(store)}

    # While both ran, nobody knew which of them changed a file through the shell.
    assert by_task["Build the left.py page"] == ["left.py"]
    assert "left.py" not in by_task["Build the right.py page"]


def test_a_number_picks_from_what_the_agent_listed_when_asked_what_is_open(
    talk: Talk, store: Store
) -> None:
    work(talk, CART, "cart.py")
    work(Talk(talk.folder, "session-2"))
    later = Talk(talk.folder, "session-3")
    resume_by_prompt(later, "what is open?")
    later.say(f"Open are:\n1. {TASK}\n2. {CART}\nWhich one shall I resume?")
    later.fire("UserPromptSubmit", prompt="2")
    later.ask("2")
    later.edit("coupon.py")
    later.fire("SessionEnd", reason="other")

    assert {each.task: each.session_id for each in heads(store)} == {
        CART: "session-3",
        TASK: "session-2",
    }


def test_a_greeting_changes_nothing_although_there_is_a_new_commit(
    talk: Talk, store: Store, repo: Repo
) -> None:
    work(talk)
    before = only(store)
    repo.commit("Rewrite the client", {"client.py": "new\n"})
    greeting = Talk(talk.folder, "session-2")
    resume_by_prompt(greeting, "hello")
    greeting.say("Hello.")
    greeting.fire("SessionEnd", reason="other")

    assert only(store) == before


@pytest.mark.parametrize("is_killed", [False, True])
@pytest.mark.parametrize("begun", ["edit", "call", "words"])
def test_a_question_about_nothing_leaves_the_next_action_as_it_was(
    talk: Talk, store: Store, begun: str, *, is_killed: bool
) -> None:
    talk.ask(TASK)
    talk.edit("export.py")
    if begun == "call":
        talk.begin("make deploy")
    elif begun == "words":
        talk.say("Next I will run the tests.")
    talk.fire("SessionEnd", reason="other")
    before = only(store).next_action
    later = Talk(talk.folder, "later")
    resume_by_prompt(later)
    later.say("Which one do you mean?")
    later.fire("Stop", last_assistant_message="Which one do you mean?")
    if is_killed:
        state = context.state_folder()
        life = records.life_of(state, "claude", "later")
        assert life is not None
        records.keep_life(state, msgspec.structs.replace(life, pid=records.GONE))
        Talk(talk.folder, "another").start()
    else:
        later.fire("SessionEnd", reason="other")

    assert only(store).next_action == before

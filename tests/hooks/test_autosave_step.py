"""Which events save a session's state, and what they leave unchanged."""

import json

import pytest

from leftoff import context
from leftoff.session import records, sessions
from leftoff.store import LISTED, CheckpointEntry, Store
from leftoff.threads import persist
from stores import compose
from talk import Talk


def saved(store: Store) -> list[CheckpointEntry]:
    return store.index().newest(100)


def triggers(store: Store) -> list[str | None]:
    return [entry.trigger for entry in saved(store)]


def test_facts_outlive_the_transcript(talk: Talk, store: Store) -> None:
    talk.work()
    talk.fire("Stop")
    talk.transcript.unlink()

    talk.fire("SessionEnd", reason="other")

    assert store.load(saved(store)[0]).intent == "Add a login form to app.py"


@pytest.mark.accept(40)
@pytest.mark.parametrize(("percent", "expected"), [(70.0, []), (71.0, ["context"])])
def test_the_state_is_saved_above_seventy_per_cent(
    talk: Talk, store: Store, percent: float, expected: list[str]
) -> None:
    talk.work(percent=percent)

    talk.fire("UserPromptSubmit", prompt="go on with the form")

    assert triggers(store) == expected


@pytest.mark.accept(25)
def test_where_only_words_count_no_next_action_is_guessed(
    talk: Talk, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEFTOFF_NEXT_ACTION", "stated")
    talk.work()

    talk.fire("SessionEnd", reason="other")

    kept = store.load(saved(store)[0])
    assert (kept.next_action, kept.intent) == (None, "Add a login form to app.py")


@pytest.mark.accept(41)
@pytest.mark.parametrize(
    "word",
    [
        *["goodnight", "晚安", "明天见", "exit", "Logout!", " Good night. "],
        *["Thanks, goodnight!", "ok bye", "Okay, thank you: see you tomorrow then.", "好的，晚安"],
    ],
)
def test_a_goodbye_saves(talk: Talk, store: Store, word: str) -> None:
    talk.work()

    talk.fire("UserPromptSubmit", prompt=word)

    assert triggers(store) == ["close"]


@pytest.mark.accept(41)
@pytest.mark.parametrize(
    "prompt",
    ["fix the exit code tomorrow's test", "say goodnight to the user", "later we refactor", "ok"],
)
def test_a_goodbye_inside_a_sentence_means_nothing(talk: Talk, store: Store, prompt: str) -> None:
    talk.work()

    talk.fire("UserPromptSubmit", prompt=prompt)

    assert saved(store) == []


@pytest.mark.parametrize(
    "prompt",
    [
        "Rename the column on Monday, good night!",
        "Benenne die Spalte am Montag um. Gute Nacht!",
        "Renomme la colonne lundi, à demain",
        "Renombra la columna el lunes. ¡Buenas noches!",
        "周一再把这一列的名字改掉，晚安",
        "月曜日に列の名前を変えてください。おやすみなさい",
    ],
)
def test_a_goodbye_at_the_end_of_a_request_saves_and_the_request_is_kept(
    talk: Talk, store: Store, prompt: str
) -> None:
    talk.work()

    talk.ask(prompt)
    talk.fire("UserPromptSubmit", prompt=prompt)

    assert triggers(store) == ["close"]
    kept = store.load(saved(store)[0])
    assert prompt in [kept.intent, *kept.requests, *kept.pending_prompts]


def age_record(talk: Talk, store: Store, seconds: int) -> None:
    """Let the session's last event lie back."""
    record = json.loads(store.read_session("claude", talk.session_id) or b"{}")
    seen = records.load(store, "claude", talk.session_id).seen_at
    assert seen is not None
    record["seen_at"] = seen.timestamp() - seconds
    record["seen_at"] = seen.fromtimestamp(record["seen_at"], seen.tzinfo).isoformat()
    store.keep_session("claude", talk.session_id, json.dumps(record).encode())


@pytest.mark.accept(42)
@pytest.mark.parametrize(
    ("event", "fields"),
    [
        ("UserPromptSubmit", {"prompt": "where were we with the form"}),
        ("Notification", {"notification_type": "idle_prompt"}),
    ],
)
def test_ten_idle_minutes_save(
    talk: Talk, store: Store, event: str, fields: dict[str, str]
) -> None:
    talk.work()
    talk.fire("Stop")
    age_record(talk, store, 601)

    talk.fire(event, **fields)

    assert triggers(store) == ["idle"]


@pytest.mark.accept(42)
def test_a_notice_of_idleness_does_not_make_the_pause_shorter(talk: Talk, store: Store) -> None:
    talk.work()
    talk.fire("Stop")
    age_record(talk, store, 301)
    talk.fire("Notification", notification_type="idle_prompt")
    age_record(talk, store, 301)

    talk.fire("UserPromptSubmit", prompt="where were we with the form")

    assert triggers(store) == ["idle"]


@pytest.mark.accept(42)
def test_a_short_pause_saves_nothing(talk: Talk, store: Store) -> None:
    talk.work()
    talk.fire("Stop")
    age_record(talk, store, 300)

    talk.fire("Notification", notification_type="idle_prompt")

    assert saved(store) == []


@pytest.mark.accept(43)
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"command": "ls"}, []),
        ({"command": "echo hi", "timeout": 30_000}, []),
        ({"command": "echo hi", "timeout": 120_000}, ["long-command"]),
        ({"command": "docker build -t app ."}, ["long-command"]),
        ({"command": "npm run build"}, ["long-command"]),
        ({"command": "cd api && terraform apply -auto-approve"}, ["long-command"]),
    ],
)
def test_a_long_command_saves_before_it_runs(
    talk: Talk, store: Store, given: dict[str, object], expected: list[str]
) -> None:
    talk.work()

    talk.fire("PreToolUse", tool_name="Bash", tool_input=given)

    assert triggers(store) == expected


@pytest.mark.accept(43)
def test_a_plan_with_more_than_three_steps_left_saves(talk: Talk, store: Store) -> None:
    talk.work()
    talk.todos(*((f"step {n}", "pending") for n in range(4)))

    talk.fire("UserPromptSubmit", prompt="go on with the form please")

    assert triggers(store) == ["long-command"]


@pytest.mark.accept(43)
@pytest.mark.parametrize(
    ("command", "expected"), [("python step.py", ["long-command"]), ("ls -l src", [])]
)
def test_a_call_with_more_than_three_steps_left_saves_unless_it_only_looks(
    talk: Talk, store: Store, command: str, expected: list[str]
) -> None:
    talk.work()
    talk.todos(*((f"step {n}", "pending") for n in range(4)))

    talk.fire("PreToolUse", tool_name="Bash", tool_input={"command": command})

    assert triggers(store) == expected


@pytest.mark.accept(46)
def test_a_session_in_which_nothing_was_asked_saves_nothing(talk: Talk, store: Store) -> None:
    talk.line(type="system", subtype="informational", content="hello")

    talk.fire("PreCompact", trigger="auto")
    talk.fire("SessionEnd", reason="other")

    assert saved(store) == []


@pytest.mark.accept(47)
def test_an_autosave_is_silent_and_leaves_one_line_in_the_log(
    talk: Talk, store: Store, capfd: pytest.CaptureFixture[str]
) -> None:
    talk.work()
    talk.fire("UserPromptSubmit", prompt="good night")
    talk.fire("UserPromptSubmit", prompt="good night")
    assert capfd.readouterr() == ("", "")

    (logged,) = store.index().newest_events(9)
    entry = store.index().get(logged.ids[0])
    assert entry is not None
    assert (logged.action, entry.trigger) == ("saved", "close")


@pytest.mark.accept(48)
def test_autosaves_never_touch_a_named_checkpoint(talk: Talk, store: Store) -> None:
    draft = compose({"summary": "Add a login form", "next_action": {"text": "x"}}, store)
    named = persist.save(store, draft, name="login-form").saved
    before = named.path.read_bytes()

    for n in range(20):
        talk.ask(f"Now make change number {n} to the form")
        talk.edit(f"form-{n}.py")
        talk.fire("PreCompact", trigger="auto")

    assert named.path.read_bytes() == before
    assert store.find("login-form").id == named.checkpoint.id
    assert triggers(store).count("precompact") == 20
    assert len(store.index().heads([*LISTED], 100)) == 2


@pytest.mark.accept(113)
@pytest.mark.parametrize("trigger", ["auto", "manual"])
def test_a_compaction_saves_first(talk: Talk, store: Store, trigger: str) -> None:
    talk.work()

    talk.fire("PreCompact", trigger=trigger)

    checkpoint = store.load(saved(store)[0])
    assert checkpoint.trigger == "precompact"
    assert checkpoint.intent == "Add a login form to app.py"
    assert checkpoint.files_modified == ["app.py"]


def test_a_compaction_that_fires_twice_saves_once(talk: Talk, store: Store) -> None:
    talk.work()

    talk.post("PreCompact", trigger="auto")
    talk.fire("PreCompact", trigger="auto")

    assert triggers(store) == ["precompact"]


@pytest.mark.accept(114)
@pytest.mark.accept(80)
def test_what_was_saved_on_purpose_is_not_saved_again(talk: Talk, store: Store) -> None:
    talk.work()
    talk.fire("Stop")
    fields = {"next_action": {"text": "Run pytest"}, "summary": "Add a login form"}
    session = known_session(talk, store)
    persist.save(store, compose(fields, store, session=session), name="login-form")
    talk.say("Saved, see you.")

    talk.fire("PreCompact", trigger="auto")
    talk.fire("SessionEnd", reason="other")

    assert triggers(store) == ["manual"]


def test_work_done_after_a_save_on_purpose_is_saved(talk: Talk, store: Store) -> None:
    talk.work()
    session = known_session(talk, store)
    persist.save(store, compose({}, store, session=session), name="login-form")
    talk.ask("And now the logout button")
    talk.edit("logout.py")

    talk.fire("SessionEnd", reason="other")

    assert triggers(store) == ["session-end", "manual"]


def known_session(talk: Talk, store: Store) -> sessions.KnownSession:
    return sessions.find(store, str(talk.transcript))


@pytest.mark.accept(80)
@pytest.mark.accept(153)
def test_what_tools_write_for_themselves_was_not_edited(talk: Talk, store: Store) -> None:
    talk.work()
    for path in ("pkg/__pycache__/a.cpython-311.pyc", "node_modules/b/index.js", "pkg/made.py"):
        (talk.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (talk.folder / path).write_text("1\n")

    talk.fire("SessionEnd", reason="prompt_input_exit")

    assert store.load(saved(store)[0]).files_modified == ["app.py", "pkg/made.py"]


def test_a_session_that_ends_without_a_save_is_saved_once(talk: Talk, store: Store) -> None:
    talk.work()

    talk.post("SessionEnd", reason="prompt_input_exit")
    talk.fire("SessionEnd", reason="prompt_input_exit")

    record = records.load(store, "claude", talk.session_id)
    assert triggers(store) == ["session-end"]
    assert record.end_reason == "prompt_input_exit"
    assert records.list_lives(context.state_folder(), store.project) == []


def test_work_for_a_slash_command_alone_is_saved(talk: Talk, store: Store) -> None:
    # Gemini CLI writes `/leftoff:continue` like this, and no request with it.
    talk.edit("app.py")
    talk.say("The form is there. Next I will run the tests.")

    talk.fire("SessionEnd", reason="other")

    (kept,) = saved(store)
    assert (kept.task, kept.next_action) == ("Edit app.py", "Run the tests.")


@pytest.mark.parametrize("is_written", [False, True])
def test_a_command_that_an_end_cuts_short_is_known_also_if_only_a_hook_saw_it(
    talk: Talk, store: Store, *, is_written: bool
) -> None:
    talk.fire("UserPromptSubmit", prompt="Add a login form to app.py")
    talk.ask("Add a login form to app.py")
    talk.edit("app.py")
    talk.fire("PreToolUse", tool_name="Bash", tool_input={"command": "make deploy"})
    if is_written:
        talk.run("make deploy", "ok")
    talk.fire("SessionEnd", reason="other")

    (entry,) = store.index().heads(["open"], 9)
    saved = store.load(entry)
    if is_written:
        assert saved.in_flight is None
    else:
        assert saved.in_flight is not None
        assert saved.in_flight.what == "make deploy"
        assert saved.next_action is not None
        assert saved.next_action.text.endswith("cut short: Bash: make deploy.")

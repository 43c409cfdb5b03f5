"""sail: append-only JSON beside plans, an index of active work, and its conventions."""

import json
import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cli.runs import Cli
from gitrepo import Repo
from leftoff import context
from leftoff.profiles import sail
from leftoff.profiles.mirror import open_mirrors
from leftoff.store import Store
from profiles import sail_kills
from profiles.sailing import folder, index_of, put, talk
from programs import run_module
from stores import Clock, contents, draft, project_at
from talk import Talk

__all__ = ["folder", "talk"]

GOLDEN = Path(__file__).parent / "golden" / "sail"
STAMPED = re.compile(r"\d{8}T\d{6}Z(-\d+)?\.json")


# Saving


@pytest.mark.accept(57)
def test_a_save_goes_with_the_active_plan_or_to_the_global_folder(cli: Cli, folder: Path) -> None:
    cli.ok("save", "--summary", "Before any plan")
    [path] = (folder / "checkpoints").iterdir()
    assert STAMPED.fullmatch(path.name)

    put(folder / "state-index.json", {"active_plan": "rate-limits", "active_plan_stage": 4})
    cli.ok("save", "--summary", "With a plan")
    [planned] = (folder / "plans" / "rate-limits" / "checkpoints").iterdir()

    assert STAMPED.fullmatch(planned.name)
    assert json.loads(planned.read_bytes())["context"]["active_plan"] == "rate-limits"
    assert [*(folder / "checkpoints").iterdir()] == [path]


@pytest.mark.accept(57)
@pytest.mark.parametrize("name", ["../../evil", "a/b", "..", ".", "a\\b", "x\0y"])
def test_a_plan_that_is_not_a_name_of_a_folder_leads_nowhere(
    cli: Cli, folder: Path, name: str
) -> None:
    put(folder / "state-index.json", {"active_plan": name})

    cli.ok("save", "--summary", "Somewhere safe")

    assert len([*(folder / "checkpoints").iterdir()]) == 1
    assert not (folder / "plans").exists()


def test_saves_with_a_plan_are_revisions_named_after_it(cli: Cli, folder: Path) -> None:
    put(folder / "state-index.json", {"active_plan": "rate-limits", "active_plan_stage": 4})
    for number in range(3):
        cli.ok("save", "--summary", f"Step {number}")

    [entry] = cli.json("list")
    assert (entry["name"], entry["summary"]) == ("rate-limits", "Step 2")
    assert len([*(folder / "plans" / "rate-limits" / "checkpoints").iterdir()]) == 3


@pytest.mark.accept(58)
def test_the_file_has_every_key_and_null_for_what_is_not_known(cli: Cli, folder: Path) -> None:
    cli.ok("save", "--summary", "Alone")
    [path] = (folder / "checkpoints").iterdir()
    native = json.loads(path.read_bytes())
    native.pop("leftoff")

    assert datetime.fromisoformat(native.pop("timestamp")).tzinfo == UTC
    assert native == {
        "summary": "Alone",
        "decisions": [],
        "next_action": None,
        "blockers": [],
        "context": {
            "active_plan": None,
            "active_plan_stage": None,
            "active_tdd_phase": None,
            "files_in_progress": [],
        },
    }


@pytest.mark.accept(58)
def test_the_file_says_what_was_stated_and_what_is_active(cli: Cli, folder: Path) -> None:
    index = {"active_plan": "p", "active_plan_stage": "challenge", "active_tdd_phase": "red"}
    put(folder / "state-index.json", index)
    words = ["--decision", "Redis :: counters survive", "--decision", "No cache"]
    cli.ok("save", "--summary=S", "--next=N", "--blocker=B", "--file=app.py", *words)

    [path] = (folder / "plans" / "p" / "checkpoints").iterdir()
    native = json.loads(path.read_bytes())

    assert native["decisions"] == ["Redis: counters survive", "No cache"]
    assert (native["next_action"], native["blockers"]) == ("N", ["B"])
    assert native["context"] == {**index, "files_in_progress": ["app.py"]}


@pytest.mark.promise("sail", 37)
@pytest.mark.accept(60)
def test_two_saves_in_one_second_are_two_files(repo: Repo) -> None:
    """D9: an append-only record must not be overwritten."""
    del repo
    moment = Clock()()
    store = Store(context.find_project(), now=lambda: moment)
    for number in range(3):
        store.save(draft(f"same-second-{number}", "Same"))
    open_mirrors(["sail"]).export_changes(store)
    store.close()

    # Each has a second of its own, because the original readers sort by seconds.
    paths = [*sail.list_natives(context.find_project().worktree / ".claude")]
    found = [(path.stem, json.loads(path.read_bytes())) for path in paths]
    stamps = [f"{moment + timedelta(seconds=number):%Y%m%dT%H%M%SZ}" for number in range(3)]
    assert [stem for stem, _ in found] == stamps
    assert {each["leftoff"]["name"] for _, each in found} == {
        f"same-second-{number}" for number in range(3)
    }
    assert [each["timestamp"].replace("-", "").replace(":", "") for _, each in found] == stamps


@pytest.mark.accept(60)
def test_the_same_words_twice_in_one_second_are_two_files(cli: Cli, folder: Path) -> None:
    for _ in range(2):
        cli.ok("save", "same-name", "--summary", "The same words")

    assert len([*(folder / "checkpoints").iterdir()]) == 2


@pytest.mark.slow("saves a thousand times")
@pytest.mark.accept(61)
def test_a_thousand_saves_change_and_delete_no_earlier_file(quick_folder: Path) -> None:
    project = project_at(quick_folder)
    project.worktree.mkdir(parents=True)
    store = Store(project, now=Clock())
    folder = project.worktree / ".claude"
    known: dict[str, str] = {}
    store.save(draft("first-of-all"))
    open_mirrors(["sail"]).export_changes(store)
    for number in range(1, 1000):
        store.save(draft(f"work-{number % 50}", f"Step {number}"), overwrite=True)
        if number % 10 == 0:
            store.record("cleared", [store.find(f"work-{number % 50}").id])
        if number % 100 == 99:
            assert open_mirrors(["sail"]).export_changes(store).problems == []
            now = contents(folder)
            assert known.items() <= now.items()
            known = now
    store.undo()
    open_mirrors(["sail"]).export_changes(store)
    store.close()

    assert len(known) == 1000
    assert contents(folder) == known


@pytest.mark.promise("sail", 35)
@pytest.mark.accept(61)
def test_no_normal_command_deletes_a_file(cli: Cli, folder: Path) -> None:
    for number in range(3):
        cli.ok("save", f"thing-{number}", "--summary", f"Thing {number}")
    before = contents(folder)

    cli.ok("resume", "thing-0", "--accept")
    cli.ok("clear", "thing-0")
    cli.ok("delete", "thing-1", "--force")
    cli.ok("undo")
    cli.ok("clear", "--all")
    cli.ok("list")

    assert contents(folder) == before


@pytest.mark.slow("kills at every moment")
@pytest.mark.accept(62)
def test_kill_9_leaves_only_whole_files_and_the_next_run_cleans_up(quick_folder: Path) -> None:
    assert int(run_module(sail_kills, str(quick_folder), "100")) >= 25
    project = project_at(quick_folder)
    folder = project.worktree / ".claude"
    for path in sail.list_natives(folder):
        assert json.loads(path.read_bytes())["summary"], path

    store = Store(project)
    store.save(draft("after-all", "After all"))
    assert open_mirrors(["sail"]).export_changes(store).problems == []
    events, _ = store.events_since(None)
    saved = {each for event in events if event.action == "saved" for each in event.ids}
    known = {entry.id for entry in store.index().newest(100_000)}
    store.close()

    kept = [json.loads(path.read_bytes())["leftoff"]["id"] for path in sail.list_natives(folder)]
    assert [*folder.rglob(".*.leftoff")] == []
    assert saved <= {*kept} <= known
    assert len(kept) == len({*kept})


@pytest.mark.accept(63)
def test_a_save_is_confirmed_in_a_box(cli: Cli, folder: Path) -> None:
    words = ["--decision", "Redis :: counters survive", "--decision", "No cache :: simple"]
    out = cli.ok("save", "--summary", "Moving limits", "--next", "Write limit.lua", *words).out
    [path] = (folder / "checkpoints").iterdir()

    lines = [line.strip() for line in out.splitlines() if line.strip("━ ")]
    assert lines == [
        "CHECKPOINT SAVED",
        f"Location: {path.relative_to(folder.parent)}",
        "Summary:  Moving limits",
        "Decisions: 2 recorded",
        "Next:     Write limit.lua",
        "This context will be surfaced on next session start.",
    ]


@pytest.mark.promise("sail", 27)
@pytest.mark.accept(64)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_in_the_index_only_the_last_checkpoint_changes(
    cli: Cli, folder: Path, newline: str
) -> None:
    text = (
        '{"active_plan":"p", "active_plan_stage": 4,\n\t"mine" : [1,  2.50, {"ü": null}],\n'
        ' "last_checkpoint":  "2026-01-01T00:00:00Z"  , "delegate_running":false }\n'
    ).replace("\n", newline)
    folder.mkdir()
    path = folder / "state-index.json"
    path.write_bytes(text.encode())

    cli.ok("save", "--summary", "Something")

    after = path.read_bytes().decode()
    stamp = index_of(folder)["last_checkpoint"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", stamp)
    assert stamp > "2026-11"
    assert after == text.replace("2026-01-01T00:00:00Z", stamp)


@pytest.mark.accept(64)
def test_a_last_checkpoint_is_added_where_there_was_none(cli: Cli, folder: Path) -> None:
    path = put(folder / "state-index.json", '{\n    "active_plan": null\n}\n')

    cli.ok("save", "--summary", "Something")

    stamp = index_of(folder)["last_checkpoint"]
    expected = f'{{\n    "active_plan": null,\n    "last_checkpoint": "{stamp}"\n}}\n'
    assert path.read_text(encoding="utf-8") == expected


@pytest.mark.promise("sail", 28)
@pytest.mark.accept(64)
def test_no_index_is_made_by_a_save(cli: Cli, folder: Path) -> None:
    cli.ok("save", "--summary", "Something")

    assert not (folder / "state-index.json").exists()


@pytest.mark.accept(64)
@pytest.mark.parametrize("text", ["{", "[]", "", '{"a": 1,}'])
def test_an_index_that_cannot_be_read_is_left_alone_and_reported(
    cli: Cli, folder: Path, text: str
) -> None:
    path = put(folder / "state-index.json", text)

    result = cli.ok("save", "--summary", "Something")

    assert path.read_text(encoding="utf-8") == text
    assert f"{path} cannot be read and was left as it is" in result.err
    assert len([*(folder / "checkpoints").iterdir()]) == 1


def test_an_index_that_is_a_link_is_not_written_through(cli: Cli, folder: Path) -> None:
    target = put(folder.parent / "elsewhere.json", {"active_plan": None})
    folder.mkdir()
    (folder / "state-index.json").symlink_to(target)

    cli.ok("save", "--summary", "Something")

    assert json.loads(target.read_bytes()) == {"active_plan": None}


# The three questions


@pytest.mark.promise("sail", 2, 5)
@pytest.mark.accept(59)
def test_on_a_terminal_exactly_three_questions_are_asked_in_order(cli: Cli, folder: Path) -> None:
    with cli.terminal("save") as terminal:
        for question, answer in (
            ("What are you currently working on?", "Moving limits to Redis"),
            ("What key decisions were made (and why)?", "Redis because counters survive; No cache"),
            ("What's the next action?", "Write limit.lua"),
        ):
            assert "?" not in terminal.expect(question)
            terminal.answer(answer)
        rest = terminal.rest()

    [path] = (folder / "checkpoints").iterdir()
    native = json.loads(path.read_bytes())
    assert terminal.code == 0
    assert "?" not in rest
    assert native["summary"] == "Moving limits to Redis"
    assert native["decisions"] == ["Redis because counters survive", "No cache"]
    assert native["next_action"] == "Write limit.lua"


@pytest.mark.promise("sail", 1)
@pytest.mark.accept(59)
def test_with_a_summary_nothing_is_asked(cli: Cli, folder: Path) -> None:
    with cli.terminal("save", "--summary", "Moving limits") as terminal:
        assert "?" not in terminal.rest()

    assert len([*(folder / "checkpoints").iterdir()]) == 1


@pytest.mark.promise("sail", 4)
@pytest.mark.accept(59)
def test_elsewhere_the_questions_are_handed_on(cli: Cli, folder: Path) -> None:
    result = cli("save")

    assert result.code == 3
    assert [each["label"] for each in result.json["choices"]] == [
        "What are you currently working on?",
        "What key decisions were made (and why)?",
        "What's the next action?",
    ]
    assert not folder.exists()


# Reading


@pytest.mark.accept(65)
def test_the_latest_is_the_one_with_the_greatest_timestamp(cli: Cli, folder: Path) -> None:
    shutil.copytree(GOLDEN / "mixed", folder)
    shutil.copytree(GOLDEN / "plain" / "plans", folder / "plans")
    cli.ok("import", "--from", "sail")

    assert cli.json("latest")["summary"] == "Newest by its timestamp"
    of_plan = cli.json("latest", "--plan", "rate-limits")
    assert of_plan["next_action"]["text"].startswith("Write src/limit.lua")
    nothing = cli("latest", "--plan", "unheard-of")
    assert (nothing.code, "unheard-of" in nothing.err) == (1, True)


@pytest.mark.promise("sail", 29, 36)
@pytest.mark.accept(66)
@pytest.mark.parametrize("is_planned", [True, False])
def test_a_new_session_is_told_the_latest_and_no_older_one(
    cli: Cli, folder: Path, talk: Talk, *, is_planned: bool
) -> None:
    """D5: more than a time stamp, and with or without a plan."""
    if is_planned:
        put(folder / "state-index.json", {"active_plan": "rate-limits"})
    cli.ok("save", "--summary", "An older thing", "--next", "Not this")
    words = ["--next", "Write limit.lua", "--blocker", "No password for staging"]
    saved = cli.json("save", "--summary", "Moving limits to Redis", *words)

    reply = talk.start()

    for text in (
        "Moving limits to Redis",
        "Write limit.lua",
        "No password for staging",
        "just now",
        saved["mirrored"][0],
    ):
        assert text in reply
    assert "An older thing" not in reply


def test_what_the_original_program_writes_is_imported(cli: Cli, folder: Path) -> None:
    cli.ok("save", "--summary", "By us")
    path = folder / "checkpoints" / "20261231T000000Z.json"
    native = {"timestamp": "2026-12-31T00:00:00Z", "summary": "By the other program"}
    path.write_text(json.dumps(native), encoding="utf-8")
    before = contents(folder)

    assert cli.json("latest")["summary"] == "By the other program"
    cli.ok("list")
    assert cli.json("import", "--from", "sail")["imported"] in {0, 1}
    assert [each["summary"] for each in cli.json("list")].count("By the other program") == 1
    assert contents(folder) == before


def test_a_file_that_is_changed_in_place_is_imported(cli: Cli, folder: Path) -> None:
    cli.ok("save", "limits", "--summary", "Move limits", "--next", "Write limit.lua")
    (path,) = (folder / "checkpoints").glob("*.json")
    edited = path.read_text(encoding="utf-8").replace("Write limit.lua", "Write test.lua")
    with path.open("r+", encoding="utf-8") as file:
        file.write(edited)
        file.truncate()

    assert cli.json("show", "limits")["next_action"]["text"] == "Write test.lua"
    assert path.read_text(encoding="utf-8") == edited


def test_what_was_imported_is_not_written_a_second_time(cli: Cli, folder: Path) -> None:
    shutil.copytree(GOLDEN / "plain", folder)
    before = contents(folder / "plans")
    cli.ok("import", "--from", "sail")

    cli.ok("save", "--summary", "One more", "--next", "Go on")

    new = contents(folder / "plans").items() - before.items()
    assert len(new) == 1
    assert before.items() <= contents(folder / "plans").items()


# Habits


@pytest.mark.accept(77)
def test_what_was_saved_because_the_context_filled_up_says_so(folder: Path, talk: Talk) -> None:
    talk.ask("Add a login form")
    talk.edit("app.py")
    talk.say("I will add the form next.", percent=77)
    talk.fire("UserPromptSubmit", prompt="Go on")

    [path] = (folder / "checkpoints").iterdir()
    stored = json.loads(path.read_bytes())["compaction_context"]

    assert stored["triggered_by_guardian"] is True
    assert stored["context_percentage_at_checkpoint"] == 77
    assert stored["key_context"]["current_task"] == "Add a login form"
    assert stored["key_context"]["last_file_edited"] == "app.py"
    assert {*stored["key_context"]} == {
        "current_task",
        "blocking_question",
        "last_file_edited",
        "next_intended_action",
        "confidence_caveat",
    }


@pytest.mark.accept(67)
def test_init_wires_the_event_only_where_the_profile_asks_for_it(cli: Cli, folder: Path) -> None:
    del folder
    settings = Path.home() / ".claude" / "settings.json"
    cli.ok("config", "set", "mirror", "", "--project")
    cli.ok("init", "--yes", "--agent", "claude")
    assert "PostToolUse" not in settings.read_text(encoding="utf-8")

    cli.ok("init", "--yes", "--agent", "claude", "--profile", "sail")

    [group] = json.loads(settings.read_text(encoding="utf-8"))["hooks"]["PostToolUse"]
    assert group["matcher"] == "Edit|Write|MultiEdit"


def test_a_folder_of_settings_is_not_taken_for_one_of_checkpoints(folder: Path) -> None:
    assert not sail.is_here(folder)
    put(folder / "settings.json", {})
    assert not sail.is_here(folder)
    put(folder / "checkpoints" / "20261115T000000Z.json", {"summary": "x"})
    assert sail.is_here(folder)

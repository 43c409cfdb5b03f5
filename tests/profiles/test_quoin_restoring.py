"""quoin's conventions at a restore: which checkpoint, which questions, what goes to the trash."""

import json
import os
import re
import shutil
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cli.runs import Cli
from gitrepo import Repo
from profiles.quoinspace import MISMATCH, OTHER, SESSION, THIRD, Workspace, in_session, work

__all__ = ["in_session", "work"]


def restored(cli: Cli, *words: str) -> Any:
    return cli.json("restore", *words)


def task(answer: Any) -> str:
    return str(answer["checkpoint"]["name"])


@pytest.fixture
def imported(cli: Cli, work: Workspace) -> Workspace:
    """Follow quoin from here on: what is there later is noticed."""
    cli.ok("save", "begin-here", "--summary", "Begin")
    cli.ok("clear", "begin-here")
    for path in work.checkpoints():
        path.unlink()
    return work


@pytest.mark.promise("quoin", 34)
@pytest.mark.accept(91)
def test_what_waits_for_this_session_is_taken_without_a_warning(
    cli: Cli, imported: Workspace, in_session: pytest.MonkeyPatch
) -> None:
    del in_session
    imported.native("own-task", SESSION, days=0.2)
    imported.native("other-task", OTHER)
    answer = restored(cli)

    assert task(answer) == "own-task"
    assert MISMATCH not in answer["said"]


@pytest.mark.promise("quoin", 35)
@pytest.mark.accept(92, 106)
def test_the_only_one_that_waits_for_another_session_is_taken_with_a_warning(
    cli: Cli, imported: Workspace, in_session: pytest.MonkeyPatch
) -> None:
    del in_session
    path = imported.native("other-task", OTHER)
    result = cli.ok("restore")

    assert result.out.startswith(f"{MISMATCH}\nResuming task: other-task.")
    assert imported.marks() == []
    assert imported.trashed() == [f"pending-restore-{OTHER}.txt"]
    assert path.exists()


@pytest.mark.promise("quoin", 36)
@pytest.mark.accept(93)
def test_of_several_that_wait_one_is_chosen(cli: Cli, imported: Workspace) -> None:
    imported.native("first-task", OTHER, days=0.5)
    imported.native("second-task", THIRD, days=0.6)
    result = cli("restore")

    day = (datetime.now(UTC) - timedelta(days=0.5)).strftime("%Y-%m-%d")
    choices = json.loads(result.out)["choices"]
    labels = {each["label"].partition(" ")[2] for each in choices}
    assert result.code == 3
    assert f"Task: first-task Branch: feat/first-task (checkpoint: {day})" in labels
    assert choices[-1]["choice"] == "skip"
    assert len(imported.marks()) == 2
    chosen = next(each for each in choices if each.get("task") == "second-task")
    assert "Resuming task: second-task." in cli.ok(*chosen["command"].split()[1:]).out
    assert imported.marks() == [OTHER]


@pytest.mark.promise("quoin", 76)
def test_undo_of_a_restore_brings_the_mark_back(cli: Cli, imported: Workspace) -> None:
    path = imported.native("first-task", OTHER, days=0.5)
    mark = imported.memory / f"pending-restore-{OTHER}.txt"
    before = mark.read_bytes()
    cli.ok("restore")
    assert imported.marks() == []

    cli.ok("undo")

    assert mark.read_bytes() == before
    assert path.exists()
    assert "Resuming task: first-task." in cli.ok("restore").out
    # An undo of something else does not.
    cli.ok("clear", "first-task")
    cli.ok("undo")
    assert imported.marks() == []


def test_a_person_reads_a_restore_without_the_marks_for_agents(
    cli: Cli, imported: Workspace
) -> None:
    imported.native("first-task", OTHER, days=0.5)
    with cli.terminal("restore") as terminal:
        shown = terminal.expect("Re-fire reads on artifacts now? [y / n] ")
        terminal.answer("n")
        terminal.rest()

    assert "Resuming task: first-task." in shown
    assert "leftoff-briefing" not in shown


@pytest.mark.promise("quoin", 75)
def test_the_one_that_was_chosen_comes_with_the_warning(cli: Cli, imported: Workspace) -> None:
    imported.native("first-task", OTHER, days=0.5)
    imported.native("second-task", THIRD, days=0.6)
    choices = json.loads(cli("restore").out)["choices"]

    shown = cli.ok(*choices[0]["command"].split()[1:]).out

    assert shown.startswith("Session-id mismatch: sentinel is from a prior session. Using it")


@pytest.mark.promise("quoin", 72)
def test_those_that_wait_are_listed_as_their_files_spell_them(
    cli: Cli, imported: Workspace
) -> None:
    imported.native("first_task", OTHER, days=0.5)
    imported.native("second_task", THIRD, days=0.6)

    choices = json.loads(cli("restore").out)["choices"]

    assert {each["task"] for each in choices[:2]} == {"first_task", "second_task"}
    assert "Task: first_task Branch: " in choices[0]["label"] + choices[1]["label"]


@pytest.mark.promise("quoin", 36)
def test_those_that_wait_are_listed_newest_mark_first(cli: Cli, imported: Workspace) -> None:
    """As `ls -t` does, whatever the checkpoints are called and when they were saved."""
    for number, (task, session) in enumerate([("b-task", OTHER), ("a-task", THIRD)]):
        mark = imported.mark(session, imported.native(task, days=0.5 - number / 100))
        age = time.time() - number * 60
        os.utime(mark, (age, age))
    choices = json.loads(cli("restore").out)["choices"]

    assert [each.get("task") for each in choices[:-1]] == ["b-task", "a-task"]


@pytest.mark.promise("quoin", 36)
def test_the_date_in_the_list_is_that_of_the_file_name_in_every_zone(
    cli: Cli, imported: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [imported.native("a-task", OTHER, days=0.5), imported.native("b-task", THIRD, days=0.6)]
    found = []
    # East of UTC first: what is imported there was saved a day earlier further west.
    for zone in ("NZST-12", "HST10"):
        with monkeypatch.context() as patch:
            patch.setenv("TZ", zone)
            time.tzset()
            choices = json.loads(cli("restore").out)["choices"][:-1]
        time.tzset()
        found.append({each["task"]: each["label"][-11:-1] for each in choices})

    assert found == [{path.stem[11:]: path.name[:10] for path in paths}] * 2


@pytest.mark.promise("quoin", 53)
def test_a_restore_in_a_copied_project_consumes_the_mark(
    cli: Cli, imported: Workspace, repo: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", OTHER)
    cli.ok("save", "first", "--summary", "First")
    cli.ok("restore")
    cli.ok("save", "second", "--summary", "Second")
    log = repo.folder / ".git/leftoff/events.jsonl"
    shutil.copy2(log, tmp_path / "copy")
    (tmp_path / "copy").replace(log)
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", THIRD)
    cli.ok("list")

    assert imported.marks() == [OTHER]
    shutil.copy2(log, tmp_path / "copy")
    (tmp_path / "copy").replace(log)
    assert "Resuming task: second." in cli.ok("restore").out
    assert imported.marks() == []
    rows = (imported.root / "second/cost-ledger.md").read_text(encoding="utf-8").splitlines()
    assert [row.split(" | ")[5] for row in rows if " | " in row] == ["save", "restore"]


@pytest.mark.promise("quoin", 37)
@pytest.mark.accept(93)
@pytest.mark.parametrize(
    ("answers", "wanted"),
    [
        (["2"], "Resuming task: "),
        (["skip"], "Resuming task: newest-task."),
        (["seven", "0"], "Resuming task: newest-task."),
    ],
)
def test_on_a_terminal_a_number_selects_and_anything_else_leads_to_the_newest(
    cli: Cli, imported: Workspace, answers: list[str], wanted: str
) -> None:
    imported.native("first-task", OTHER, days=2.5)
    imported.native("second-task", THIRD, days=2.6)
    imported.native("newest-task", days=0.1)
    with cli.terminal("restore", columns=200) as terminal:
        terminal.expect("Multiple pending-restore sentinels found. Which session do you want")
        terminal.expect("1. Task: ")
        for answer in answers:
            terminal.expect("Enter number, or 'skip' to proceed to direct checkpoint lookup:")
            terminal.answer(answer)
        terminal.expect(wanted)
        terminal.expect("Re-fire reads on artifacts now? [y / n]")
        terminal.answer("n")
        terminal.rest()


@pytest.mark.accept(93)
@pytest.mark.parametrize("answers", [["skip"], ["seven", "0"]])
def test_skipping_the_list_gives_the_newest_and_no_other_list(
    cli: Cli, imported: Workspace, answers: list[str]
) -> None:
    imported.native("first-task", OTHER, days=0.02)
    imported.native("second-task", THIRD, days=0.01)
    with cli.terminal("restore", columns=200) as terminal:
        for answer in answers:
            terminal.expect("Enter number, or 'skip' to proceed to direct checkpoint lookup:")
            terminal.answer(answer)
        assert "Task: first-task" not in terminal.expect("Resuming task: second-task.")
        terminal.expect("Re-fire reads on artifacts now? [y / n]")
        terminal.answer("n")
        terminal.rest()

    assert imported.marks() == [OTHER]


@pytest.mark.promise("quoin", 38)
@pytest.mark.accept(94)
def test_the_newest_goes_by_when_its_file_was_written_not_by_its_name(
    cli: Cli, imported: Workspace
) -> None:
    touched = imported.native("touched-task", days=6)
    imported.native("later-name", days=0.8)
    os.utime(touched)

    assert task(restored(cli)) == "touched-task"


@pytest.mark.accept(94)
def test_a_file_that_names_a_day_after_it_was_written_is_not_from_the_future(
    cli: Cli, imported: Workspace
) -> None:
    early = imported.native("early-task")
    before = (datetime.now(UTC) - timedelta(hours=23)).timestamp()
    os.utime(early, (before, before))
    imported.native("late-task", days=0.1)
    answer = restored(cli)

    assert task(answer) == "late-task"
    assert answer["said"][0].startswith("Resuming task: late-task.")


@pytest.mark.accept(94)
def test_what_was_there_before_anybody_looked_is_found(cli: Cli, work: Workspace) -> None:
    work.native("zz-older", days=0.9)
    work.native("aa-newer", days=0.1)

    assert task(restored(cli)) == "aa-newer"


@pytest.mark.accept(94)
@pytest.mark.parametrize("before", [["init", "--profile", "quoin", "--yes"], ["list"]])
def test_what_quoin_writes_before_our_first_save_is_detected(
    cli: Cli, repo: Repo, before: list[str]
) -> None:
    cli.ok("config", "set", "profile", "quoin", "--project")
    cli.ok(*before)
    Workspace(repo.folder).native("own-task")
    cli.ok("save", "our-task", "--summary", "Ours")

    assert {each["name"] for each in cli.json("list")} == {"own-task", "our-task"}


@pytest.mark.accept(94)
def test_with_nothing_waiting_the_newest_is_taken(cli: Cli, imported: Workspace) -> None:
    imported.native("zz-older", days=0.9)
    imported.native("aa-newer", days=0.1)

    assert task(restored(cli)) == "aa-newer"


@pytest.mark.promise("quoin", 39)
@pytest.mark.accept(94)
def test_one_saved_on_purpose_beats_a_precompact_one_of_the_same_day_and_task(
    cli: Cli, imported: Workspace
) -> None:
    day = datetime.now(UTC).replace(hour=0, minute=0, second=1)
    older = imported.native("some-task")
    newer = imported.native("some-task", kind="-precompact")
    os.utime(older, (day.timestamp(), day.timestamp()))
    answer = restored(cli)

    assert newer.exists()
    assert task(answer) == "some-task"
    assert answer["checkpoint"]["trigger"] == "manual"


@pytest.mark.promise("quoin", 70)
@pytest.mark.accept(95)
def test_the_newest_is_taken_and_tasks_saved_at_about_the_same_time_are_named(
    cli: Cli, imported: Workspace
) -> None:
    for number in range(12):
        imported.native(f"task-{number}", days=0.01 * number)
    answer = restored(cli)

    assert task(answer) == "task-0"
    named = re.findall(r"task-(\d+) \(", answer["said"][-1])
    assert named == [*map(str, range(1, 11))]


@pytest.mark.promise("quoin", 71)
@pytest.mark.accept(96)
def test_an_old_checkpoint_is_taken_with_a_warning_that_names_newer_notes(
    cli: Cli, imported: Workspace
) -> None:
    imported.native("old-task", days=3)
    notes = imported.state("2026-11-15-payment-retry.md", age=3600)
    answer = restored(cli)

    assert answer["said"][0] == (
        "The newest checkpoint is about old-task, the newest session about payment-retry. "
        f"The newest session's notes: {notes}"
    )
    assert task(answer) == "old-task"


@pytest.mark.accept(96)
def test_without_notes_an_old_checkpoint_is_taken_with_a_warning(
    cli: Cli, imported: Workspace
) -> None:
    imported.native("old-task", days=3)
    answer = restored(cli)

    assert answer["said"][0] == "The newest checkpoint is 3 day(s) old."
    assert task(answer) == "old-task"


@pytest.mark.accept(97)
def test_conflict_copies_and_fragments_are_never_candidates(cli: Cli, imported: Workspace) -> None:
    whole = imported.native("some-task", days=0.2).read_bytes()
    folder = imported.memory / "checkpoints"
    (folder / "2026-11-15-some-task 2.md").write_bytes(whole.replace(b"some-task", b"copy-task"))
    (folder / "2026-11-15-tiny.md").write_text("## Active task\ntiny\n", encoding="utf-8")
    (folder / "none.md").write_bytes(whole.replace(b"## Active task", b"## Nothing"))

    assert task(restored(cli)) == "some-task"


@pytest.mark.promise("quoin", 40, 42)
@pytest.mark.accept(98)
def test_a_restore_shows_what_there_is_and_asks_before_reading(
    cli: Cli, imported: Workspace, repo: Repo
) -> None:
    (repo.folder / "plan.md").write_text("the plan's own words\n", encoding="utf-8")
    words = ["--artifact", "plan=plan.md", "--artifact", "notes=gone.md", "--question", "Why?"]
    cli.ok("save", "some-task", "--summary", "Do it", *words)
    out = cli.ok("restore").out

    assert imported.checkpoints()
    assert out.splitlines()[:3] == [
        "Resuming task: some-task. Branch: main. Last intent: Do it.",
        "In-flight artifacts: 2 paths.",
        "Open questions: 1 items.",
    ]
    assert out.endswith(
        "In-flight artifacts:\n- plan: plan.md\n- notes: gone.md (missing)\n</leftoff-briefing>\n"
        "Re-fire reads on artifacts now? [y / n]\n"
        "- y: read each of these files now\n- n: do not read them\n"
    )
    assert "the plan's own words" not in out
    read = cli.ok("restore", "--read-artifacts").out
    assert "the plan's own words" in read
    assert "notes: gone.md is missing." in read
    assert "own words" not in cli.ok("restore", "--no-read-artifacts").out


@pytest.mark.promise("quoin", 42)
@pytest.mark.accept(98)
@pytest.mark.parametrize("answer", ["y", "n"])
def test_the_answer_decides_whether_artifacts_are_read(
    cli: Cli, imported: Workspace, repo: Repo, answer: str
) -> None:
    (repo.folder / "plan.md").write_text("the plan's own words\n", encoding="utf-8")
    cli.ok("save", "some-task", "--summary", "Do it", "--artifact", "plan=plan.md")
    with cli.terminal("restore") as terminal:
        terminal.expect("Re-fire reads on artifacts now? [y / n]")
        terminal.answer(answer)
        rest = terminal.rest()

    assert imported.checkpoints()
    assert ("the plan's own words" in rest) is (answer == "y")


@pytest.mark.accept(98)
def test_a_restore_asks_whether_or_not_there_are_artifacts(cli: Cli, imported: Workspace) -> None:
    imported.native("some-task", OTHER)
    out = cli.ok("restore").out

    assert "In-flight artifacts: 0 paths.\n" in out
    assert out.endswith("Re-fire reads on artifacts now? [y / n]\n")
    assert "The checkpoint names no artifacts." in cli.ok("restore", "--read-artifacts").out


@pytest.mark.accept(99)
def test_a_corrupt_file_is_shown_raw_although_the_store_has_a_copy(
    cli: Cli, imported: Workspace, in_session: pytest.MonkeyPatch
) -> None:
    del in_session
    saved = cli.json("save", "some-task", "--summary", "Do it")
    (path,) = imported.checkpoints()
    torn = "## Status\ncheckpoint save (voluntary)\n" + "x" * 100
    path.write_text(torn, encoding="utf-8")
    result = cli("restore")

    assert result.code == 1
    shown = "".join(f" > {line}\n" for line in torn.splitlines())
    assert result.out == f"From the file {path}:\n{shown}"
    assert "  Manual recovery — please paste the checkpoint content above" in result.err
    assert f"run `leftoff resume --pending {saved['id']}`." in result.err.splitlines()[-1]
    assert imported.marks() == [SESSION]
    assert task(cli.json("restore", saved["id"])) == "some-task"
    assert imported.marks() == []


@pytest.mark.accept(99)
def test_a_program_gets_one_document_with_the_raw_text(cli: Cli, imported: Workspace) -> None:
    path = imported.memory / "checkpoints" / "2026-11-15-broken.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("half of a checkpoint\n", encoding="utf-8")
    imported.mark(OTHER, path)
    result = cli("restore", "--json")

    answer = json.loads(result.out)
    assert result.code == 1
    assert answer["text"] == "half of a checkpoint\n"
    assert answer["hint"].startswith("Manual recovery — ")


@pytest.mark.promise("quoin", 81)
@pytest.mark.accept(99)
def test_a_file_that_is_gone_is_restored_from_the_store(
    cli: Cli, imported: Workspace, in_session: pytest.MonkeyPatch
) -> None:
    del in_session
    cli.ok("save", "some-task", "--summary", "Do it")
    imported.checkpoints()[0].unlink()

    assert task(restored(cli)) == "some-task"


@pytest.mark.promise("quoin", 41)
@pytest.mark.accept(99)
def test_a_corrupt_checkpoint_is_shown_raw_and_goes_on_waiting(
    cli: Cli, imported: Workspace
) -> None:
    path = imported.memory / "checkpoints" / "2026-11-15-broken.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("half of a checkpoint, in my own words\n", encoding="utf-8")
    imported.mark(OTHER, path)
    result = cli("restore")

    assert result.code == 1
    assert result.out == f"From the file {path}:\n > half of a checkpoint, in my own words\n"
    assert "Manual recovery — please paste the checkpoint content above" in result.err
    assert imported.marks() == [OTHER]


@pytest.mark.promise("quoin", 53)
@pytest.mark.accept(107)
def test_trashed_marks_get_numbers_and_come_back(cli: Cli, imported: Workspace) -> None:
    for number in range(3):
        imported.native(f"task-{number}", OTHER)
        cli.ok("restore")
    mark = f"pending-restore-{OTHER}"

    assert imported.trashed() == [f"{mark}-1.txt", f"{mark}-2.txt", f"{mark}.txt"]
    listed = {Path(each["path"]).name for each in cli.json("trash", "list") if "path" in each}
    assert listed == set(imported.trashed())
    cli.ok("trash", "restore", f"{mark}-1.txt")
    assert imported.marks() == [OTHER]
    assert "task-1" in (imported.memory / f"{mark}.txt").read_text(encoding="utf-8")
    assert imported.trashed() == [f"{mark}-2.txt", f"{mark}.txt"]
    assert f"{mark}-2.txt" in cli.ok("trash", "list").out


@pytest.mark.promise("quoin", 54)
@pytest.mark.accept(107)
def test_a_mark_that_cannot_be_moved_is_left_with_a_warning(cli: Cli, imported: Workspace) -> None:
    imported.native("some-task", OTHER)
    (imported.memory / "trash").write_text("a file where the folder should be", encoding="utf-8")
    result = cli.ok("restore")

    assert "could not be moved to the trash and is left" in result.err
    assert imported.marks() == [OTHER]


@pytest.mark.accept(99)
def test_a_corrupt_one_among_several_can_be_chosen_and_is_shown_raw(
    cli: Cli, imported: Workspace
) -> None:
    imported.native("whole-task", THIRD)
    path = imported.memory / "checkpoints" / "2026-11-15-broken.md"
    path.write_text("in my own words\n", encoding="utf-8")
    imported.mark(OTHER, path)
    choices = json.loads(cli("restore").out)["choices"]
    chosen = next(each for each in choices if each.get("session_id") == OTHER)
    result = cli("restore", chosen["command"].partition("--pending ")[2])

    assert (result.code, result.out) == (1, f"From the file {path}:\n > in my own words\n")
    assert imported.marks() == [OTHER, THIRD]

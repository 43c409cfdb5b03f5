"""quoin's conventions at a save: the files it writes, and what it leaves unchanged."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cli.runs import Cli, environment
from gitrepo import Repo
from leftoff.context import state_folder
from profiles.quoinspace import OTHER, SESSION, TEN, THIRD, Workspace, in_session, sections, work
from stores import contents

__all__ = ["in_session", "work"]


@pytest.mark.promise("quoin", 1, 12, 13, 14, 21, 22)
@pytest.mark.accept(81)
def test_a_save_writes_ten_sections_from_the_session_file(cli: Cli, work: Workspace) -> None:
    state = work.state("2026-11-15-payment-retry.md")
    cli.ok("save")

    (path,) = work.checkpoints()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d-payment-retry\.md", path.name)
    parts = sections(path)
    assert [*parts][:10] == TEN
    assert parts["Status"] == "checkpoint save (voluntary)"
    assert parts["Current stage"] == "implement"
    assert parts["Active task"] == "payment-retry"
    assert parts["Branch"] == "main"
    assert parts["Last user intent"] == "T-04 wire processRefund()"
    assert parts["In-flight artifacts"].splitlines() == [
        "- current-plan.md: (none found)",
        "- architecture.md: (none found)",
        "- latest critic-response: (none found)",
        "- latest review: (none found)",
        f"- session-state: {state}",
    ]
    assert parts["Open questions"] == "- dedupe window?"
    assert parts["Decisions made"] == "- Backoff with jitter — all clients come back at once"
    assert parts["Unfinished work"] == "- T-04 wire processRefund()\n- T-05 document the limits"
    assert parts["Restore hint"] == (
        "Run /checkpoint --restore in a fresh session to resume task 'payment-retry' "
        "from branch 'main'."
    )


@pytest.mark.promise("quoin", 20)
@pytest.mark.accept(81)
def test_the_note_given_is_the_intent_and_what_is_empty_says_so(cli: Cli, work: Workspace) -> None:
    cli.ok("save", "--task", "Make refunds retry")

    parts = sections(work.checkpoints()[0])
    assert parts["Last user intent"] == "Make refunds retry"
    for title in ("Open questions", "Decisions made", "Unfinished work"):
        assert parts[title] == "(none)"
    assert parts["In-flight artifacts"].count("(none found)") == 5


@pytest.mark.promise("quoin", 16)
@pytest.mark.accept(81)
def test_a_note_beats_the_first_unfinished_line_as_the_intent(cli: Cli, work: Workspace) -> None:
    work.state("2026-11-15-payment-retry.md")
    cli.ok("save", "--note", "Make refunds retry", "--note", "and keep it small")

    parts = sections(work.checkpoints()[0])
    assert parts["Last user intent"] == "Make refunds retry"
    assert parts["Notes"] == "- Make refunds retry\n- and keep it small"
    assert parts["Unfinished work"].startswith("- T-04 wire processRefund()")


@pytest.mark.accept(81)
def test_a_note_is_the_intent_without_a_session_file_and_about_other_work(
    cli: Cli, work: Workspace
) -> None:
    cli.ok("save", "first-one", "--note", "Make refunds retry")
    work.state("2026-11-15-payment-retry.md")
    cli.ok("save", "other-work", "--note", "Look at the logs")

    intents = [sections(path)["Last user intent"] for path in work.checkpoints()]
    assert intents == ["Make refunds retry", "Look at the logs"]


@pytest.mark.accept(81)
def test_what_was_given_as_the_task_beats_a_note(cli: Cli, work: Workspace) -> None:
    cli.ok("save", "--task", "Make refunds retry", "--note", "It is urgent")

    assert sections(work.checkpoints()[0])["Last user intent"] == "Make refunds retry"


@pytest.mark.accept(81)
def test_the_box_of_an_unfinished_line_is_not_part_of_the_intent(cli: Cli, work: Workspace) -> None:
    path = work.state("2026-11-15-payment-retry.md")
    text = path.read_text(encoding="utf-8").replace("- T-04", "- [ ] T-04")
    path.write_text(text, encoding="utf-8")
    cli.ok("save")

    parts = sections(work.checkpoints()[0])
    assert parts["Last user intent"] == "T-04 wire processRefund()"
    assert parts["Unfinished work"].startswith("- [ ] T-04")


@pytest.mark.accept(82)
def test_the_newest_session_file_is_used_however_old_it_is(cli: Cli, work: Workspace) -> None:
    work.state("2026-11-15-zz-older.md", OTHER, age=90 * 86_400)
    work.state("2026-11-01-aa-newer.md", THIRD, age=60 * 86_400)
    cli.ok("save")

    assert [sections(path)["Active task"] for path in work.checkpoints()] == ["aa-newer"]


@pytest.mark.promise("quoin", 11)
@pytest.mark.accept(82)
def test_the_newest_session_file_is_used_whatever_the_names_say(
    cli: Cli, work: Workspace, in_session: pytest.MonkeyPatch
) -> None:
    work.state("2026-11-15-zz-older.md", OTHER, age=60)
    work.state("2026-11-01-aa-newer.md", THIRD)
    cli.ok("save")
    work.state("2026-11-02-mm-own.md", SESSION, age=600)
    cli.ok("save")
    in_session.delenv("CLAUDE_CODE_SESSION_ID")

    assert [sections(path)["Active task"] for path in work.checkpoints()] == ["aa-newer", "mm-own"]


@pytest.mark.promise("quoin", 19, 24)
@pytest.mark.accept(83)
def test_paths_of_artifacts_are_kept_and_never_a_line_of_them(cli: Cli, work: Workspace) -> None:
    work.state("2026-11-15-payment-retry.md")
    task = work.root / "payment-retry"
    task.mkdir()
    for name in (
        "current-plan",
        "architecture",
        "critic-response-9",
        "critic-response-10",
        "review-2",
    ):
        (task / f"{name}.md").write_text("# CANARY\n- [ ] CANARY\n", encoding="utf-8")
    os.utime(task / "critic-response-9.md")
    cli.ok("save")

    text = work.checkpoints()[0].read_text(encoding="utf-8")
    assert f"- current-plan.md: {task}/current-plan.md\n" in text
    assert f"- architecture.md: {task}/architecture.md\n" in text
    assert f"- latest critic-response: {task}/critic-response-10.md\n" in text
    assert f"- latest review: {task}/review-2.md\n" in text
    assert "CANARY" not in text
    assert "CANARY" not in cli.ok("show", "payment-retry", "--raw").out


@pytest.mark.accept(84)
def test_a_large_checkpoint_is_kept_with_a_warning(cli: Cli, work: Workspace) -> None:
    result = cli.ok("save", "large-one", "--summary", "Much", "--left-off", "x" * 3900 + " y" * 40)

    (path,) = work.checkpoints()
    size = path.stat().st_size
    assert size > 4096
    assert f"{path} exceeds 4 KB soft cap ({size} bytes)" in result.err


@pytest.mark.promise("quoin", 26)
@pytest.mark.accept(85)
def test_a_save_leaves_one_line_for_the_session_that_takes_it_up(
    cli: Cli, work: Workspace, in_session: pytest.MonkeyPatch
) -> None:
    del in_session
    cli.ok("save", "login-form", "--summary", "Add a form")

    (path,) = work.checkpoints()
    mark = work.memory / f"pending-restore-{SESSION}.txt"
    assert mark.read_text(encoding="utf-8") == f"{path}\n"


@pytest.mark.promise("quoin", 28)
@pytest.mark.accept(85)
@pytest.mark.parametrize("session", ["", "unknown", "../../evil", "a/b"])
def test_without_an_id_there_is_a_warning_and_no_mark(
    cli: Cli, work: Workspace, session: str, repo: Repo
) -> None:
    fields = json.dumps({"summary": "Add a form", "session_id": session})
    result = cli.ok("save", "login-form", "--from-json", "-", stdin=fields)

    assert "No session id is known" in result.err
    assert len(work.checkpoints()) == 1
    assert work.marks() == []
    assert not (repo.folder.parent / "evil").exists()


@pytest.mark.promise("quoin", 65)
@pytest.mark.accept(86)
@pytest.mark.parametrize("place", [".", "memory", "memory/checkpoints"])
def test_a_save_whose_files_cannot_be_written_fails_and_says_where_it_is_safe(
    cli: Cli, work: Workspace, place: str
) -> None:
    in_the_way = work.root / place
    in_the_way.parent.mkdir(parents=True, exist_ok=True)
    in_the_way.write_text("a file where the folder should be", encoding="utf-8")
    result = cli("save", "login-form", "--summary", "Add a form")

    assert result.code == 1
    saved = cli.json("show", "login-form")
    assert result.err.count("could not be written") == 1
    assert f"is safe in the store: {saved['id']} in " in result.err
    assert f"`leftoff resume {saved['id']}`" in result.err
    assert saved["summary"] == "Add a form"

    in_the_way.unlink()
    cli.ok("list")
    assert [sections(path)["Active task"] for path in work.checkpoints()] == ["login-form"]


@pytest.mark.accept(86)
def test_a_program_gets_the_whole_answer_with_the_exit_code(cli: Cli, work: Workspace) -> None:
    work.root.write_text("a file where the folder should be", encoding="utf-8")
    result = cli("save", "login-form", "--summary", "Add a form", "--json")

    assert result.code == 1
    answer = json.loads(result.out)
    assert answer["name"] == "login-form"
    assert "quoin files could not be written" in answer["warnings"][-1]
    assert Path(answer["path"]).is_file()


@pytest.mark.accept(86)
def test_a_mirror_beside_the_profile_never_fails_a_save(cli: Cli, work: Workspace) -> None:
    cli.ok("config", "set", "profile", "default", "--project")
    cli.ok("config", "set", "mirror", "quoin", "--project")
    work.root.write_text("a file where the folder should be", encoding="utf-8")
    result = cli.ok("save", "login-form", "--summary", "Add a form")

    assert result.err.count("could not be written") == 1


@pytest.mark.promise("quoin", 30, 32)
@pytest.mark.accept(87)
def test_every_save_and_restore_adds_exactly_one_row(
    cli: Cli, work: Workspace, in_session: pytest.MonkeyPatch
) -> None:
    del in_session
    ledger = work.root / "login-form" / "cost-ledger.md"
    cli.ok("save", "login-form", "--summary", "Add a form")
    first = ledger.read_bytes()
    cli.ok("list")
    cli.ok("save", "login-form", "--summary", "Add a form", "--done", "tests")
    cli.ok("restore")
    cli.ok("restore")

    today = time.strftime("%Y-%m-%d")
    row = f"{SESSION} | {today} | checkpoint | haiku | task | {{}} | 0"
    lines = ledger.read_text(encoding="utf-8").splitlines()
    assert lines[:2] == ["# Cost Ledger — login-form", ""]
    notes = ["save", "save", "restore", "restore"]
    assert lines[2:] == [row.format(note) for note in notes]
    assert ledger.read_bytes().startswith(first)


@pytest.mark.promise("quoin", 59)
@pytest.mark.accept(87)
def test_the_row_of_a_restore_names_the_session_that_restores(
    cli: Cli, work: Workspace, in_session: pytest.MonkeyPatch
) -> None:
    cli.ok("save", "login-form", "--summary", "Add a form")
    in_session.setenv("CLAUDE_CODE_SESSION_ID", "5e551011-0000-4000-8000-000000000009")
    cli.ok("restore")

    ledger = work.root / "login-form" / "cost-ledger.md"
    saved, restored = ledger.read_text(encoding="utf-8").splitlines()[2:]
    assert saved.startswith(SESSION)
    assert restored.startswith("5e551011-0000-4000-8000-000000000009 | ")


@pytest.mark.accept(87)
def test_a_ledger_of_others_is_only_added_to(cli: Cli, work: Workspace) -> None:
    ledger = work.root / "login-form" / "cost-ledger.md"
    ledger.parent.mkdir(parents=True)
    ledger.write_bytes(b"# Cost Ledger \xe2\x80\x94 login-form\r\n\r\na | b | c | d | e | f")
    before = ledger.read_bytes()
    cli.ok("save", "login-form", "--summary", "Add a form")

    after = ledger.read_bytes()
    assert after.startswith(before + b"\n")
    assert len(after.splitlines()) == 4


@pytest.mark.accept(88)
def test_the_ledger_is_shown_and_what_nobody_noted_is_unknown(cli: Cli, work: Workspace) -> None:
    ledger = work.root / "login-form" / "cost-ledger.md"
    ledger.parent.mkdir(parents=True)
    rows = [
        "a | 2026-11-15 | plan | opus | task | x",
        "b | 2026-11-15 | plan | opus | task | y | 1",
        "c | 2026-11-15 | plan | opus | task | z | 0 | usd=0.1",
    ]
    ledger.write_text("\n".join(["# Cost Ledger — login-form", *rows]), encoding="utf-8")
    found = cli.json("ledger", "login-form")

    assert [row["fallback_fires"] for row in found] == [0, 1, 0]
    assert [row["attribution"] for row in found] == [None, None, "usd=0.1"]
    assert "unknown" in cli.ok("ledger").out
    assert cli.json("ledger", "other") == []


def lock_of(work: Workspace, pid: int) -> Path:
    return work.memory / "sessions" / f"checkpoint-{pid}.pidfile.lock"


@pytest.mark.promise("quoin", 9)
@pytest.mark.accept(89)
@pytest.mark.parametrize("ending", ["success", "error", "SIGTERM"])
def test_a_save_is_marked_while_it_works_however_it_ends(
    cli: Cli, work: Workspace, repo: Repo, ending: str
) -> None:
    del cli
    process = subprocess.Popen(
        [sys.executable, "-m", "leftoff", "save", "some-work", "--from-json", "-"],
        cwd=repo.folder,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    lock = lock_of(work, process.pid)
    while not lock.exists() or not lock.read_bytes():
        assert process.poll() is None
    text = lock.read_text(encoding="utf-8")
    if ending == "SIGTERM":
        process.send_signal(signal.SIGTERM)
        # It reads: the signal is seen when the reading ends.
        process.communicate(b"", timeout=120)
    else:
        fields = b'{"summary": "Work"}' if ending == "success" else b"{"
        process.communicate(fields, timeout=120)

    assert re.fullmatch(
        rf"skill=checkpoint\npid={process.pid}\ntimestamp=\d{{4}}-\S+Z\nbegan=\d+\n", text
    )
    assert (process.returncode == 0) is (ending == "success")
    assert not lock.exists()


@pytest.mark.accept(89)
def test_marks_of_the_dead_are_cleaned_up(cli: Cli, work: Workspace) -> None:
    """D16: a mark that a crash left behind must not count as somebody at work."""
    folder = work.memory / "sessions"
    folder.mkdir(parents=True)
    gone = folder / "implement-999999.pidfile.lock"
    gone.write_text("skill=implement\npid=999999\ntimestamp=2026-11-15T18:40:00Z\n", "utf-8")
    reused = folder / "review-1.pidfile.lock"
    reused.write_text("skill=review\npid=1\ntimestamp=2026-11-15T18:40:00Z\nbegan=7\n", "utf-8")
    alive = folder / f"plan-{os.getppid()}.pidfile.lock"
    alive.write_text(f"skill=plan\npid={os.getppid()}\n", "utf-8")
    cli.ok("save", "some-work", "--summary", "Work")

    assert [path for path in (gone, reused, alive) if path.exists()] == [alive]


@pytest.mark.promise("quoin", 33)
@pytest.mark.accept(90)
def test_the_report_names_all_that_was_written_and_how_to_go_on(
    cli: Cli, work: Workspace, in_session: pytest.MonkeyPatch
) -> None:
    del in_session
    out = cli.ok("save", "login-form", "--summary", "Add a form").out

    (path,) = work.checkpoints()
    assert out.splitlines() == [
        f"Checkpoint saved to: {path}",
        f"Sentinel written: {work.memory}/pending-restore-{SESSION}.txt",
        "To resume: /checkpoint --restore in a fresh session (in a terminal: leftoff restore)",
    ]


@pytest.mark.promise("quoin", 64)
def test_the_same_task_on_the_same_day_gets_a_file_of_its_own(cli: Cli, work: Workspace) -> None:
    """D14: the second save must not overwrite the first."""
    for number in range(3):
        cli.ok("save", "login-form", "--summary", f"Step {number}")

    day = time.strftime("%Y-%m-%d")
    assert [path.name for path in work.checkpoints()] == [
        f"{day}-login-form-1.md",
        f"{day}-login-form-2.md",
        f"{day}-login-form.md",
    ]
    texts = [path.read_text(encoding="utf-8") for path in work.checkpoints()]
    assert sorted(re.findall(r"Step \d", "".join(texts))) == ["Step 0", "Step 1", "Step 2"]


@pytest.mark.promise("quoin", 3)
@pytest.mark.accept(124)
def test_lessons_daily_and_forgotten_files_are_never_touched(
    cli: Cli, work: Workspace, in_session: pytest.MonkeyPatch
) -> None:
    del in_session
    others = ["lessons-learned.md", "daily/2026-11-15.md", "forgotten/2026-11-15.md"]
    for name in others:
        path = work.memory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"## {name}\n", encoding="utf-8")
    before = {name: digest for name, digest in contents(work.memory).items() if name in others}
    cli.ok("save", "some-task", "--summary", "Do it")
    cli.ok("restore")

    assert {name: contents(work.memory)[name] for name in others} == before
    assert sorted(path.name for path in (work.memory / "daily").iterdir()) == ["2026-11-15.md"]


@pytest.mark.promise("quoin", 5, 6, 7, 8)
@pytest.mark.accept(123)
def test_the_tier_of_a_skill_is_checked(cli: Cli) -> None:
    def check(prompt: str, *words: str) -> Any:
        return cli("dispatch-check", "--declared", "haiku", "--current", "opus", prompt, *words)

    assert check("[no-redispatch] /checkpoint").out == "proceed\n"
    assert check("[no-redispatch:1] /checkpoint").out == "proceed\n"
    assert check("/checkpoint").out == "dispatch\n"
    stopped = check("[no-redispatch:2] /checkpoint")
    assert stopped.code == 1
    assert (
        "Quoin self-dispatch hard-cap reached at N=2 in checkpoint. This indicates a recursion "
        "bug; aborting before any tool calls. Re-invoke with [no-redispatch] (bare) to override."
    ) in stopped.err
    failed = check("/checkpoint", "--spawn-failed")
    assert failed.out == "proceed\n"
    assert (
        "[quoin-stage-1: subagent dispatch unavailable; proceeding at current tier]" in failed.err
    )
    handed = cli.json("dispatch-check", "--declared", "haiku", "--current", "opus", "/checkpoint x")
    assert handed["prompt"] == "[no-redispatch]\n/checkpoint x"
    assert handed["message"] == ("Dispatch reason: cost-guardrail handoff. dispatched-tier: haiku.")
    assert cli.ok("dispatch-check", "--declared", "opus", "--current", "haiku").out == "proceed\n"


@pytest.mark.accept(128)
def test_the_outermost_folder_of_artifacts_is_used_and_never_the_home_folders(
    cli: Cli, repo: Repo, work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo.folder.parent / ".workflow_artifacts").mkdir()
    # The state folder, which says what the user allowed, stays where it is.
    monkeypatch.setenv("XDG_STATE_HOME", str(state_folder().parent))
    monkeypatch.setenv("HOME", str(repo.folder.parent.parent))
    below = repo.folder / "deep" / "down"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert "is not used" not in cli.ok("save", "some-task", "--summary", "Do it").err
    outer = Workspace(repo.folder.parent)

    assert len(outer.checkpoints()) == 1
    assert work.checkpoints() == []
    work.root.mkdir()
    err = cli.ok("save", "some-task", "--summary", "Do it again").err
    assert f"{work.root} is not used: {outer.root} contains it." in err
    work.root.rmdir()
    monkeypatch.setenv("HOME", str(repo.folder.parent))
    cli.ok("save", "other-task", "--summary", "Do it")
    assert len(outer.checkpoints()) == 2
    assert "other-task" in " ".join(path.name for path in work.checkpoints())


def test_an_edit_by_hand_is_imported_and_not_overwritten(cli: Cli, work: Workspace) -> None:
    cli.ok("save", "some-task", "--summary", "Do it", "--left-off", "At the callback")
    (path,) = work.checkpoints()
    edited = path.read_text(encoding="utf-8").replace("At the callback", "At the token")
    with path.open("r+", encoding="utf-8") as file:
        file.write(edited)
        file.truncate()

    assert cli.json("show", "some-task")["left_off"] == "At the token"
    assert path.read_text(encoding="utf-8") == edited
    assert work.checkpoints() == [path]


def test_files_that_leftoff_writes_do_not_count_as_uncommitted(cli: Cli, work: Workspace) -> None:
    work.state("2026-11-15-payment-retry.md")
    cli.ok("save")
    cli.ok("save")

    assert work.checkpoints()
    assert "dirty" not in cli.json("show")


@pytest.mark.promise("quoin", 74)
def test_a_session_file_in_german_or_with_underlined_titles_is_read(
    cli: Cli, work: Workspace
) -> None:
    work.state("2026-11-15-mahnlauf.md").write_text(
        "Offene Fragen\n-------------\n- Welcher Kalender?\n\n"
        "## Getroffene Entscheidungen\n- Cron — Betrieb kennt es\n\n"
        "## Unerledigte Arbeit\n- Vorlage schreiben\n\n"
        "## Kosten\n- Session UUID: uuid-7\n- Phase: implement\n",
        encoding="utf-8",
    )
    cli.ok("save")
    saved = cli.json("show", "mahnlauf")

    assert saved["questions"] == ["Welcher Kalender?"]
    assert saved["decisions"] == [{"what": "Cron", "why": "Betrieb kennt es"}]
    assert saved["left_off"] == "- Vorlage schreiben"
    assert (saved["session_id"], saved["plan"]["stage"]) == ("uuid-7", "implement")

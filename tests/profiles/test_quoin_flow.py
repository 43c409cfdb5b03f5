"""quoin's habits: what a save leaves behind, and what a restore makes of it."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cli.runs import Cli, environment
from gitrepo import Repo
from stores import contents

SESSION = "6f0c1d3e-1111-4b5c-9d0e-000000000001"
OTHER = "6f0c1d3e-2222-4b5c-9d0e-000000000002"
THIRD = "6f0c1d3e-3333-4b5c-9d0e-000000000003"
MISMATCH = "Session-id mismatch: sentinel is from a prior session. Using it anyway."
TEN = [
    "Status",
    "Current stage",
    "Active task",
    "Branch",
    "Last user intent",
    "In-flight artifacts",
    "Open questions",
    "Decisions made",
    "Unfinished work",
    "Restore hint",
]
STATE = """## Status
in_progress
## Completed in this session
1. ✓ T-03 backoff helper (a1b2c3d)
## Unfinished work
- T-04 wire processRefund()
- T-05 document the limits
## Open questions
- dedupe window?
## Decisions made
- Backoff with jitter — all clients come back at once
## Cost
- Session UUID: {session}
- Phase: implement
- end_of_day_due: yes
"""


class Workspace:
    """A project that follows quoin."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / ".workflow_artifacts"
        self.memory = self.root / "memory"

    def checkpoints(self) -> list[Path]:
        """List the files of checkpoints."""
        return sorted((self.memory / "checkpoints").glob("*.md"))

    def marks(self) -> list[str]:
        """Tell for which sessions something waits."""
        found = sorted(self.memory.glob("pending-restore-*.txt"))
        return [path.stem.removeprefix("pending-restore-") for path in found]

    def trashed(self) -> list[str]:
        """List what is in today's trash."""
        return sorted(path.name for path in (self.memory / "trash").glob("*/*"))

    def state(self, name: str, session: str = SESSION, *, age: float = 0.0) -> Path:
        """Write a session's file, so many seconds ago."""
        path = self.memory / "sessions" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(STATE.format(session=session), encoding="utf-8")
        os.utime(path, (time.time() - age, time.time() - age))
        return path

    def native(self, task: str, session: str = "", *, days: float = 0.0, kind: str = "") -> Path:
        """Write a checkpoint as quoin does, with its mark, so many days ago."""
        at = datetime.now(UTC) - timedelta(days=days)
        path = self.memory / "checkpoints" / f"{at:%Y-%m-%d}-{task}{kind}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        status = "precompact save (automatic)" if kind else "checkpoint save (voluntary)"
        bodies = [status, "implement", task, f"feat/{task}", f"Work on {task}{kind}", "", "", ""]
        parts = zip(TEN, [*bodies, "- the rest", "Run /checkpoint --restore"], strict=True)
        text = "\n".join(f"## {title}\n{body or '(none)'}\n" for title, body in parts)
        path.write_text(text, encoding="utf-8")
        os.utime(path, (at.timestamp(), at.timestamp()))
        if session:
            self.mark(session, path)
        return path

    def mark(self, session: str, path: Path) -> Path:
        """Let a checkpoint wait for a session."""
        mark = self.memory / f"pending-restore-{session}.txt"
        mark.write_text(f"{path}\n", encoding="utf-8")
        return mark


@pytest.fixture
def work(cli: Cli, repo: Repo) -> Workspace:
    """Follow quoin."""
    cli.ok("config", "set", "profile", "quoin", "--project")
    cli.ok("config", "set", "mirror", "quoin", "--project")
    return Workspace(repo.folder)


@pytest.fixture
def in_session(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Run as an agent's session does."""
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    return monkeypatch


def sections(path: Path) -> dict[str, str]:
    text = path.read_text(encoding="utf-8")
    parts = re.split(r"^## (.*)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], (part.strip() for part in parts[2::2]), strict=True))


# Saving


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
    assert parts["Decisions made"].startswith("- Backoff with jitter\n")
    assert parts["Unfinished work"] == "- T-04 wire processRefund()\n- T-05 document the limits"
    assert parts["Restore hint"] == (
        "Run /checkpoint --restore in a fresh session to resume task 'payment-retry' "
        "from branch 'main'."
    )


@pytest.mark.accept(81)
def test_the_note_given_is_the_intent_and_what_is_empty_says_so(cli: Cli, work: Workspace) -> None:
    cli.ok("save", "--task", "Make refunds retry")

    parts = sections(work.checkpoints()[0])
    assert parts["Last user intent"] == "Make refunds retry"
    for title in ("Open questions", "Decisions made", "Unfinished work"):
        assert parts[title] == "(none)"
    assert parts["In-flight artifacts"].count("(none found)") == 5


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


@pytest.mark.accept(85)
def test_a_save_leaves_one_line_for_the_session_that_takes_it_up(
    cli: Cli, work: Workspace, in_session: pytest.MonkeyPatch
) -> None:
    del in_session
    cli.ok("save", "login-form", "--summary", "Add a form")

    (path,) = work.checkpoints()
    mark = work.memory / f"pending-restore-{SESSION}.txt"
    assert mark.read_text(encoding="utf-8") == f"{path}\n"


@pytest.mark.accept(85)
@pytest.mark.parametrize("session", ["", "unknown", "../../evil", "a/b"])
def test_without_an_id_there_is_a_warning_and_no_mark(
    cli: Cli, work: Workspace, session: str, repo: Repo
) -> None:
    told = json.dumps({"summary": "Add a form", "session_id": session})
    result = cli.ok("save", "login-form", "--from-json", "-", stdin=told)

    assert "No session id is known" in result.err
    assert len(work.checkpoints()) == 1
    assert work.marks() == []
    assert not (repo.folder.parent / "evil").exists()


@pytest.mark.accept(86)
def test_files_that_cannot_be_written_are_told_and_the_save_is_kept(
    cli: Cli, work: Workspace
) -> None:
    work.root.write_text("a file where the folder should be", encoding="utf-8")
    result = cli.ok("save", "login-form", "--summary", "Add a form")

    assert "could not be written" in result.err
    assert cli.json("show", "login-form")["summary"] == "Add a form"


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
    row = f"{SESSION} | {today} | checkpoint | none | task | {{}} | 0"
    lines = ledger.read_text(encoding="utf-8").splitlines()
    assert lines[:2] == ["# Cost Ledger — login-form", ""]
    notes = ["save", "save", "restore", "restore"]
    assert lines[2:] == [row.format(note) for note in notes]
    assert ledger.read_bytes().startswith(first)


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
        process.communicate(b"", timeout=60)
    else:
        told = b'{"summary": "Work"}' if ending == "success" else b"{"
        process.communicate(told, timeout=60)

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


@pytest.mark.accept(90)
def test_the_report_names_all_that_was_written_and_how_to_go_on(
    cli: Cli, work: Workspace, in_session: pytest.MonkeyPatch
) -> None:
    del in_session
    out = cli.ok("save", "login-form", "--summary", "Add a form").out

    (path,) = work.checkpoints()
    assert out.startswith(f"Checkpoint saved to: {path}\n")
    assert f"{work.memory}/pending-restore-{SESSION}.txt\n" in out
    assert out.endswith("To resume: `leftoff restore` in a fresh session\n")


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


# Restoring


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
        terminal.rest()


@pytest.mark.accept(94)
def test_with_nothing_waiting_the_newest_is_taken(cli: Cli, imported: Workspace) -> None:
    imported.native("zz-older", days=0.9)
    imported.native("aa-newer", days=0.1)

    assert task(restored(cli)) == "aa-newer"


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


@pytest.mark.accept(95)
def test_tasks_saved_at_about_the_same_time_are_a_choice(cli: Cli, imported: Workspace) -> None:
    for number in range(12):
        imported.native(f"task-{number}", days=0.01 * number)
    result = cli("restore")

    choices = json.loads(result.out)["choices"]
    assert result.code == 3
    assert [each["choice"] for each in choices] == [*map(str, range(1, 11)), "skip"]


@pytest.mark.accept(96)
def test_an_old_checkpoint_is_not_taken_for_the_present_work(cli: Cli, imported: Workspace) -> None:
    imported.native("old-task", days=3)
    imported.state("2026-11-15-payment-retry.md", age=3600)
    answer = restored(cli)

    assert "about old-task, the newest session about payment-retry" in answer["said"][0]
    assert answer["checkpoint"]["intent"] == "T-04 wire processRefund()"
    assert answer["checkpoint"]["questions"] == ["dedupe window?"]


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
    (folder / "2026-11-15-none.md").write_bytes(whole.replace(b"## Active task", b"## Nothing"))

    assert task(restored(cli)) == "some-task"


@pytest.mark.accept(98)
def test_a_restore_tells_what_there_is_and_asks_before_reading(
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
    assert out.endswith("Re-fire reads on artifacts now? [y / n]\n")
    assert "the plan's own words" not in out
    read = cli.ok("restore", "--read-artifacts").out
    assert "the plan's own words" in read
    assert "notes: gone.md is missing." in read
    assert "own words" not in cli.ok("restore", "--no-read-artifacts").out


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
    assert result.out == "half of a checkpoint, in my own words\n"
    assert "Manual recovery — please paste the checkpoint content above" in result.err
    assert imported.marks() == [OTHER]


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


@pytest.mark.accept(107)
def test_a_mark_that_cannot_be_moved_is_left_with_a_warning(cli: Cli, imported: Workspace) -> None:
    imported.native("some-task", OTHER)
    (imported.memory / "trash").write_text("a file where the folder should be", encoding="utf-8")
    result = cli.ok("restore")

    assert "could not be moved to the trash and is left" in result.err
    assert imported.marks() == [OTHER]


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


@pytest.mark.accept(123)
def test_the_tier_of_a_skill_is_checked(cli: Cli) -> None:
    def check(prompt: str, *words: str) -> Any:
        return cli("dispatch-check", "--declared", "haiku", "--current", "opus", prompt, *words)

    assert check("[no-redispatch] /checkpoint").out == "proceed\n"
    assert check("[no-redispatch:1] /checkpoint").out == "proceed\n"
    assert check("/checkpoint").out == "dispatch\n"
    stopped = check("[no-redispatch:2] /checkpoint")
    assert stopped.code == 1
    assert "Quoin self-dispatch hard-cap reached at N=2 in checkpoint." in stopped.err
    failed = check("/checkpoint", "--spawn-failed")
    assert failed.out == "proceed\n"
    assert (
        "[quoin-stage-1: subagent dispatch unavailable; proceeding at current tier]" in failed.err
    )
    handed = cli.json("dispatch-check", "--declared", "haiku", "--current", "opus", "/checkpoint x")
    assert handed["prompt"] == "[no-redispatch]\n/checkpoint x"
    assert cli.ok("dispatch-check", "--declared", "opus", "--current", "haiku").out == "proceed\n"


@pytest.mark.accept(128)
def test_the_outermost_folder_of_artifacts_is_used_and_never_the_home_folders(
    cli: Cli, repo: Repo, work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo.folder.parent / ".workflow_artifacts").mkdir()
    monkeypatch.setenv("HOME", str(repo.folder.parent.parent))
    below = repo.folder / "deep" / "down"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    cli.ok("save", "some-task", "--summary", "Do it")
    outer = Workspace(repo.folder.parent)

    assert len(outer.checkpoints()) == 1
    assert work.checkpoints() == []
    monkeypatch.setenv("HOME", str(repo.folder.parent))
    cli.ok("save", "other-task", "--summary", "Do it")
    assert len(outer.checkpoints()) == 1
    assert "other-task" in " ".join(path.name for path in work.checkpoints())


def test_an_edit_by_hand_is_taken_in_and_not_overwritten(cli: Cli, work: Workspace) -> None:
    cli.ok("save", "some-task", "--summary", "Do it", "--left-off", "At the callback")
    (path,) = work.checkpoints()
    edited = path.read_text(encoding="utf-8").replace("At the callback", "At the token")
    with path.open("r+", encoding="utf-8") as file:
        file.write(edited)
        file.truncate()

    assert cli.json("show", "some-task")["left_off"] == "At the token"
    assert path.read_text(encoding="utf-8") == edited
    assert work.checkpoints() == [path]

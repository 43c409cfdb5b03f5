"""openclaw, sentence by sentence: what its users do and what they get."""

import json
import os
import re
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cli.runs import Cli
from cli.screens import show
from gitrepo import Repo
from hooks.letterboxes import install_python, replied
from leftoff import context
from leftoff.checkpoint import Checkpoint, from_plain, to_plain
from leftoff.context import find_project
from leftoff.hooks import hand_over
from leftoff.store import Store
from profiles.test_openclaw import GOOD, autosaves, claw, native, talk, text_of, work
from stores import Clock, draft
from talk import Talk

__all__ = ["claw", "talk"]

STATE = """# SESSION-STATE.md
## Active task
**Goal:** one error line per bad row
**Blocking on:** nothing
## Next-turn hint
- run samples/bad.csv
"""


def section(text: str, title: str) -> str:
    return text.partition(f"## {title}\n")[2].partition("\n## ")[0].strip()


# Save


@pytest.mark.promise("openclaw", 5)
def test_everything_that_a_save_lists_is_in_the_file(cli: Cli, claw: Path) -> None:
    cli.ok("save", "csv-import", *GOOD, "--question=Do blank rows count?", "--file=samples/bad.csv")
    text = text_of(claw, "csv-import")

    assert "**Task:** Import supplier CSVs with a report per row\n" in text
    assert section(text, "Progress") == "- Wrote importer/reader.py lines 1-140"
    assert section(text, "Next Action") == "Run python -m importer samples/bad.csv"
    assert "raises UnicodeDecodeError at byte 0" in section(text, "Blockers")
    assert "Do blank rows count?" in section(text, "Blockers")
    assert section(text, "Key Decisions") == "- Stream rows (files reach 2 GB)"
    assert "samples/bad.csv" in section(text, "Relevant Context")
    assert "- The user wants messages in Spanish" in section(text, "Relevant Context")


@pytest.mark.promise("openclaw", 6)
def test_a_snippet_stays_as_it_is(cli: Cli, claw: Path) -> None:
    snippet = "The failing call:\n```python\nread(  'x.csv' )  # BOM\n- not a bullet\n```"
    cli.ok("save", "csv-import", *GOOD, f"--context={snippet}")

    assert cli.json("show", "csv-import")["notes"][-1] == snippet
    lines = [line[2:] for line in text_of(claw, "csv-import").split("\n") if "read(" in line]
    assert lines == ["read(  'x.csv' )  # BOM"]


@pytest.mark.promise("openclaw", 9, 10)
@pytest.mark.parametrize("state", ["", "# SESSION-STATE.md\n\n## Active task\n**Goal:**\n", STATE])
def test_the_conversation_fills_what_the_notes_do_not_say(
    cli: Cli, claw: Path, talk: Talk, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    claw.mkdir()
    (claw / "SESSION-STATE.md").write_text(state, encoding="utf-8")
    key = re.sub("[^A-Za-z0-9]", "-", str(talk.folder))
    talk.transcript = Path.home() / ".claude/projects" / key / f"{talk.session_id}.jsonl"
    talk.transcript.parent.mkdir(parents=True)
    work(talk, "Import the supplier files with a report for every row")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", talk.session_id)
    cli.ok("save", "csv-import")
    text = text_of(claw, "csv-import")

    task = "one error line per bad row" if state == STATE else "Import the supplier files"
    assert f"**Task:** {task}" in text
    assert "app.py" in section(text, "Relevant Context")
    hint = "run samples/bad.csv" if state == STATE else "run the tests"
    assert hint in section(text, "Next Action").lower()


@pytest.mark.promise("openclaw", 12)
@pytest.mark.parametrize(
    "name",
    [
        "my-work",
        "new-task",
        "task-2",
        "fix-bug",
        "wip",
        "today",
        "tasks",
        "backups",
        "work-in-progress",
    ],
)
def test_a_name_that_fits_any_task_is_refused(cli: Cli, claw: Path, name: str) -> None:
    result = cli("save", name, *GOOD)

    assert result.code == 2
    assert f"'{name}' could be the name of any task." in result.err
    assert not native(claw, name).exists()
    cli.ok("save", f"{name}-csv-import", *GOOD)


@pytest.mark.promise("openclaw", 47)
def test_a_path_that_does_not_exist_is_named_at_the_save(cli: Cli, claw: Path, repo: Repo) -> None:
    del claw
    repo.write("src/auth.py")
    words = ["--task=Build the login page", "--blocker=Conflict in src/main.py lines 80-95"]
    words += ["--progress=Wrote src/auth.py lines 45-120", "--next=Run pytest tests/auth_test.py"]
    result = cli.ok("save", "login-page", *words, "--context=Node.js 22, see docs/login.md")

    for path in ("src/main.py", "tests/auth_test.py", "docs/login.md"):
        assert f"There is no file {path}" in result.err
    assert "src/auth.py" not in result.err
    assert "Node" not in result.err
    assert cli("lint", "login-page").code == 4
    made = cli.ok("save", "login-form", "--task=Build the form", "--next=Create src/form.py")
    assert "src/form.py" not in made.err


# Resume


@pytest.mark.promise("openclaw", 21, 48)
def test_the_briefing_has_the_form_of_openclaw(cli: Cli, claw: Path, repo: Repo) -> None:
    del claw
    save_two_hours_ago(repo)
    repo.git("checkout", "-q", "-b", "side")
    (repo.folder / "importer/reader.py").unlink()
    out = cli.ok("resume", "csv-import").out

    lines = out.split("\n")
    at = lines.index("📌 Resume: Import supplier CSVs")
    assert re.fullmatch(r"Saved: \d{4}-\d\d-\d\d \d\d:\d\d \(2h ago\)", lines[at + 1])
    assert lines[at + 2 : at + 5] == [
        "✅ Progress:",
        "- Wrote importer/reader.py lines 1-140",
        "- Stopped at row 7",
    ]
    assert "🔜 Next action: Run python -m importer samples/bad.csv" in lines
    warned = out.partition("⚠️ Stale warnings:\n")[2]
    assert "- missing: importer/reader.py" in warned


def save_two_hours_ago(repo: Repo) -> None:
    clock = Clock(datetime.now(UTC) - timedelta(hours=2, minutes=5))
    store = Store(find_project(repo.folder), now=clock)
    made = draft("csv-import", "Import supplier CSVs")
    plain = {
        **to_plain(made),
        "done": ["Wrote importer/reader.py lines 1-140"],
        "left_off": "Stopped at row 7",
        "next_action": {"text": "Run python -m importer samples/bad.csv"},
        "files": [{"path": "importer/reader.py", "size": 5, "role": "mentioned"}],
    }
    store.save(from_plain(plain, Checkpoint))
    store.close()


@pytest.mark.promise("openclaw", 48, 59)
def test_the_age_of_a_file_counts_from_when_it_was_last_written(cli: Cli, claw: Path) -> None:
    path = native(claw, "csv-import")
    path.parent.mkdir(parents=True)
    path.write_text(
        "# Checkpoint: csv-import\n\n**Created:** 2026-01-15 18:40 GMT+8\n**Task:** Import CSVs\n\n"
        "## Progress\n- Wrote importer/reader.py\n\n## Next Action\nRun the importer\n",
        encoding="utf-8",
    )
    written = time.time() - 3 * 3600 - 60
    os.utime(path, (written, written))
    out = cli.ok("resume", "csv-import").out

    assert re.search(r"\nSaved: \d{4}-\d\d-\d\d \d\d:\d\d \(3h ago\)\n", out)
    # It is newer than the checkpoint says it is, so it may be stale.
    assert "- changed: importer/reader.py" in out
    assert " 3h ago " in cli.ok("list").out


@pytest.mark.promise("openclaw", 60)
def test_the_time_of_a_file_that_git_wrote_is_not_its_age(
    cli: Cli, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENCLAW_WORKSPACE", raising=False)
    path = native(repo.folder, "csv-import")
    path.parent.mkdir(parents=True)
    made = datetime.now(UTC) - timedelta(days=9, hours=1)
    path.write_text(
        f"# Checkpoint: csv-import\n\n**Created:** {made:%Y-%m-%d %H:%M} UTC\n"
        "**Task:** Import CSVs\n",
        encoding="utf-8",
    )
    for key in ("profile", "mirror"):
        cli.ok("config", "set", key, "openclaw", "--project")
    repo.git("add", "memory")

    assert "(9d ago)" in cli.ok("resume", "csv-import").out

    # A file that git does not track was written by its author.
    other = native(repo.folder, "xml-import")
    other.write_text(path.read_text("utf-8").replace("csv", "xml"), encoding="utf-8")
    assert "(just now)" in cli.ok("resume", "xml-import").out


@pytest.mark.promise("openclaw", 22)
def test_the_sentence_is_asked_on_a_terminal_and_given_to_an_agent(cli: Cli, claw: Path) -> None:
    del claw
    cli.ok("save", "csv-import", *GOOD)
    sentence = (
        "Resuming: Import supplier CSVs with a report per row. "
        "Last progress: Wrote importer/reader.py lines 1-140. "
        "Next action: Run python -m importer samples/bad.csv. Ready to continue? (yes/no)"
    )

    assert f"Ask the user: {sentence}\n" in cli.ok("resume", "csv-import").out
    assert cli.json("resume", "csv-import")["question"] == sentence
    with cli.terminal("resume", "csv-import", columns=300) as terminal:
        terminal.expect(sentence)
        terminal.answer("yes")
        terminal.rest()
    assert cli.json("list")[0]["state"] == "resumed"


@pytest.mark.promise("openclaw", 22)
def test_the_last_progress_of_several_days_is_not_the_stack(cli: Cli, claw: Path) -> None:
    text = (
        "# Checkpoint: q1-data\n\n**Task:** Crunch Q1\n\n## Progress\n### Day 1 (2026-11-14)\n"
        "- [x] Loaded the sales\n- [ ] Clean them\n### Current Stack\n- pandas\n\n"
        "## Next Action\nRun the report\n"
    )
    path = claw / "memory" / "checkpoints" / "q1-data.md"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")

    assert "Last progress: Loaded the sales. " in cli.ok("resume", "q1-data").out


@pytest.mark.promise("openclaw", 26)
def test_every_path_in_a_text_is_checked_when_the_work_is_resumed(
    cli: Cli, claw: Path, repo: Repo
) -> None:
    del claw
    paths = ["src/done.py", "src/next.py", "src/block.py", "docs/context.md"]
    for path in paths:
        repo.write(path)
    words = ["--progress=Wrote src/done.py lines 1-9", "--next=Run python src/next.py"]
    words += ["--blocker=`src/block.py:41` fails", "--context=Read docs/context.md first"]
    cli.ok("save", "path-checks", "--task=Check every path", *words)
    checks = cli.json("resume", "path-checks")["checks"]
    assert {each["path"]: each["state"] for each in checks["files"]} == dict.fromkeys(paths, "same")

    (repo.folder / "src/done.py").unlink()
    repo.write("docs/context.md", "rewritten\n")
    out = cli.ok("resume", "path-checks").out
    assert "- missing: src/done.py" in out
    assert "- changed: docs/context.md" in out
    assert "src/next.py" not in out.partition("Stale warnings")[2].partition("Blockers")[0]


@pytest.mark.promise("openclaw", 26)
def test_paths_in_a_file_that_an_agent_wrote_are_checked_too(
    cli: Cli, claw: Path, repo: Repo
) -> None:
    repo.write("importer/reader.py")
    path = native(claw, "csv-import")
    path.parent.mkdir(parents=True)
    path.write_text(
        "# Checkpoint: csv-import\n\n**Created:** 2026-11-15 18:40 UTC\n**Task:** Import CSVs\n\n"
        "## Progress\n- Wrote `importer/reader.py` and `importer/gone.py`\n\n"
        "## Next Action\nRun `pytest tests/test_reader.py`\n",
        encoding="utf-8",
    )
    out = cli.ok("resume", "csv-import").out

    assert "- missing: importer/gone.py" in out
    assert "- missing: tests/test_reader.py" in out
    assert "- changed: importer/reader.py" in out


@pytest.mark.promise("openclaw", 52)
def test_a_thin_checkpoint_is_shown_with_the_working_buffer(cli: Cli, claw: Path) -> None:
    buffer = claw / "memory" / "working-buffer.md"
    buffer.parent.mkdir(parents=True)
    buffer.write_text("# Working Buffer\n\n## Human\nuse semicolons\n", encoding="utf-8")
    cli.ok("save", "thin-import", "--task=Import supplier CSVs")
    cli.ok("save", "full-import", *GOOD)

    out = cli.ok("resume", "thin-import").out
    assert f"The checkpoint says little. From the file {buffer}:" in out
    assert " > use semicolons" in out
    assert "use semicolons" not in cli.ok("resume", "full-import").out


@pytest.mark.promise("openclaw", 19)
@pytest.mark.parametrize("source", ["compact", "startup"])
def test_a_compacted_session_gets_its_state_back(
    cli: Cli, claw: Path, talk: Talk, source: str
) -> None:
    del cli
    work(talk, percent=71)
    talk.fire("UserPromptSubmit", prompt="use semicolons, not commas, in the report")
    talk.say("I will.", percent=71)
    talk.fire("PreCompact", trigger="auto")
    if source == "startup":
        talk.transcript.unlink()
        talk.ask("<summary>The supplier files are imported.</summary>")
    text = talk.start(source)

    assert "this session was compacted" in text
    assert "use semicolons, not commas, in the report" in text
    assert "Continue? Do not act on it until they answer." in text
    assert (claw / "memory" / "working-buffer.md").exists()


@pytest.mark.promise("openclaw", 19)
def test_a_summary_as_the_first_message_is_not_a_task(
    cli: Cli, claw: Path, talk: Talk, repo: Repo
) -> None:
    del claw
    work(talk, "Import the supplier files with a report for every row")
    talk.fire("SessionEnd", reason="other")
    later = Talk(repo.folder, "session-2")
    assert "Import the supplier files" in later.start()
    summary = "<summary>\nThe user wants the supplier files imported.\n</summary>"
    later.ask(summary)
    later.fire("UserPromptSubmit", prompt=summary)
    later.say("I know.")
    later.fire("SessionEnd", reason="other")

    [row] = cli.json("list")
    assert row["summary"] == "Import the supplier files with a report for every row"


@pytest.mark.promise("openclaw", 17, 19, 61)
@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("<summary>\nThe supplier files are imported.\n</summary>", "this session was compacted"),
        ("where did we stop?", "work was left off here"),
        ("continue where we left off", "work was left off here"),
        ("Add a chart to the report", None),
    ],
)
def test_a_first_message_without_a_session_start_is_answered(
    cli: Cli, claw: Path, repo: Repo, prompt: str, expected: str | None
) -> None:
    del claw
    install_python()
    talk = Talk(repo.folder)
    work(talk, "Import the supplier files with a report for every row")
    talk.fire("UserPromptSubmit", prompt="goodnight")
    talk.fire("SessionEnd", reason="other")
    later = Talk(repo.folder, "session-2")
    reply = replied(later, "UserPromptSubmit", later.payload("UserPromptSubmit", prompt=prompt))

    if expected is None:
        assert reply is None
        return
    answer = reply["hookSpecificOutput"]["additionalContext"]
    assert expected in answer
    assert "Import the supplier files with a report for every row" in answer
    assert "until they answer" in answer
    assert [row["state"] for row in cli.json("list")] == ["open"]


@pytest.mark.promise("openclaw", 17)
def test_a_first_message_is_answered_if_there_is_nothing_to_resume(claw: Path, talk: Talk) -> None:
    del claw
    install_python()
    talk.fire("Stop")
    (context.state_folder() / "live" / f"claude-{talk.session_id}.json").unlink()
    asked = talk.payload("UserPromptSubmit", prompt="where did we stop?")
    answer = replied(talk, "UserPromptSubmit", asked)["hookSpecificOutput"]["additionalContext"]

    assert answer == "leftoff: No checkpoints found. Starting fresh."


@pytest.mark.promise("openclaw", 55)
def test_a_program_reads_the_next_action(cli: Cli, claw: Path) -> None:
    del claw
    cli.ok("save", "csv-import", *GOOD)
    result = cli.json("resume", "csv-import")

    assert result["checkpoint"]["next_action"]["text"] == "Run python -m importer samples/bad.csv"
    assert result["checks"]["age_seconds"] >= 0


@pytest.mark.promise("openclaw", 16, 17)
@pytest.mark.parametrize(
    ("said", "command"),
    [
        ("what was I working on?", "leftoff list|leftoff resume|leftoff status"),
        ("where did we stop?", "leftoff resume"),
        ("continue where we left off", "leftoff resume"),
        ("let's continue where we left off", "leftoff resume"),
        ("resume task csv-import", "leftoff resume csv-import"),
        ("continue with csv-import", "leftoff resume csv-import"),
        ("delete checkpoint csv-import", "leftoff delete csv-import"),
    ],
)
def test_what_people_say_leads_to_the_command(
    cli: Cli, claw: Path, said: str, command: str
) -> None:
    del claw
    cli.ok("save", "csv-import", *GOOD)

    assert cli.json("intent", said, "--at-start")["command"] in command.split("|")


# Autosaves


@pytest.mark.promise("openclaw", 40)
def test_nobody_runs_an_autosave_by_hand(cli: Cli, claw: Path) -> None:
    result = cli("auto")

    assert result.code == 2
    assert "Hooks save automatically." in result.err
    assert cli.json("intent", "/checkpoint auto")["command"] is None
    assert cli("save", "auto", *GOOD).code == 2
    assert not native(claw, "autosave").exists()


@pytest.mark.promise("openclaw", 41)
def test_there_is_one_autosave_and_its_name_resumes_it(cli: Cli, claw: Path, repo: Repo) -> None:
    for number, task in enumerate(["Import the supplier files", "Draw the chart of sales"]):
        talk = Talk(repo.folder, f"session-{number}")
        work(talk, task)
        talk.fire("UserPromptSubmit", prompt="goodnight")
    files = sorted(path.name for path in native(claw, "x").parent.iterdir())

    assert files == ["autosave-log.md", "autosave.md"]
    assert len(autosaves(claw)) == 2
    assert "Draw the chart of sales" in text_of(claw, "autosave")
    looked = cli.ok("resume", "autosave").out
    assert "📌 Resume: Draw the chart of sales" in looked
    assert "run `leftoff resume autosave --accept`" in looked
    rows = cli.json("list")
    assert [(row["name"], row["summary"]) for row in rows if row["name"] == "autosave"] == [
        ("autosave", "Draw the chart of sales")
    ]
    assert cli.ok("list").out.splitlines()[1].startswith("autosave ")
    assert cli.json("show", "autosave")["intent"] == "Draw the chart of sales"
    cli.ok("resume", "autosave", "--accept")
    assert cli("delete", "autosave").code == 1


@pytest.mark.promise("openclaw", 41)
def test_an_autosave_that_repeats_the_notes_is_read_by_their_words(cli: Cli, claw: Path) -> None:
    path = native(claw, "autosave")
    path.parent.mkdir(parents=True)
    path.write_text(
        "# Autosave\n\n**Created:** 2026-11-15 18:52 UTC\n**Auto-saved:** True\n\n"
        "# SESSION-STATE.md\n\n**Current goal:** one error line per bad row\n\n"
        "## Progress\n- the reader is done\n\n## Next\n- Run the importer\n",
        encoding="utf-8",
    )
    out = cli.ok("resume", "autosave").out

    assert "📌 Resume: one error line per bad row" in out
    assert "- the reader is done" in out
    assert "🔜 Next action: Run the importer" in out


@pytest.mark.promise("openclaw", 39)
def test_a_named_checkpoint_never_expires(cli: Cli, claw: Path, repo: Repo) -> None:
    clock = Clock(datetime.now(UTC) - timedelta(days=3 * 365))
    store = Store(find_project(repo.folder), now=clock)
    store.save(draft("csv-import", "Import supplier CSVs"))
    store.close()

    assert [each["name"] for each in cli.json("list")] == ["csv-import"]
    assert native(claw, "csv-import").exists()
    assert "csv-import" in Talk(repo.folder, "three-years-later").start()


@pytest.mark.promise("openclaw", 45)
def test_a_one_shot_answer_is_never_saved(cli: Cli, claw: Path, talk: Talk) -> None:
    talk.ask("What is the capital of France?")
    talk.say("Paris.")
    talk.fire("UserPromptSubmit", prompt="goodnight")
    talk.fire("SessionEnd", reason="other")

    assert cli.json("list") == []
    assert autosaves(claw) == []


@pytest.mark.promise("openclaw", 31)
@pytest.mark.parametrize("word", ["goodnight", "晚安", "logout", "exit", "明天见"])
@pytest.mark.parametrize("asked", ["look at importer/reader.py", ""])
def test_what_the_notes_say_is_saved_at_a_goodbye(
    cli: Cli, claw: Path, repo: Repo, word: str, asked: str
) -> None:
    talk = Talk(repo.folder)
    claw.mkdir()
    (claw / "SESSION-STATE.md").write_text(STATE, encoding="utf-8")
    if asked:
        talk.ask(asked)
        talk.say("I see.")
    talk.ask(word)
    talk.fire("UserPromptSubmit", prompt=word)

    text = text_of(claw, "autosave")
    assert text.endswith(f"\n\n{STATE}")
    assert len(autosaves(claw)) == 1
    assert "📌 Resume: one error line per bad row" in cli.ok("resume", "autosave").out
    # Nothing was noted since, so small talk in another session saves nothing.
    later = Talk(repo.folder, "session-2")
    later.ask("What is the capital of France?")
    later.say("Paris.")
    later.fire("UserPromptSubmit", prompt=word)
    assert len(autosaves(claw)) == 1


@pytest.mark.promise("openclaw", 31, 64)
@pytest.mark.parametrize("word", ["goodnight", "晚安", "exit", "明天见"])
def test_a_goodbye_is_not_what_comes_next(cli: Cli, claw: Path, talk: Talk, word: str) -> None:
    talk.ask("Import the supplier files, one error line per bad row")
    talk.edit("reader.py")
    talk.say("Wrote reader.py. Next I will run the samples.")
    talk.ask(word)
    talk.fire("UserPromptSubmit", prompt=word)

    talk.say("Good night! Everything is saved.")
    talk.fire("SessionEnd", reason="exit")

    text = text_of(claw, "autosave")
    assert section(text, "Next Action").startswith("Run the samples.")
    assert "Wrote reader.py." in section(text, "Progress")
    assert "Good night" not in cli.ok("resume", "autosave").out


@pytest.mark.promise("openclaw", 57)
def test_a_full_context_advises_to_save(claw: Path, talk: Talk) -> None:
    del claw
    work(talk, percent=71)
    talk.fire("Stop")

    answer = json.loads(talk.waiting_reply())["hookSpecificOutput"]["additionalContext"]
    assert "`leftoff save NAME`" in answer


# The shell


@pytest.mark.promise("openclaw", 56)
def test_the_files_can_be_used_with_the_shell(cli: Cli, claw: Path) -> None:
    cli.ok("save", "csv-import", *GOOD)
    cli.ok("save", "login-page", "--task=Build the login page")
    done = cli.shell(
        f"""
        set -e
        cd {claw}
        ls memory/checkpoints/
        ls -t memory/checkpoints/*.md | head -1
        grep -h '^\\*\\*Task:\\*\\*' memory/checkpoints/csv-import.md
        sed -n '/^## Next Action/,/^## /p' memory/checkpoints/csv-import.md | sed '1d;$d;/^$/d'
        mv memory/checkpoints/login-page.md memory/checkpoints/sign-in-page.md
        rm memory/checkpoints/csv-import.md
        """
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "csv-import.md",
        "login-page.md",
        "memory/checkpoints/login-page.md",
        "**Task:** Import supplier CSVs with a report per row",
        "Run python -m importer samples/bad.csv",
    ]
    assert [each["name"] for each in cli.json("list")] == ["sign-in-page"]
    trashed = {each["name"] for each in cli.json("trash", "list")}
    assert trashed == {"csv-import", "login-page"}


def _hand_over(folder: Path) -> str:
    """Return what the session gets that `leftoff resume csv-import --in claude` starts."""
    store = Store(find_project(folder))
    hand_over.expect(store, folder, "claude", store.find("csv-import"))
    store.close()
    return Talk(folder, "session-after").start()


@pytest.mark.promise("openclaw", 38, 65)
def test_what_was_saved_under_a_name_is_what_the_name_shows(
    cli: Cli, claw: Path, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", talk.session_id)
    work(talk, "Import the supplier files")
    cli.ok("save", "csv-import", *GOOD)
    file, before = text_of(claw, "csv-import"), cli.ok("resume", "csv-import").out
    talk.ask("Also draw a chart of the sales")
    talk.edit("chart.py")
    talk.run("python chart.py", "KeyError: 'total'", ok=False)
    talk.say("The column total is missing. Next I will rename it.")
    talk.fire("UserPromptSubmit", prompt="goodnight")
    after = cli.ok("resume", "csv-import").out
    since = "\N{CLOCKWISE RIGHTWARDS AND LEFTWARDS OPEN CIRCLE ARROWS} Since it was saved"
    head, _, rest = after.partition(since)

    assert text_of(claw, "csv-import") == file
    news = [
        "- asked: Also draw a chart of the sales",
        "- edited: chart.py, app.py",
        "- last words: The column total is missing. Next I will rename it.",
        "- failing: python chart.py: KeyError: 'total'",
    ]
    assert rest.splitlines()[:5] == [" (autosaved just now):", *news]
    assert head + "\n".join(rest.splitlines()[5:]) == before.removesuffix("\n")
    rows = [(row["name"], row["trigger"]) for row in cli.json("list")]
    assert rows == [("autosave", "close"), ("csv-import", "manual")]
    assert after.partition("</leftoff-briefing>")[0] in _hand_over(talk.folder)
    latest = cli.ok("resume", "autosave").out
    assert "- The column total is missing. Next I will rename it.\n" in latest
    assert "Since it was saved" not in latest
    cli.ok("resume", "csv-import", "--refresh")
    assert [row["name"] for row in cli.json("list")] == ["csv-import"]
    assert "- Wrote importer/reader.py lines 1-140\n" in text_of(claw, "csv-import")
    assert "The column total" not in text_of(claw, "csv-import")


@pytest.mark.promise("openclaw", 31)
def test_a_goodbye_right_after_a_save_is_an_autosave(
    cli: Cli, claw: Path, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", talk.session_id)
    key = re.sub("[^A-Za-z0-9]", "-", str(talk.folder))
    talk.transcript = Path.home() / ".claude/projects" / key / f"{talk.session_id}.jsonl"
    talk.transcript.parent.mkdir(parents=True)
    work(talk, "Import the supplier files")
    cli.ok("save", "csv-import", *GOOD)
    before = cli.ok("resume", "csv-import").out
    talk.fire("UserPromptSubmit", prompt="goodnight")

    assert len(autosaves(claw)) == 1
    assert "Import supplier CSVs" in text_of(claw, "autosave")
    assert cli.ok("resume", "csv-import").out == before


@pytest.mark.promise("openclaw", 66)
def test_a_file_that_comes_back_has_its_own_bytes(cli: Cli, claw: Path) -> None:
    text = (
        "# Checkpoint: q1-data-analysis\n\n**Created:** 2026-11-15 09:00 GMT+8\n"
        "**Task:** Analyze the sales of Q1\n\n## Progress\n* Loaded the rows\n\n"
        "## Next Action\nRun the report\n\n## Stakeholders\n- Marta\n"
    )
    path = native(claw, "q1-data-analysis")
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    cli.ok("resume", "q1-data-analysis", "--decline")
    assert not path.exists()
    cli.ok("undo")

    assert path.read_text("utf-8") == text


@pytest.mark.promise("openclaw", 68)
def test_a_single_letter_names_no_task(cli: Cli, claw: Path) -> None:
    refused = cli("save", "x", *GOOD)

    assert refused.code == 2
    assert "'x' could be the name of any task." in refused.err
    assert not (claw / "memory/checkpoints/x.md").exists()


@pytest.mark.promise("openclaw", 69)
def test_a_command_in_a_code_block_is_the_next_action(cli: Cli, claw: Path) -> None:
    path = claw / "memory/checkpoints/csv-import.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "# Checkpoint: csv-import\n**Task:** Import CSVs\n\n## Progress\n- Wrote reader.py\n\n"
        "## Next Action\n```bash\npytest -k bom\n```\n"
    )

    shown = cli.ok("resume", "csv-import").out

    assert "Next action: pytest -k bom\n" in shown
    assert "Next action: pytest -k bom. Ready to continue? (yes/no)" in shown
    assert "```" not in shown


@pytest.mark.promise("openclaw", 70)
def test_the_table_has_the_headings_of_openclaw(cli: Cli, claw: Path) -> None:
    del claw
    cli.ok("save", "csv-import", *GOOD)

    heading = cli.ok("list").out.split("\n")[0].split()

    assert [each for each in heading if each in {"name", "created", "task", "age"}] == [
        "name",
        "created",
        "age",
        "task",
    ]


@pytest.mark.promise("openclaw", 70)
@pytest.mark.parametrize("columns", [80, 140])
def test_people_get_the_table_of_openclaw(cli: Cli, claw: Path, columns: int) -> None:
    del claw
    cli.ok("save", "csv-import", *GOOD)
    with show("list", columns=columns) as screen:
        header, row, *_ = screen.finish().splitlines()

    assert header.split() == ["name", "created", "age", "task"]
    assert row.startswith("csv-import  20")


@pytest.mark.promise("openclaw", 56)
def test_a_file_that_was_removed_is_not_a_checkpoint_any_more(cli: Cli, claw: Path) -> None:
    cli.ok("save", "csv-import", *GOOD)
    native(claw, "csv-import").unlink()
    result = cli("resume", "csv-import")

    assert (result.code, result.out) == (1, "")
    assert "leftoff trash restore csv-import" in result.err

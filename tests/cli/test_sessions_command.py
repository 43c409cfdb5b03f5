import errno
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from cli.runs import Cli
from gitrepo import Repo
from programs import name_process_domain
from talk import Talk

EDIT = {"type": "tool_use", "id": "toolu_1", "name": "Edit", "input": {"file_path": "app.py"}}
DONE = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "The file was updated."}


def entry(session_id: str, folder: Path, kind: str, content: object) -> dict[str, Any]:
    return {
        "parentUuid": None,
        "type": kind,
        "cwd": str(folder),
        "gitBranch": "main",
        "sessionId": session_id,
        "message": {"role": kind, "content": content},
    }


@pytest.fixture
def session(repo: Repo, tmp_path: Path) -> Path:
    """Leave a session of Claude Code behind that ended a day ago."""
    key = re.sub("[^a-zA-Z0-9]", "-", str(repo.folder))
    path = tmp_path / "home" / ".claude" / "projects" / key / "0a1b-2c3d.jsonl"
    path.parent.mkdir(parents=True)
    lines = [
        entry(path.stem, repo.folder, "user", "Add the password rule to app.py"),
        entry(path.stem, repo.folder, "assistant", [EDIT]),
        entry(path.stem, repo.folder, "user", [DONE]),
        entry(path.stem, repo.folder, "assistant", [{"type": "text", "text": "Now I add a test."}]),
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    yesterday = path.stat().st_mtime - 86_400
    os.utime(path, (yesterday, yesterday))
    return path


def test_with_no_sessions_it_says_so(cli: Cli) -> None:
    assert "No sessions of this project" in cli.ok("sessions").out
    assert cli.json("sessions") == []
    assert cli.ok("recover").out == "No session died without a checkpoint.\n"


def test_a_clock_that_was_ahead_keeps_no_session_alive(cli: Cli, session: Path) -> None:
    ahead = session.stat().st_mtime + 400 * 86_400
    os.utime(session, (ahead, ahead))

    assert [each["state"] for each in cli.json("sessions")] == ["unsaved"]
    assert "Saved 1 session" in cli.ok("recover").out


def test_sessions_are_listed_with_age_state_and_last_request(cli: Cli, session: Path) -> None:
    (result,) = cli.json("sessions")

    assert (result["agent"], result["session_id"]) == ("claude", session.stem)
    assert result["state"] == "unsaved"
    assert 86_000 < result["age_seconds"] < 90_000
    out = cli.ok("sessions").out
    assert "Add the password rule to app.py" in out
    assert "1d ago" in out


def test_sessions_of_every_worktree_are_listed(cli: Cli, repo: Repo, session: Path) -> None:
    other = repo.worktree(repo.folder.parent / "other", "topic")
    key = re.sub("[^a-zA-Z0-9]", "-", str(other.folder))
    path = session.parent.parent / key / "4e5f.jsonl"
    path.parent.mkdir()
    path.write_text(json.dumps(entry("4e5f", other.folder, "user", "Write the docs")))

    assert {each["session_id"] for each in cli.json("sessions")} == {session.stem, "4e5f"}


def test_a_dead_session_is_recovered_once(cli: Cli, session: Path) -> None:
    assert len(cli.json("recover", "--dry-run")) == 1
    assert cli.json("list") == []
    assert "Saved 1 session. Run `leftoff resume`" in cli.ok("recover").out

    (listed,) = cli.json("list")
    assert (listed["trigger"], listed["session_id"]) == ("recovered", session.stem)
    assert "Add the password rule" in cli.ok("resume").out
    assert cli.json("recover") == []
    assert cli.json("sessions")[0]["state"] == "saved"


@pytest.mark.usefixtures("session")
def test_a_transcript_that_speaks_of_another_session_is_recovered_once(
    cli: Cli, session: Path
) -> None:
    session.rename(session.with_name("fork.jsonl"))

    assert len(cli.json("recover")) == 1
    assert cli.json("recover") == []


def test_a_session_that_may_be_alive_is_skipped_and_named(cli: Cli, session: Path) -> None:
    session.touch()
    result = cli.ok("recover")

    assert result.out == ""
    assert "Skipped 1 session that was active in the last 2 minutes." in result.err
    assert cli.json("recover") == []


@pytest.mark.parametrize("has_hooks", [False, True])
def test_an_open_session_is_not_dead_however_long_it_is_idle(
    cli: Cli, repo: Repo, session: Path, monkeypatch: pytest.MonkeyPatch, *, has_hooks: bool
) -> None:
    if has_hooks:
        talk = Talk(repo.folder, session.stem)
        talk.transcript = session
        monkeypatch.setenv("CLAUDE_PID", str(os.getpid()))
        talk.start()
    else:
        name_process(session, os.getpid())

    assert "Skipped 1 session that is still open." in cli.ok("recover").err
    assert cli.json("sessions")[0]["state"] == "active"
    assert cli.json("status")["unsaved"] == []
    assert cli.json("list") == []


def test_a_session_is_dead_as_soon_as_its_process_is(cli: Cli, session: Path) -> None:
    session.touch()
    # No process has the largest number.
    name_process(session, 4194304)

    assert len(cli.json("recover")) == 1


def name_process(session: Path, pid: int) -> None:
    """Write the file in which a process of Claude Code names its session."""
    path = session.parents[2] / "sessions" / f"{pid}.json"
    path.parent.mkdir()
    named = {"pid": pid, "sessionId": session.stem, "pidDomain": name_process_domain()}
    path.write_text(json.dumps(named), encoding="utf-8")


SMALL_TALK = "What is 2+2?"


def answer(session: Path, folder: Path) -> None:
    """Let the session be a question and its answer."""
    said = {"role": "assistant", "content": [{"type": "text", "text": "4"}]}
    lines = [
        entry(session.stem, folder, "user", SMALL_TALK),
        {
            **entry(session.stem, folder, "assistant", []),
            "message": {**said, "stop_reason": "end_turn"},
        },
    ]
    session.write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.mark.parametrize(("is_talk", "state"), [(True, "no work"), (False, "saved")])
def test_a_session_whose_end_was_seen_is_not_active(
    cli: Cli, repo: Repo, session: Path, *, is_talk: bool, state: str
) -> None:
    talk = Talk(repo.folder, session.stem)
    talk.transcript = session
    if is_talk:
        answer(session, repo.folder)
    session.touch()
    talk.start()
    talk.fire("UserPromptSubmit", prompt=SMALL_TALK)
    assert cli.json("sessions")[0]["state"] == "active"

    talk.fire("SessionEnd", reason="prompt_input_exit")

    assert cli.json("sessions")[0]["state"] == state
    assert "active" not in cli.ok("sessions").out


def test_a_session_that_goes_on_after_its_end_may_be_active(
    cli: Cli, repo: Repo, session: Path
) -> None:
    talk = Talk(repo.folder, session.stem)
    talk.transcript = session
    answer(session, repo.folder)
    talk.fire("SessionEnd", reason="prompt_input_exit")
    later = session.stat().st_mtime + 60
    os.utime(session, (later, later))

    assert cli.json("sessions")[0]["state"] == "active"


def test_only_what_is_young_enough_is_recovered(cli: Cli) -> None:
    assert cli.json("recover", "--since", "1h") == []
    assert cli("recover", "--since", "soon").code == 2


def test_a_save_can_start_from_a_session(cli: Cli, session: Path) -> None:
    for number, source in enumerate((session.stem, session.stem[:4], str(session))):
        cli.ok("save", f"from-session-{number}", "--from", source, "--next=Run make")
        shown = cli.json("show", f"from-session-{number}")
        assert shown["intent"] == "Add the password rule to app.py"
        assert shown["next_action"] == {"text": "Run make"}
    assert cli("save", "none-such", "--from", "zork").code == 1


def test_inside_an_agent_a_save_knows_what_the_session_knows(
    cli: Cli, session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", session.stem)
    cli.ok("save", "knowing-one", "--summary=Told")
    cli.ok("save", "bare-one", "--summary=Told", "--no-capture")
    knowing, bare = (cli.json("show", name) for name in ("knowing-one", "bare-one"))

    assert knowing["summary"] == bare["summary"] == "Told"
    assert knowing["intent"] == "Add the password rule to app.py"
    assert "intent" not in bare
    assert knowing["session_id"] == bare["session_id"] == session.stem


def test_a_given_step_is_a_step_of_the_plan_the_session_has(
    cli: Cli, repo: Repo, session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = tmp_path / "home" / ".claude" / "plans" / "login.md"
    plan.parent.mkdir()
    plan.write_text("# Login\n\n- [x] one\n- [ ] two\n")
    written = {"file_path": str(plan), "content": plan.read_text()}
    call = {"type": "tool_use", "id": "c1", "name": "Write", "input": written}
    done = {"type": "tool_result", "tool_use_id": "c1", "content": "ok"}
    with session.open("a") as file:
        for kind, content in (("assistant", call), ("user", done)):
            file.write(json.dumps(entry(session.stem, repo.folder, kind, [content])) + "\n")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", session.stem)
    cli.ok("save", "login-form", "--step=1/2")
    shown = cli.json("show", "login-form")["plan"]

    assert (shown["path"], shown["step"], shown["total"]) == (str(plan), 1, 2)


def test_capture_shows_where_a_session_left_off_and_saves_nothing(
    cli: Cli, session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Add the password rule" in cli.ok("capture", str(session)).out
    result = cli.json("capture", str(session), "--out", str(tmp_path / "out"))

    assert result["checkpoint"]["session_id"] == session.stem
    assert (tmp_path / "out" / "briefing.txt").read_text() == result["briefing"]
    written = json.loads((tmp_path / "out" / "checkpoint.json").read_text())
    assert written["intent"] == "Add the password rule to app.py"
    assert cli.json("list") == []
    monkeypatch.chdir(tmp_path / "home")
    assert "Add the password rule" in cli.ok("capture", str(session)).out


def test_pipes_are_not_waited_for(cli: Cli, session: Path) -> None:
    pipe = session.with_name("pipe.jsonl")
    os.mkfifo(pipe)

    assert "is not a file" in cli("capture", str(pipe)).err
    assert [each["session_id"] for each in cli.json("sessions")] == [session.stem]


@pytest.mark.parametrize("text", ["hello", None])
def test_what_is_not_a_session_is_reported(cli: Cli, tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "notes.txt"
    if text is not None:
        path.write_text(text)
    result = cli("capture", str(path))

    assert result.code == 1
    assert result.err.startswith("leftoff: ")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_a_transcript_without_permission_is_reported(cli: Cli, session: Path) -> None:
    session.chmod(0)

    result = cli("recover")

    assert result.code == 1
    assert f"Could not read {session}: Permission denied" in result.err


def test_recover_fails_if_the_disk_does_not_give_a_transcript(
    cli: Cli, session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.open

    def refuse(path: Path, *arguments: Any, **named: Any) -> Any:
        if path == session:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(path, *arguments, **named)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", refuse)
        result = cli("recover")
        assert cli.json("sessions") == []

    assert result.code == 1
    assert "No session died" not in result.out
    assert f"Could not read {session}: Input/output error" in result.err
    assert cli.ok("recover").out.startswith("agent")


def test_recover_fails_if_the_folder_of_transcripts_cannot_be_listed(
    cli: Cli, session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.listdir

    def refuse(folder: Path) -> list[str]:
        if Path(folder) == session.parent:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
        return real(folder)

    with monkeypatch.context() as patched:
        patched.setattr(os, "listdir", refuse)
        result = cli("recover")

    assert result.code == 1
    assert f"Could not read {session.parent}: Permission denied" in result.err


# --- first contact ---


def edit(session: Path, folder: Path) -> None:
    """Let the session change a file."""
    call = {
        "type": "tool_use",
        "id": "t1",
        "name": "Edit",
        "input": {"file_path": f"{folder}/a.py"},
    }
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "The file has been updated."}
    before = session.stat().st_mtime
    with session.open("a") as file:
        for kind, part in (("assistant", call), ("user", result)):
            file.write(json.dumps(entry(session.stem, folder, kind, [part])) + "\n")
    os.utime(session, (before, before))


@pytest.mark.parametrize("command", ["resume", "status"])
def test_unsaved_work_is_named_where_nothing_was_saved(
    cli: Cli, repo: Repo, session: Path, command: str
) -> None:
    edit(session, repo.folder)

    said = cli.ok(command).out

    assert "1 session of this project has unsaved work:" in said
    assert "- claude, 1d ago: Add the password rule to app.py" in said
    assert "Run `leftoff recover` to save it." in said
    assert [each["session_id"] for each in cli.json(command)["unsaved"]] == [session.stem]
    cli.ok("recover")
    assert "unsaved work" not in cli.ok(command).out


@pytest.mark.parametrize("command", ["list", "resume", "status"])
def test_unsaved_work_is_named_beside_what_was_saved(
    cli: Cli, repo: Repo, session: Path, command: str
) -> None:
    cli.ok("save", "csv-import", "--summary", "Import CSV files", "--next", "Run pytest")
    edit(session, repo.folder)

    said = cli.ok(command).out

    assert "csv-import" in said
    assert "- claude, 1d ago: Add the password rule to app.py" in said


@pytest.mark.parametrize("answer", [(), ("--accept",)])
def test_a_resume_by_name_names_the_unsaved_sessions_of_that_thread(
    cli: Cli,
    repo: Repo,
    session: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: tuple[str, ...],
) -> None:
    for name in ("csv-import", "search-box"):
        cli.ok("save", name, "--summary", f"Work on {name}", "--next", "Run pytest")
    with monkeypatch.context() as patch:
        patch.setenv("CLAUDE_CODE_SESSION_ID", session.stem)
        cli.ok("resume", "csv-import", "--accept")
    edit(session, repo.folder)

    named, other = (cli.ok("resume", each, *answer).out for each in ("csv-import", "search-box"))

    assert "- claude, 1d ago: Add the password rule to app.py (in csv-import)" in named
    assert "Run `leftoff recover` to save it." in named
    assert "unsaved work" not in other


def test_a_name_that_is_not_known_may_be_that_of_an_unsaved_session(
    cli: Cli, repo: Repo, session: Path
) -> None:
    edit(session, repo.folder)

    result = cli("resume", "password-rule")

    assert result.code == 1
    assert "claude, 1d ago: Add the password rule to app.py. Run `leftoff rec" in result.err


def test_choices_for_programs_are_only_json_and_unsaved_work_is_a_warning(
    cli: Cli, repo: Repo, session: Path
) -> None:
    for name in ("csv-import", "search-box"):
        cli.ok("save", name, "--summary", f"Work on {name}", "--next", "Run pytest")
    edit(session, repo.folder)

    result = cli("resume")

    assert [each["choice"] for each in result.json["choices"]] == ["search-box", "csv-import"]
    assert "work: claude, 1d ago: Add the password rule to app.py. Run `leftoff rec" in result.err


def test_the_command_to_recover_looks_back_far_enough(cli: Cli, repo: Repo, session: Path) -> None:
    edit(session, repo.folder)
    old = session.stat().st_mtime - 86_400 * 10
    os.utime(session, (old, old))

    said = cli.ok("resume").out
    command = said.partition("Run `leftoff ")[2].partition("`")[0]

    assert command.startswith("recover --since ")
    assert "Saved 1 session" in cli.ok(*command.split()).out


@pytest.mark.parametrize("command", ["resume", "status"])
def test_small_talk_is_not_unsaved_work(cli: Cli, repo: Repo, session: Path, command: str) -> None:
    before = session.stat().st_mtime
    answer(session, repo.folder)
    os.utime(session, (before, before))

    assert "unsaved work" not in cli.ok(command).out


def test_init_names_work_from_before_the_hooks(cli: Cli, repo: Repo, session: Path) -> None:
    edit(session, repo.folder)

    assert "1 session of this project has unsaved work:" in cli.ok("init", "--yes").out
    cli.ok("recover")
    assert "unsaved work" not in cli.ok("init", "--yes").out


def test_status_says_when_nothing_is_saved_automatically(cli: Cli, session: Path) -> None:
    assert session.exists()
    assert "hooks    not installed; run `leftoff init`" in cli.ok("status").out
    cli.ok("init", "--yes")
    assert "hooks    on for Claude Code\n" in cli.ok("status").out
    assert cli.json("status")["hooks"] == "on"
    cli.ok("off")
    assert "hooks    off for this project; run `leftoff on`" in cli.ok("status").out


def test_status_says_when_the_only_wired_agent_waits_for_its_user(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "home" / ".codex").mkdir()
    cli.ok("init", "--yes")

    assert "hooks    Codex does not run them; run `leftoff doctor` to see" in cli.ok("status").out


@pytest.mark.parametrize(
    "words", [["recover"], ["status"], ["list"], ["resume", "--json"]], ids=lambda words: words[0]
)
def test_a_session_that_ended_just_now_is_saved_before_it_could_look_dead(
    cli: Cli, repo: Repo, session: Path, words: list[str]
) -> None:
    talk = Talk(repo.folder, session.stem)
    talk.transcript = session
    talk.post("SessionEnd", reason="prompt_input_exit")
    result = cli.ok(*words)

    assert "unsaved work" not in result.out + result.err
    assert [each["trigger"] for each in cli.json("list", "--all")] == ["session-end"]

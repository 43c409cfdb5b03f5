"""What sail promises, played as its users do: questions, files, the box and shell lines."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cli.runs import Cli
from gitrepo import Repo
from leftoff import context
from leftoff.hooks import start
from profiles.sailing import folder, index_of, put, talk
from stores import contents
from talk import Talk

__all__ = ["folder", "talk"]

_INSTALLER = Path(__file__).resolve().parents[2] / "scripts" / "agents.py"
RULE = "━" * 53
WORKING_ON = "What are you currently working on?"
DECISIONS = "What key decisions were made (and why)?"
NEXT = "What's the next action?"


@pytest.fixture(scope="session")
def jq_path() -> str:
    """Return a search path with jq; where it cannot be had, fail in CI and skip elsewhere."""
    done = subprocess.run(
        (sys.executable, _INSTALLER, "jq"), capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return os.pathsep.join([str(Path(done.stdout.strip()).parent), os.environ["PATH"]])
    if os.environ.get("CI") == "true":
        pytest.fail(done.stderr.strip(), pytrace=False)
    pytest.skip(done.stderr.strip())


def bash(line: str, at: Path, path: str) -> str:
    """Run a line of the original text in the project."""
    return subprocess.run(
        ("bash", "-c", line),
        cwd=at,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def list_natives(folder: Path) -> list[Any]:
    found = [json.loads(path.read_bytes()) for path in folder.rglob("checkpoints/*.json")]
    return sorted(found, key=lambda each: str(each["timestamp"]))


# Asking


@pytest.mark.promise("sail", 3)
@pytest.mark.parametrize(
    ("given", "asked"),
    [
        (["--next", "Write limit.lua"], [WORKING_ON, DECISIONS]),
        (["--decision", "Redis because counters survive"], [WORKING_ON, NEXT]),
        (["--decision", "Redis", "--next", "Write limit.lua"], [WORKING_ON]),
        (["--summary", "Moving limits"], []),
    ],
)
def test_only_what_was_not_given_is_asked(
    cli: Cli, folder: Path, given: list[str], asked: list[str]
) -> None:
    with cli.terminal("save", *given) as terminal:
        for question in asked:
            assert "?" not in terminal.expect(question)
            terminal.answer("An answer of some words")
        assert "?" not in terminal.rest()

    assert len(list_natives(folder)) == 1
    result = cli("save", *given)
    labels = [each["label"] for each in result.json["choices"]] if result.code == 3 else []
    assert labels == asked
    assert result.code == (3 if asked else 0)


@pytest.mark.promise("sail", 44)
def test_the_command_itself_is_not_what_comes_next(cli: Cli, folder: Path, talk: Talk) -> None:
    talk.ask("Move the limits to Redis")
    talk.edit("limiter.py")
    talk.say("Wrote limiter.py. Next I will write the Lua script.")
    talk.ask(
        "<command-message>checkpoint</command-message>\n<command-name>/checkpoint</command-name>\n"
        '<command-args>--summary "Moving limits"</command-args>'
    )
    out = cli.ok("save", "--summary", "Moving limits", "--from", str(talk.transcript)).out

    [native] = list_natives(folder)
    assert "/checkpoint" not in json.dumps(native)
    assert native["next_action"] == "Write the Lua script."
    assert "Next:     Write the Lua script." in out


@pytest.mark.promise("sail", 5, 43)
def test_without_any_answer_nothing_hides_the_latest(cli: Cli, folder: Path) -> None:
    cli.ok("save", "--summary", "Moving limits")
    with cli.terminal("save") as terminal:
        for question in (WORKING_ON, DECISIONS, NEXT):
            terminal.expect(question)
            terminal.answer("")
        terminal.expect("nothing was saved")

    assert [each["summary"] for each in list_natives(folder)] == ["Moving limits"]


@pytest.mark.promise("sail", 4)
def test_an_agent_that_said_what_it_did_is_not_asked(cli: Cli, folder: Path, talk: Talk) -> None:
    talk.work()
    cli.ok("save", "--from", str(talk.transcript), "--next", "Run the tests")

    assert [each["next_action"] for each in list_natives(folder)] == ["Run the tests"]


# When to save


@pytest.mark.promise("sail", 6, 8)
def test_a_session_that_ends_or_dies_is_not_lost(cli: Cli, folder: Path, talk: Talk) -> None:
    del folder
    talk.work()
    talk.fire("SessionEnd", reason="exit")

    [entry] = cli.json("list")
    assert entry["trigger"] == "session-end"
    assert "login form" in entry["summary"]


@pytest.mark.promise("sail", 7)
@pytest.mark.parametrize(("percent", "words"), [(66, "consider"), (76, "finish the current step")])
def test_a_large_context_is_mentioned(folder: Path, talk: Talk, percent: int, words: str) -> None:
    del folder
    talk.work(percent=percent)
    talk.fire("UserPromptSubmit", prompt="Go on")

    assert words in talk.waiting_reply()
    assert "leftoff save" in talk.waiting_reply()


@pytest.mark.promise("sail", 9)
@pytest.mark.parametrize(
    "decision",
    ["Chose Redis over memory because counters survive", "Deferred regions until traffic doubles"],
)
def test_the_rationale_reaches_the_next_session(
    cli: Cli, folder: Path, talk: Talk, decision: str
) -> None:
    cli.ok(
        "save", "--summary", "Moving limits", "--decision", decision, "--next", "Write limit.lua"
    )

    assert decision in talk.start()
    assert decision in cli.ok("resume", "--accept").out
    assert list_natives(folder)[0]["decisions"] == [decision]


@pytest.mark.promise("sail", 10)
def test_switching_to_another_task_keeps_both(cli: Cli, folder: Path) -> None:
    cli.ok("save", "--summary", "Moving limits to Redis", "--next", "Write limit.lua")
    cli.ok("save", "--summary", "Paint the login page", "--next", "Pick a blue")

    assert len(list_natives(folder)) == 2
    assert {each["next_action"] for each in cli.json("list")} == {"Write limit.lua", "Pick a blue"}


# Where and what


DETERMINE = """
if [ -f ".claude/state-index.json" ]; then
    plan=$(jq -r '.active_plan // empty' .claude/state-index.json)
    if [ -n "$plan" ]; then
        mkdir -p ".claude/plans/${plan}/checkpoints"
        DEST=".claude/plans/${plan}/checkpoints/$(date -u +%Y%m%dT%H%M%SZ).json"
    fi
fi
if [ -z "${DEST:-}" ]; then
    mkdir -p ".claude/checkpoints"
    DEST=".claude/checkpoints/$(date -u +%Y%m%dT%H%M%SZ).json"
fi
echo "$DEST"
"""


@pytest.mark.promise("sail", 11, 12, 13, 14, 24)
@pytest.mark.parametrize("index", [None, {}, {"active_plan": None}, {"active_plan": "rate-limits"}])
def test_a_save_goes_where_the_original_lines_say(
    cli: Cli, folder: Path, jq_path: str, index: dict[str, Any] | None
) -> None:
    if index is not None:
        put(folder / "state-index.json", index)
    before = Path(bash(DETERMINE, folder.parent, jq_path).strip())
    out = cli.ok("save", "--summary", "Moving limits", "--next", "Write limit.lua").out
    after = Path(bash(DETERMINE, folder.parent, jq_path).strip())

    [path] = [path.relative_to(folder.parent) for path in folder.rglob("checkpoints/*.json")]
    assert path.parent == before.parent
    assert before.name <= path.name <= after.name
    assert f"  Location: {path}\n" in out


@pytest.mark.promise("sail", 15, 16, 17, 18, 19, 20, 21, 22, 40)
def test_the_file_has_the_members_of_the_original(cli: Cli, folder: Path) -> None:
    index = {"active_plan": "rate-limits", "active_plan_stage": 4, "active_tdd_phase": "red"}
    put(folder / "state-index.json", index)
    summary = "Working on limits because counters reset"
    decisions = ["Chose A over B because [it is: faster]", "Deferred C until traffic doubles"]
    given = [word for each in decisions for word in ("--decision", each)]
    words = ["--next", "Write limit.lua", "--file", "a.ts", "--file", "b.ts"]
    cli.ok("save", "--summary", summary, *given, *words)

    [native] = list_natives(folder)
    assert datetime.fromisoformat(native["timestamp"]).tzinfo == UTC
    assert native["timestamp"].endswith("Z")
    assert {key: native[key] for key in native if key not in {"timestamp", "leftoff"}} == {
        "summary": summary,
        "decisions": decisions,
        "next_action": "Write limit.lua",
        "blockers": [],
        "context": {**index, "files_in_progress": ["a.ts", "b.ts"]},
    }


@pytest.mark.promise("sail", 23, 25)
def test_the_box_is_the_original_one(cli: Cli, folder: Path) -> None:
    decisions = ["--decision", "A because B", "--decision", "C until D"]
    result = cli.ok("save", "--summary", "Moving limits", "--next", "Write limit.lua", *decisions)
    [path] = (folder / "checkpoints").iterdir()

    assert result.err == ""
    assert (
        result.out
        == f"""\
{RULE}
  CHECKPOINT SAVED
{RULE}

  Location: .claude/checkpoints/{path.name}
  Summary:  Moving limits
  Decisions: 2 recorded
  Next:     Write limit.lua

  This context will be surfaced on next session start.

{RULE}
"""
    )


# The state index


@pytest.mark.promise("sail", 26)
def test_their_line_and_our_save_update_the_same_member(
    cli: Cli, folder: Path, jq_path: str
) -> None:
    line = (
        'jq --arg ts "$(date -u +%Y-%m-%dT%H:%M:%SZ)" '
        "'.last_checkpoint = $ts' .claude/state-index.json > tmp.$$ "
        "&& mv tmp.$$ .claude/state-index.json"
    )
    put(folder / "state-index.json", {"active_plan": None, "mine": [1, 2]})
    cli.ok("save", "--summary", "By us")
    ours = index_of(folder)
    bash(line, folder.parent, jq_path)
    theirs = index_of(folder)
    cli.ok("save", "--summary", "By us again")

    assert {**ours, "last_checkpoint": None} == {**theirs, "last_checkpoint": None}
    assert ours["last_checkpoint"] <= theirs["last_checkpoint"]
    assert theirs["last_checkpoint"] <= index_of(folder)["last_checkpoint"]


@pytest.mark.promise("sail", 27)
def test_nothing_but_the_last_checkpoint_is_written_in_a_session(
    cli: Cli, folder: Path, talk: Talk
) -> None:
    text = '{"active_plan": "gone", "active_plan_stage": "x",\n "active_tdd": null, "mine":1}\n'
    path = put(folder / "state-index.json", text)
    put(folder / "plans" / "open-one" / "state.json", {"name": "open-one", "current_stage": 2})
    talk.start()
    talk.work()
    for event in ("UserPromptSubmit", "Stop", "PreCompact"):
        talk.fire(event, prompt="Go on", trigger="manual")
    put(folder / "notes.json", {})
    talk.fire("PostToolUse", tool_name="Edit", tool_input={"file_path": str(folder / "notes.json")})
    cli.ok("resume")
    cli.ok("list")

    after = json.loads(path.read_text(encoding="utf-8"))
    assert {**after, "last_checkpoint": None} == {**json.loads(text), "last_checkpoint": None}


# Reading


@pytest.mark.promise("sail", 29, 30, 36)
def test_a_checkpoint_that_the_agent_wrote_is_surfaced(cli: Cli, folder: Path, talk: Talk) -> None:
    cli.ok("save", "--summary", "An older thing", "--next", "Not this")
    native = {
        "timestamp": "2026-12-31T00:00:00Z",
        "summary": "Working on X because Y",
        "decisions": ["Chose A over B because C"],
        "next_action": "Write the emitter",
        "blockers": ["No password"],
        "context": {"active_plan": None, "files_in_progress": []},
    }
    put(folder / "checkpoints" / "20261231T000000Z.json", native)

    said = talk.start()
    for words in ("Working on X because Y", "Chose A over B because C", "Write the emitter"):
        assert words in said
    assert "No password" in said
    assert "An older thing" not in said


@pytest.mark.promise("sail", 33)
@pytest.mark.parametrize(
    "native",
    [
        {"summary": "Moving limits", "next_action": ["Write limit.lua", "Wire it in"]},
        {"summary": ["Moving limits"], "next_action": {"do": "Write limit.lua; Wire it in"}},
        {"Summary": "Moving limits", "nextAction": "Write limit.lua", "then": "Wire it in"},
        {"task": "Moving limits", "next_steps": ["Write limit.lua", "Wire it in"]},
        {
            "summary": "Moving limits",
            "next_action": "Write limit.lua",
            "next_steps": ["Wire it in"],
        },
        {"summary": "Moving limits", "blockers": "Write limit.lua", "mood": {"is": "Wire it in"}},
        {"summary": "Moving limits", "decisions": {"Write limit.lua": "Wire it in"}},
        {
            "summary": "Moving limits",
            "decisions": [{"decision": "Write limit.lua", "alternatives": ["Wire it in"]}],
        },
        {
            "summary": "Moving limits",
            "context": {"files_in_progress": [{"path": "Write limit.lua", "state": "Wire it in"}]},
        },
    ],
)
def test_a_session_gets_all_that_a_file_says(folder: Path, talk: Talk, native: Any) -> None:
    put(folder / "checkpoints" / "20261115T184012Z.json", native)

    said = talk.start()
    for words in ("Task: Moving limits", "Write limit.lua", "Wire it in"):
        assert words in said


@pytest.mark.promise("sail", 20, 21, 42)
def test_plan_stage_and_test_first_phase_reach_the_next_session(
    cli: Cli, folder: Path, talk: Talk
) -> None:
    active = {"active_plan": "rate-limits", "active_plan_stage": 4, "active_tdd_phase": "red"}
    put(folder / "state-index.json", active)
    cli.ok("save", "--summary", "Moving limits", "--next", "Write limit.lua")

    for said in (talk.start(), cli.ok("resume", "--accept").out):
        for words in ("rate-limits", "step 4", "test-first phase: red"):
            assert words in said


@pytest.mark.promise("sail", 29, 36, 41)
@pytest.mark.parametrize("words", [["resume"], ["resume", "--accept"]])
def test_resume_takes_the_latest_without_a_question(
    cli: Cli, folder: Path, repo: Repo, words: list[str]
) -> None:
    del folder
    cli.ok("save", "--summary", "Moving limits to Redis", "--next", "Write limit.lua")
    repo.git("checkout", "-q", "-b", "side")
    cli.ok("save", "--summary", "Paint the login page", "--next", "Pick a blue")
    repo.git("checkout", "-q", "main")

    out = cli.ok(*words).out
    assert "Pick a blue" in out
    assert "Write limit.lua" not in out
    with cli.terminal("resume") as terminal:
        out = terminal.rest()
    assert "Pick a blue" in out
    assert "Which one" not in out
    said = Talk(repo.folder, "next").start()
    assert "Pick a blue" in said
    assert "Write limit.lua" not in said


@pytest.mark.promise("sail", 36)
def test_older_decisions_are_not_shown_at_session_start(cli: Cli, folder: Path, talk: Talk) -> None:
    del folder
    older = ["--decision", "Chose Redis over memory", "--failed", "Cookies :: the proxy"]
    cli.ok("save", "--summary", "Moving limits to Redis", "--next", "Write limit.lua", *older)
    latest = ["--decision", "Chose blue over green", "--next", "Pick a blue"]
    cli.ok("save", "--summary", "Paint the login page", *latest)
    cli.ok("memory", "add", "rule", "Always use tabs")

    said = talk.start()
    assert "Chose blue over green" in said
    assert "Always use tabs" in said
    for words in ("Chose Redis", "Cookies", "Moving limits"):
        assert words not in said


@pytest.mark.promise("sail", 31, 32)
@pytest.mark.parametrize("plan", [None, "rate-limits"])
def test_the_latest_by_the_original_line_is_the_latest_saved_on_purpose(
    cli: Cli, folder: Path, talk: Talk, jq_path: str, plan: str | None
) -> None:
    if plan is not None:
        put(folder / "state-index.json", {"active_plan": plan})
    cli.ok("save", "first", "--summary", "First", "--next", "One")
    cli.ok("save", "second", "--summary", "Second", "--next", "Two")
    talk.work()
    talk.fire("PreCompact", trigger="manual")
    talk.fire("SessionEnd", reason="exit")
    place = f".claude/plans/{plan}/checkpoints" if plan else ".claude/checkpoints"
    line = f"cat {place}/*.json | jq -s 'sort_by(.timestamp) | last'"

    latest = json.loads(bash(line, folder.parent, jq_path))
    assert latest["summary"] == "Second"
    assert cli.json("show")["summary"] == "Second"
    assert len(cli.json("list")) >= 2
    assert "Second" in Talk(folder.parent, "next").start()


@pytest.mark.promise("sail", 34)
def test_every_file_stays_as_it_was_written(cli: Cli, folder: Path, talk: Talk) -> None:
    put(folder / "checkpoints" / "20261115T184012Z.json", {"summary": "By hand"})
    cli.ok("save", "limits", "--summary", "Move limits", "--next", "Write limit.lua")
    before = contents(folder)
    cli.ok("save", "limits", "--summary", "Move limits", "--next", "Write test.lua")
    for words in (
        ["resume", "limits", "--accept"],
        ["done", "limits"],
        ["undo"],
        ["drop", "limits"],
    ):
        cli.ok(*words)
    cli.ok("clear", "--all")
    talk.start()

    assert before.items() <= contents(folder).items()
    assert len(contents(folder)) == len(before) + 1


@pytest.mark.promise("sail", 39)
def test_a_save_does_not_warn_about_what_sail_does_not_have(cli: Cli, folder: Path) -> None:
    del folder
    for words in (
        ["--summary", "Moving limits", "--next", "Write limit.lua in src"],
        ["--summary", "stuff", "--next", "continue", "--decision", "x", "--blocker", "it"],
        ["--summary", "wip", "--file", "gone.ts", "--done", "some progress"],
    ):
        assert cli.ok("save", *words).err == ""


# Files that cannot be read


@pytest.mark.promise("sail", 45)
def test_a_file_that_is_not_json_is_reported_in_its_own_project_only(
    cli: Cli, folder: Path, talk: Talk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(folder / "checkpoints" / "20261115T184000Z.json", '{"summary": "half')
    talk.fire("Stop")
    other = Repo(tmp_path / "other")

    def notice(folder: Path) -> str:
        each = Talk(folder, "session-2")
        data = json.dumps(each.payload("SessionStart", source="startup")).encode()
        reply = start.answer("claude", data, context.state_folder())
        return str(json.loads(reply).get("systemMessage", "")) if reply else ""

    def warned() -> str:
        return "\n".join(
            f"{each['check']}: {each['what']}"
            for each in cli("doctor", "--json").json["findings"]
            if each["level"] == "warning"
        )

    problem = "checkpoints/20261115T184000Z.json: It is not valid JSON"
    assert problem in notice(folder.parent)
    assert problem in warned()
    assert "hook" not in notice(folder.parent)
    assert "hook error" not in warned()
    repaired = put(folder / "checkpoints" / "20261115T184100Z.json", '{"summary": "half')
    talk.fire("Stop")
    assert repaired.name in warned()
    put(repaired, '{"summary": "Whole", "timestamp": "2026-11-15T18:41:00Z"}')
    assert repaired.name not in warned()
    assert repaired.name not in notice(folder.parent)
    assert problem in warned()
    monkeypatch.chdir(other.folder)
    assert "20261115T184000Z" not in notice(other.folder)
    assert "doctor" not in notice(other.folder)
    assert "20261115T184000Z" not in warned()


@pytest.mark.promise("sail", 20, 21)
def test_stage_and_phase_come_from_their_own_files_if_the_index_lacks_them(
    cli: Cli, folder: Path
) -> None:
    put(folder / "state-index.json", {"active_plan": "rate"})
    put(folder / "plans" / "rate" / "state.json", {"name": "rate", "current_stage": 3})
    put(folder / "tdd-sessions" / "active.json", {"phase": "RED"})
    cli.ok("save", "--summary", "Limits in Redis")

    (file,) = (folder / "plans" / "rate" / "checkpoints").glob("*.json")
    found = json.loads(file.read_text(encoding="utf-8"))["context"]
    assert (found["active_plan_stage"], found["active_tdd_phase"]) == (3, "RED")


@pytest.mark.promise("sail", 47, 48)
def test_a_file_in_another_spelling_counts_by_its_own_time(cli: Cli, folder: Path) -> None:
    put(
        folder / "checkpoints" / "20990101T000000Z.json",
        {"Timestamp": "2026-11-17T09:00:00Z", "Summary": "Parse the feed", "nextAction": "Try"},
    )
    put(
        folder / "checkpoints" / "20261117T100000Z.json",
        {"timestamp": "2026-11-17T10:00:00Z", "summary": "Cache it", "next_action": "Run it"},
    )

    shown = cli.ok("status", "--plan").out

    assert "Parse the feed" in shown
    assert "Next action: Run it" in shown
    assert cli.json("latest")["summary"] == "Cache it"


@pytest.mark.promise("sail", 22)
def test_without_a_session_git_names_the_files_in_progress(
    cli: Cli, folder: Path, repo: Repo
) -> None:
    (repo.folder / "limiter.ts").write_text("half\n", encoding="utf-8")
    folder.mkdir(exist_ok=True)
    (folder / "scratch.md").write_text("own\n", encoding="utf-8")
    cli.ok("save", "--summary", "Moving limits")

    assert list_natives(folder)[-1]["context"]["files_in_progress"] == ["limiter.ts"]

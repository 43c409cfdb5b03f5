"""leftoff can be installed and removed without a trace, as hooks in the settings or as a plugin."""

import json
import re
from functools import partial

import pytest

from e2e.claude import Bench
from e2e.model import Model
from e2e.turns import bash, say
from e2e.user import TASK, User

SETTINGS = """{
    "theme":   "dark",
  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]},

  "permissions": {"allow": ["Bash(ls:*)"]}
}"""


def test_uninstall_leaves_the_settings_as_they_were(bench: Bench, newcomer: User) -> None:
    path = bench.home / ".claude" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(SETTINGS, encoding="utf-8")

    newcomer.installs()
    installed = json.loads(path.read_text(encoding="utf-8"))
    newcomer.ok("uninstall", "--yes")

    assert "SessionStart" in installed["hooks"]
    assert path.read_text(encoding="utf-8") == SETTINGS


# What the offer, the guide and the skill ask the agent to run.
UNASKED = (
    "leftoff guide",
    "leftoff list",
    "leftoff resume",
    "leftoff resume add-retry-http-client --accept",
    "leftoff show add-retry-http-client",
    "leftoff save add-retry-http-client --next 'Run pytest' --overwrite",
    "leftoff log && leftoff status",
)
ASKED = (
    "leftoff drop add-retry-http-client",
    "leftoff done add-retry-http-client",
    "leftoff clear --all",
    "leftoff purge --older-than 0d --yes",
    "leftoff ship -m done",
    "leftoff briefing --write README.md",
    "leftoff resume; touch owned",
)


def test_the_agent_may_look_save_and_resume_without_asking_the_user_and_end_nothing(
    bench: Bench, model: Model, user: User
) -> None:
    user.works()
    model.will(*(bash(each) for each in (*UNASKED, *ASKED)), say("Done."))

    ended = bench.run("continue")

    denied = [each["tool_input"]["command"] for each in ended.final["permission_denials"]]
    assert denied == [*ASKED]
    assert [row["name"] for row in json.loads(user.ok("list", "--json"))] == [
        "add-retry-http-client"
    ]
    assert not (bench.repo.folder / "owned").exists()


def test_the_interactive_program_resumes_work_without_a_question(
    bench: Bench, model: Model, user: User
) -> None:
    user.works()
    tui = bench.tui()
    model.will(bash("leftoff resume add-retry-http-client --accept"), say("I go on."))

    tui.send("continue")

    tui.wait_for_turns(1)
    assert "Do you want" not in tui.screen()
    assert TASK in model.requests()[-1].news


def test_after_uninstall_a_session_runs_without_leftoff_and_claude_code_asks_again(
    bench: Bench, model: Model, user: User
) -> None:
    user.works()
    before, seen = len(user.saved()), len(model.requests())
    user.ok("uninstall", "--yes")
    model.will(bash("leftoff resume"), say("Done."))

    ended = bench.run("continue")

    assert TASK not in model.requests()[seen].news
    assert len(ended.final["permission_denials"]) == 1
    assert len(user.saved()) == before


def test_a_session_leaves_the_users_tree_clean_and_nothing_for_doctor(
    bench: Bench, user: User
) -> None:
    user.works()

    assert bench.repo.git("status", "--porcelain", "--ignored") == "?? retry.py"
    assert user.leftoff("doctor").code == 0


def test_claude_code_lists_the_skill_and_the_commands_until_they_are_uninstalled(
    bench: Bench, newcomer: User
) -> None:
    newcomer.follows("sail")
    (opening,) = [one for one in bench.run("hello").events if one.get("subtype") == "init"]
    assert "leftoff" in opening["skills"]
    assert {"checkpoint", "continue", "dashboard"} <= {*opening["slash_commands"]}

    newcomer.ok("uninstall", "--yes")

    (opening,) = [one for one in bench.run("hello").events if one.get("subtype") == "init"]
    assert "leftoff" not in opening["skills"]
    assert "checkpoint" not in opening["slash_commands"]


@pytest.mark.parametrize("place", [".claude", "elsewhere"])
def test_doctor_asks_claude_code_itself_for_the_skill_and_leaves_no_trace(
    bench: Bench, newcomer: User, place: str
) -> None:
    (bench.root / "bin" / "claude").symlink_to(bench.claude)
    run = bench.program
    if place != ".claude":
        run = partial(run, CLAUDE_CONFIG_DIR=str(bench.home / place))
    leftoff = str(bench.root / "bin" / "leftoff")
    assert run(leftoff, "init", "--agent", "claude", "--yes").code == 0
    before = sorted(bench.home.rglob("*"))

    result = json.loads(run(leftoff, "doctor", "--json").out)

    said = [each["what"] for each in result["findings"] if each["check"] == "skill"]
    assert any(re.fullmatch(r"Claude Code [\d.]+ lists it", each) for each in said), said
    assert sorted(bench.home.rglob("*")) == before
    assert [*(bench.root / "tmp").iterdir()] == []
    skill = bench.home / place / "skills" / "leftoff" / "SKILL.md"
    skill.write_text("no name and no description", encoding="utf-8")
    result = json.loads(run(leftoff, "doctor", "--json").out)
    warned = [each["what"] for each in result["findings"] if each["level"] == "warning"]
    assert any(each.endswith("does not list the skill") for each in warned), warned
    assert newcomer.own_trouble() == []


def test_a_slash_command_gives_the_model_the_guide_in_the_interactive_program_too(
    bench: Bench, model: Model, newcomer: User
) -> None:
    """Claude Code has commands of its own with the other names /checkpoint and /continue."""
    newcomer.follows("guardz")
    model.will(say("SAVE-ANSWER"), say("CONTINUE-ANSWER"))
    tui = bench.tui()

    tui.send("/checkpoint save login-flow")
    tui.wait("SAVE-ANSWER")
    tui.send("/continue login-flow")
    tui.wait("CONTINUE-ANSWER")

    save, go_on = (request.news for request in model.requests()[-2:])
    assert "(guardz)" in save
    assert '/checkpoint with these words: "save login-flow"' in save
    assert '/continue with these words: "login-flow"' in go_on

"""What is added to Claude Code's settings, and removed again."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leftoff.agents.claude.claude_dialect import KINDS
from leftoff.hooks import answer_compaction
from leftoff.wiring import claude_hooks

HOOK = Path("/home/ada/.local/state/leftoff/hook")
THEIRS = {"hooks": [{"type": "command", "command": "true"}]}

COMMANDS = st.sampled_from(
    [
        "true",
        "leftoff save",
        f"{HOOK} claude Stop",
        "/old/leftoff/hook claude Stop",
        "hook claude Stop",
    ]
)
GROUPS = st.fixed_dictionaries(
    {"hooks": st.lists(st.fixed_dictionaries({"command": COMMANDS}), max_size=3)},
    optional={"matcher": st.just("*")},
)
RULES = st.sampled_from(["Bash(ls:*)", "Bash(leftoff list:*)", "Bash(leftoff drop:*)", 5])
PERMISSIONS = st.fixed_dictionaries(
    {}, optional={"allow": st.lists(RULES, max_size=3), "deny": st.just(["Bash(rm:*)"])}
)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "theme": st.just("dark"),
        "permissions": PERMISSIONS,
        "hooks": st.dictionaries(
            st.sampled_from([*KINDS, "SubagentStop"]), st.lists(GROUPS, max_size=3), max_size=4
        ),
    },
)


@given(SETTINGS, st.sampled_from([None, 2, "\t"]))
def test_wiring_puts_every_event_in_once_and_keeps_the_rest(
    settings: dict[str, Any], indent: int | str | None
) -> None:
    text = claude_hooks.wire(json.dumps(settings, indent=indent), HOOK)
    wired = json.loads(text)

    assert claude_hooks.is_wired(wired, HOOK)
    assert claude_hooks.strip_ours(wired, HOOK) == claude_hooks.strip_ours(settings, HOOK)
    assert claude_hooks.wire(text, HOOK) == text
    assert claude_hooks.list_missing_rules(wired) == []


@pytest.mark.parametrize("odd", [None, [], "all", {"allow": None}, {"allow": "Bash"}])
def test_permissions_of_another_shape_stay_as_they_are(odd: object) -> None:
    wired = json.loads(claude_hooks.wire(json.dumps({"permissions": odd}), HOOK))

    assert wired["permissions"] == odd
    assert claude_hooks.is_wired(wired, HOOK)
    unwired = json.loads(claude_hooks.unwire(json.dumps({"permissions": odd}), HOOK))
    assert unwired == {"permissions": odd}


def test_unwiring_removes_the_permissions_and_keeps_the_users_own() -> None:
    own = {"permissions": {"allow": ["Bash(ls:*)"], "deny": ["Bash(rm:*)"]}}

    for settings in (own, {"theme": "dark"}, {}):
        wired = claude_hooks.wire(json.dumps(settings, indent=2), HOOK)
        assert claude_hooks.has_rules(json.loads(wired))
        assert json.loads(claude_hooks.unwire(wired, HOOK)) == settings


@given(SETTINGS, st.sampled_from([None, 2, "\t"]))
def test_unwiring_removes_all_of_leftoff_and_nothing_else(
    settings: dict[str, Any], indent: int | str | None
) -> None:
    unwired = json.loads(claude_hooks.unwire(json.dumps(settings, indent=indent), HOOK))

    assert claude_hooks.wires(unwired, HOOK) == []
    assert _foreign_commands(unwired) == _foreign_commands(settings)
    assert unwired.get("theme") == settings.get("theme")
    assert not claude_hooks.has_rules(unwired)
    rules = [*settings.get("permissions", {}).get("allow", [])]
    kept = [*unwired.get("permissions", {}).get("allow", [])]
    assert kept == [rule for rule in rules if rule not in claude_hooks.RULES]


def _foreign_commands(settings: dict[str, Any]) -> list[str]:
    return [
        hook["command"]
        for groups in settings.get("hooks", {}).values()
        for group in groups
        for hook in group["hooks"]
        if not claude_hooks.is_ours(hook["command"], HOOK)
    ]


def test_a_compaction_is_waited_for_longer_than_saving_before_it_may_take() -> None:
    [group] = json.loads(claude_hooks.wire("{}", HOOK))["hooks"]["PreCompact"]

    assert group["hooks"][0]["timeout"] >= answer_compaction.WAIT_SECONDS + 3


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_unwiring_brings_back_the_very_characters(newline: str) -> None:
    text = json.dumps({"a": 1, "hooks": {"Stop": [THEIRS]}, "b": [1, 2]}, indent=3)
    text = text.replace("\n", newline)

    assert claude_hooks.unwire(claude_hooks.wire(text, HOOK), HOOK) == text


def test_each_event_gets_one_short_absolute_command_with_a_time_limit() -> None:
    hooks = json.loads(claude_hooks.wire("{}", HOOK))["hooks"]

    assert list(hooks) == list(claude_hooks.EVENTS)
    for event, [group] in hooks.items():
        [hook] = group["hooks"]
        assert hook["type"] == "command"
        assert hook["command"] == f"{HOOK} claude {event}"
        assert 1 <= hook["timeout"] <= 15
        assert group.get("matcher") == ("Bash|PowerShell" if event == "PreToolUse" else None)


@pytest.mark.parametrize(
    "folder", ["/with space/leftoff", "/it's/leftoff", "/$HOME/leftoff", "/ü/x"]
)
def test_a_path_is_quoted_for_the_shell_and_known_again(folder: str) -> None:
    hook = Path(folder) / "hook"
    command = claude_hooks.command_line(hook, "Stop")

    assert shlex.split(command) == [str(hook), "claude", "Stop"]
    assert claude_hooks.is_ours(command, hook)
    assert claude_hooks.is_wired(json.loads(claude_hooks.wire("{}", hook)), hook)


@pytest.mark.parametrize(
    "command",
    [
        None,
        7,
        "",
        "true",
        "leftoff save",
        "hook claude Stop",
        "/usr/bin/hook claude Stop",
        "/x/leftoff/hook codex Stop",
        "/x/leftoff/hook claude Stop; rm -rf /",
        "/x/leftoff/hook claude Stop --more",
        "/x/not-leftoff/hook claude Stop",
        "'unbalanced",
    ],
)
def test_what_is_not_ours_is_never_taken_for_ours(command: object) -> None:
    assert not claude_hooks.is_ours(command, HOOK)


def test_old_and_doubled_commands_are_replaced() -> None:
    old = {"hooks": [{"type": "command", "command": "/old/leftoff/hook claude Stop"}]}
    ours = {"hooks": [{"type": "command", "command": f"{HOOK} claude PreCompact"}]}
    settings = {"hooks": {"Stop": [old, THEIRS], "PreCompact": [ours, ours], "PostToolUse": [old]}}

    wired = json.loads(claude_hooks.wire(json.dumps(settings), HOOK))

    assert claude_hooks.is_wired(wired, HOOK)
    assert wired["hooks"]["Stop"][0] == THEIRS
    assert "PostToolUse" not in wired["hooks"]


def test_an_event_that_some_profiles_need_is_wired_on_request_and_stays() -> None:
    wired = claude_hooks.wire("{}", HOOK, wanted={"post-tool"})
    [group] = json.loads(wired)["hooks"]["PostToolUse"]

    assert group["matcher"] == "Edit|Write|MultiEdit"
    assert group["hooks"][0]["command"] == f"{HOOK} claude PostToolUse"
    assert claude_hooks.is_wired(json.loads(wired), HOOK)
    assert claude_hooks.wire(wired, HOOK) == wired
    assert claude_hooks.unwire(wired, HOOK) == "{}"


def test_an_event_on_request_of_an_old_installation_is_brought_up_to_date() -> None:
    old = Path("/old/leftoff/hook")
    wired = claude_hooks.wire(claude_hooks.wire("{}", old, wanted={"post-tool"}), HOOK)

    assert claude_hooks.is_wired(json.loads(wired), HOOK)
    assert str(HOOK) in json.dumps(json.loads(wired)["hooks"]["PostToolUse"])


def test_a_matcher_that_the_user_widened_stays() -> None:
    wired = claude_hooks.wire("{}", HOOK)
    widened = wired.replace("Bash|PowerShell", "Bash|PowerShell|Edit|Write")

    assert widened != wired
    assert claude_hooks.wire(widened, HOOK) == widened


@pytest.mark.parametrize("seconds", ['"timeout": 5', '"timeout": "10"', '"limit": 10'])
def test_a_command_with_too_little_time_is_brought_up_to_date(seconds: str) -> None:
    wired = claude_hooks.wire("{}", HOOK)
    hurried = wired.replace('"timeout": 10', seconds)

    assert hurried != wired
    assert not claude_hooks.is_wired(json.loads(hurried), HOOK)
    assert claude_hooks.is_wired(json.loads(claude_hooks.wire(hurried, HOOK)), HOOK)


def test_time_that_the_user_added_stays() -> None:
    patient = claude_hooks.wire("{}", HOOK).replace('"timeout": 10', '"timeout": 30')

    assert claude_hooks.is_wired(json.loads(patient), HOOK)
    assert claude_hooks.wire(patient, HOOK) == patient


def test_a_command_that_was_moved_into_the_users_own_group_is_left_there() -> None:
    ours = {"type": "command", "command": f"{HOOK} claude Stop", "timeout": 60}
    group = {"matcher": "", "hooks": [*THEIRS["hooks"], ours]}

    wired = json.loads(claude_hooks.wire(json.dumps({"hooks": {"Stop": [group]}}), HOOK))
    unwired = json.loads(claude_hooks.unwire(json.dumps(wired), HOOK))

    assert wired["hooks"]["Stop"] == [group]
    assert unwired == {"hooks": {"Stop": [{"matcher": "", **THEIRS}]}}


@pytest.mark.parametrize("settings", [[], None, 7, {"hooks": []}, {"hooks": {"Stop": {}}}])
def test_settings_of_any_shape_can_be_looked_at(settings: object) -> None:
    assert claude_hooks.wires(settings, HOOK) == []

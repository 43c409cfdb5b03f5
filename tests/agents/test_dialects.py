"""Every dialect understands what its agent was recorded to say, and answers within its limits."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leftoff.agents.claude import claude_dialect
from leftoff.agents.codex import codex_dialect
from leftoff.agents.copilot import copilot_dialect
from leftoff.agents.cursor import cursor_dialect
from leftoff.agents.dialects import DIALECTS
from leftoff.agents.gemini import gemini_dialect
from leftoff.agents.hook_events import Dialect, HookEvent
from leftoff.agents.opencode import opencode_dialect
from leftoff.text.fence import block, say
from reply_contracts import check_reply
from rows import for_each

RECORDED = Path(__file__).parent.parent / "hooks" / "recorded"
FILES = {
    agent: [
        path
        for path in sorted((RECORDED / agent).glob("*.json"))
        if path.name.split(".")[0] in DIALECTS[agent].KINDS
    ]
    for agent in DIALECTS
}
PAYLOADS = [
    pytest.param(agent, path, id=f"{agent}-{path.stem}")
    for agent, paths in FILES.items()
    for path in paths
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
ODD_VALUES: tuple[object, ...] = (
    None,
    True,
    0,
    -(2**70),
    "",
    "\0",
    "\ud800",
    [],
    [None],
    {},
    {"": []},
)


def translate(agent: str, path: Path, **changes: Any) -> HookEvent | None:
    payload = {**json.loads(path.read_bytes()), **changes}
    return DIALECTS[agent].translate(path.name.split(".")[0], payload, at=1.0)


def test_every_name_stands_for_the_dialect_of_its_agent() -> None:
    """The registry loads them by name, so only here does mypy check what they provide."""
    dialects: dict[str, Dialect] = {
        "claude": claude_dialect,
        "codex": codex_dialect,
        "gemini": gemini_dialect,
        "opencode": opencode_dialect,
        "copilot": copilot_dialect,
        "cursor": cursor_dialect,
    }

    assert [*dialects] == [*DIALECTS]
    assert all(DIALECTS[agent].translate is each.translate for agent, each in dialects.items())


def test_every_agent_with_hooks_has_recorded_payloads() -> None:
    assert {agent for agent in DIALECTS if any((RECORDED / agent).glob("*.json"))} == {*DIALECTS}


@pytest.mark.parametrize(("agent", "path"), PAYLOADS)
def test_a_recorded_payload_names_its_session_and_its_folder(agent: str, path: Path) -> None:
    event = translate(agent, path)
    kind = DIALECTS[agent].KINDS[path.name.split(".")[0]]
    if event is None:
        # Only some notices say that the agent is idle, and Gemini announces a compaction before
        # every request.
        assert kind == "idle" or (agent, path.stem) == ("gemini", "PreCompact.auto")
        return

    assert (event.agent, event.kind, event.at) == (agent, kind, 1.0)
    assert event.session_id in path.read_text(encoding="utf-8")
    assert Path(event.cwd).is_absolute()
    if kind == "prompt":
        assert event.prompt


@pytest.mark.parametrize("agent", ["codex", "opencode"])
def test_hooks_of_claude_code_that_another_agent_runs_are_ignored(agent: str) -> None:
    """Codex imports them, and a plugin of opencode runs them; each has its own."""
    for path in FILES[agent]:
        name, payload = path.name.split(".")[0], json.loads(path.read_bytes())

        assert claude_dialect.translate(name, payload, at=1.0) is None, path.name


@for_each(("agent", "path"), [(agent, path) for agent in FILES for path in FILES[agent]])
def test_a_payload_with_one_odd_value_does_no_harm(agent: str, path: Path) -> None:
    for key in json.loads(path.read_bytes()):
        for value in ODD_VALUES:
            event = translate(agent, path, **{key: value})

            assert event is None or Path(event.cwd).is_absolute()


@pytest.mark.parametrize("agent", DIALECTS)
@given(data=st.data())
@settings(max_examples=4 * settings().max_examples)
def test_a_payload_with_any_values_does_no_harm(agent: str, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(FILES[agent]))
    keys = sorted(json.loads(path.read_bytes()))
    changed = {key: data.draw(VALUES) for key in data.draw(st.sets(st.sampled_from(keys)))}

    event = translate(agent, path, **changed)

    assert event is None or Path(event.cwd).is_absolute()


@pytest.mark.parametrize("agent", DIALECTS)
def test_commands_use_one_set_of_names_for_all_agents(agent: str) -> None:
    known = claude_dialect.KINDS
    assert all(known[name] == kind for name, kind in DIALECTS[agent].KINDS.items())


@pytest.mark.parametrize("agent", DIALECTS)
@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit"])
def test_a_reply_is_one_line_within_the_limit(agent: str, event: str) -> None:
    dialect = DIALECTS[agent]
    long = block("line \u2028 \n" * dialect.REPLY_LIMIT)

    for reply in (
        dialect.context_reply(event, long, notice=say("leftoff: a notice")),
        dialect.context_reply(event, say("short")),
    ):
        assert reply
        if event != "SessionStart" or dialect.ADDS_AT_START:
            check_reply(agent, event, reply)
    check_reply(agent, event, dialect.context_reply(event, say(""), notice=say("a notice")))
    assert dialect.context_reply(event, say("")) == ""


@pytest.mark.parametrize("agent", DIALECTS)
def test_a_reply_that_stops_something_is_one_that_the_agent_accepts(agent: str) -> None:
    dialect, words = DIALECTS[agent], say("because")
    blocked = dialect.block_reply("UserPromptSubmit", words)
    denied = dialect.deny_reply("PreToolUse", words)
    compaction = dialect.block_reply("PreCompact", words)

    check_reply(agent, "UserPromptSubmit", blocked)
    check_reply(agent, "PreToolUse", denied)
    check_reply(agent, "PreCompact", compaction)
    assert blocked
    assert denied
    # The other agents compact whatever a hook says.
    assert bool(compaction) == (agent in {"claude", "codex"})


@pytest.mark.parametrize("agent", DIALECTS)
@pytest.mark.parametrize("session", ["", "..", "../x", "a/b", "*", "a b", "\0"])
def test_only_plain_ids_are_looked_for(agent: str, session: str, tmp_path: Path) -> None:
    assert DIALECTS[agent].find_transcript(tmp_path, session) == ""
    assert DIALECTS[agent].find_lock(tmp_path, session) == ""


def test_a_command_of_codex_is_understood() -> None:
    event = translate("codex", RECORDED / "codex" / "PreToolUse.Bash.json")

    assert event is not None
    assert event.command.startswith("apply_patch <<'EOF'")


def test_a_rollout_is_found_by_its_session(tmp_path: Path) -> None:
    folder = tmp_path / "sessions" / "2026" / "11" / "16"
    folder.mkdir(parents=True)
    (folder / "rollout-2026-11-16T06-14-37-one.jsonl").touch()

    found = DIALECTS["codex"].find_transcript(tmp_path, "one")

    assert found == str(folder / "rollout-2026-11-16T06-14-37-one.jsonl")
    assert DIALECTS["codex"].find_transcript(tmp_path, "two") == ""


def test_what_a_hook_of_gemini_added_is_not_part_of_the_prompt() -> None:
    event = translate("gemini", RECORDED / "gemini" / "UserPromptSubmit.json")

    assert event is not None
    assert event.prompt == "do it zz-text"


def test_the_words_and_the_command_of_gemini_are_understood() -> None:
    stop = translate("gemini", RECORDED / "gemini" / "Stop.json")
    call = translate("gemini", RECORDED / "gemini" / "PreToolUse.run_shell_command.json")

    assert (stop and stop.last_words, call and call.command) == (
        "Just a text answer.",
        "sh check.sh",
    )


def test_replies_to_gemini_name_its_own_events() -> None:
    reply = json.loads(DIALECTS["gemini"].context_reply("UserPromptSubmit", say("text")))

    assert reply == {
        "hookSpecificOutput": {"hookEventName": "BeforeAgent", "additionalContext": "text"}
    }


def test_a_blocked_prompt_stays_in_the_conversation() -> None:
    gemini = json.loads(DIALECTS["gemini"].block_reply("UserPromptSubmit", say("full")))
    copilot = json.loads(DIALECTS["copilot"].block_reply("UserPromptSubmit", say("full")))

    assert gemini == {"continue": False, "stopReason": "full"}
    assert copilot == {"handled": True, "responseContent": "full"}


def test_replies_to_copilot_are_flat() -> None:
    reply = DIALECTS["copilot"].context_reply("UserPromptSubmit", say("text"), notice=say("note"))

    assert json.loads(reply) == {"additionalContext": "text"}


@pytest.mark.parametrize("mark", ["folder", "file"])
def test_copilot_works_in_the_root_of_the_repository(mark: str, tmp_path: Path) -> None:
    below = tmp_path / "src" / "deep"
    below.mkdir(parents=True)
    path = RECORDED / "copilot" / "UserPromptSubmit.json"
    outside = translate("copilot", path, cwd=str(below))
    # A worktree has a file there.
    (tmp_path / ".git").mkdir() if mark == "folder" else (tmp_path / ".git").touch()
    inside = translate("copilot", path, cwd=str(below))

    assert (outside and outside.cwd, inside and inside.cwd) == (str(below), str(tmp_path))


@pytest.mark.parametrize(
    ("agent", "place", "session"),
    [
        ("gemini", "tmp/repo/chats/session-2026-11-15T19-21-7a911f14.jsonl", "7a911f14-1234"),
        ("copilot", "session-state/7a911f14-1234/events.jsonl", "7a911f14-1234"),
    ],
)
def test_a_transcript_is_found_by_its_session(
    agent: str, place: str, session: str, tmp_path: Path
) -> None:
    path = tmp_path / place
    path.parent.mkdir(parents=True)
    path.touch()

    assert DIALECTS[agent].find_transcript(tmp_path, session) == str(path)
    assert DIALECTS[agent].find_transcript(tmp_path, "another1-1234") == ""


def test_a_prompt_of_opencode_is_as_it_was_typed() -> None:
    event = translate("opencode", RECORDED / "opencode" / "UserPromptSubmit.json")

    assert event is not None
    # `opencode run` puts an argument with spaces in quotes.
    assert event.prompt == "x zz-text"
    assert event.pid == 3266


@pytest.mark.parametrize(
    ("stored", "typed"),
    [
        ('"say \\"hi\\" now"', 'say "hi" now'),
        ('"two\nlines"', "two\nlines"),
        ('"one" and "two"', '"one" and "two"'),
        ('say "hi"', 'say "hi"'),
        ('""', '""'),
        ("plain", "plain"),
    ],
)
def test_only_quotes_around_a_whole_prompt_are_removed(stored: str, typed: str) -> None:
    assert opencode_dialect.unquote(stored) == typed


def test_opencode_names_the_window_of_its_model() -> None:
    event = translate("opencode", RECORDED / "opencode" / "Stop.json")

    assert event is not None
    assert event.window == 200_000


def test_opencodes_sessions_are_in_its_database(tmp_path: Path) -> None:
    assert DIALECTS["opencode"].find_transcript(tmp_path, "ses_1") == ""
    (tmp_path / "opencode.db").touch()
    assert DIALECTS["opencode"].find_transcript(tmp_path, "ses_1") == str(tmp_path / "opencode.db")


def test_cursor_works_in_the_first_folder_of_its_workspace() -> None:
    path = RECORDED / "cursor" / "PreToolUse.shell.json"

    event = translate("cursor", path)
    assert event is not None
    # The command runs elsewhere, and hooks in the folder of the settings.
    assert (event.cwd, event.command) == ("/home/ada/repo", "make test")
    without = translate("cursor", path, workspace_roots=[])
    assert without is not None
    assert without.cwd == "/home/ada/repo/sub"
    assert translate("cursor", path, workspace_roots=["sub"], cwd=None) is None


def test_a_conversation_of_cursor_is_its_session() -> None:
    event = translate("cursor", RECORDED / "cursor" / "UserPromptSubmit.no-session-id.json")

    assert event is not None
    assert event.session_id == "668320d2-2fd8-4888-b33c-2a466fec86e7"


def test_cursor_names_its_window_before_a_compaction() -> None:
    event = translate("cursor", RECORDED / "cursor" / "PreCompact.auto.json")

    assert event is not None
    assert (event.window, event.is_automatic) == (128_000, True)


@pytest.mark.parametrize("place", ["one/one.jsonl", "one.jsonl"])
def test_a_transcript_of_cursor_is_found_in_both_places(tmp_path: Path, place: str) -> None:
    path = tmp_path / "projects" / "home-ada-repo" / "agent-transcripts" / place
    path.parent.mkdir(parents=True)
    path.touch()

    assert DIALECTS["cursor"].find_transcript(tmp_path, "one") == str(path)


def test_cursor_and_opencode_get_replies_in_their_own_shape() -> None:
    words, cursor, opencode = say("because"), DIALECTS["cursor"], DIALECTS["opencode"]

    assert json.loads(cursor.context_reply("SessionStart", words)) == {
        "additional_context": "because"
    }
    assert json.loads(cursor.block_reply("UserPromptSubmit", words)) == {
        "continue": False,
        "user_message": "because",
    }
    assert json.loads(cursor.deny_reply("PreToolUse", words)) == {
        "permission": "deny",
        "user_message": "because",
        "agent_message": "because",
    }
    assert json.loads(opencode.context_reply("SessionStart", words)) == {"context": "because"}
    both = opencode.context_reply("SessionStart", words, notice=say("for you"))
    assert json.loads(both) == {"context": "because", "notice": "for you"}
    assert json.loads(opencode.block_reply("UserPromptSubmit", words)) == {"block": "because"}
    assert json.loads(opencode.deny_reply("PreToolUse", words)) == {"block": "because"}

"""The pages about agents say what leftoff really does there."""

import re
from pathlib import Path

import pytest

from leftoff.agents.dialects import DIALECTS
from leftoff.agents.registry import AGENTS
from leftoff.agents.stream import Usage
from leftoff.text.fence import say
from leftoff.wiring.agent_wirings import WIRINGS
from leftoff.wiring.detect_agents import TITLES
from recordings import leave_session, only, read_file

DOCS = Path(__file__).parents[2] / "docs" / "agents"


def _rows() -> dict[str, list[str]]:
    """Return the table of capabilities: the cells of each agent by its title."""
    lines = (DOCS / "README.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "|" in line]
    return {re.sub(r"\[(.+)\]\(.+\)", r"\1", row[0]): row[1:] for row in rows[2:]}


def test_the_table_lists_every_agent_and_says_which_has_hooks() -> None:
    rows = _rows()

    assert [*rows] == [TITLES[agent] for agent in AGENTS]
    wired = [agent for agent in AGENTS if rows[TITLES[agent]][0].startswith("yes")]
    assert wired == [*WIRINGS]


@pytest.mark.parametrize("agent", WIRINGS)
def test_an_agent_with_hooks_has_a_page_with_its_events_file_and_version(agent: str) -> None:
    table = WIRINGS[agent].table
    text = (DOCS / f"{agent}.md").read_text(encoding="utf-8")

    assert table.file in text
    assert table.tested in text
    assert [each.event for each in table.events if not re.search(rf"\b{each.event}\b", text)] == []
    assert "leftoff uninstall" in text
    for part in ("## What happens when", "## Limits", "## Remove"):
        assert f"\n{part}\n" in text


@pytest.mark.parametrize("agent", WIRINGS)
def test_the_table_says_when_an_agent_is_told(agent: str) -> None:
    _, offer, _, after_compaction, *_ = _rows()[TITLES[agent]]
    dialect = DIALECTS[agent]

    assert offer == ("yes" if dialect.ADDS_AT_START else "with the first prompt")
    expected = "yes" if dialect.STARTS_AFTER_COMPACTION else "with the next prompt"
    assert after_compaction == expected


@pytest.mark.parametrize("agent", WIRINGS)
def test_the_table_says_who_is_advised_and_whose_prompts_can_be_blocked(
    agent: str, tmp_path: Path
) -> None:
    _, _, advice, _, blocked, *_ = _rows()[TITLES[agent]]
    session = leave_session(agent, tmp_path / "sessions", tmp_path / "repo")

    # Advice needs to know how full the context is.
    assert advice == ("yes" if only(read_file(AGENTS[agent], session), Usage) else "no")
    reply = DIALECTS[agent].block_reply("UserPromptSubmit", say("The context is full."))
    assert blocked == ("yes" if reply else "no")


@pytest.mark.parametrize("agent", WIRINGS)
def test_the_page_on_hand_overs_shows_how_an_agent_is_started(agent: str) -> None:
    table = WIRINGS[agent].table
    program = table.programs[0]
    opens = " ".join([program, *table.opens, "PROMPT"])
    runs = " ".join([program, *table.runs, "PROMPT", *table.runs_after])

    text = (DOCS.parent / "hand-over.md").read_text(encoding="utf-8")
    assert f"| {table.title} | `{opens}` | `{runs}` |" in text


# tests/e2e/test_agents.py plays each of them with the real program.
NOTICES_LIMITS = {"claude", "codex", "opencode", "copilot"}
# Hooks, the plugin or the agent's own lock files name it: tests/e2e kills each in a call.
NAMES_PROCESS = {"claude", "codex", "gemini", "opencode", "copilot"}


@pytest.mark.parametrize("agent", WIRINGS)
def test_the_table_says_what_an_agent_lets_leftoff_do(agent: str) -> None:
    *_, crash, stops, limits = _rows()[TITLES[agent]]
    wired = {each.name for each in WIRINGS[agent].table.events}

    assert crash == ("at once" if agent in NAMES_PROCESS else "after twelve hours")
    assert stops == ("yes" if "PreToolUse" in wired else "no")
    assert limits == ("yes" if agent in NOTICES_LIMITS else "no")

"""The registry names every agent, and loads only the readers that are needed."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from leftoff.agents.claude import claude_agent
from leftoff.agents.codex import codex_agent
from leftoff.agents.copilot import copilot_agent
from leftoff.agents.cursor import cursor_agent
from leftoff.agents.gemini import gemini_agent
from leftoff.agents.opencode import opencode_agent
from leftoff.agents.registry import AGENTS, FINDERS

if TYPE_CHECKING:
    from leftoff.agents.agent import Agent


def test_every_name_stands_for_the_reader_of_its_agent() -> None:
    """The registry loads them by name, so only here does mypy check what they provide."""
    agents: dict[str, Agent] = {
        "claude": claude_agent,
        "codex": codex_agent,
        "gemini": gemini_agent,
        "opencode": opencode_agent,
        "copilot": copilot_agent,
        "cursor": cursor_agent,
    }

    assert [*agents] == [*AGENTS] == [*FINDERS]
    for name, each in agents.items():
        assert AGENTS[name].find_sessions is each.find_sessions is FINDERS[name].find_sessions


@pytest.mark.parametrize("agent", AGENTS)
def test_only_claude_code_stores_the_transcripts_of_sub_agents(agent: str, tmp_path: Path) -> None:
    session = tmp_path / "one.jsonl"
    child = tmp_path / "one" / "subagents" / "agent-1.jsonl"
    child.parent.mkdir(parents=True)
    child.touch()

    assert [*AGENTS[agent].sub_sessions(session)] == ([child] if agent == "claude" else [])

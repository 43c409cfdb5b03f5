"""The registry names every agent, and loads only the readers that are needed."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from leftoff.agents.claude import claude_agent
from leftoff.agents.codex import codex_agent
from leftoff.agents.copilot import copilot_agent
from leftoff.agents.cursor import cursor_agent
from leftoff.agents.dialects import DIALECTS
from leftoff.agents.gemini import gemini_agent
from leftoff.agents.opencode import opencode_agent
from leftoff.agents.registry import AGENTS, FINDERS
from leftoff.context import Environment
from leftoff.threads.briefing import MOST_TOKENS
from leftoff.wiring.agent_wirings import WIRINGS
from leftoff.wiring.mcp_entries import FILES
from leftoff.wiring.wired_files import TABLES
from reply_contracts import CONTRACTS

if TYPE_CHECKING:
    from collections.abc import Iterable

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


def test_every_table_lists_every_agent() -> None:
    """A new agent has an entry in each of them; CONTRIBUTING.md names them, too."""
    home = Environment({"HOME": "/home/ada"})
    folders = {agent: home.find_agent_folder(agent) for agent in AGENTS}
    tables: dict[str, Iterable[str]] = {
        "DIALECTS": DIALECTS,
        "TABLES": TABLES,
        "WIRINGS": WIRINGS,
        "FILES": FILES,
        "MOST_TOKENS": MOST_TOKENS,
        "_AGENT_FOLDERS": folders,
        "CONTRACTS": CONTRACTS,
    }

    assert {name: [*table] for name, table in tables.items()} == {
        name: [*AGENTS] for name in tables
    }
    steps = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert [name for name in ("AGENTS", "FINDERS", *tables) if f"`{name}`" not in steps] == []


@pytest.mark.parametrize("agent", AGENTS)
def test_only_claude_code_stores_the_transcripts_of_sub_agents(agent: str, tmp_path: Path) -> None:
    session = tmp_path / "one.jsonl"
    child = tmp_path / "one" / "subagents" / "agent-1.jsonl"
    child.parent.mkdir(parents=True)
    child.touch()

    assert [*AGENTS[agent].sub_sessions(session)] == ([child] if agent == "claude" else [])

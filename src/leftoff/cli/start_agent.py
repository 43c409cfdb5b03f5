"""Offer to start an agent with a thread that the user has just resumed, or say how."""

import shutil
from collections.abc import Sequence
from shlex import join

from leftoff.cli import hand_over_command
from leftoff.cli.app import App, key_of
from leftoff.cli.ask_prompts import PromptAnswer
from leftoff.cli.ask_questions import ask_word
from leftoff.store import CheckpointEntry
from leftoff.text.fence import quote_key
from leftoff.wiring.agent_wirings import WIRINGS

_NO = "no"
# Enough to find the agents that are in use.
_MOST_THREADS = 50


def end_in_action(app: App, entry: CheckpointEntry, prompts: PromptAnswer) -> int:
    """Start an agent with the thread, if the user wants; otherwise resume it and say how.

    The agent also gets the prompts that the user wants to run.
    """
    agents = list_agents(app, entry)
    if not agents:
        prompts.apply()
    app.out.gap()
    agent = ask_agent(agents) if agents else None
    if agent is not None:
        return hand_over_command.hand_over_to(
            app, entry, agent, is_headless=False, is_printed=False, prompts=prompts
        )
    if agents:
        prompts.apply()
    app.workspace.accept(entry)
    app.out.text([f'Resumed "{key_of(entry)}"', *describe_ways(app, entry, agents)])
    return 0


def list_agents(app: App, entry: CheckpointEntry) -> list[str]:
    """Return the agents that can be started here; the one last used on this thread comes first."""
    threads = sorted(
        app.store.index().heads(["open", "resumed", "consumed"], _MOST_THREADS),
        key=lambda each: each.as_of,
        reverse=True,
    )
    used = dict.fromkeys([entry.agent, *(each.agent for each in threads), *WIRINGS])
    return [each for each in used if each in WIRINGS and shutil.which(_find_program(each))]


def ask_agent(agents: Sequence[str]) -> str | None:
    """Ask which agent to start; None if the user wants none."""
    answer = ask_word("Start an agent with it?", [*agents, _NO], agents[0])
    return None if answer == _NO else answer


def describe_ways(app: App, entry: CheckpointEntry, agents: Sequence[str]) -> list[str]:
    """Return the commands that start an agent with a thread later."""
    key = quote_key(entry.name, entry.id)
    if not agents:
        return [f"To copy the briefing for an agent, run: leftoff resume {key} --copy"]
    ways = [f"  leftoff resume {key} --in {agents[0]}"]
    native = hand_over_command.find_own_session(app, app.store.load(entry), agents[0])
    if native:
        ways.append(f"  {join(native)}  (its own session)")
    return [f"To start {WIRINGS[agents[0]].table.title} with it:", *ways]


def _find_program(agent: str) -> str:
    return WIRINGS[agent].table.programs[0]

"""List the supported agents, and find and identify their sessions."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from leftoff.agents import codex, copilot, cursor, gemini, opencode
from leftoff.agents.agent import HEAD_BYTES, Agent, FoundSession, Layout, no_reader
from leftoff.agents.claude import claude_agent
from leftoff.errors import SessionUnreadable, UsageError
from leftoff.projects.project import Project, list_folders

AGENTS: dict[str, Agent] = {
    "claude": claude_agent,
    "codex": codex,
    "gemini": gemini,
    "opencode": opencode,
    "copilot": copilot,
    "cursor": cursor,
}

_HINT = "Give the path of a session file."


def identify(path: Path, agent: str | None = None) -> tuple[str, Layout]:
    """Return the agent and layout of a session file, judging by its content."""
    if agent is not None and agent not in AGENTS:
        known = ", ".join(AGENTS)
        raise UsageError(f"Unknown agent: {agent}.", hint=f"Known agents: {known}.")
    head = _head(path)
    for name in [agent] if agent else AGENTS:
        layout = AGENTS[name].recognises(head, path)
        if layout is not None:
            return name, layout
    if agent is not None:
        # Trust --agent: an empty or damaged file may not show which agent wrote it.
        return agent, "document" if AGENTS[agent].new_reader is no_reader else "lines"
    raise SessionUnreadable(
        f"{path} is not a session of any supported agent",
        hint=f"Supported agents: {', '.join(AGENTS)}. Name the agent with --agent.",
    )


def sub_sessions(agent: str, path: Path) -> Iterable[Path]:
    """List the transcripts of a session's sub-agents, which are stored beside it."""
    return claude_agent.sub_sessions(path) if agent == "claude" else ()


def sessions_of(
    project: Project, *, refused: list[OSError] | None = None
) -> Iterator[tuple[str, FoundSession]]:
    """Find each session of a project on this machine, with the name of its agent.

    `refused` collects the errors of folders that cannot be listed.
    """
    folders = list_folders(project)
    seen: set[tuple[Path, str]] = set()
    for name, agent in AGENTS.items():
        for folder in folders:
            for each in _sessions_in(
                agent, project.environment.find_agent_folder(name), folder, refused
            ):
                if (each.path, each.session_id) not in seen:
                    seen.add((each.path, each.session_id))
                    yield name, each


def _sessions_in(
    agent: Agent, root: Path, folder: Path, refused: list[OSError] | None
) -> list[FoundSession]:
    try:
        return [*agent.find_sessions(root, folder)]
    except OSError as error:
        if refused is not None:
            refused.append(error)
        elif not isinstance(error, PermissionError):
            raise
        return []


def _head(path: Path) -> bytes:
    try:
        # Opening a named pipe would block forever.
        if path.exists() and not path.is_file():
            raise SessionUnreadable(f"{path} is not a file", hint=_HINT)
        with path.open("rb") as file:
            return file.read(HEAD_BYTES)
    except OSError as error:
        raise SessionUnreadable(
            f"The session cannot be read: {error.strerror or error} at {path}",
            hint=_HINT,
        ) from error

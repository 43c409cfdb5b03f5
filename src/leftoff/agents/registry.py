"""List the supported agents, and find and identify their sessions.

The reader of an agent is loaded when it is first used: few people use all agents, and finding
sessions needs no reader.
"""

from collections.abc import Iterator
from pathlib import Path

from leftoff.agents.agent import (
    HEAD_BYTES,
    Agent,
    FoundSession,
    Layout,
    SessionFinder,
    no_reader,
)
from leftoff.errors import SessionUnreadable, UsageError
from leftoff.load_on_use import module_on_use
from leftoff.projects.project import Project, list_folders

AGENTS: dict[str, Agent] = {
    "claude": module_on_use("leftoff.agents.claude.claude_agent"),
    "codex": module_on_use("leftoff.agents.codex.codex_agent"),
    "gemini": module_on_use("leftoff.agents.gemini.gemini_agent"),
    "opencode": module_on_use("leftoff.agents.opencode.opencode_agent"),
    "copilot": module_on_use("leftoff.agents.copilot.copilot_agent"),
    "cursor": module_on_use("leftoff.agents.cursor.cursor_agent"),
}

FINDERS: dict[str, SessionFinder] = {
    "claude": module_on_use("leftoff.agents.claude.claude_sessions"),
    "codex": module_on_use("leftoff.agents.codex.codex_sessions"),
    "gemini": module_on_use("leftoff.agents.gemini.gemini_sessions"),
    "opencode": module_on_use("leftoff.agents.opencode.opencode_sessions"),
    "copilot": module_on_use("leftoff.agents.copilot.copilot_sessions"),
    "cursor": module_on_use("leftoff.agents.cursor.cursor_sessions"),
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


def sessions_of(
    project: Project, *, since: float = 0.0, refused: list[OSError] | None = None
) -> Iterator[tuple[str, FoundSession]]:
    """Find each session of a project on this machine, with the name of its agent.

    May leave out sessions that were last changed before `since`. `refused` collects the errors of
    folders that cannot be listed.
    """
    folders = list_folders(project)
    seen: set[tuple[Path, str]] = set()
    for name, finder in FINDERS.items():
        root = project.environment.find_agent_folder(name)
        for folder in folders if root.is_dir() else ():
            for each in _sessions_in(finder, root, folder, since, refused):
                if (each.path, each.session_id) not in seen:
                    seen.add((each.path, each.session_id))
                    yield name, each


def _sessions_in(
    finder: SessionFinder, root: Path, folder: Path, since: float, refused: list[OSError] | None
) -> list[FoundSession]:
    try:
        return [*finder.find_sessions(root, folder, since)]
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

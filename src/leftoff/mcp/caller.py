"""Find out who calls: the agent, its session, and the folder it works in."""

import functools
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import msgspec

from leftoff.agents import registry
from leftoff.context import Context, Environment, read_environment
from leftoff.errors import LeftoffError
from leftoff.projects.project import Project, explain_distrust, find_project
from leftoff.session import records
from leftoff.workspace import Workspace

if TYPE_CHECKING:
    from leftoff.mcp.connection import Connection
    from leftoff.mcp.methods import ClientSession

SessionKey = tuple[str, str]
"""A session as (agent, session id)."""

# Which variable of its servers' environment holds an agent's session id. An agent that was started
# in another agent's shell inherits that one's variables, so only its own count.
_SESSION_VARIABLES = {
    "claude": "CLAUDE_CODE_SESSION_ID",
    "codex": "CODEX_SESSION_ID",
    "gemini": "GEMINI_SESSION_ID",
    "copilot": "COPILOT_AGENT_SESSION_ID",
}
# Clients of the newest protocol introduce themselves in every request.
_CLIENT_INFO = "io.modelcontextprotocol/clientInfo"
_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
_CODEX_TURN = "x-codex-turn-metadata"


class CallerEnvironment(Environment):
    """The environment of one call, in which the caller's session runs."""

    def __init__(
        self, variables: Mapping[str, str], find_session: Callable[[], SessionKey | None]
    ) -> None:
        super().__init__(variables)
        self._find_session = find_session

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def find_session(self) -> SessionKey | None:
        """Return the session that made the call, if it can be known."""
        return self._session

    @functools.cached_property
    def _session(self) -> SessionKey | None:
        return self._find_session()


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """Who makes a call, and from where."""

    agent: str | None
    folder: Path | None
    """The folder it works in; None means the server's own."""
    named_session: str | None
    """The session id that came with the call."""
    began: float
    """When the server was started."""

    def open(self) -> Workspace:
        """Open the project of the caller."""
        environment = read_environment()

        def find_session() -> SessionKey | None:
            return self._find_session(environment, project)

        seen = CallerEnvironment(environment.variables, find_session)
        project = find_project(seen, self.folder)
        work = Workspace(Context(seen, project))
        if (distrust := explain_distrust(project)) is not None:
            work.warn_once(["\n".join(distrust)])
        return work

    def _find_session(self, environment: Environment, project: Project) -> SessionKey | None:
        if self.agent is None:
            return environment.find_session()
        if self.named_session:
            return self.agent, self.named_session
        variable = _SESSION_VARIABLES.get(self.agent)
        given = environment.variables.get(variable) if variable else None
        found = self._find_by_process(project) or given or self._find_by_activity(project)
        return (self.agent, found) if found else None

    def _find_by_process(self, project: Project) -> str | None:
        """Return the session of the process that started this server, as hooks saw it.

        A server outlives its session: after `/clear`, Claude Code's variable names the former one.
        """
        parent = os.getppid()
        lives = records.list_lives(project.environment.state_folder, project)
        ours = [each for each in lives if each.agent == self.agent and each.pid == parent]
        newest = max(ours, key=lambda life: life.seen_at, default=None)
        return newest.session_id if newest else None

    def _find_by_activity(self, project: Project) -> str | None:
        """Return the agent's only session in this project that went on since the server began."""
        try:
            found = {
                each.session_id
                for agent, each in registry.sessions_of(project)
                if agent == self.agent and each.touched_at >= self.began
            }
        except (LeftoffError, OSError):
            return None
        # With two, nothing says which one calls.
        return found.pop() if len(found) == 1 else None


FindCaller = Callable[[], Caller]
"""Finds out who makes a call, which may fail."""


def identify(
    session: "ClientSession", connection: "Connection", params: Mapping[str, Any]
) -> Caller:
    """Find out who makes a call."""
    meta = params.get("_meta")
    meta = meta if isinstance(meta, dict) else {}
    if _CLIENT_INFO in meta:
        session.introduce(meta[_CLIENT_INFO], meta.get(_CAPABILITIES))
    agent = _find_agent(session.client)
    environment = read_environment()
    return Caller(
        agent=agent,
        folder=_find_folder(environment, agent, lambda: session.list_roots(connection)),
        named_session=_find_named_session(meta),
        began=session.began,
    )


def _find_agent(client: str) -> str | None:
    name = client.lower()
    return next((agent for agent in registry.AGENTS if agent in name), None)


def _find_named_session(meta: Mapping[str, Any]) -> str | None:
    turn = meta.get(_CODEX_TURN)
    if not isinstance(turn, dict):
        return None
    named_session = turn.get("session_id") or turn.get("thread_id")
    return named_session if isinstance(named_session, str) else None


def _find_folder(
    environment: Environment, agent: str | None, list_roots: Callable[[], list[str]]
) -> Path | None:
    """Return the folder that the caller works in; None means the server's own."""
    if environment.project_override:
        return None
    if agent == "claude" and (named := environment.find_folder("CLAUDE_PROJECT_DIR")):
        return named
    roots = [root for root in map(_parse_root, list_roots()) if root is not None]
    try:
        here = Path.cwd()
    except FileNotFoundError:
        return roots[0] if roots else None
    if not roots or any(here.is_relative_to(root) for root in roots):
        return None
    return roots[0]


def _parse_root(address: str) -> Path | None:
    try:
        parts = urlsplit(address)
        path = Path(unquote(parts.path))
        is_here = parts.scheme == "file" and parts.netloc in {"", "localhost"}
        return path if is_here and path.is_absolute() and path.is_dir() else None
    # An invalid address, or one with a null character.
    except ValueError:
        return None

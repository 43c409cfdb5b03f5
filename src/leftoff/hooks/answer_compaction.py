"""Answer a compaction that must wait until the session's state is saved, or is to be blocked.

It is asked only where the user wants that. A compaction that somebody asked for always passes.
"""

from pathlib import Path

from leftoff import config
from leftoff.agents.dialects import DIALECTS
from leftoff.agents.hook_events import NO_REPLY, HookEvent, Reply
from leftoff.context import read_environment
from leftoff.errors import NotAProject
from leftoff.hooks import replies, settle, spool
from leftoff.hooks.drain_spool import is_off
from leftoff.profiles.mirror import open_mirrors
from leftoff.projects.project import Project, find_project
from leftoff.text.fence import say

ALLOWED = ".allow-compact"
"""A file in the project's folder that lets every compaction pass."""
WAIT_SECONDS = 6.0
"""How long a settle that is at work is waited for; the agent waits for us no longer than ten."""


def expect(
    state: Path, agent: str, session_id: str, folder: str, settings: config.Settings
) -> None:
    """Let the letterbox ask us when a compaction begins, if it is to wait."""
    if settings.compaction == "allow" or not session_id:
        return
    place = path_of(state, agent, session_id, folder)
    if place is not None and not place.exists():
        replies.put(place, settings.compaction)


def forget(state: Path, agent: str, session_id: str, folder: str) -> None:
    """Let a session's compactions pass again."""
    place = path_of(state, agent, session_id, folder)
    if place is not None:
        place.unlink(missing_ok=True)


def path_of(state: Path, agent: str, session_id: str, folder: str) -> Path | None:
    """Tell where the letterbox looks whether to ask."""
    named = [event for event, kind in DIALECTS[agent].KINDS.items() if kind == "pre-compact"]
    if not named:
        return None
    place = replies.path_of(state, folder, agent, named[0], session_id)
    return place.with_name(place.name + replies.ASK)


def answer(agent: str, event: str, ask_path: Path, data: bytes) -> Reply:
    """Save the session's state, then return the reply: a block, or nothing to let it begin."""
    environment = read_environment()
    state = environment.state_folder
    read = spool.read(spool.keep(state, agent, event, data, durable=True))
    if read is None or not read.session_id:
        return NO_REPLY
    try:
        project = find_project(environment, Path(read.cwd))
    except NotAProject:
        return NO_REPLY
    settings = config.load(project).settings
    if settings.compaction == "allow":
        ask_path.unlink(missing_ok=True)
        return NO_REPLY
    if is_off(project) or _passes(read, project):
        return NO_REPLY
    # Whoever holds the lock drains what we kept, too.
    is_saved = settle.run_apart(state, wait_seconds=WAIT_SECONDS)
    if settings.compaction != "block" or not is_saved or _is_others_turn(project, settings):
        return NO_REPLY
    return DIALECTS[agent].block_reply(
        say(
            "leftoff: your state is saved. Automatic compaction is off here (compaction = block). "
            "/compact, or a file named {allowed}, lets it pass; `leftoff resume --pending` "
            "continues in a fresh session.",
            allowed=ALLOWED,
        )
    )


def _passes(event: HookEvent, project: Project) -> bool:
    is_allowed = project.environment.allows_compaction() or (project.worktree / ALLOWED).exists()
    return is_allowed or not event.is_automatic


def _is_others_turn(project: Project, settings: config.Settings) -> bool:
    """Say whether somebody is at work who would be cut short."""
    return bool(open_mirrors(settings.mirror).find_others_at_work(project))

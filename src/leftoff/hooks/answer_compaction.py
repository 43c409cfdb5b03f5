"""Answer a compaction that must wait until the session is saved, or that is blocked.

The letterbox runs this only if the user enabled it. A compaction that the user requested passes.
"""

from pathlib import Path

from leftoff import config
from leftoff.agents.dialects import DIALECTS
from leftoff.agents.hook_events import NO_REPLY, HookEvent, Reply
from leftoff.context import read_environment
from leftoff.errors import NotAProject
from leftoff.hooks import replies, settle, spool
from leftoff.profiles.mirror import open_mirrors
from leftoff.projects.project import Project, find_project
from leftoff.store.layout import is_off
from leftoff.text.fence import say

ALLOWED = ".allow-compact"
"""A file in the project's folder that allows every compaction."""
WAIT_SECONDS = 6.0
"""How long to wait for a running settle; the agent gives the hook ten seconds."""


def expect(
    state: Path, agent: str, session_id: str, folder: str, settings: config.Settings
) -> None:
    """Make the letterbox ask before a compaction, if it must wait or is blocked."""
    if settings.compaction == "allow" or not session_id:
        return
    place = path_of(state, agent, session_id, folder)
    if place is not None and not place.exists():
        replies.put(place, settings.compaction)


def forget(state: Path, agent: str, session_id: str, folder: str) -> None:
    """Stop asking before a session's compactions in a folder."""
    place = path_of(state, agent, session_id, folder)
    if place is not None:
        place.unlink(missing_ok=True)


def path_of(state: Path, agent: str, session_id: str, folder: str) -> Path | None:
    """Return the file that makes the letterbox ask; None if the agent has no such event."""
    named = [event for event, kind in DIALECTS[agent].KINDS.items() if kind == "pre-compact"]
    if not named:
        return None
    place = replies.path_of(state, folder, agent, named[0], session_id)
    return place.with_name(place.name + replies.ASK)


def answer(agent: str, event: str, ask_path: Path, data: bytes) -> Reply:
    """Save the session's state, then return the reply: a block, or nothing to let it start."""
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
    # If another settle holds the lock, it processes the event stored above, too.
    is_saved = settle.run_apart(state, wait_seconds=WAIT_SECONDS)
    if settings.compaction != "block" or not is_saved or _is_others_turn(project, settings):
        return NO_REPLY
    return DIALECTS[agent].block_reply(
        event,
        say(
            "leftoff: your state is saved. Automatic compaction is blocked here "
            "(compaction = block). Run /compact, or create a file named {allowed}, to compact; "
            "run `leftoff resume --pending` in a new session to continue there.",
            allowed=ALLOWED,
        ),
    )


def _passes(event: HookEvent, project: Project) -> bool:
    is_allowed = project.environment.allows_compaction() or (project.worktree / ALLOWED).exists()
    return is_allowed or not event.is_automatic


def _is_others_turn(project: Project, settings: config.Settings) -> bool:
    """Return whether a mirrored system shows work in progress that a block would interrupt."""
    return bool(open_mirrors(settings.mirror).find_others_at_work(project))

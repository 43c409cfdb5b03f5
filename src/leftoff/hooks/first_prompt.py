"""Answer the first prompt of a session whose start is not known, or has not been answered yet.

Where resuming is always confirmed, such a prompt may ask where the work stopped, or be the summary
of a compaction. letterbox.sh, the hook script, runs `hooks.answer` for it while an ask file exists
for the folder and the session is not known to run.

The interactive Gemini CLI sends a prompt that was given or typed early while the hook of its
session start still runs. The letterbox marks that time with a file, and such a prompt waits.
"""

import time
from pathlib import Path

from leftoff import hooks
from leftoff.agents.dialects import DIALECTS
from leftoff.agents.hook_events import NO_REPLY, HookEvent, Reply, restore_reply
from leftoff.config import Settings
from leftoff.context import Context, read_environment
from leftoff.errors import NotAProject
from leftoff.hooks import offers, replies, spool
from leftoff.hooks.offers import StartReply
from leftoff.projects.project import find_project
from leftoff.session import records
from leftoff.session.real_work import asks_to_continue
from leftoff.store import Store
from leftoff.store.layout import is_off
from leftoff.text.fence import say

_NEW = "new"
"""The name of a session that is not known yet, in the names of ask files."""
_STARTING = ".starting"
"""Suffix of the reply to a prompt while the hook of the session start runs."""
# Gemini CLI waits five seconds for the hook, and Python has to start.
_WAIT_SECONDS = 3.5
_PAUSE_SECONDS = 0.02


def expect(state: Path, folder: str, settings: Settings) -> None:
    """Make the letterbox ask about the first prompts of unknown sessions in a folder."""
    for path in _list_ask_files(state, folder):
        if settings.confirm != "always":
            path.unlink(missing_ok=True)
        elif not path.exists():
            replies.put(path, _NEW)


def _list_ask_files(state: Path, folder: str) -> list[Path]:
    """Return the ask file of every agent with an event for prompts."""
    return [
        Path(f"{replies.path_of(state, folder, agent, event, _NEW)}{replies.ASK}")
        for agent, dialect in DIALECTS.items()
        for event, kind in dialect.KINDS.items()
        if kind == "prompt"
    ]


def is_about_first_prompt(ask_path: Path) -> bool:
    """Return whether an ask file is for unknown sessions, or says that a session is starting."""
    return ask_path.name.endswith((f".{_NEW}{replies.ASK}", _STARTING))


def answer(agent: str, event: str, ask_path: Path, data: bytes) -> Reply:
    """Store the prompt, then return the offer that a session start makes, or would have made."""
    environment = read_environment()
    read = spool.read(spool.keep(environment.state_folder, agent, event, data))
    if ask_path.name.endswith(_STARTING):
        return _await_start(ask_path)
    if read is None or not asks_to_continue(read.prompt):
        return NO_REPLY
    if records.life_of(environment.state_folder, agent, read.session_id) is not None:
        return NO_REPLY
    try:
        project = find_project(environment, Path(read.cwd))
    except NotAProject:
        return NO_REPLY
    settings = Context(environment, project).settings
    if is_off(project) or settings.confirm != "always":
        ask_path.unlink(missing_ok=True)
        return NO_REPLY
    store = Store(project)
    try:
        reply = _build_reply(read, store, settings)
    finally:
        store.close()
    return DIALECTS[agent].context_reply(event, reply.text, notice=reply.notice)


def _await_start(mark: Path) -> Reply:
    """Return what the session start prepares for this prompt; wait until its hook has ended."""
    place = mark.with_name(mark.name.removesuffix(_STARTING))
    deadline = time.monotonic() + _WAIT_SECONDS
    while mark.exists() and not place.is_file() and time.monotonic() < deadline:
        time.sleep(_PAUSE_SECONDS)
    # The hook may have been killed. Later prompts must not wait for it.
    mark.unlink(missing_ok=True)
    try:
        reply = restore_reply(place.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return NO_REPLY
    replies.remove(place)
    return reply


def _build_reply(event: HookEvent, store: Store, settings: Settings) -> StartReply:
    """Return the session's state if it was compacted, or what was left off here."""
    if event.prompt.lstrip().startswith("<summary>"):
        recovered = hooks.after_compaction.format_recovery(event, store, settings)
        if recovered:
            return StartReply(recovered)
    made = offers.offer(event, store, settings)
    return made if made.text else StartReply(say("leftoff: No checkpoints found. Starting fresh."))

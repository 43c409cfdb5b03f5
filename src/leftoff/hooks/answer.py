"""Answer an event for which no reply could be prepared, such as a prompt that may be blocked.

The letterbox runs this for a prompt if the user wants prompts blocked and the context was nearly
full at the last processed event. The prompt is durable in the spool and in the queue before
anything is printed.
"""

import sys
from pathlib import Path

from leftoff import hooks, session
from leftoff.agents.dialects import DIALECTS
from leftoff.agents.hook_events import NO_REPLY, HookEvent, Reply, restore_reply
from leftoff.config import Settings
from leftoff.context import Context, read_environment, state_folder
from leftoff.errors import NotAProject
from leftoff.hooks import replies, settle, spool, trouble
from leftoff.phrases.intents import passes_always
from leftoff.profiles.mirror import open_mirrors
from leftoff.projects.project import find_project
from leftoff.session import facts
from leftoff.store import Store
from leftoff.store.layout import is_off
from leftoff.text.fence import say


def answer(agent: str, event: str, ask_path: Path, data: bytes) -> Reply:
    """Store a prompt, then return the reply: a block, or nothing if the prompt passes."""
    environment = read_environment()
    state = environment.state_folder
    read = spool.read(spool.keep(state, agent, event, data, durable=True))
    if read is None or passes_always(read.prompt):
        return NO_REPLY
    try:
        project = find_project(environment, Path(read.cwd))
    except NotAProject:
        return NO_REPLY
    if is_off(project):
        return NO_REPLY
    settings = Context(environment, project).settings
    store = Store(project)
    try:
        percent = _find_blocking_percent(store, read, settings)
        if percent is None:
            return _let_pass(ask_path)
        _keep(store, read)
        _mirror(store, settings)
    finally:
        store.close()
    return DIALECTS[agent].block_reply(
        event,
        say(
            "leftoff: context at {percent}%. The prompt was not sent, but it is kept. Run "
            "{compact} or start a new session; leftoff reminds you of it there, and `leftoff "
            "prompts replay` prints it.",
            percent=f"{percent:.2f}",
            compact=hooks.context_usage.name_compact_command(agent),
        ),
    )


def _let_pass(ask_path: Path) -> Reply:
    """Return the reply that a session start has prepared for the prompt, if any."""
    place = ask_path.with_name(ask_path.name.removesuffix(replies.ASK))
    prepared = restore_reply(place.read_text(encoding="utf-8")) if place.is_file() else NO_REPLY
    replies.remove(place)
    return prepared


def _find_blocking_percent(store: Store, event: HookEvent, settings: Settings) -> float | None:
    """Return how full the context is if the prompt must be blocked; None if it passes."""
    record = session.records.load(store, event.agent, event.session_id)
    # Copilot's prompts do not name the transcript.
    transcript = Path(event.transcript_path or record.transcript_path)
    if settings.prompts != "block" or not transcript.is_file():
        return None
    known = session.sessions.read_memory(record)
    memory = session.capture.read_session(
        transcript, agent=event.agent, memory=known, session_id=event.session_id
    )
    percent = hooks.context_usage.with_live_use(
        facts.report.report(memory.state, window=record.window),
        store.project.state_folder,
        event.session_id,
    ).percent
    return (
        percent
        if hooks.context_usage.find_step(percent, settings) >= hooks.context_usage.CAPTURE
        else None
    )


def _keep(store: Store, event: HookEvent) -> None:
    session.prompt_queue.keep(store, event, is_blocked=True)


def _mirror(store: Store, settings: Settings) -> None:
    """Update the mirrored files, so that they hold the prompt before it is blocked."""
    open_mirrors(settings.mirror).export_changes(store)


def main(agent: str, event: str, ask_path: str) -> None:
    """Print the answer and start settle; a prompt that cannot be stored is not blocked."""
    try:
        replying = answer
        kind = DIALECTS[agent].KINDS.get(event)
        if kind == "pre-compact":
            replying = hooks.answer_compaction.answer
        elif kind == "pre-tool":
            replying = hooks.context_policy.answer
        elif hooks.first_prompt.is_about_first_prompt(Path(ask_path)):
            replying = hooks.first_prompt.answer
        data = sys.stdin.buffer.read()
        reply = replying(agent, event, Path(ask_path), data)
        sys.stdout.write(f"{reply}\n" if reply else "")
        sys.stdout.flush()
        if kind == "pre-tool":
            hooks.before_command.protect(agent, event, data)
    except Exception as error:  # noqa: BLE001 - a hook never fails; doctor reports it
        trouble.note(state_folder(), "answer", error)
    settle.wake(state_folder())


if __name__ == "__main__":
    main(*sys.argv[1:4])
    sys.exit(0)

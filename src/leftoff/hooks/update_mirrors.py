"""Read a session's notes from mirrored native files, and write its state to them."""

from typing import Any

from leftoff import threads
from leftoff.errors import LeftoffError
from leftoff.hooks import trouble
from leftoff.hooks.session_event import Case
from leftoff.profiles.mirror import open_mirrors
from leftoff.profiles.profile import BufferedExchange, SessionNews
from leftoff.session import prompt_queue
from leftoff.session.prompt_files import FilePrompt
from leftoff.store import Store


def read_native_notes(case: Case) -> dict[str, Any]:
    """Return what mirrored files say about the session's work."""
    return open_mirrors(case.settings.mirror).read_notes(case.store, case.event.session_id)


def can_show_pending(case: Case) -> bool:
    """Return whether mirrored files show which session's state is pending."""
    return open_mirrors(case.settings.mirror).tell_what_waits()


def update_mirrors(case: Case) -> Case:
    """Bring the mirrored files up to date with this event."""
    if not case.settings.mirror:
        return case
    exported = open_mirrors(case.settings.mirror).export_changes(
        case.store, session=_news(case), briefing=lambda: _briefing(case.store)
    )
    for problem in exported.problems:
        trouble.note(case.store.project.state_folder, "mirroring", LeftoffError(problem))
    return case


def _news(case: Case) -> SessionNews:
    """Collect what native files show about the session."""
    event = case.event
    waiting = [
        each for each in prompt_queue.pending(case.store) if each.session_id == event.session_id
    ]
    return SessionNews(
        agent=event.agent,
        session_id=event.session_id,
        event=event.kind,
        at=case.at,
        file=event.file if event.kind == "post-tool" else "",
        percent=case.percent,
        buffer=[
            BufferedExchange(at=each.at, asked=each.asked, answered=each.answered)
            for each in case.now.buffer
        ],
        prompts=[
            FilePrompt(text=each.text, told_at=f"{each.at:%Y-%m-%dT%H:%M:%SZ}", at=each.at)
            for each in waiting
        ],
    )


def _briefing(store: Store) -> str:
    return threads.memory_briefing.page(store)

"""At the first session of a project, name the sessions whose work nobody saved.

A quick look at the newest transcripts is enough if it shows work. Only if it does not, or if other
agents are in use, are the transcripts read.
"""

import re
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from itertools import takewhile

import msgspec

from leftoff import session
from leftoff.agents.agent import FoundSession
from leftoff.agents.claude.peek import find_sessions, peek
from leftoff.agents.hook_events import HookEvent
from leftoff.hooks import trouble
from leftoff.hooks.offers import StartReply
from leftoff.projects.project import list_folders
from leftoff.session import records
from leftoff.store import Store
from leftoff.text import fence, times
from leftoff.text.fence import Rendered, join, say
from leftoff.text.plural import format_count

# Larger transcripts take too long to read while the agent waits.
_MOST_BYTES = 4_000_000
_NEWEST = 5
_LOOK_BACK = timedelta(days=30)
# A transcript changed this recently may belong to an agent that is still running.
_ALIVE = timedelta(seconds=120)


class Unsaved(msgspec.Struct, frozen=True, kw_only=True):
    """A session with unsaved work."""

    agent: str
    touched_at: datetime
    task: str


def add_unsaved_sessions(reply: StartReply, event: HookEvent, store: Store) -> StartReply:
    """Add the sessions whose work nobody saved, and how to recover them."""
    running = {life.session_id for life in records.lives(store.project.state_folder, store.project)}
    besides = {*running, event.session_id}
    found = _find_evident_work(store, besides) or _read_all(store, besides)
    if not found:
        return reply
    now = store.now()
    have = say(
        "leftoff: {count} of this project {has} unsaved work.",
        count=format_count(len(found), "session"),
        has="has" if len(found) == 1 else "have",
    )
    recover = records.recover_command([each.touched_at for each in found], now)
    after = say(
        "Ask the user whether to recover it, and do not act on it until they answer. If yes, run "
        "`{recover}`, then `leftoff resume`.",
        recover=recover,
    )
    shown = fence.enclose_text(join([_format_session(each, now) for each in found]))
    notice = say("{have} Run `{recover}` to save it.", have=have, recover=recover)
    return msgspec.structs.replace(
        reply, text=join([have, shown, after]), notice=join([reply.notice, notice], " ")
    )


def _format_session(found: Unsaved, now: datetime) -> Rendered:
    return say(
        "- {agent}, {age}{task}",
        agent=found.agent,
        age=times.age((now - found.touched_at).total_seconds()),
        task=say(": {task:80}", task=found.task) if found.task else say(""),
    )


def _find_evident_work(store: Store, besides: Collection[str]) -> list[Unsaved]:
    """Return the newest sessions of Claude Code that show work at a glance."""
    environment = store.project.environment
    if environment.has_other_agents("claude"):
        return []
    root, now = environment.find_agent_folder("claude"), store.now()
    every = {
        each.path: each
        for folder in list_folders(store.project)
        for each in find_sessions(root, folder)
    }
    newest = sorted(every.values(), key=lambda each: each.touched_at, reverse=True)[:_NEWEST]
    wanted = [each for each in newest if each.session_id not in besides]
    found = [_look_at(each, now) for each in wanted]
    return [each for each in found if each is not None]


def _look_at(found: FoundSession, now: datetime) -> Unsaved | None:
    touched_at = datetime.fromtimestamp(found.touched_at, UTC)
    if not _ALIVE < now - touched_at < _LOOK_BACK or found.path.stat().st_size > _MOST_BYTES:
        return None
    seen = peek(found.path)
    if not seen.has_work:
        return None
    return Unsaved(agent="claude", touched_at=touched_at, task=take_plain_words(seen.asked))


def _read_all(store: Store, besides: Collection[str]) -> list[Unsaved]:
    """Read the newest sessions of all agents."""
    refused: list[OSError] = []
    found = session.sessions.find_unsaved_work(
        store, besides=besides, most_bytes=_MOST_BYTES, refused=refused
    )
    for error in refused:
        trouble.note(store.project.state_folder, "looking for unsaved sessions", error)
    return [
        Unsaved(
            agent=each.agent,
            touched_at=each.touched_at,
            task=each.facts.task or each.facts.intent,
        )
        for each in found
    ]


# --- the beginning of a request, without what might be a secret ---
#
# Redacting a text takes longer than all of this, so only words are shown that no rule of redaction
# could object to. What follows the first other word is left out.


_WORD = re.compile(
    r"[(\"'`]?"
    r"(?:[^\W\d_]{1,18}|[a-z_-]{1,18}(?:[./][a-z_-]{1,18}){1,3})"
    r"[.,;:!?)\"'`]*"
)
_TELLING = re.compile(
    r"pass|pwd|secret|token|key|cred|auth|bearer|api|sign|private|\bpin\b", re.IGNORECASE
)
_MOST_WORDS = 16
_FEWEST_WORDS = 2


def take_plain_words(text: str) -> str:
    """Return the plain words at the beginning of a text; empty if they say too little."""
    words = text.split(maxsplit=_MOST_WORDS)
    plain = [*takewhile(_is_plain, words[:_MOST_WORDS])]
    if len(plain) < _FEWEST_WORDS:
        return ""
    return " ".join(plain) + (" …" if len(plain) < len(words) else "")


def _is_plain(word: str) -> bool:
    return _WORD.fullmatch(word) is not None and _TELLING.search(word) is None

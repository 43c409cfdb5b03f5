"""Before anything of a project is saved, name the sessions whose work nobody saved.

A quick look at a transcript is enough if it shows work. If it does not, the transcript is read, and
so are all if other agents are in use: what is named is what `leftoff recover` saves.
"""

import re
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from pathlib import Path

import msgspec

from leftoff import session
from leftoff.agents.agent import FoundSession
from leftoff.agents.claude.peek import find_sessions, peek
from leftoff.agents.hook_events import HookEvent
from leftoff.hooks import trouble
from leftoff.hooks.offers import StartReply
from leftoff.projects.project import list_folders
from leftoff.session import records
from leftoff.store import Store, plain_name
from leftoff.text import fence, times
from leftoff.text.fence import Rendered, join, say
from leftoff.text.plural import format_count

# Larger transcripts take too long to read while the agent waits; a glance at their end does not.
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
    lives = records.lives(store.project.state_folder, store.project)
    besides = {life.session_id for life in lives if not life.has_crashed} | {event.session_id}
    found = _find(store, besides)
    if not found:
        return reply
    # Without the mark, the next session start looks again, until they are recovered.
    find_mark(store).unlink(missing_ok=True)
    now = store.now()
    have = say(
        "leftoff: {count} of this project {has} unsaved work",
        count=format_count(len(found), "session"),
        has="has" if len(found) == 1 else "have",
    )
    it = "it" if len(found) == 1 else "them"
    recover = records.recover_command([each.touched_at for each in found], now)
    after = say(
        "Ask the user whether to recover {it}, and do not act on {it} until they answer. If yes, "
        "run `{recover}`, then `leftoff resume`.",
        it=it,
        recover=recover,
    )
    shown = fence.enclose_text(join([_format_session(each, now) for each in found]))
    named = say(' ("{task:60}")', task=found[0].task) if len(found) == 1 else say("")
    notice = say(
        "{have}{named}. Run `{recover}` to save {it}.",
        have=have,
        named=named,
        recover=recover,
        it=it,
    )
    return msgspec.structs.replace(
        reply,
        text=join([say("{have}.", have=have), shown, after]),
        notice=join([reply.notice, notice], " "),
    )


def find_mark(store: Store) -> Path:
    """Return the file that says that a session start looked here, and found no unsaved work."""
    return store.project.state_folder / "contacted" / plain_name(str(store.project.store))


def _format_session(found: Unsaved, now: datetime) -> Rendered:
    return say(
        "- {agent}, {age}: {task:80}",
        agent=found.agent,
        age=times.age((now - found.touched_at).total_seconds()),
        task=found.task,
    )


def _find(store: Store, besides: Collection[str]) -> list[Unsaved]:
    """Find the newest sessions with unsaved work, newest first."""
    if store.project.environment.has_other_agents("claude"):
        return _read_all(store, besides)
    seen = {each.session_id: _look_at(each) for each in _list_newest(store, besides)}
    evident = {key: each for key, each in seen.items() if each is not None}
    rest = _read_all(store, {*besides, *evident}) if len(evident) < len(seen) else []
    return sorted([*evident.values(), *rest], key=lambda each: each.touched_at, reverse=True)


def _list_newest(store: Store, besides: Collection[str]) -> list[FoundSession]:
    """List the newest sessions of Claude Code that have ended."""
    root, now = store.project.environment.find_agent_folder("claude"), store.now().timestamp()
    every = {
        each.path: each
        for folder in list_folders(store.project)
        for each in find_sessions(root, folder)
    }
    newest = sorted(every.values(), key=lambda each: each.touched_at, reverse=True)[:_NEWEST]
    return [
        each
        for each in newest
        if each.session_id not in besides
        and _ALIVE.total_seconds() < now - each.touched_at < _LOOK_BACK.total_seconds()
    ]


def _look_at(found: FoundSession) -> Unsaved | None:
    """Return a session if its work and its task are evident."""
    seen = peek(found.path, most_bytes=_MOST_BYTES)
    task = take_plain_words(seen.asked)
    if not seen.has_work or not task:
        return None
    touched_at = datetime.fromtimestamp(found.touched_at, UTC)
    return Unsaved(agent="claude", touched_at=touched_at, task=task)


def _read_all(store: Store, besides: Collection[str]) -> list[Unsaved]:
    """Read the newest sessions of all agents, besides some."""
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
            task=each.request,
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

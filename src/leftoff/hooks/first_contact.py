"""In a project without saved work, name the sessions whose work nobody saved.

A quick look at a transcript of Claude Code is enough if it shows work, or nothing but questions and
answers. In doubt the transcript is read, and so are those of other agents: what is named is what
`leftoff recover` saves. What was found in a transcript is remembered until it changes, because
every session start asks until something is saved, and reading takes longer than the rest of a
session start.
"""

import re
from collections.abc import Collection
from datetime import datetime
from itertools import takewhile
from pathlib import Path

import msgspec

from leftoff.agents.agent import FoundSession
from leftoff.agents.claude.peek import has_only_talked, peek
from leftoff.agents.hook_events import HookEvent
from leftoff.hooks import trouble
from leftoff.hooks.offers import StartReply
from leftoff.session import facts, records
from leftoff.session.unsaved_work import (
    UnsavedSession,
    Verdict,
    find_unsaved_work,
    find_verdicts,
    start_verdict,
)
from leftoff.store import Store
from leftoff.text import fence, times
from leftoff.text.fence import Rendered, join, say
from leftoff.text.plural import format_count

# Larger transcripts take too long to read while the agent waits; a glance at their end does not.
_MOST_BYTES = 4_000_000
# Every line of a short transcript can be looked at; small talk is short.
_MOST_TALK_BYTES = 500_000


def add_unsaved_sessions(reply: StartReply, event: HookEvent, store: Store) -> StartReply:
    """Add the sessions whose work nobody saved, and how to recover them."""
    lives = records.list_lives(store.project.state_folder, store.project)
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
    named = say(' ("{task:60}")', task=found[0].request) if len(found) == 1 else say("")
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
        notice=fence.join_notices(reply.notice, notice),
    )


def find_mark(store: Store) -> Path:
    """Return the file that says that a session start looked here, and found no unsaved work."""
    return find_verdicts(store).with_suffix("")


def _format_session(found: UnsavedSession, now: datetime) -> Rendered:
    return say(
        "- {agent}, {age}: {task:80}",
        agent=found.agent,
        age=times.age((now - found.touched_at).total_seconds()),
        task=found.request,
    )


def _find(store: Store, besides: Collection[str]) -> list[UnsavedSession]:
    """Find the newest sessions with unsaved work, newest first."""
    refused: list[OSError] = []
    found = find_unsaved_work(
        store, besides=besides, judge=_judge, most_bytes=_MOST_BYTES, refused=refused
    )
    for error in refused:
        trouble.note(store.project.state_folder, "looking for unsaved sessions", error)
    return found


def _judge(agent: str, found: FoundSession) -> Verdict | None:
    """Return what is evident about a session of Claude Code; None if it must be read."""
    if agent != "claude":
        return None
    verdict = msgspec.structs.replace(start_verdict(agent, found), is_glance=True)
    seen = peek(found.path, most_bytes=_MOST_BYTES)
    task = take_plain_words(seen.asked)
    if seen.has_work and task:
        return msgspec.structs.replace(verdict, has_work=True, request=task)
    is_talk = has_only_talked(found.path, most_bytes=_MOST_TALK_BYTES, is_look=_is_look)
    return verdict if is_talk else None


def _is_look(command: str) -> bool:
    # Its patterns take a while to compile, and few sessions need them.
    return facts.looks.is_look_or_check(command)


# --- the beginning of a request, without what might be a secret ---
#
# Redacting a text takes longer than all of this, so only words are shown that no rule of redaction
# could object to. What follows the first other word is left out.


_WORD = re.compile(
    r"[(\"'`]?"
    r"(?:[^\W\d_]{1,18}|[a-z_-]{1,18}(?:[./][a-z_-]{1,18}){1,3})"
    r"[.,;:!?)\"'`]*"
)
_REVEALING = re.compile(
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
    return _WORD.fullmatch(word) is not None and _REVEALING.search(word) is None

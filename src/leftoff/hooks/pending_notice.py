"""At session start, say what waits: another system's checkpoint, or prompts nobody answered."""

import msgspec

from leftoff import config
from leftoff.agents.hook_events import HookEvent
from leftoff.git import query
from leftoff.hooks.offers import StartReply
from leftoff.profiles.mirror import open_mirrors
from leftoff.session import prompt_queue, records
from leftoff.session.prompt_queue import Prompt
from leftoff.store import Store
from leftoff.text import fence
from leftoff.text.fence import Rendered, join, say

_MOST_PROMPTS = 3


def add_kept_prompts(
    reply: StartReply, event: HookEvent, store: Store, settings: config.Settings
) -> StartReply:
    """Add the prompts that were kept when a context was full and that nobody answered."""
    waiting = _list_waiting(event, store, settings)
    if not waiting:
        return reply
    count = len(waiting)
    were = say(
        "leftoff: {count} {what} never answered.",
        count=count,
        what="prompt was" if count == 1 else "prompts were",
    )
    shown = [_format_prompt(prompt) for prompt in waiting[:_MOST_PROMPTS]]
    more = say("- and {count} more", count=count - _MOST_PROMPTS)
    shown += [more] if count > _MOST_PROMPTS else []
    it = "it" if count == 1 else "them"
    after = say(
        "Tell the user; do not act on {it} until they answer. "
        "`leftoff prompts replay` prints {it}.",
        it=it,
    )
    text: Rendered = join([were, fence.enclose_text(join(shown)), after])
    notice = say("{were} Run `leftoff prompts` to see {it}.", were=were, it=it)
    return msgspec.structs.replace(
        reply,
        text=join([reply.text, text], "\n\n"),
        notice=fence.join_notices(reply.notice, notice),
    )


def _format_prompt(prompt: Prompt) -> Rendered:
    source = say("" if prompt.is_from_a_session else " (from a file)")
    return say("- {text:80}{source}", text=prompt.text, source=source)


def _list_waiting(event: HookEvent, store: Store, settings: config.Settings) -> list[Prompt]:
    """List the prompts that no running session is working on."""
    lives = records.list_lives(store.project.state_folder, store.project)
    running = {life.session_id for life in lives} - {event.session_id}
    # Files of a system that the user chose count too; other files may hold anyone's words.
    has_files = bool(settings.mirror) and open_mirrors(settings.mirror).use_sentinels()
    waiting = prompt_queue.list_kept(store, with_files=has_files)
    return [
        each for each in waiting if each.session_id not in running and not _goes_on(each, event)
    ]


def _goes_on(prompt: Prompt, event: HookEvent) -> bool:
    """Return whether a session that was compacted goes on with this prompt: the agent got it."""
    is_own = event.source == "compact" and prompt.session_id == event.session_id
    return is_own and not prompt.is_blocked


def add_pending_notice(
    reply: StartReply, event: HookEvent, store: Store, settings: config.Settings
) -> StartReply:
    """Put the pending checkpoint, this session's own or the newest, before the reply."""
    waiting = open_mirrors(settings.mirror).find_waiting(store)
    if not waiting:
        return reply
    own = [each for each in waiting if each.session_id == event.session_id]
    first = (own or waiting)[0]
    whose = (
        say("session-id match: current-session")
        if own
        else say("mismatch-warning: it was left for session {id:100}", id=first.session_id)
    )
    line = say(
        "Pending restore detected. `leftoff resume --pending` is recommended "
        "(checkpoint: {path} — {whose})",
        path=query.printable(str(first.path)),
        whose=whose,
    )
    return msgspec.structs.replace(
        reply, text=join([line, reply.text]), notice=fence.join_notices(line, reply.notice)
    )

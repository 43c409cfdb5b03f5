"""At session start, say that a checkpoint in another system's files waits to be restored."""

import msgspec

from leftoff import config
from leftoff.agents.hook_events import HookEvent
from leftoff.git import query
from leftoff.hooks.offers import StartReply
from leftoff.profiles.mirror import open_mirrors
from leftoff.store import Store
from leftoff.text.fence import join, say


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
        reply, text=join([line, reply.text]), notice=join([line, reply.notice], " ")
    )

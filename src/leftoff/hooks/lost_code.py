"""Show a session how to get code back that one of its commands has destroyed.

Before a risky command, its snapshot is noted in a small file. At each later event of the session,
the files of the snapshot are compared with the worktree. Only if some are gone, the next reply says
so, once.
"""

from pathlib import Path

import msgspec

from leftoff.agents.dialects import DIALECTS
from leftoff.agents.hook_events import HookEvent
from leftoff.hooks import replies, watched_commands
from leftoff.hooks.session_event import Case
from leftoff.hooks.watched_commands import Watched
from leftoff.snapshots.lost_files import LostFiles, find_destroyed_since
from leftoff.text.fence import Rendered, join, say
from leftoff.text.plural import format_count

# In a long turn, the calls soon after a command are enough: comparing runs git several times.
_SOON_SECONDS = 60.0
_NAMED = 3
_CALL = "PreToolUse"
# Other agents ignore or refuse context in the reply to a call.
_READS_CALL_REPLIES = frozenset({"claude"})


def find_loss(case: Case, *, is_printed: bool) -> tuple[list[Rendered], bool]:
    """Return what the next reply says about destroyed code, and whether that is new."""
    event, state = case.event, case.store.project.state_folder
    place = _call_reply(state, event)
    is_shown = is_printed or _is_shown(place, event)
    watched = [
        each for each in watched_commands.read(state, event) if not (each.is_ready and is_shown)
    ]
    due = [each for each in watched if _is_due(each, event)]
    found = [(each, _describe(case, each)) for each in due]
    said = [text for _, text in found if text is not None]
    is_new = any(text is not None and not each.is_ready for each, text in found)
    is_over = event.kind in {"stop", "session-end"}
    kept = [
        # At the end of a turn its commands have ended: what is there now was not destroyed.
        *(each for each in watched if each not in due),
        *(
            msgspec.structs.replace(each, is_ready=text is not None)
            for each, text in found
            if text is not None or not is_over
        ),
    ]
    watched_commands.write(state, event, [] if event.kind == "session-end" else kept)
    if said and event.kind != "session-end" and event.agent in _READS_CALL_REPLIES:
        if is_new:
            replies.put(place, DIALECTS[event.agent].context_reply(_CALL, join(said)))
    else:
        replies.remove(place)
    return said, is_new


def _is_due(watched: Watched, event: HookEvent) -> bool:
    since = event.at - watched.at
    return since > 0 and (event.kind != "pre-tool" or watched.is_ready or since < _SOON_SECONDS)


def _call_reply(state: Path, event: HookEvent) -> Path:
    return replies.path_of(state, event.cwd, event.agent, _CALL, event.session_id)


def _is_shown(place: Path, event: HookEvent) -> bool:
    """Return whether the reply was ready when this call came."""
    return event.kind == "pre-tool" and place.exists() and place.stat().st_mtime <= event.at


def _describe(case: Case, watched: Watched) -> Rendered | None:
    if not watched.snapshot:
        return say(
            "leftoff: no snapshot of the uncommitted code could be taken before `{command:120}`; "
            "`leftoff doctor` says why.",
            command=watched.command,
        )
    lost = find_destroyed_since(case.store.project, watched.snapshot)
    return format_loss(lost, watched.command) if lost is not None else None


def format_loss(lost: LostFiles, command: str) -> Rendered:
    """Say which files a command destroyed, and how to get them back."""
    named = ", ".join(lost.paths[:_NAMED])
    if len(lost.paths) > _NAMED:
        named += f" and {len(lost.paths) - _NAMED} more"
    return say(
        "leftoff: since `{command:120}`, the uncommitted work in {count} is gone from the "
        "worktree: {named:300}. A snapshot has it. If that was not intended, run "
        "`{restore}`.",
        command=command,
        count=format_count(len(lost.paths), "file"),
        named=named,
        restore=lost.command,
    )

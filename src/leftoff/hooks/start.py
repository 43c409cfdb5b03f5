"""Answer the start of a session, with one JSON document or nothing.

All other events get a reply that was prepared before; this one looks at the project now. After a
compaction the reply holds the session's own state; on resume, what changed in the meantime;
otherwise, work that crashed or was left off.
"""

import _thread
import contextlib
import gc
import os
import sys
import time

if __name__ == "__main__":
    # What is loaded lives until the end. To look for garbage in it takes 6 % of a start's time.
    gc.disable()

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from leftoff import config, hooks, processes, threads
from leftoff.agents.dialects import DIALECTS
from leftoff.agents.hook_events import NO_REPLY, HookEvent, Reply, decode
from leftoff.context import read_environment, state_folder
from leftoff.errors import LeftoffError, NotAProject
from leftoff.hooks import offers, replies, trouble
from leftoff.hooks.offers import StartReply
from leftoff.profiles.mirror import open_mirrors
from leftoff.profiles.profile import SessionNews
from leftoff.projects.project import Project, find_project
from leftoff.session import records
from leftoff.session.records import Life
from leftoff.store import BY_PROMPT, Store, disk, plain_name, utc_now
from leftoff.store.layout import is_off
from leftoff.text import fence
from leftoff.text.fence import Rendered, join, say
from leftoff.threads import briefing, check_claims

STUCK_SECONDS = 5.0
"""How long a session start may be kept waiting before it gives up."""
_TICK_SECONDS = 0.2
_GUIDE = "leftoff: before you save or resume, run `leftoff guide`."
_GUIDE_TOKENS = 25
# A summary is among the first lines of a transcript.
_HEAD_BYTES = 256 * 1024


def main(agent: str) -> None:
    """Answer the event on standard input; an error never stops the agent."""
    state = state_folder()
    _thread.start_new_thread(_watch, (state, agent, _thread.get_ident()))
    try:
        reply = answer(agent, sys.stdin.buffer.read(), state)
    except Exception as error:  # noqa: BLE001 - a hook never fails; doctor reports it
        trouble.note(state, "session start", error)
        reply = NO_REPLY
    if reply:
        sys.stdout.write(f"{reply}\n")
        sys.stdout.flush()


def answer(agent: str, data: bytes, state: Path, *, now: Callable[[], datetime] = utc_now) -> Reply:
    """Process waiting events, record the session and return the reply; empty if none."""
    event = _read_event(agent, data)
    environment = read_environment()
    if event is None or "session-start" in environment.list_disabled_hooks():
        return NO_REPLY
    try:
        project = find_project(environment, Path(event.cwd))
    except NotAProject:
        return NO_REPLY
    if is_off(project):
        return NO_REPLY
    if disk.is_regular(state / "python"):
        with contextlib.suppress(OSError):
            hooks.installation.refresh(state)
    store = Store(project, now=now)
    settings = config.load(project).settings
    try:
        late = _catch_up(event, store, state)
        page = _read_user_page(store, settings)
        _sync_mirrors(event, store, settings)
        reply = _build_reply(event, store, settings, page)
        _note(event, store, state, reply.offered)
    finally:
        store.close()
    notice = fence.join_notices(_notice(state, project), reply.notice, late)
    text = join([reply.text, late], "\n\n")
    if DIALECTS[agent].ADDS_AT_START or not text:
        return DIALECTS[agent].context_reply("SessionStart", text, notice=notice)
    # This agent does not give the model what a session start replies, but it does at a prompt.
    reply_then = DIALECTS[agent].context_reply("UserPromptSubmit", text, notice=notice)
    replies.put(_find_place(event, state), reply_then)
    return NO_REPLY


def _catch_up(event: HookEvent, store: Store, state: Path) -> Rendered:
    """Process what this project's other sessions left behind; say so if that takes too long."""
    lives = [
        life
        for life in records.list_lives(state, store.project)
        if life.session_id != event.session_id
    ]
    # A session that continues has its own past, and is offered nothing else.
    is_new = event.source not in {"compact", "resume", "fork"}
    dead = [each.session_id for each in lives if is_new and each.is_dead(store.now())]
    has_lost = is_new and disk.is_regular(state / "lost")
    if not (dead or has_lost or _count_files(state / "spool")):
        return say("")
    running = [each.session_id for each in lives if each.session_id not in dead]
    others = hooks.start_recovery.Neighbours(dead=dead, running=running, has_lost=has_lost)
    return hooks.start_recovery.catch_up(event, state, others)


def _count_files(folder: Path) -> int:
    try:
        return len(os.listdir(folder))  # noqa: PTH208 - names are all that is needed
    except OSError:
        return 0


def _watch(state: Path, agent: str, watched: int) -> None:
    """End this process if it is stuck: the agent would kill it later, without a reason.

    Only time in which it could not run counts, such as waiting for the lock of an index. Time in
    which a busy machine did not let it run does not, nor does the wait for a recovery.
    """
    stuck, before = 0.0, _read_times()
    while stuck < STUCK_SECONDS:
        time.sleep(_TICK_SECONDS)
        now = _read_times()
        wall, running = (new - old for new, old in zip(now, before, strict=True))
        stuck += max(0.0, wall - running) if not _is_recovering(watched) else 0.0
        before = now
    trouble.note(state, "session start", LeftoffError(_STUCK))
    notice = say("leftoff: the session start was stopped; run `leftoff doctor` for details.")
    if agent in DIALECTS:
        reply = DIALECTS[agent].context_reply("SessionStart", say(""), notice=notice)
        os.write(1, f"{reply}\n".encode() if reply else b"")
    os._exit(0)


_STUCK = (
    "A lock or the disk kept a session start waiting, so the session was offered nothing. Another "
    "program may have the project's index open."
)


def _read_times() -> tuple[float, float]:
    """Return the time now, and how long this process has run or waited for a processor."""
    now = time.monotonic()
    try:
        _, waited, slices = map(int, Path("/proc/self/schedstat").read_bytes().split())
    except (OSError, ValueError):
        slices = 0
    # Where the system does not say how long it waited, assume half of the time.
    return now, time.process_time() + (waited / 1e9 if slices else now / 2)


def _is_recovering(thread: int) -> bool:
    """Return whether a thread is waiting for sessions to be recovered, which has its own limit."""
    frame = sys._current_frames().get(thread)  # noqa: SLF001 - documented, for use as here
    while frame is not None:
        if frame.f_globals.get("__name__") == "leftoff.hooks.start_recovery":
            return True
        frame = frame.f_back
    return False


def _read_event(agent: str, data: bytes) -> HookEvent | None:
    dialect = DIALECTS.get(agent)
    try:
        payload = _decode(data)
    except msgspec.DecodeError:
        return None
    if dialect is None or not isinstance(payload, dict):
        return None
    return dialect.translate("SessionStart", payload, at=time.time())


def _decode(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return decode(data)


def _read_user_page(store: Store, settings: config.Settings) -> str | None:
    """Read the briefing's file before mirrors write it, as somebody may have edited it."""
    if not settings.briefing_file:
        return None
    try:
        return hooks.memory_context.read_user_page(store, settings)
    except OSError:
        # `add_memory` gets the same error, and notes it.
        return None


def _build_reply(
    event: HookEvent, store: Store, settings: config.Settings, page: str | None
) -> StartReply:
    state = store.project.state_folder
    is_compacted = _is_compacted(event) or _lacks_state(event, store)
    if is_compacted:
        # Prepared replies assume a context that is no longer full: a block would never end.
        for name in ("UserPromptSubmit", "PreToolUse"):
            replies.remove(replies.path_of(state, event.cwd, event.agent, name, event.session_id))
    _request_checks(event, state, settings)
    if is_compacted:
        reply = StartReply(hooks.after_compaction.format_recovery(event, store, settings))
    elif event.source in {"resume", "fork"}:
        reply = _with_banner(StartReply(_describe_changes(event, store)), event, store, settings)
        return _with_prompts(reply, event, store, settings)
    elif (handed := _take_over(event, store, settings)) is not None:
        reply = handed
    else:
        reply = _with_interrupted_work(offers.offer(event, store, _reserve_guide(settings)), store)
        reply = _with_banner(reply, event, store, settings)
    reply = _with_unsaved(_with_prompts(reply, event, store, settings), event, store)
    return _with_guide(_with_memory(reply, event, store, settings, page), settings)


def _take_over(event: HookEvent, store: Store, settings: config.Settings) -> StartReply | None:
    """Return the thread that the user started this session for, if there is one."""
    # As in `hand_over.find_mark`, which most session starts need not load.
    waiting = store.project.state_folder / "handed" / event.agent
    if event.source == "clear" or not waiting.is_dir():
        return None
    return hooks.hand_over.take(event, store, settings)


def _lacks_state(event: HookEvent, store: Store) -> bool:
    """Return whether a resumed session was compacted and ended before it got its state back."""
    if event.source != "resume" or DIALECTS[event.agent].STARTS_AFTER_COMPACTION:
        return False
    record = records.load(store, event.agent, event.session_id)
    if record.recaps:
        records.keep(store, msgspec.structs.replace(record, recaps=False))
    return record.recaps


def _with_guide(reply: StartReply, settings: config.Settings) -> StartReply:
    """Say where the agent finds the instructions of the project's profile."""
    if settings.profile == "default":
        return reply
    return msgspec.structs.replace(reply, text=join([reply.text, say(_GUIDE)]))


def _reserve_guide(settings: config.Settings) -> config.Settings:
    """Leave room for that line in the budget of the offer."""
    room = settings.start_budget - (0 if settings.profile == "default" else _GUIDE_TOKENS)
    return msgspec.structs.replace(settings, start_budget=room)


def _with_interrupted_work(reply: StartReply, store: Store) -> StartReply:
    """Add work on a feature that was interrupted, if the project has features."""
    places = [store.project.store / "loops", *store.log_paths("features")]
    if not any(place.exists() for place in places):
        return reply
    return hooks.interrupted_work.add_interrupted_work(reply, store)


def _with_banner(
    reply: StartReply, event: HookEvent, store: Store, settings: config.Settings
) -> StartReply:
    """Add the pending checkpoint of a mirrored system, in new and resumed sessions."""
    if not settings.mirror:
        return reply
    return hooks.pending_notice.add_pending_notice(reply, event, store, settings)


def _request_checks(event: HookEvent, state: Path, settings: config.Settings) -> None:
    """Make the letterbox ask before compactions, calls and prompts, if the user enabled that."""
    if settings.compaction != "allow":
        hooks.answer_compaction.expect(state, event.agent, event.session_id, event.cwd, settings)
    if settings.safety == "on":
        hooks.context_policy.create_ask_file(state, event)
    if settings.confirm == "always":
        hooks.first_prompt.expect(state, event.cwd, settings)
    if settings.prompts == "block" and event.source in {"resume", "fork"}:
        # Its context may be nearly full already. Later events decide about later prompts.
        replies.put_ask(_find_place(event, state), event.source)


def _find_place(event: HookEvent, state: Path) -> Path:
    return replies.path_of(state, event.cwd, event.agent, "UserPromptSubmit", event.session_id)


def _is_compacted(event: HookEvent) -> bool:
    """Return whether the session continues from a summary; a new one has no transcript yet."""
    if event.source == "compact":
        return True
    if event.source in {"resume", "fork"} or not event.transcript_path:
        return False
    try:
        head = _read_head(Path(event.transcript_path))
    except OSError as error:
        # The session still gets its offer.
        trouble.note(state_folder(), "reading the session's transcript", error)
        return False
    return b"<summary>" in head and hooks.after_compaction.is_summed_up(head)


def _read_head(path: Path) -> bytes:
    if not path.is_file():
        return b""
    with path.open("rb") as file:
        return file.read(_HEAD_BYTES)


def _with_memory(
    reply: StartReply, event: HookEvent, store: Store, settings: config.Settings, page: str | None
) -> StartReply:
    """Add what the project knows, if it knows anything."""
    logs = [*store.log_paths("memory"), *store.log_paths("features")]
    known = any(path.exists() for path in [*logs, store.project.store / "features.json"])
    if settings.memory_budget <= 0 or not (known or settings.briefing_file):
        return reply
    return hooks.memory_context.add_memory(reply, event, store, settings, page=page)


def _with_prompts(
    reply: StartReply, event: HookEvent, store: Store, settings: config.Settings
) -> StartReply:
    """Add that prompts wait; one log says so, and most projects do not have it."""
    if not any(path.exists() for path in store.log_paths("prompts")):
        return reply
    return hooks.pending_notice.add_kept_prompts(reply, event, store, settings)


def _with_unsaved(reply: StartReply, event: HookEvent, store: Store) -> StartReply:
    """Add unsaved sessions from before the hooks, until a start finds none or work is saved."""
    # Other commands create the folder too, so only its content says whether anything was saved.
    saved = (store.project.store / "checkpoints").glob("*/*.json")
    if reply.text or _is_compacted(event) or any(saved):
        return reply
    # As in `first_contact.find_mark`, which most session starts need not load.
    mark = store.project.state_folder / "contacted" / plain_name(str(store.project.store))
    if mark.exists():
        return reply
    try:
        disk.ensure_folder(mark.parent)
        disk.touch(mark)
        return hooks.first_contact.add_unsaved_sessions(reply, event, store)
    except (LeftoffError, OSError) as error:
        trouble.note(store.project.state_folder, "looking for unsaved sessions", error)
        return reply


def _sync_mirrors(event: HookEvent, store: Store, settings: config.Settings) -> None:
    """Import manual edits of mirrored files, and write what they do not show yet."""
    if not settings.mirror:
        return
    news = SessionNews(agent=event.agent, session_id=event.session_id, event=event.kind)
    exported = open_mirrors(settings.mirror).export_changes(
        store, session=news, briefing=lambda: _page(store)
    )
    trouble.note_files(store.project, exported.problems)


def _page(store: Store) -> str:
    return threads.memory_briefing.page(store)


def _describe_changes(event: HookEvent, store: Store) -> Rendered:
    """Return what changed since a resumed session was last here; empty if nothing did."""
    entry = store.index().newest_of_session(event.session_id)
    if entry is None:
        return say("")
    checkpoint = store.load(entry)
    checks = check_claims.check_stored(checkpoint, store)
    # The files of a thread from another worktree may never have been in this one.
    known = (*checkpoint.files, *checkpoint.watched)
    were_here = {file.path for file in known if file.size is not None}
    files = [each for each in checks.files if each.state != "missing" or each.path in were_here]
    changes = briefing.changes(msgspec.structs.replace(checks, files=files))
    if not changes:
        return say("")
    before = say("leftoff: since this session was last here ({age}):", age=offers.age(entry, store))
    return join([before, fence.enclose_text(changes)])


def _note(event: HookEvent, store: Store, state: Path, offered: str) -> None:
    """Record that the session runs, and its process; if that fails, it still gets its reply."""
    try:
        _keep_life(event, store, offered)
    except (LeftoffError, OSError) as error:
        with contextlib.suppress(OSError):
            (state / "lost").touch(mode=0o600)
        trouble.note(state, "noting that a session runs", error)


def _keep_life(event: HookEvent, store: Store, offered: str) -> None:
    environment = store.project.environment
    dialect, root = DIALECTS[event.agent], environment.find_agent_folder(event.agent)
    pid = event.pid or environment.find_agent_pid(event.agent)
    # Where the system does not show the processes above a hook, the agent's own files may.
    pid = pid or dialect.find_pid(root, event.session_id)
    state = store.project.state_folder
    has_passed = False
    if event.source in {"resume", "fork"}:
        offered, has_passed = _find_earlier_offer(event, store)
    if offered and _was_accepted(event, store, offered):
        offered = ""
    life = Life(
        agent=event.agent,
        session_id=event.session_id,
        store=str(store.project.store),
        cwd=event.cwd,
        pid=pid,
        pid_began=processes.read_start_time(pid) if pid else 0.0,
        seen_at=event.at,
        offered=offered,
        has_passed=has_passed,
        transcript_path=event.transcript_path,
        lock=dialect.find_lock(root, event.session_id),
    )
    records.keep_life(state, life)


def _find_earlier_offer(event: HookEvent, store: Store) -> tuple[str, bool]:
    """Return what a resumed session was offered before, and whether it did something else."""
    life = records.life_of(store.project.state_folder, event.agent, event.session_id)
    known = life or records.load(store, event.agent, event.session_id)
    return known.offered, known.has_passed


def _was_accepted(event: HookEvent, store: Store, offered: str) -> bool:
    """Join the thread if the first prompt asked for it before this start was noted."""
    known = records.life_of(store.project.state_folder, event.agent, event.session_id)
    head = store.index().head(offered) if known is not None and known.asked else None
    if head is None:
        return False
    if store.index().find_joined(event.session_id) is not None:
        # The user handed the thread over, and this start has just recorded that.
        return True
    session = (event.agent, event.session_id)
    store.record("resumed", [head.id], session=session, trigger=BY_PROMPT)
    return True


def _notice(state: Path, project: Project) -> Rendered:
    """Say that hooks failed, events wait or a file is unclear; usually there is no trace of it."""
    traces = (state / "trouble.jsonl", state / "full", state / "lost")
    if not (any(map(os.path.lexists, traces)) or _count_files(state / "spool")):
        return say("")
    count, unclear = trouble.count_recent(state), trouble.list_of_files(project)
    if not count and not unclear:
        return say("")
    what = "a hook failed" if count == 1 else f"hooks failed {count} times"
    if not count:
        what = unclear[-1]
    return say("leftoff: {what:400}; run `leftoff doctor` for details.", what=what.rstrip("."))


if __name__ == "__main__":
    gc.freeze()
    gc.enable()
    main(sys.argv[1] if len(sys.argv) > 1 else "")
    sys.stdout.flush()
    # Nothing is left to clean up, and the agent is waiting.
    os._exit(0)

"""Session start: the one event that is answered from the present, with exactly one JSON document.

In this order and within the budget: this session's own state after a compaction; what changed while
it was away; work that crashed or was left off and can be taken up. Otherwise nothing.
"""

import os
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from leftoff import briefing, config, fence, paths, processes, records, restore, times
from leftoff.checkpoint import Checkpoint
from leftoff.dialects import DIALECTS
from leftoff.dialects.base import HookEvent
from leftoff.errors import LeftoffError, NotAProject
from leftoff.hooks import draining, replies, settle, trouble
from leftoff.records import Life
from leftoff.store import Entry, Store, utc_now
from leftoff.tokens import estimate

# Another settle may be at work; the agent must not wait for it.
_WAIT_SECONDS = 1.0
# A session that nobody named a process for is taken for dead after this time.
_FORGOTTEN = timedelta(hours=12)
_SEVERAL = 8
_LAST_SAID = 5
_SAID_CHARS = 2_000
_TASK_CHARS = 80
_LOOKED_AT = 10


class Told(msgspec.Struct, frozen=True):
    """What a session is told: the text for the model, and a line that the user sees."""

    text: str = ""
    notice: str = ""


def main(agent: str) -> None:
    """Answer the event on standard input; whatever happens, the agent goes on."""
    state = paths.state_folder()
    try:
        reply = answer(agent, sys.stdin.buffer.read(), state)
    except Exception as error:  # noqa: BLE001 - a hook never fails; doctor tells
        trouble.note(state, "session start", error)
        reply = ""
    if reply:
        sys.stdout.write(f"{reply}\n")
        sys.stdout.flush()


def answer(agent: str, data: bytes, state: Path, *, now: Callable[[], datetime] = utc_now) -> str:
    """Settle what waits, note the session, and return the reply; empty if there is none."""
    event = _event(agent, data)
    if event is None or is_disabled("session-start"):
        return ""
    try:
        project = paths.find_project(Path(event.cwd))
    except NotAProject:
        return ""
    if draining.is_off(project):
        return ""
    settle.run(state, wait_seconds=_WAIT_SECONDS)
    store = Store(project, now=now)
    try:
        told = _told(event, store, state)
        _note(event, store)
    finally:
        store.close()
    notice = " ".join(line for line in (_notice(state), told.notice) if line)
    return DIALECTS[agent].context_reply("SessionStart", told.text, notice=notice)


def is_disabled(hook: str) -> bool:
    """Say whether the user disabled a hook by name."""
    names = (paths.setting("disabled_hooks") or "").split(",")
    return hook in {name.strip() for name in names}


def _event(agent: str, data: bytes) -> HookEvent | None:
    dialect = DIALECTS.get(agent)
    try:
        payload: Any = msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    if dialect is None or not isinstance(payload, dict):
        return None
    return dialect.translate("SessionStart", payload, at=time.time())


def _told(event: HookEvent, store: Store, state: Path) -> Told:
    settings = config.load(store.project).settings
    if event.source == "compact":
        # What lies ready speaks of a context that is no longer full: a block would never end.
        name = "UserPromptSubmit"
        replies.remove(replies.path_of(state, event.cwd, event.agent, name, event.session_id))
        return Told(_own_state(event, store, settings))
    if event.source in {"resume", "fork"}:
        return Told(_changes(event, store))
    _recover_crashed(event, store)
    return _offer(event, store, settings)


def _own_state(event: HookEvent, store: Store, settings: config.Settings) -> str:
    """After a compaction: the full state of this very session, next action first."""
    entry = store.index().newest_of_session(event.session_id)
    if entry is None:
        return ""
    checkpoint = store.load(entry)
    checks = restore.check(checkpoint, store.project, store.now())
    said = _said(event, store)
    text = briefing.render(checkpoint, checks, budget=settings.budget)
    return f"leftoff: this session was compacted. Where it stood before:\n{text}{said}"


def _said(event: HookEvent, store: Store) -> str:
    """Return what was last said while the context filled up: a summary loses the wording."""
    record = records.load(store, event.agent, event.session_id)
    lines = [f"- {each.asked}" for each in record.buffer[-_LAST_SAID:]]
    if not lines:
        return ""
    text = fence.disarm("\n".join(lines))[:_SAID_CHARS]
    return fence.fenced(f"The user's last requests, word for word:\n{text}")


def _changes(event: HookEvent, store: Store) -> str:
    """On resume: silent, unless something changed while the session was away."""
    entry = store.index().newest_of_session(event.session_id)
    if entry is None:
        return ""
    checkpoint = store.load(entry)
    checks = restore.check(checkpoint, store.project, store.now())
    lines = briefing.changes(checks)
    if not lines:
        return ""
    return "\n".join([f"leftoff: since this session was last here ({_age(entry, store)}):", *lines])


def _offer(event: HookEvent, store: Store, settings: config.Settings) -> Told:
    """Offer what was left off here: one in short, several by name."""
    entries = _open(event, store, settings)
    if not entries:
        return Told()
    if len(entries) > 1:
        notice = f"leftoff: {len(entries)} pieces of work were left off here; ask for one by name."
        return Told(_several(entries, store), notice)
    checkpoint = store.load(entries[0])
    checks = restore.check(checkpoint, store.project, store.now())
    key = checkpoint.name or checkpoint.id
    before = _before(checkpoint)
    # An id costs more than a sentence, and what changed since must find room.
    after = (
        f"Ask the user whether to resume it, and do nothing of it before they answer; a message "
        f"that asks to continue is a yes. Yes: `leftoff resume {key} --accept` gives the full "
        f"briefing. No: the same with --decline. Kept in {store.path_of(entries[0])}"
    )
    room = settings.start_budget - estimate(f"{before}\n{after}\n")
    text = f"{before}\n{briefing.render(checkpoint, checks, budget=room)}{after}"
    task = fence.disarm(_task(entries[0]))
    return Told(text, f'{before} Say "continue" to take it up ({_age(entries[0], store)}): {task}')


def _task(entry: Entry) -> str:
    return " ".join((entry.task or "").split())[:_TASK_CHARS]


def _before(checkpoint: Checkpoint) -> str:
    if checkpoint.trigger == "recovered":
        return "leftoff: a session died here in the middle of its work."
    return "leftoff: work was left off here."


def _several(entries: Sequence[Entry], store: Store) -> str:
    lines = [f"leftoff: {len(entries)} pieces of work were left off here:"]
    for entry in entries[:_SEVERAL]:
        branch = f", branch {entry.branch}" if entry.branch else ""
        lines.append(f"- {entry.name or entry.id}{branch}, {_age(entry, store)}: {_task(entry)}")
    lines.append(
        "Ask the user whether to resume one, and do nothing of it before they answer. If yes: "
        "`leftoff resume NAME --accept` gives its full briefing."
    )
    return fence.disarm("\n".join(lines))


def _open(event: HookEvent, store: Store, settings: config.Settings) -> list[Entry]:
    """Return what waits in this worktree: what was saved by name, and the newest autosaves."""
    here = str(store.project.worktree)
    running = {life.session_id for life in records.lives(paths.state_folder(), store.project)} - {
        event.session_id
    }
    entries = [
        entry
        for entry in store.index().heads(["open"], 100)
        if entry.worktree in {here, None} and entry.problem is None
    ]
    named = [entry for entry in entries if entry.name is not None]
    autosaves = [
        entry
        for entry in entries
        if entry.name is None and entry.session_id not in {*running, event.session_id}
    ]
    # An autosave made before a later save on purpose has nothing to add to it.
    oldest = store.now() - timedelta(days=settings.offer_days)
    recent = max([oldest, *(entry.saved_at for entry in named)])
    newest = _newest([entry for entry in autosaves if entry.saved_at > recent], store)
    return sorted([*named, *newest], key=lambda entry: entry.id, reverse=True)


def _newest(autosaves: Sequence[Entry], store: Store) -> list[Entry]:
    """Return the newest, and if nothing was done there, also the newest where something was."""
    # A greeting or a quick question must not hide the work of the session before it.
    for number, entry in enumerate(autosaves[:_LOOKED_AT]):
        if _shows_work(store.load(entry)):
            return [*autosaves[: min(number, 1)], entry]
    return list(autosaves[:1])


def _shows_work(checkpoint: Checkpoint) -> bool:
    return bool(
        checkpoint.files_modified
        or checkpoint.todos
        or checkpoint.in_flight
        or checkpoint.pending_prompts
        or checkpoint.trigger == "recovered"
    )


def _recover_crashed(event: HookEvent, store: Store) -> None:
    """Save sessions that have no end and whose process is gone."""
    for life in records.lives(paths.state_folder(), store.project):
        if life.session_id == event.session_id or not _is_dead(life, store.now()):
            continue
        # Only a crash pays for loading the readers.
        from leftoff.hooks.crash import recover  # noqa: PLC0415

        try:
            recover(store, life)
        except (LeftoffError, OSError) as error:
            trouble.note(paths.state_folder(), f"recovering {life.session_id}", error)


def _is_dead(life: Life, now: datetime) -> bool:
    if life.pid:
        return not processes.is_alive(life.pid, life.pid_began)
    return now - datetime.fromtimestamp(life.seen_at, UTC) > _FORGOTTEN


def _note(event: HookEvent, store: Store) -> None:
    """Note that the session runs, and who runs it."""
    pid = paths.agent_pid()
    life = Life(
        agent=event.agent,
        session_id=event.session_id,
        store=str(store.project.store),
        cwd=event.cwd,
        pid=pid,
        pid_began=processes.began(pid) if pid else 0.0,
        seen_at=event.at,
    )
    records.keep_life(paths.state_folder(), life)


def _notice(state: Path) -> str:
    count = len(trouble.recent(state))
    if not count:
        return ""
    what = "something" if count == 1 else f"{count} things"
    return f"leftoff: {what} went wrong in its hooks; `leftoff doctor` tells."


def _age(entry: Entry, store: Store) -> str:
    return times.age((store.now() - entry.saved_at).total_seconds())


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
    sys.stdout.flush()
    # Nothing is left to clean up, and the agent waits for us.
    os._exit(0)

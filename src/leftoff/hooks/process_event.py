"""Process the events of one session, each by running the steps in `STEPS`."""

from collections.abc import Callable

import msgspec

from leftoff import config, statusline
from leftoff.agents.hook_events import HookEvent
from leftoff.errors import LeftoffError
from leftoff.hooks import answer_compaction, context_policy, interrupted_work, trouble
from leftoff.hooks.advice import prepare_advice
from leftoff.hooks.autosave_step import autosave, update_buffer, update_mirrors
from leftoff.hooks.session_event import Case, Sight, read_case
from leftoff.phrases.intents import find_topic
from leftoff.session import prompt_queue, records
from leftoff.session.real_work import (
    asks_to_continue,
    asks_to_continue_with,
    is_substantial,
    shows_work,
)
from leftoff.session.records import GONE, Life
from leftoff.store import BY_PROMPT, CheckpointEntry, Store
from leftoff.threads import check_claims
from leftoff.wal.notes_place import place

# After these events the session may be over, or its agent is waiting for leftoff.
_MOST_HEADS = 100
_ENDS = frozenset({"session-end", "pre-compact"})


class Following:
    """A session whose events are processed one after the other.

    The steps write at once only what others wait for: checkpoints, replies, prompts and mirrored
    files. `keep` writes the rest.
    """

    def __init__(
        self, store: Store, settings: config.Settings, agent: str, session_id: str
    ) -> None:
        self._settings = settings
        self._sight = Sight(store, agent, session_id)

    def settle(self, event: HookEvent) -> bool:
        """Process an event; return whether the session's record was written at once."""
        case = read_case(event, self._sight, self._settings)
        for step in STEPS:
            case = step(case)
        return _is_pressing(case)

    def keep(self) -> None:
        """Write what is now known about the session."""
        self._sight.keep()


def note_prompt(case: Case) -> Case:
    """Write the facts in a prompt to the working notes, before anything else can fail."""
    if not case.settings.note_prompts or case.event.kind != "prompt":
        return case
    from leftoff.wal import scan_message, working_notes  # noqa: PLC0415 - 28 ms, and off by default

    path = place(case.store.project, case.settings)
    try:
        for found in scan_message.scan(case.event.prompt):
            working_notes.add(case.store, found.kind, found.text, path=path)
    except (OSError, LeftoffError) as error:
        trouble.note(case.store.project.state_folder, "noting a prompt", error)
    return case


def join_thread(case: Case) -> Case:
    """Join the thread that the user asks to continue: the one offered, or the one named."""
    event, life = case.event, case.sight.life
    if event.kind != "prompt" or life is None or not life.offered:
        return case
    # Where resuming is always confirmed, only `resume --accept` joins. A summary asks nothing: the
    # agent goes on with its own session.
    is_summary = event.prompt.lstrip().startswith("<summary>")
    if case.settings.confirm == "always" and not is_summary:
        return case
    named = _find_named(case)
    if named is None and not asks_to_continue(event.prompt):
        # From here on, "continue" means what the user asked for in this session.
        if is_substantial(event.prompt):
            case.sight.life = msgspec.structs.replace(life, offered="")
        return case
    index = case.store.index()
    head = named or index.head(life.offered)
    is_open = head is not None and head.state != "declined" and head.is_open
    if head is not None and is_open and index.find_joined(event.session_id) is None:
        session = (event.agent, event.session_id)
        case.store.record("resumed", [head.id], session=session, trigger=BY_PROMPT)
    case.sight.life = msgspec.structs.replace(life, offered="")
    return case


def _find_named(case: Case) -> CheckpointEntry | None:
    """Return the one open thread that a prompt says to continue, as in `go on with the cart`."""
    # What the session has already done is not part of another thread.
    if find_topic(case.event.prompt) is None or (case.facts and shows_work(case.facts)):
        return None
    index, project = case.store.index(), case.store.project
    if index.find_thread(case.event.session_id) is not None:
        return None
    found = [
        entry
        for entry in index.heads(["open", "resumed"], _MOST_HEADS)
        if asks_to_continue_with(case.event.prompt, entry.name, entry.task)
        and check_claims.is_here(entry.worktree, entry.branch, project)
    ]
    return found[0] if len(found) == 1 else None


def update_record(case: Case) -> Case:
    """Make what the steps so far learned the known state of the session."""
    case.sight.update(case)
    return case


def follow_prompts(case: Case) -> Case:
    """Remove prompts from the queue that were answered, or asked again elsewhere."""
    state = case.memory.state if case.memory is not None else None
    prompt_queue.follow(case.store, case.event, state)
    return case


def note_life(case: Case) -> Case:
    """Record that the session is running, keeping its process id, or that it has ended."""
    event, sight, project = case.event, case.sight, case.store.project
    store = str(project.store)
    life = sight.life or _start_life(case)
    if event.kind != "session-end":
        sight.life = msgspec.structs.replace(life, store=store, cwd=event.cwd, seen_at=event.at)
        return case
    sight.life = None
    interrupted_work.note(case.store, event.session_id, event.source or "ended")
    records.end_life(project.state_folder, life)
    statusline.forget(str(project.state_folder), event.session_id)
    return case


def _start_life(case: Case) -> Life:
    """Return the life of a session that is not known to run."""
    event, ended_at = case.event, case.before.ended_at
    # An event from before a crash that came too late for the recovery: the next one reads it.
    is_over = ended_at is not None and case.before.end_reason == "crashed" and case.at <= ended_at
    return Life(
        agent=event.agent,
        session_id=event.session_id,
        store=str(case.store.project.store),
        pid=GONE if is_over else 0,
    )


def write_pressing_record(case: Case) -> Case:
    """Write the session's record now if something outside this run depends on it."""
    if _is_pressing(case):
        case.sight.keep()
    return case


def _is_pressing(case: Case) -> bool:
    return bool(
        case.settings.mirror
        or case.event.kind in _ENDS
        or case.now.autosaved_state != case.before.autosaved_state
    )


def expect_compaction(case: Case) -> Case:
    """Make the letterbox ask before the next compaction, in the session's current folder."""
    if case.settings.compaction == "allow":
        return case
    event, state = case.event, case.store.project.state_folder
    if case.before.cwd and (case.before.cwd != event.cwd or event.kind == "session-end"):
        answer_compaction.forget(state, event.agent, event.session_id, case.before.cwd)
    if event.kind != "session-end":
        answer_compaction.expect(state, event.agent, event.session_id, event.cwd, case.settings)
    return case


def guard_calls(case: Case) -> Case:
    """Make the letterbox ask before the next tool calls, if the user enabled a guard."""
    settings = case.settings
    if settings.guard != "off" or settings.safety == "on":
        state = case.store.project.state_folder
        context_policy.update_ask_file(state, case.event, case.percent, case.before.cwd, settings)
    return case


STEPS: tuple[Callable[[Case], Case], ...] = (
    note_prompt,
    join_thread,
    autosave,
    update_buffer,
    prepare_advice,
    update_record,
    follow_prompts,
    note_life,
    # Mirrored files must not show a state that a crash could take back.
    write_pressing_record,
    update_mirrors,
    expect_compaction,
    guard_calls,
)
"""What happens with every event, in this order; each step returns the event for the next one."""

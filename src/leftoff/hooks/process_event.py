"""Process the events of one session, each by running the steps in `STEPS`."""

from collections.abc import Callable
from datetime import timedelta
from itertools import takewhile

import msgspec

from leftoff import config, hooks, statusline
from leftoff.agents.hook_events import HookEvent
from leftoff.checkpoint import ASK_USER, NOTHING_NEXT
from leftoff.errors import LeftoffError
from leftoff.hooks import answer_compaction, context_policy, interrupted_work, trouble
from leftoff.hooks.advice import prepare_advice
from leftoff.hooks.autosave_step import (
    autosave,
    leave_thread,
    update_buffer,
    update_mirrors,
)
from leftoff.hooks.session_event import Case, Sight, is_overtaken, read_case
from leftoff.phrases.intents import begins_to_agree, begins_with_continue
from leftoff.phrases.short_answers import (
    begins_with_answer,
    drop_greeting,
    is_follow_up,
    is_go_ahead,
    is_refusal,
)
from leftoff.session import prompt_queue, records
from leftoff.session.facts.looks import is_look_or_check
from leftoff.session.facts.sentences import find_question, proposes
from leftoff.session.facts.user_requests import find_item
from leftoff.session.real_work import (
    agrees_to_continue,
    asks_for_work,
    asks_to_continue_any,
    begins_to_continue,
    begins_to_continue_with,
    can_be_task,
    count_shared_words,
    picks_from,
    shows_work,
)
from leftoff.session.records import GONE, Life
from leftoff.store import BY_PROMPT, CheckpointEntry, Store
from leftoff.threads import check_claims
from leftoff.wal.notes_place import place

# After these events the session may be over, or its agent is waiting for leftoff.
_MOST_HEADS = 100
_MOST_EVENTS = 20
_SAME_DAY = timedelta(hours=24)
_ENDS = frozenset({"session-end", "pre-compact"})
_TURN_ENDS = frozenset({"stop", "failure", *_ENDS})
_FINISHED = frozenset({"stop", "session-end"})


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
    from leftoff.wal import scan_message, working_notes  # noqa: PLC0415 - 18 ms, and off by default

    path = place(case.store.project, case.settings)
    try:
        for found in scan_message.scan(case.event.prompt):
            working_notes.add(case.store, found.kind, found.text, path=path)
    except (OSError, LeftoffError) as error:
        trouble.note(case.store.project.state_folder, "noting a prompt", error)
    return case


def join_thread(case: Case) -> Case:
    """Join the thread that the user asks to continue: the one named, or the one offered."""
    event, life = case.event, _read_life(case)
    if life is None or not life.offered:
        if life is not None and life.has_joined:
            _leave_declined(case)
        return _join_unoffered(_note_early_prompt(case), is_started=life is not None)
    if event.kind == "session-end":
        # A session that the agent resumes later is not offered anything again.
        return case.with_record(offered=life.offered, has_passed=life.has_passed)
    if event.kind != "prompt" and not life.asked:
        return case
    # Where resuming is always confirmed, only `resume --accept` joins. A summary asks nothing: the
    # agent goes on with its own session.
    is_summary = event.prompt.lstrip().startswith("<summary>")
    if case.settings.confirm == "always" and not is_summary:
        return case
    head = _find_named(case) or _find_offered(case, life)
    if head is not None:
        case = _join(case, head)
    if head is not None or life.asked:
        life = case.sight.life or life
        case.sight.life = msgspec.structs.replace(life, offered="", asked=False)
    elif asks_for_work(event.prompt) or _declines_offer(case):
        case.sight.life = msgspec.structs.replace(life, has_passed=True)
    return case


def _join(case: Case, head: CheckpointEntry) -> Case:
    """Record that the session continues a thread, unless it has joined one."""
    event, index = case.event, case.store.index()
    if index.find_joined(event.session_id) is not None:
        return case
    if head.is_open:
        session = (event.agent, event.session_id)
        case.store.record("resumed", [head.id], session=session, trigger=BY_PROMPT)
        if case.sight.life is not None:
            case.sight.life = msgspec.structs.replace(case.sight.life, has_joined=True)
        return case
    # Recording it now would reopen the thread.
    ended_at = index.find_end(head.id)
    is_late = ended_at is not None and ended_at > case.at
    return case.with_record(continued=head.slot) if is_late else case


def _find_offered(case: Case, life: Life) -> CheckpointEntry | None:
    """Return the thread to continue if a prompt agrees to the offer, or goes on from it."""
    # After another request, "continue" means that one.
    if life.has_passed or _makes_agent_ask(case):
        return None
    prompt = case.event.prompt
    # The agent may have asked about a thread, or have listed some.
    is_picked = not begins_to_continue(prompt)
    if is_go_ahead(prompt) and (head := _find_proposed(case, is_picked=is_picked)):
        return head
    if _answers_other_words(case):
        return None
    if life.asked or agrees_to_continue(prompt):
        head = _find_proposed(case) or case.store.index().head(life.offered)
        # This session may have declined it since.
        return head if head is not None and head.state != "declined" else None
    # Of go-aheads, only those two kinds name a thread.
    if not is_go_ahead(prompt):
        return _find_asked(case, life.offered) or _find_followed(case, life.offered)
    return None


def _declines_offer(case: Case) -> bool:
    """Return whether a prompt declines the offer: it answers nothing else that the agent said."""
    return is_refusal(case.event.prompt) and not any(map(can_be_task, _list_earlier(case)))


def _list_earlier(case: Case) -> list[str]:
    """List the requests before this prompt, which the transcript may have or lack."""
    asked = drop_greeting(case.event.prompt.strip())
    known = case.memory.state.requests if case.memory is not None else []
    return [each.text for each in known if each.text != asked]


def _leave_declined(case: Case) -> None:
    """Let a session leave the thread that a prompt joined, if the user says no before any work.

    If the agent asked something in between, the user answers that.
    """
    event, facts = case.event, case.facts
    if event.kind != "prompt" or not is_refusal(event.prompt):
        return
    is_early = facts is None or not (shows_work(facts) or find_question(facts.last_words))
    joined = case.store.index().find_joined(event.session_id) if is_early else None
    if joined is not None and joined.trigger == BY_PROMPT:
        session = (event.agent, event.session_id)
        case.store.record("declined", joined.ids, session=session, trigger=BY_PROMPT)


def _answers_other_words(case: Case) -> bool:
    """Return whether a go-ahead is about what the agent answered to a question before."""
    is_prompt = case.event.kind == "prompt"
    if case.memory is None or not (is_prompt and is_go_ahead(case.event.prompt)):
        return False
    state, asked = case.memory.state, drop_greeting(case.event.prompt.strip())
    is_read = bool(state.requests) and state.requests[-1].text == asked
    said = state.answered if is_read else state.answers[-1].text if state.answers else ""
    is_aside = can_be_task(state.task)
    return is_aside and (proposes(said) or not begins_with_continue(f"{asked}."))


def _makes_agent_ask(case: Case) -> bool:
    """Return whether the agent asks which of several threads the prompt means."""
    if case.settings.offers == "saved":
        return len(check_claims.prefer_saved(case.store, _list_open_here(case))) > 1
    return case.event.prompt.lstrip().startswith("/") and len(_list_open_here(case)) > 1


def _read_life(case: Case) -> Life | None:
    """Return the session's life; its start may have been noted since the first prompt."""
    life, event = case.sight.life, case.event
    if life is None or not life.asked or life.offered:
        return life
    found = records.life_of(case.store.project.state_folder, event.agent, event.session_id)
    if found is not None and found.offered:
        case.sight.life = life = msgspec.structs.replace(found, asked=True)
    return life


def _note_early_prompt(case: Case) -> Case:
    """Remember a first prompt that asks to continue what the start is about to offer."""
    event = case.event
    is_early = case.sight.life is None and event.kind == "prompt"
    can_join = is_early and case.settings.confirm != "always"
    if can_join and agrees_to_continue(event.prompt) and not _makes_agent_ask(case):
        case.sight.life = msgspec.structs.replace(_start_life(case), asked=True)
    return case


def _join_unoffered(case: Case, *, is_started: bool) -> Case:
    """Join the thread that the user names, where it was not offered.

    It was declined before, or another session that is open works on it. A session start that is not
    noted yet may still offer it.
    """
    if case.event.kind != "prompt" or case.settings.confirm == "always":
        return case
    may_be_busy = is_started and _may_be_busy(case)
    if not may_be_busy and not case.store.index().count_heads(["declined"]):
        return case
    head = _find_named(case)
    return _join(case, head) if head is not None else case


def _may_be_busy(case: Case) -> bool:
    """Return whether another session may have the thread open that a first prompt names."""
    # Looking through all threads with each prompt would take too long.
    if case.memory is not None and len(case.memory.state.requests) > 1:
        return False
    lives = records.list_lives(case.store.project.state_folder, case.store.project)
    return any(life.session_id != case.event.session_id for life in lives)


def _find_named(case: Case) -> CheckpointEntry | None:
    """Return the open thread that a prompt says to continue, as in `go on with the cart`."""
    prompt = case.event.prompt
    if case.store.index().find_thread(case.event.session_id) is not None or _had_worked(case):
        return None
    here = _list_open_here(case)
    found = [
        entry
        for entry in (*here, *_list_declined_here(case), *_list_ended_since(case))
        if begins_to_continue_with(prompt, entry.name, entry.task, entry.next_action)
    ]
    if not found and len(here) == 1 and asks_to_continue_any(prompt):
        return here[0]
    return found[0] if len(found) == 1 else None


def _had_worked(case: Case) -> bool:
    """Return whether the session had worked before this prompt: that belongs to another thread.

    On a busy machine a prompt is processed late, and what followed it was done for it.
    """
    facts, memory = case.facts, case.memory
    if facts is None or memory is None or not shows_work(facts):
        return False
    asked, state = drop_greeting(case.event.prompt.strip()), memory.state
    if not state.requests and asked.startswith("/"):
        # A slash command is not among the requests, so the work was done for it.
        return False
    at = next((each.at for each in reversed(state.requests) if each.text == asked), None)
    if at is None or facts.task == asked:
        return at is None and facts.task != asked
    began = [use.edited_at for use in state.files.values() if use.edits]
    ran = [use.at for command, use in state.runs.items() if not is_look_or_check(command)]
    return any(0 < each <= at for each in (*began, *ran, state.commit_at, state.plan_at))


def _find_proposed(case: Case, *, is_picked: bool = False) -> CheckpointEntry | None:
    """Return the one open thread that the agent's words are about, which a prompt answers.

    With `is_picked`, only the item counts that the prompt picks from a list.
    """
    facts, memory, prompt = case.facts, case.memory, drop_greeting(case.event.prompt.strip())
    if facts is None or memory is None:
        return None
    said = memory.state.answered if facts.intent == prompt else facts.last_words
    about = find_item(prompt, said) or ("" if is_picked else find_question(said))
    if not about:
        return None
    here = _list_open_here(case)
    shared = [count_shared_words(about, entry.name, entry.task) for entry in here]
    best = max(shared, default=0)
    return here[shared.index(best)] if best and shared.count(best) == 1 else None


def _list_open_here(case: Case) -> list[CheckpointEntry]:
    project = case.store.project
    return [
        entry
        for entry in case.store.index().heads(["open", "resumed"], _MOST_HEADS)
        if check_claims.is_here(entry.worktree, entry.branch, project)
    ]


def _list_declined_here(case: Case) -> list[CheckpointEntry]:
    """List declined threads: nobody is asked about them, but the user can name one."""
    index = case.store.index()
    # An empty list would make the index count all files.
    found = index.heads(["declined"], _MOST_HEADS) if index.count_heads(["declined"]) else []
    project = case.store.project
    return [each for each in found if check_claims.is_here(each.worktree, each.branch, project)]


def _list_ended_since(case: Case) -> list[CheckpointEntry]:
    """List the threads that have ended since the event, which is processed late."""
    index = case.store.index()
    newer = takewhile(lambda each: each.at > case.at, index.newest_events(_MOST_EVENTS))
    ids = {each for event in newer if event.action in {"consumed", "dropped"} for each in event.ids}
    entries = [entry for each in ids if (entry := index.get(each)) and not entry.is_open]
    project = case.store.project
    return [each for each in entries if check_claims.is_here(each.worktree, each.branch, project)]


def _find_asked(case: Case, offered: str) -> CheckpointEntry | None:
    """Return the thread whose question a prompt answers: one with its words, or the offered one."""
    prompt = case.event.prompt
    is_answer = begins_with_answer(prompt)
    asking = [entry for entry in _list_open_here(case) if _is_asking(entry)]
    if not (is_answer or begins_to_agree(prompt)):
        is_early = not any(map(can_be_task, _list_earlier(case)))
        picked = [each for each in asking if picks_from(prompt, each.next_action or "")]
        return picked[0] if is_early and len(picked) == 1 else None
    shared = [count_shared_words(prompt, None, entry.next_action) for entry in asking]
    best = max(shared, default=0)
    if best and shared.count(best) == 1:
        return asking[shared.index(best)]
    is_first = is_answer and not case.before.turn.asked
    return next((entry for entry in asking if is_first and entry.slot == offered), None)


def _is_asking(entry: CheckpointEntry) -> bool:
    """Return whether a thread was left off with a question to the user."""
    action = entry.next_action or ""
    return action.startswith(ASK_USER) and not action.startswith(NOTHING_NEXT)


def _find_followed(case: Case, offered: str) -> CheckpointEntry | None:
    """Return the thread that a first request goes on from, as in `and also the docstring`."""
    if not is_follow_up(case.event.prompt) or case.before.turn.asked:
        return None
    here = _list_open_here(case)
    # The user means what they did last. After a day, or beside other work, that is in doubt.
    is_last = len(here) == 1 and here[0].slot == offered
    return here[0] if is_last and case.at - here[0].as_of < _SAME_DAY else None


def update_record(case: Case) -> Case:
    """Make what the steps so far learned the known state of the session."""
    case.sight.update(case)
    return case


def follow_prompts(case: Case) -> Case:
    """Remove prompts from the queue that were answered, or asked again elsewhere."""
    state = case.memory.state if case.memory is not None else None
    prompt_queue.follow(case.store, case.event, state)
    facts = case.facts
    has_worked = facts is not None and facts.is_turn_over and shows_work(facts)
    if has_worked and case.event.kind in _FINISHED:
        prompt_queue.note_finished(case.store, case.event.session_id)
    return case


def note_life(case: Case) -> Case:
    """Record that the session is running, keeping its process id, or that it has ended."""
    event, sight, project = case.event, case.sight, case.store.project
    if is_overtaken(event, sight):
        return case
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


def expect_first_prompts(case: Case) -> Case:
    """Make the letterbox ask about first prompts here, if resuming is always confirmed."""
    if case.settings.confirm == "always":
        state = case.store.project.state_folder
        hooks.first_prompt.expect(state, case.event.cwd, case.settings)
    return case


def keep_code(case: Case) -> Case:
    """Take a snapshot of the uncommitted code after work, or with a checkpoint."""
    is_saved = case.now.autosaved_state != case.before.autosaved_state
    is_due = is_saved or (
        case.event.kind in _TURN_ENDS and case.facts is not None and shows_work(case.facts)
    )
    if is_due and case.settings.snapshots == "on" and case.store.project.is_git:
        hooks.snapshot_step.keep_code(case, is_saved=is_saved)
    return case


STEPS: tuple[Callable[[Case], Case], ...] = (
    note_prompt,
    join_thread,
    leave_thread,
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
    expect_first_prompts,
    # Last, because it takes longest and nothing waits for it.
    keep_code,
)
"""What happens with every event, in this order; each step returns the event for the next one."""

"""Turn an agent's session into a checkpoint that says where the work left off."""

import re
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from leftoff.checkpoint import (
    COMPLETED,
    SCHEMA,
    Checkpoint,
    Commit,
    ContextUse,
    Decision,
    Failure,
    InFlight,
    LastFailure,
    NextAction,
    Plan,
    Todo,
    TrailStep,
    Transcript,
    new_id,
)
from leftoff.session.facts.focus import FOCUS_FILES
from leftoff.session.facts.fold_state import TrailEntry
from leftoff.session.facts.looks import destroys, is_look
from leftoff.session.facts.next_action import infer_next_action
from leftoff.session.facts.read_session import (
    Progress,
    SessionMemory,
    place_session,
    read_session,
)
from leftoff.session.facts.report import Facts, report
from leftoff.session.facts.sentences import keep_end, keep_start
from leftoff.session.facts.shell_commands import heads_of, shorten, without_cd
from leftoff.session.facts.trail import REFUSED

__all__ = ["Captured", "SessionMemory", "capture", "place_session", "read_session", "to_checkpoint"]

_LEFT_OFF_CHARS = 1200
_TRAIL = 5
_MERGED_CHARS = 200
_REQUEST_CHARS = 400
_MOST_IN_FLIGHT = 3
_MOST_FAILED = 3
_TASK_CHARS = 600
_COMMAND_CHARS = 200
_FOUND_NOTHING = re.compile(
    rf"{COMPLETED}|.*(?:No such file or directory|cannot access|cannot find (?:the )?path)"
)


class Captured(msgspec.Struct, frozen=True, kw_only=True):
    """The facts of a session, a checkpoint made from them, and the state to read on from."""

    facts: Facts
    checkpoint: Checkpoint
    memory: SessionMemory


def capture(
    session_path: Path,
    *,
    agent: str | None = None,
    memory: SessionMemory | None = None,
    progress: Progress | None = None,
    trigger: str = "import",
) -> Captured:
    """Read a session (only the new part if its memory is given) and build its checkpoint."""
    memory = read_session(session_path, agent=agent, memory=memory, progress=progress)
    facts = report(memory.state)
    checkpoint = to_checkpoint(facts, memory, trigger=trigger, now=datetime.now(UTC))
    return Captured(facts=facts, checkpoint=checkpoint, memory=memory)


def to_checkpoint(
    facts: Facts, memory: SessionMemory, *, trigger: str, now: datetime
) -> Checkpoint:
    """Build a checkpoint from a session's facts."""
    ranked = _keep_existing(facts.ranked_files, facts.roots)
    needed = 0 if facts.is_finished else FOCUS_FILES
    return Checkpoint(
        schema=SCHEMA,
        id=new_id(now),
        saved_at=now,
        trigger=trigger,
        agent=memory.agent,
        session_id=facts.session_id or None,
        transcript=Transcript(path=memory.path, offset=memory.cursor.offset),
        worktree=facts.base or None,
        branch=facts.branch or None,
        last_commit=_commit(facts),
        summary=_find_task(facts),
        intent=facts.request or None,
        answers_to=facts.answers_to or None if facts.request == facts.intent else None,
        requests=[keep_start(text, _REQUEST_CHARS) for text in facts.requests],
        constraints=facts.constraints,
        left_off=keep_end(facts.work_words, _LEFT_OFF_CHARS) or None,
        next_action=_find_next_action(facts),
        decisions=_list_decisions(facts),
        failed=_list_failures(facts),
        files_modified=facts.files_modified,
        files_deleted=facts.files_deleted,
        focus_files=ranked[:needed],
        seen_files=ranked[needed:],
        commands=facts.reruns,
        also_ran=_list_other_commands(facts),
        trail=_list_trail(facts),
        todos=[Todo(text=todo.text, status=todo.status) for todo in facts.todos],
        todos_old=bool(facts.todos) and facts.is_todo_old,
        plan=_plan(facts),
        in_flight=_find_in_flight(facts),
        last_failure=_find_last_failure(facts),
        limit=facts.limit or None,
        pending_prompts=facts.pending_prompts,
        context=_measure_context(facts),
    )


def _find_next_action(facts: Facts) -> NextAction | None:
    found = infer_next_action(facts)
    if found is None:
        return None
    return NextAction(text=found.text, origin="inferred", source=found.source)


def _list_other_commands(facts: Facts) -> list[str]:
    """List the other commands, then the first words of all those before."""
    others = [
        without_cd(each)
        for each in facts.commands
        if each not in facts.reruns and not destroys(each)
    ]
    # A briefing shows only how the others begin, so what they chain is listed on its own.
    shown = "\n".join((*facts.reruns, *(" ".join(heads_of(each)[:1]) for each in others)))
    return [*others, *(head for head in facts.heads if head not in shown)]


def _list_trail(facts: Facts) -> list[TrailStep]:
    """Return the last calls that ended; files used, or a command repeated, in a row are one."""
    steps = [
        TrailStep(
            tool=group[0].tool,
            what=_name_group(group),
            outcome=_shorten_outcome(group[0].outcome, facts),
            exit=group[0].exit or None,
        )
        for group in _group_calls(facts.trail)
    ]
    # The mark of a save is not shown, so it does not count.
    has_save = any(step.is_save for step in steps[-_TRAIL:])
    return steps[-_TRAIL - has_save :]


def _shorten_outcome(outcome: str, facts: Facts) -> str:
    """Return how a call ended, without the last request if the user refused it with that."""
    is_last = bool(facts.intent) and outcome == f"{REFUSED} {facts.intent}"
    return f"{REFUSED[:-1]} with the request above" if is_last else outcome


def _group_calls(trail: list[TrailEntry]) -> list[list[TrailEntry]]:
    groups: list[list[TrailEntry]] = []
    for entry in trail:
        if not entry.is_done:
            continue
        last = groups[-1][0] if groups else None
        is_same = last and (last.tool, last.outcome) == (entry.tool, entry.outcome)
        is_file = entry.kind in {"read", "edit"} and entry.ok
        if is_same and is_file and len(_name_group([*groups[-1], entry])) <= _MERGED_CHARS:
            groups[-1].append(entry)
        elif last and not is_file and (last.tool, last.what) == (entry.tool, entry.what):
            # A session that polls repeats a call; only the newest outcome still holds.
            groups[-1] = [entry]
        else:
            groups.append([entry])
    return groups


def _name_group(group: list[TrailEntry]) -> str:
    """Return the files of calls in a row, each with the lines that edits added and dropped."""
    counts: dict[str, tuple[int, int]] = {}
    for entry in group:
        added, dropped = counts.get(entry.what, (0, 0))
        counts[entry.what] = added + entry.lines[0], dropped + entry.lines[1]
    return ", ".join(
        f"{what} (+{added} -{dropped})" if added or dropped else what
        for what, (added, dropped) in counts.items()
    )


def _keep_existing(ranked: list[str], roots: list[str]) -> list[str]:
    """Drop files that no longer exist; keep all if none does, as for a session from elsewhere."""
    here = [path for path in ranked if any(_is_file(Path(root) / path) for root in roots)]
    return here or ranked


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _commit(facts: Facts) -> Commit | None:
    if not facts.commit_sha:
        return None
    return Commit(sha=facts.commit_sha, subject=facts.commit_subject)


def _list_decisions(facts: Facts) -> list[Decision]:
    """Turn refused calls into decisions; without a reason, a refusal says nothing for later."""
    return [
        Decision(what=f"The user refused: {refusal.what}", why=refusal.why)
        for refusal in facts.refusals
        # The last request is shown as such.
        if refusal.why and refusal.why != facts.intent
    ]


def _plan(facts: Facts) -> Plan | None:
    if not (facts.plan_path or facts.plan_title or facts.step):
        return None
    return Plan(
        path=facts.plan_path or None,
        title=facts.plan_title or None,
        step=facts.step,
        total=facts.total,
    )


# Agents run calls in parallel; the format has one entry, so it joins them.
def _find_in_flight(facts: Facts) -> InFlight | None:
    calls = facts.in_flight[-_MOST_IN_FLIGHT:]
    if not calls:
        return None
    return InFlight(tool=calls[-1].tool, what=" · ".join(call.what for call in reversed(calls)))


def _find_last_failure(facts: Facts) -> LastFailure | None:
    if not facts.failures:
        return None
    last = facts.failures[-1]
    return LastFailure(command=shorten(last.command, _COMMAND_CHARS), error=last.error)


def _list_failures(facts: Facts) -> list[Failure]:
    """List the failures before the last one that no later run repaired."""
    return [
        Failure(what=shorten(failure.command, _COMMAND_CHARS), why=failure.error, origin="observed")
        for failure in reversed(facts.failures[-_MOST_FAILED - 1 : -1])
        # A look at what is not there is not an approach that failed.
        if not (is_look(failure.command) and _FOUND_NOTHING.match(failure.error))
    ]


def _find_task(facts: Facts) -> str | None:
    """Return the task if the last request only continues it."""
    if facts.task == facts.request:
        return None
    return keep_start(facts.task, _TASK_CHARS) or None


def _measure_context(facts: Facts) -> ContextUse | None:
    if not facts.tokens:
        return None
    return ContextUse(tokens=facts.tokens, window=facts.window or None, percent=facts.percent)

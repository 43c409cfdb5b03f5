"""Turn an agent's session into a checkpoint that says where the work left off."""

from datetime import UTC, datetime
from pathlib import Path

import msgspec

from leftoff.agents.loose_values import cut
from leftoff.checkpoint import (
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
from leftoff.session.facts.next_action import infer_next_action
from leftoff.session.facts.read_session import Progress, SessionMemory, read_session
from leftoff.session.facts.report import Facts, report
from leftoff.session.facts.sentences import keep_end
from leftoff.session.facts.shell_commands import shorten

__all__ = ["Captured", "SessionMemory", "capture", "read_session", "to_checkpoint"]

_LEFT_OFF_CHARS = 1200
_TRAIL = 5
_MERGED_CHARS = 200
_REQUEST_CHARS = 400
_MOST_IN_FLIGHT = 3
_MOST_FAILED = 3
_TASK_CHARS = 600
_COMMAND_CHARS = 200


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
    ranked = _existing(facts.ranked_files, facts.roots)
    return Checkpoint(
        schema=SCHEMA,
        id=new_id(now),
        saved_at=now,
        trigger=trigger,
        agent=memory.agent,
        session_id=facts.session_id or None,
        transcript=Transcript(path=memory.path, offset=memory.cursor.offset),
        worktree=facts.cwd or None,
        branch=facts.branch or None,
        last_commit=_commit(facts),
        summary=_task(facts),
        intent=facts.intent or None,
        answers_to=facts.answers_to or None,
        requests=[cut(text, _REQUEST_CHARS) for text in facts.requests],
        constraints=facts.constraints,
        left_off=keep_end(facts.last_words, _LEFT_OFF_CHARS) or None,
        next_action=_next_action(facts),
        decisions=_decisions(facts),
        failed=_list_failures(facts),
        files_modified=facts.files_modified,
        focus_files=ranked[:FOCUS_FILES],
        seen_files=ranked[FOCUS_FILES:],
        commands=_commands(facts),
        trail=_trail(facts),
        todos=[Todo(text=todo.text, status=todo.status) for todo in facts.todos],
        plan=_plan(facts),
        in_flight=_in_flight(facts),
        last_failure=_last_failure(facts),
        pending_prompts=facts.pending_prompts,
        context=_context(facts),
    )


def _next_action(facts: Facts) -> NextAction | None:
    found = infer_next_action(facts)
    if found is None:
        return None
    return NextAction(text=found.text, origin="inferred", source=found.source)


def _commands(facts: Facts) -> list[str]:
    """List the commands in use, then the first words of all others."""
    told = "\n".join(facts.commands)
    return [*facts.commands, *(head for head in facts.heads if head not in told)]


def _trail(facts: Facts) -> list[TrailStep]:
    """Return the last calls that ended; files read in a row are one step."""
    steps: list[TrailStep] = []
    for entry in facts.trail:
        if not entry.is_done:
            continue
        step = TrailStep(
            tool=entry.tool, what=entry.what, outcome=entry.outcome, exit=entry.exit or None
        )
        last = steps[-1] if steps else None
        is_same = last and (last.tool, last.outcome) == (step.tool, step.outcome)
        if last and is_same and entry.kind in {"read", "edit"} and entry.ok:
            joined = last.what if step.what in last.what else f"{last.what}, {step.what}"
            if len(joined) <= _MERGED_CHARS:
                steps[-1] = msgspec.structs.replace(last, what=joined)
                continue
        steps.append(step)
    # The mark of a save is not shown, so it takes nobody's place.
    has_save = any(step.tool == "leftoff" for step in steps[-_TRAIL:])
    return steps[-_TRAIL - has_save :]


def _existing(ranked: list[str], roots: list[str]) -> list[str]:
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


def _decisions(facts: Facts) -> list[Decision]:
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
def _in_flight(facts: Facts) -> InFlight | None:
    calls = facts.in_flight[-_MOST_IN_FLIGHT:]
    if not calls:
        return None
    return InFlight(tool=calls[-1].tool, what=" · ".join(call.what for call in reversed(calls)))


def _last_failure(facts: Facts) -> LastFailure | None:
    if not facts.failures:
        return None
    last = facts.failures[-1]
    return LastFailure(command=shorten(last.command, _COMMAND_CHARS), error=last.error)


def _list_failures(facts: Facts) -> list[Failure]:
    """List the failures before the last one that no later run repaired."""
    return [
        Failure(what=shorten(failure.command, _COMMAND_CHARS), why=failure.error)
        for failure in reversed(facts.failures[-_MOST_FAILED - 1 : -1])
    ]


def _task(facts: Facts) -> str | None:
    """Return the task if the last request only continues it."""
    if facts.task == facts.intent:
        return None
    return facts.task[:_TASK_CHARS] or None


def _context(facts: Facts) -> ContextUse | None:
    if not facts.tokens:
        return None
    return ContextUse(tokens=facts.tokens, window=facts.window or None, percent=facts.percent)

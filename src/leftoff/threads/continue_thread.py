"""Make the next revision of a thread from its head and the current state of a session.

What a person or agent stated stays until it is stated anew. What was observed is refreshed. What
was inferred is used only where nothing was stated.
"""

from collections.abc import Collection, Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from leftoff.checkpoint import STATABLE, Checkpoint
from leftoff.phrases.intents import find_topic
from leftoff.session.facts.looks import is_look
from leftoff.session.facts.report import Facts
from leftoff.session.real_work import asks_to_continue_with, can_be_task, is_substantial
from leftoff.text.plural import format_count
from leftoff.threads.compose import with_files

T = TypeVar("T")

# Who saves on purpose states the rest anew, or leaves it as it was.
_KNOWLEDGE = ("decisions", "failed", "done")
_UNITED = (*_KNOWLEDGE, "blockers", "questions", "notes")
# A later session of the same work need not repeat these.
_KEPT_IF_EMPTY = (
    "todos",
    "plan",
    "commands",
    "focus_files",
    "seen_files",
    "feature",
    "last_commit",
)
_MOST_REQUESTS = 20
_TASK_CHARS = 600


def list_stated(checkpoint: Checkpoint) -> list[str]:
    """Return the keys whose value was stated; version 0.1 did not record them."""
    if checkpoint.stated:
        return checkpoint.stated
    action = checkpoint.next_action
    if checkpoint.is_autosave:
        return ["next_action"] if action is not None and action.origin == "stated" else []
    found = [key for key in STATABLE if getattr(checkpoint, key)]
    if action is not None and action.origin != "stated":
        found.remove("next_action")
    return [*found, *(["name"] if checkpoint.name else [])]


def is_named(checkpoint: Checkpoint) -> bool:
    """Return whether somebody gave the thread its name."""
    return "name" in list_stated(checkpoint)


def continue_thread(head: Checkpoint, draft: Checkpoint, root: Path) -> Checkpoint:
    """Return the next revision of a thread: the draft of a session, started from the head."""
    changes: dict[str, Any] = {"name": head.name, "thread": head.thread}
    changes |= _keep_stated(head, draft)
    changes |= {key: getattr(head, key) for key in _KEPT_IF_EMPTY if not getattr(draft, key)}
    changes |= _keep_task(head, {**_task_of(draft), **changes})
    changes["files_modified"] = _unite(draft.files_modified, head.files_modified)
    changes["constraints"] = _unite(head.constraints, draft.constraints)
    changes["artifacts"] = {**head.artifacts, **draft.artifacts}
    changes["as_of"] = max(head.described_at, draft.described_at) if draft.as_of else None
    named = [file for file in head.files if file.role not in {"modified", "plan"}]
    known = {file.path for file in draft.files}
    changes["files"] = [*draft.files, *(file for file in named if file.path not in known)]
    if draft.next_action is None and "next_action" not in changes:
        changes["next_action"] = head.next_action
    if head.left_off and not draft.left_off:
        changes["left_off"] = head.left_off
    made = msgspec.structs.replace(draft, **changes)
    return with_files(made, root) if root.is_dir() else made


def _keep_stated(head: Checkpoint, draft: Checkpoint) -> dict[str, Any]:
    """Return the stated values of the head that the draft does not state anew."""
    before, now = list_stated(head), draft.stated
    kept = {key: getattr(head, key) for key in before if key in STATABLE and key not in now}
    united = {
        key: _unite(getattr(head, key), getattr(draft, key))
        for key in (_UNITED if draft.is_autosave else _KNOWLEDGE)
        if key in before or key in now
    }
    return {**kept, **united, "stated": _unite(before, now)}


def _task_of(draft: Checkpoint) -> dict[str, Any]:
    return {"summary": draft.summary, "intent": draft.intent, "requests": draft.requests}


def _keep_task(head: Checkpoint, now: dict[str, Any]) -> dict[str, Any]:
    """Keep the thread's task, and add what was asked since; a go-ahead asks for nothing."""
    restated = now["summary"] if "summary" in now["stated"] else None
    given = (restated, head.summary, head.intent, now["summary"], now["intent"])
    task = restated or next(filter(can_be_task, given), None)
    asked = [*head.requests, head.intent, now["summary"], *now["requests"]]
    known = {_plain(task), _plain(head.summary), _plain(restated)}
    requests: dict[str, str] = {}
    for each in asked:
        if _is_other_request(each, head) and _plain(each) not in known:
            requests.setdefault(_plain(each), str(each))
    is_other = _is_other_request(now["intent"], head)
    intent = now["intent"] if is_other or not task else head.intent
    return {
        "summary": task[:_TASK_CHARS] if task and task != intent else None,
        "intent": intent,
        "requests": [*requests.values()][-_MOST_REQUESTS:],
    }


def _is_other_request(text: str | None, head: Checkpoint) -> bool:
    """Return whether a request says more than to continue the thread."""
    return is_substantial(text) and not asks_to_continue_with(text or "", head.name, head.task)


def keep_unsettled(
    head: Checkpoint, draft: Checkpoint, facts: Facts | None, waiting: Collection[str]
) -> Checkpoint:
    """Add what an earlier session left to a draft that has not dealt with it.

    A call that was cut short stays until a call runs, since only a call can check it. A prompt
    stays while it waits in the queue and the draft's session has done no work.
    """
    has_called = draft.in_flight is not None or (facts is not None and bool(facts.trail))
    asked = {_plain(each) for each in (draft.summary, draft.intent, *draft.requests)}
    kept = [each for each in head.pending_prompts if each in waiting and _plain(each) not in asked]
    return msgspec.structs.replace(
        draft,
        in_flight=draft.in_flight if has_called else head.in_flight,
        pending_prompts=_unite(kept, draft.pending_prompts),
    )


def _plain(text: str | None) -> str:
    return " ".join((text or "")[:_TASK_CHARS].split())


def _unite(first: Iterable[T], second: Iterable[T]) -> list[T]:
    """Join two lists without duplicates, which may not be hashable."""
    united = [*first]
    united += [each for each in second if each not in united]
    return united


def has_news(head: Checkpoint, revision: Checkpoint, worked_at: datetime | None) -> bool:
    """Return whether work was done since the head: more than a few words were exchanged."""
    if worked_at is not None and worked_at > head.described_at:
        return True
    return _describe_work(head) != _describe_work(revision) or _adds(head, revision)


def _describe_work(checkpoint: Checkpoint) -> tuple[object, ...]:
    plan = checkpoint.plan
    action = checkpoint.next_action
    return (
        {*checkpoint.files_modified},
        checkpoint.todos,
        checkpoint.head,
        {*checkpoint.pending_prompts},
        (plan.path, plan.step) if plan else None,
        checkpoint.constraints,
        action.text if action is not None and action.origin == "stated" else None,
    )


def _adds(head: Checkpoint, revision: Checkpoint) -> bool:
    """Return whether anything else was asked for, or a command run that changes something."""
    asked = [each for each in _list_requests(revision) if each not in _list_requests(head)]
    known = {*head.commands}
    # Ranked lists drop old commands, so only a new one shows that something happened.
    ran = [each for each in revision.commands if each not in known and not is_look(each)]
    call = revision.in_flight
    is_cut_short = call is not None and call != head.in_flight and not is_look(call.what)
    return bool(asked or ran) or (is_cut_short and revision.trigger == "recovered")


def _list_requests(checkpoint: Checkpoint) -> list[str]:
    """Return everything substantial that was asked for, the task included."""
    asked = [checkpoint.summary, checkpoint.intent, *checkpoint.requests]
    return [_plain(each) for each in asked if is_substantial(each)]


# --- the task of a new thread ---


def with_task(draft: Checkpoint) -> Checkpoint:
    """Return a draft whose task was asked for or, if only "continue" was, says what was done."""
    asked = [each for each in (draft.summary, draft.intent) if each and can_be_task(each)]
    if not asked:
        others = filter(can_be_task, [*draft.requests, *draft.pending_prompts])
        task = next(others, None) or _describe_done(draft)
        return msgspec.structs.replace(draft, summary=task, intent=None)
    topic = find_topic(asked[0]) if "summary" not in draft.stated else None
    if topic is None and draft.summary in {None, asked[0]}:
        return draft
    return msgspec.structs.replace(draft, summary=topic)


def _describe_done(draft: Checkpoint) -> str | None:
    """Describe work by the files that were edited, or by a command that was run."""
    if draft.files_modified:
        first, *others = draft.files_modified
        rest = f" and {format_count(len(others), 'other file')}" if others else ""
        return f"Edit {first}{rest}"
    ran = next((each for each in draft.commands if not is_look(each)), None)
    return f"Run {ran}" if ran else None

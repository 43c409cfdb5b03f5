"""Make the next revision of a thread from its head and the current state of a session.

What a person or agent stated stays until someone restates it. What was observed is refreshed. What
was inferred is used only where nothing was stated.
"""

import re
from collections.abc import Collection, Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from leftoff.checkpoint import (
    ALL_DONE,
    DECLINED,
    DELETED,
    NOTHING_NEXT,
    STATABLE,
    Checkpoint,
    LastFailure,
    NextAction,
    TrailStep,
)
from leftoff.phrases.intents import find_topic
from leftoff.phrases.short_answers import drop_refusal, is_go_ahead, is_side_question
from leftoff.session.facts import repairs, written_paths
from leftoff.session.facts.looks import is_check, is_look
from leftoff.session.facts.report import Facts
from leftoff.session.facts.sentences import keep_start
from leftoff.session.facts.user_requests import WITHDRAWN
from leftoff.session.real_work import asks_to_continue_with, can_be_task, is_substantial
from leftoff.text.plural import format_count
from leftoff.threads.compose import with_files

T = TypeVar("T")

# A save on purpose replaces the other keys that it states.
_KNOWLEDGE = ("decisions", "failed", "done")
_UNITED = (*_KNOWLEDGE, "blockers", "questions", "notes")
# A later session of the same work need not repeat these.
_KEPT_IF_EMPTY = (
    "todos",
    "plan",
    "commands",
    "also_ran",
    "focus_files",
    "seen_files",
    "feature",
    "last_commit",
)
# Sources of a next action that is still to be done after a side question.
_ANNOUNCED = frozenset({"proposal", "announced", "todo", "plan"})
# Sources that are only true until the turn ends.
_MIDWAY = frozenset({"call", "request", "trail"})
# After these, a call under way does not end any more.
_STOPPED = frozenset({"recovered", "session-end"})
# Sources that say where the agent was heading, unless it only asks the user.
_HEADINGS = frozenset({"proposal", "announced", "trail"})
_SAYS_NO_HEADING = (
    *("Ask the user", "Continue.", "Continue with the request", "Continue with what"),
    *("Go on as", "Fix what"),
)
_ONLY_CONTINUES = "Continue. Most recently the agent "
_SINCE = re.compile(r"\s+(?=(?:Since then|Most recently) the agent )")
_MOST_REQUESTS = 20
_MOST_STEPS = 8
_MOST_TODOS = 3
_TASK_CHARS = 600
# A cut text keeps at least this much of its beginning.
_SHORTEST_CHARS = 190


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


def continue_thread(
    head: Checkpoint, draft: Checkpoint, root: Path, *, is_idle: bool = False
) -> Checkpoint:
    """Return the next revision of a thread: the draft of a session, started from the head.

    `is_idle` says that the session has not worked since the head was saved.
    """
    changes: dict[str, Any] = {"name": head.name, "thread": head.thread}
    changes |= _keep_stated(head, draft)
    kept_keys = [key for key in _KEPT_IF_EMPTY if key != "focus_files" or not _is_all_done(draft)]
    changes |= {key: getattr(head, key) for key in kept_keys if not getattr(draft, key)}
    changes |= _keep_task(head, {**_read_task(draft), **changes})
    changes["files_modified"] = _unite(draft.files_modified, head.files_modified)
    back = {*draft.files_modified}
    gone = [path for path in head.files_deleted if path not in back]
    changes["files_deleted"] = _unite(draft.files_deleted, gone)
    changes["constraints"] = _unite(head.constraints, draft.constraints)
    changes["todos_old"] = draft.todos_old if draft.todos else head.todos_old
    changes["artifacts"] = {**head.artifacts, **draft.artifacts}
    changes["as_of"] = max(head.described_at, draft.described_at) if draft.as_of else None
    named = [file for file in head.files if file.role not in {"modified", DELETED, "plan"}]
    known = {file.path for file in draft.files}
    changes["files"] = [*draft.files, *(file for file in named if file.path not in known)]
    if draft.next_action is None and "next_action" not in changes:
        changes["next_action"] = head.next_action
    changes |= _keep_place(head, draft, changes["stated"], is_idle=is_idle)
    if is_idle and "next_action" not in changes:
        changes |= _keep_announced(head, draft)
    if "next_action" not in changes:
        changes |= _keep_heading(head, draft)
    if "next_action" not in changes:
        changes |= _keep_todos(head, draft)
    changes["trail"] = _join_trails(head, draft)
    kept = _keep_failure(head, draft, changes)
    action = changes.get("next_action")
    if not (kept or draft.last_failure) and action is not None and action.source == "failure":
        # The failure was repaired, so repairing it is no longer the next action.
        changes["next_action"] = draft.next_action
    changes |= kept
    made = msgspec.structs.replace(draft, **changes)
    return with_files(made, root) if root.is_dir() else made


def _is_all_done(draft: Checkpoint) -> bool:
    """Return whether a session said that nothing is left, so that no file is needed next."""
    return draft.next_action is not None and draft.next_action.text.startswith(ALL_DONE)


def _keep_stated(head: Checkpoint, draft: Checkpoint) -> dict[str, Any]:
    """Return the stated values of the head that the draft does not restate."""
    before, now = list_stated(head), draft.stated
    if "next_action" in now:
        # Later steps follow the action that they were stated with.
        before = [key for key in before if key != "next_steps"]
    kept = {key: getattr(head, key) for key in before if key in STATABLE and key not in now}
    united = {
        key: _unite(getattr(head, key), getattr(draft, key))
        for key in (_UNITED if draft.is_autosave else _KNOWLEDGE)
        if key in before or key in now
    }
    return {**kept, **united, "stated": _unite(before, now)}


def _keep_place(
    head: Checkpoint, draft: Checkpoint, stated: Collection[str], *, is_idle: bool
) -> dict[str, Any]:
    """Keep where the work stopped, and at which step, unless work was done since.

    After a save, the agent's last words only repeat that it saved.
    """
    is_kept = is_idle and "left_off" in list_stated(head) and "left_off" not in draft.stated
    changes: dict[str, Any] = {}
    # The words of an earlier session are not the last ones once calls have followed them.
    is_last = not (draft.left_off or draft.trail)
    if head.left_off and (is_kept or is_last):
        changes["left_off"] = head.left_off
    elif "left_off" not in draft.stated:
        changes["stated"] = [key for key in stated if key != "left_off"]
    before, plan = head.plan, draft.plan
    if is_idle and before and plan and plan.path == before.path and plan.step is None:
        changes["plan"] = msgspec.structs.replace(plan, step=before.step, total=before.total)
    return changes


def _join_trails(head: Checkpoint, draft: Checkpoint) -> list[TrailStep]:
    """Return the draft's calls, after those of other sessions since the next action was stated."""
    is_stated = "next_action" in list_stated(head) and "next_action" not in draft.stated
    if not (is_stated and head.is_autosave and draft.is_autosave):
        return draft.trail
    saves = [n for n, step in enumerate(head.trail) if step.is_save]
    since = head.trail[saves[-1] + 1 :] if saves else head.trail
    return [*(step for step in since if step not in draft.trail), *draft.trail][-_MOST_STEPS:]


def _keep_failure(head: Checkpoint, draft: Checkpoint, now: dict[str, Any]) -> dict[str, Any]:
    """Keep the failure that an earlier session left, until a later one has overtaken it.

    It runs that command or another check, or commits.
    """
    failure = head.last_failure
    if failure is None or draft.last_failure:
        return {}
    ran_by = failure.session_id or head.session_id or ""
    ran = [
        *(*draft.commands, *draft.also_ran),
        *(step.what for step in draft.trail if not step.exit),
    ]
    has_repaired = any(_repairs(each, failure) for each in ran)
    has_checked = any(map(is_check, draft.commands))
    has_committed = head.last_commit != (now.get("last_commit") or draft.last_commit)
    # Within one session, a failure that is gone was repaired.
    if ran_by == draft.session_id or has_repaired or has_checked or has_committed:
        return {}
    kept = {"last_failure": msgspec.structs.replace(failure, session_id=ran_by)}
    return {**kept, **_keep_repair(head, now.get("next_action", draft.next_action))}


def _repairs(command: str, failure: LastFailure) -> bool:
    """Return whether a command that ran is the failed one, or covers it."""
    is_same = repairs.key_of(failure.command) in repairs.list_repaired_keys(command)
    return is_same or repairs.covers(command, failure.command, failure.error)


def _keep_repair(head: Checkpoint, action: NextAction | None) -> dict[str, Any]:
    """Keep the next action that repairs a failure, if nothing else comes next."""
    is_idle = action is not None and action.text.startswith(NOTHING_NEXT)
    last = head.next_action
    return {"next_action": last} if is_idle and last and last.source == "failure" else {}


def _keep_announced(head: Checkpoint, draft: Checkpoint) -> dict[str, Any]:
    """Keep what an earlier session announced, if this one only talked about something else."""
    last, now = head.next_action, draft.next_action
    if last is None or now is None or not now.is_unknown or last.source not in _ANNOUNCED:
        return {}
    if is_substantial(draft.intent) and not is_side_question(draft.intent or ""):
        return {}
    return {"next_action": msgspec.structs.replace(last, source="announced")}


def _keep_heading(head: Checkpoint, draft: Checkpoint) -> dict[str, Any]:
    """Keep what an earlier session announced, if this one was only told to continue.

    It is done once this session has edited a file that it names.
    """
    last, now = head.next_action, draft.next_action
    if last is None or now is None or not now.text.startswith(_ONLY_CONTINUES):
        return {}
    announced = _SINCE.split(last.text)[0].removeprefix("Continue: ")
    is_heading = last.source in _HEADINGS and not last.text.startswith(_SAYS_NO_HEADING)
    names = [path.rpartition("/")[2] for path in written_paths.paths_in(announced)]
    has_begun = any(name in path for name in names for path in draft.files_modified)
    if not is_heading or not announced or has_begun:
        return {}
    text = f"{announced[:1].upper()}{announced[1:]} {now.text.removeprefix('Continue. ')}"
    return {"next_action": NextAction(text=text, origin="inferred", source="announced")}


def _keep_todos(head: Checkpoint, draft: Checkpoint) -> dict[str, Any]:
    """Point to the open todos of an earlier session, if this one has none and says no next action.

    It may have done some of them, since only the earlier session could tick them off.
    """
    now = draft.next_action
    if now is None or not now.is_unknown or draft.todos or head.todos_old:
        return {}
    left = [todo.text for todo in head.todos if todo.status in {"pending", "in_progress"}]
    if not left:
        return {}
    others = f" and {format_count(len(left) - _MOST_TODOS, 'other')}" if left[_MOST_TODOS:] else ""
    said = now.text.removeprefix(NOTHING_NEXT).strip()
    text = f"Do what is left of the todos: {'; '.join(left[:_MOST_TODOS])}{others}. {said}".strip()
    return {"next_action": NextAction(text=text, origin="inferred", source="todo")}


def _read_task(draft: Checkpoint) -> dict[str, Any]:
    keys = ("summary", "intent", "answers_to", "requests", "pending_prompts")
    return {key: getattr(draft, key) for key in keys}


def _keep_task(head: Checkpoint, now: dict[str, Any]) -> dict[str, Any]:
    """Keep the thread's task, and add what was asked since; a go-ahead asks for nothing."""
    restated = now["summary"] if "summary" in now["stated"] else None
    withdrawn = _list_withdrawn([*head.requests, *now["requests"]])
    before = [] if _is_among(head.task, withdrawn) else [head.summary, head.intent]
    given = [restated, *before, now["summary"], now["intent"]]
    task = restated or next(filter(can_be_task, given), None)
    last = None if _is_over(head, now["intent"]) else head.intent
    last = None if _is_among(last, withdrawn) else last
    # A prompt that waited was asked for, too, and this session may have done only some of it.
    waited = [each for each in head.pending_prompts if each not in now["pending_prompts"]]
    asked = [*head.requests, last, *waited, now["summary"], *now["requests"]]
    known = [task, head.summary, restated, *withdrawn]
    requests = [f"{WITHDRAWN}{each}" for each in withdrawn]
    for each in asked:
        # The next action repeats a prompt that waited, so that it looks like a go-ahead.
        is_other = is_substantial(each) if each in waited else _is_other_request(each, head)
        if is_other and not _is_among(each, [*known, *requests]):
            requests.append(str(each))
    is_newer = _is_other_request(now["intent"], head) or not task
    # The user sent a prompt that waited after everything else of that session.
    intent = now["intent"] if is_newer else next(filter(is_substantial, reversed(waited)), last)
    return {
        "summary": keep_start(task, _TASK_CHARS) if task and task != intent else None,
        "intent": intent,
        # What a go-ahead answers is not what the request before it answered.
        "answers_to": now["answers_to"] if is_newer else head.answers_to if last else None,
        "requests": requests[-_MOST_REQUESTS:],
    }


def _list_withdrawn(requests: list[str]) -> list[str]:
    """Return the requests that the user took back."""
    marked = dict.fromkeys(each for each in requests if each.startswith(WITHDRAWN))
    return [each.removeprefix(WITHDRAWN) for each in marked]


def _is_over(head: Checkpoint, asked: str | None) -> bool:
    """Return whether the last message no longer matters, because another one followed."""
    is_outdated = asked not in {None, head.intent} and is_go_ahead(head.intent or "")
    return is_outdated or _is_aside(head)


def _is_aside(head: Checkpoint) -> bool:
    """Return whether the last message was a side question, which a later session need not read."""
    action = head.next_action
    is_held = action is not None and action.source == "announced"
    return is_held and is_side_question(head.intent or "")


def _is_other_request(text: str | None, head: Checkpoint) -> bool:
    """Return whether a request says more than to continue the thread."""
    action = head.next_action.text if head.next_action is not None else None
    is_more = not asks_to_continue_with(text or "", head.name, head.task, action)
    return is_substantial(text) and is_more


def keep_unsettled(
    head: Checkpoint, draft: Checkpoint, facts: Facts | None, waiting: Collection[str]
) -> Checkpoint:
    """Add what an earlier session left to a draft that has not dealt with it.

    A call that was cut short stays until a call runs, since only a call can check it. A prompt
    stays while it waits in the queue and the draft's session has done no work.
    """
    has_called = draft.in_flight is not None or (facts is not None and bool(facts.trail))
    asked = [draft.summary, draft.intent, *draft.requests]
    kept = [each for each in head.pending_prompts if each in waiting and not _is_among(each, asked)]
    return msgspec.structs.replace(
        draft,
        in_flight=draft.in_flight if has_called else head.in_flight,
        pending_prompts=_unite(kept, draft.pending_prompts),
    )


def _is_among(text: str | None, others: Iterable[str | None]) -> bool:
    """Return whether a text is one of these, which may be cut."""
    plain = _normalize(text)
    return any(_is_same(plain, _normalize(each)) for each in others)


def _is_same(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    return one == other or (len(shorter) >= _SHORTEST_CHARS and longer.startswith(shorter))


def _normalize(text: str | None) -> str:
    return " ".join((text or "")[:_TASK_CHARS].split()).removesuffix(" …")


def _unite(first: Iterable[T], second: Iterable[T]) -> list[T]:
    """Join two lists without duplicates, which may not be hashable."""
    united = [*first]
    united += [each for each in second if each not in united]
    return united


def is_idle_since(head: Checkpoint, worked_at: datetime | None) -> bool:
    """Return whether a session, whose last work is from `worked_at`, only talked since the head."""
    return worked_at is None or worked_at <= head.described_at


def has_news(head: Checkpoint, revision: Checkpoint, worked_at: datetime | None) -> bool:
    """Return whether work was done since the head: more than a few words were exchanged."""
    if not is_idle_since(head, worked_at):
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
    known_requests = _list_requests(head)
    asked = [each for each in _list_requests(revision) if not _is_among(each, known_requests)]
    known = {*head.commands, *head.also_ran}
    # Ranked lists drop old commands, so only a new one shows that something happened.
    now = (*revision.commands, *revision.also_ran)
    ran = [each for each in now if each not in known and not is_look(each)]
    call = revision.in_flight
    is_cut_short = call is not None and call != head.in_flight and not is_look(call.what)
    has_stopped = is_cut_short and revision.trigger in _STOPPED
    # A session may be saved in the middle of a call, and end the call afterwards.
    has_ended = head.in_flight is not None and call is None
    is_same = revision.session_id == head.session_id
    return (
        bool(asked or ran) or has_stopped or (has_ended and is_same) or _announces(head, revision)
    )


def _announces(head: Checkpoint, revision: Checkpoint) -> bool:
    """Return whether the agent said what comes next where nobody had.

    A turn that was saved midway, as before a compaction, may end in words only.
    """
    before, now = head.next_action, revision.next_action
    if now is not None and now.text.startswith(DECLINED):
        # What the head asks is not to be asked again.
        return before is None or before.text != now.text
    is_known = before is not None and not (before.is_unknown or before.source in _MIDWAY)
    return not is_known and now is not None and now.source == "proposal" and not now.is_unknown


def _list_requests(checkpoint: Checkpoint) -> list[str]:
    """Return everything substantial that was asked for, the task included."""
    asked = [checkpoint.summary, checkpoint.intent, *checkpoint.requests]
    return [each for each in asked if each and is_substantial(each)]


# --- after the thread has ended ---


def keep_later_work(ended: Checkpoint, draft: Checkpoint, ended_at: datetime | None) -> Checkpoint:
    """Return what a session did after its thread had ended."""
    known = {ended.summary, ended.intent, *ended.requests}
    asked = [draft.summary, *draft.requests, draft.intent]
    new = [each for each in dict.fromkeys(asked) if can_be_task(each) and each not in known]
    intent = new[-1] if new else None
    there = {file.path for file in draft.files if file.mtime}
    return msgspec.structs.replace(
        draft,
        summary=new[0] if len(new) > 1 else None,
        intent=intent,
        requests=new[1:-1],
        files_modified=[
            path
            for path in _list_edited_since(draft, ended_at)
            # A file in both counts as edited again only if it still exists.
            if path not in ended.files_modified or (new and path in there)
        ],
        todos=[todo for todo in draft.todos if todo not in ended.todos],
    )


def has_edited_since(draft: Checkpoint, ended_at: datetime | None) -> bool:
    """Return whether a file was edited after a thread ended, not only tested or committed."""
    return bool(_list_edited_since(draft, ended_at))


def _list_edited_since(draft: Checkpoint, ended_at: datetime | None) -> list[str]:
    """List the edited files, without those that have not changed since a thread ended."""
    edited = {file.path: file.mtime for file in draft.files}
    since = ended_at.timestamp() if ended_at is not None else 0.0
    times_edited = ((path, edited.get(path)) for path in draft.files_modified)
    return [path for path, at in times_edited if at is None or at > since]


# --- the task of a new thread ---


def with_task(draft: Checkpoint) -> Checkpoint:
    """Return a draft whose task was asked for or, if only "continue" was, says what was done."""
    asked = [each for each in (draft.summary, draft.intent) if each and can_be_task(each)]
    if not asked:
        others = filter(can_be_task, [*draft.requests, *draft.pending_prompts])
        task = next(others, None) or _describe_done(draft)
        return msgspec.structs.replace(draft, summary=task, intent=None)
    topic = None
    if "summary" not in draft.stated:
        offered = drop_refusal(asked[0])
        topic = find_topic(asked[0]) or (offered if offered != asked[0] else None)
    if topic is None and draft.summary in {None, asked[0]}:
        return draft
    return msgspec.structs.replace(draft, summary=topic)


def _describe_done(draft: Checkpoint) -> str | None:
    """Describe work by the files that were edited, or by a command that was run."""
    if draft.files_modified:
        first, *others = draft.files_modified
        rest = f" and {format_count(len(others), 'other file')}" if others else ""
        return f"Edit {first}{rest}"
    commands = (*draft.commands, *draft.also_ran)
    ran = next((each for each in commands if not is_look(each)), None)
    return f"Run {ran}" if ran else None

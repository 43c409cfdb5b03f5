"""Save a checkpoint that was composed, by name or automatically, and judge its quality."""

import contextlib
import hashlib
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from leftoff import knowledge, statusline
from leftoff.checkpoint import EXPECTED, Checkpoint, cut_to_limits, encode, to_plain
from leftoff.config import Settings
from leftoff.errors import BelowQualityBar, ChoiceNeeded
from leftoff.fingerprints import locate_file
from leftoff.names import FORBIDDEN, check_name, find_unused_name, kebab, suggest_name
from leftoff.redact import redact_value
from leftoff.session import prompt_queue
from leftoff.session.facts.report import Facts
from leftoff.session.real_work import is_substantial, is_worth_saving, shows_work
from leftoff.store import BY_PROMPT, FINISHED, CheckpointEntry, SavedCheckpoint, Store, StoreIndex
from leftoff.text import times
from leftoff.threads.continue_thread import (
    continue_thread,
    has_edited_since,
    has_news,
    is_idle_since,
    is_named,
    keep_later_work,
    keep_unsettled,
    with_task,
)

# --- quality: could a fresh session act on it without asking anyone? ---


SOFT_CAP_BYTES = 4096


class QualityFinding(msgspec.Struct, frozen=True, kw_only=True):
    """A broken rule, and what to do about it."""

    rule: str
    message: str


# A text made of these words alone could describe any task.
_EMPTY_WORDS = frozenset(
    """
    i i'm we we're it its this that the a an some more rest remaining same of on with to and from as
    in for where here left off still just keep kept continue continues continued continuing carry go
    going gone proceed resume finish finished work worked working works progress progressed made did
    do doing done fix fixed fixing todo tbd wip next stuck blocked unknown none n a na stuff thing
    things task tasks code change changes issue issues problem problems bug bugs planned later soon
    good well ok okay yes no step steps implementation implement implementing need needs needed
    must should test tests testing tested debug debugging conflict conflicts error errors
    """.split()
)
# A path, a `quoted` thing, a command, a number or a call: something a reader can look at.
_CONCRETE = re.compile(
    r"[\w-]/[\w-]|\w\.\w|`[^`]+`|\d|\w\(\)|--?\w|[A-Z]{2,}|[a-z][A-Z]|_|\"[^\"]+\""
)
# Words that introduce a reason.
_REASON = re.compile(
    r"\w\W+(?:because|since|due to|so that|in order to|until|to avoid)\W+\w", re.IGNORECASE
)
_ROLE_LINE = re.compile(
    r"^\s*(?:[>*#\[\"']*\s*)(?:user|human|assistant|ai|claude|system|tool|\"role\")\b[\"\]*]*\s*:",
    re.IGNORECASE | re.MULTILINE,
)
# A few quoted lines are fine; this many are a pasted conversation.
_ROLE_LINES_OF_A_CHAT = 4


def lint(checkpoint: Checkpoint, root: Path) -> list[QualityFinding]:
    """Return every rule of the quality bar that the checkpoint breaks."""
    return [
        *_check_task(checkpoint),
        *_check_progress(checkpoint),
        *_check_next_action(checkpoint),
        *_check_blockers(checkpoint),
        *_check_decisions(checkpoint),
        *_check_paths(checkpoint, root),
        *_name(checkpoint),
        *_check_raw_chat(checkpoint),
    ]


def is_vague(text: str) -> bool:
    """Return whether the text could describe any task at all."""
    words = re.findall(r"[\w']+", text.lower())
    return all(word in _EMPTY_WORDS for word in words)


def _check_task(checkpoint: Checkpoint) -> Iterator[QualityFinding]:
    task = checkpoint.summary or checkpoint.intent or checkpoint.left_off or ""
    if is_vague(task) or len(task.split()) < 2:
        yield QualityFinding(
            rule="task", message="The task is not clear: say in one sentence what the work is."
        )


def _check_progress(checkpoint: Checkpoint) -> Iterator[QualityFinding]:
    said = [*checkpoint.done, *([checkpoint.left_off] if checkpoint.left_off else [])]
    evidence = bool(checkpoint.files_modified)
    if not said and not evidence:
        yield QualityFinding(
            rule="progress", message="The progress is missing: say what was done so far."
        )
    elif said and not any(_CONCRETE.search(text) and not is_vague(text) for text in said):
        yield QualityFinding(
            rule="progress", message="The progress names no file, command or result to look at."
        )


def _check_next_action(checkpoint: Checkpoint) -> Iterator[QualityFinding]:
    if checkpoint.next_action is None or not checkpoint.next_action.text.strip():
        yield QualityFinding(rule="next-action", message="The next action is missing.")
    elif is_vague(text := checkpoint.next_action.text) or len(text.split()) < 2:
        yield QualityFinding(
            rule="next-action",
            message=f"The next action {text!r} cannot be carried out without asking: "
            "name the command, file or change.",
        )


def _check_blockers(checkpoint: Checkpoint) -> Iterator[QualityFinding]:
    for blocker in checkpoint.blockers:
        if is_vague(blocker) or len(blocker.split()) < 2:
            yield QualityFinding(
                rule="blockers", message=f"The blocker {blocker!r} is not concrete."
            )


def _check_decisions(checkpoint: Checkpoint) -> Iterator[QualityFinding]:
    for decision in checkpoint.decisions:
        if is_vague(decision.why) and not _REASON.search(decision.what):
            yield QualityFinding(
                rule="decisions", message=f"The decision {decision.what!r} has no reason."
            )


def _check_paths(checkpoint: Checkpoint, root: Path) -> Iterator[QualityFinding]:
    named = [file.path for file in checkpoint.files if file.role != EXPECTED]
    if checkpoint.plan and checkpoint.plan.path:
        named.append(checkpoint.plan.path)
    for path in dict.fromkeys(named):
        if not _exists(root, path):
            yield QualityFinding(rule="paths", message=f"There is no file {path}")


def _exists(root: Path, path: str) -> bool:
    try:
        return locate_file(path, root).exists()
    except (OSError, RuntimeError, ValueError):  # too long, of no user, with a NUL
        return False


def _name(checkpoint: Checkpoint) -> Iterator[QualityFinding]:
    name = checkpoint.name
    if name is not None and (name in FORBIDDEN or name != kebab(name)):
        yield QualityFinding(
            rule="name", message=f"The name {name!r} is not a specific kebab-case name."
        )


def _check_raw_chat(checkpoint: Checkpoint) -> Iterator[QualityFinding]:
    texts: dict[str, list[str | None]] = {
        "summary": [checkpoint.summary],
        "left_off": [checkpoint.left_off],
        "done": [*checkpoint.done],
        "notes": [*checkpoint.notes],
    }
    for key, values in texts.items():
        joined = "\n".join(value for value in values if value)
        if len(_ROLE_LINE.findall(joined)) >= _ROLE_LINES_OF_A_CHAT:
            yield QualityFinding(
                rule="raw-chat",
                message=f"{key} holds a pasted conversation: keep what was learned, not the chat.",
            )


# --- saving by name ---

_DEFAULTS = Settings()


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint on disk, and the warnings about it."""

    saved: SavedCheckpoint
    warnings: list[str]
    continues: str | None = None
    """The name of the thread that the session was in, if the checkpoint continues it."""


def save(  # noqa: PLR0913 - each is a keyword
    store: Store,
    draft: Checkpoint,
    *,
    name: str,
    overwrite: bool = False,
    strict: bool = False,
    settings: Settings = _DEFAULTS,
) -> Outcome:
    """Save a checkpoint under a name, and return warnings about what is weak in it.

    A session that works on a thread continues it, unless another name or `overwrite` is given. A
    thread that nobody has named yet gets the name.
    """
    is_plain = settings.names == "plain"
    checked = check_name(name, strict=strict and not is_plain, is_plain=is_plain)
    named = msgspec.structs.replace(draft, name=checked)
    named = msgspec.structs.replace(named, stated=[*dict.fromkeys([*named.stated, "name"])])
    head = None if overwrite else _find_continued(store, named, settings)
    if overwrite and not store.is_far_behind():
        named = _keep_words(store, named)
    if head is not None:
        continued = continue_thread(head, named, store.project.worktree)
        named = msgspec.structs.replace(continued, name=named.name)
    # Redacted before it is cut: half a secret matches no pattern.
    kept, cut = cut_to_limits(redact_value(named))
    findings = lint(kept, store.project.worktree)
    findings = [each for each in findings if each.rule != "name" or not is_plain]
    if strict and findings:
        raise build_quality_error(findings)
    saved = store.save(kept, overwrite=overwrite)
    # A confirmation of one line stays one line; the next resume shows what failed.
    lessons = learn_lessons(store, saved.checkpoint, warns=settings.noise != "line")
    if kept.session_id:
        at = saved.checkpoint.saved_at.timestamp()
        statusline.update_last_save(
            str(store.project.state_folder), kept.session_id, kept.name or "", at
        )
    return Outcome(
        saved=saved,
        warnings=[*_list_warnings(saved, findings, cut, settings.quality), *lessons],
        continues=head.name if head is not None else None,
    )


def _find_continued(store: Store, draft: Checkpoint, settings: Settings) -> Checkpoint | None:
    """Return the head of the session's thread, if the draft has its name or gives it one."""
    if store.is_far_behind():
        return None
    index = store.index()
    entry = index.find_open_thread(draft.session_id)
    if entry is None:
        return None
    # Then even a session's own words are replaced only if the user says so.
    if settings.same_name == "always" and index.find_purposeful(entry.slot) is not None:
        return None
    head = msgspec.structs.replace(store.load(entry), thread=entry.slot)
    is_renamed = head.name != draft.name and not is_named(head)
    return head if head.name == draft.name or is_renamed else None


def _keep_words(store: Store, draft: Checkpoint) -> Checkpoint:
    """Keep what the overwritten revision states and the draft does not."""
    entry = store.index().find_named(draft.name or "")
    # A draft made from the thread's head holds all of its words, but for those that were removed.
    if entry is None or not entry.is_open or draft.thread == entry.slot:
        return draft
    head = store.load(entry)
    # Version 0.1 did not record what was stated.
    stated = head.stated or ([] if head.is_autosave else [*_ALWAYS_KEPT, *_KEPT_WITH_TASK])
    is_same_task = "summary" not in draft.stated or draft.summary == head.summary
    keys = (*_ALWAYS_KEPT, *_KEPT_WITH_TASK) if is_same_task else _ALWAYS_KEPT
    kept = {
        key: getattr(head, key)
        for key in keys
        if key in stated and key not in draft.stated and getattr(head, key)
    }
    task = {"summary": draft.summary or head.summary} | kept
    return msgspec.structs.replace(draft, **task, stated=[*draft.stated, *kept])


# What an overwrite keeps unless it is stated again; the second group only for the same task.
_ALWAYS_KEPT = ("decisions", "failed", "blockers", "questions")
_KEPT_WITH_TASK = ("summary", "next_action", "next_steps")


def build_quality_error(
    findings: Sequence[QualityFinding],
    *,
    hint: str = "Add what is missing, or save without --strict.",
) -> BelowQualityBar:
    """Build the error that names the broken rules of the quality bar."""
    rules = ", ".join(dict.fromkeys(finding.rule for finding in findings))
    return BelowQualityBar(
        f"The checkpoint is below the quality bar: {rules}",
        findings=[finding.message for finding in findings],
        hint=hint,
    )


def _list_warnings(
    saved: SavedCheckpoint,
    findings: Sequence[QualityFinding],
    cut: Sequence[str],
    rules: Collection[str],
) -> list[str]:
    """Return what a save warns about: broken rules that count here, and what was lost."""
    warnings = [finding.message for finding in findings if finding.rule in rules]
    warnings += cut
    size = len(encode(saved.checkpoint))
    if "size" in rules and size > SOFT_CAP_BYTES:
        warnings.append(f"exceeds 4 KB soft cap ({size} bytes) {saved.path}")
    if saved.notice is not None:
        warnings.append(saved.notice)
    return warnings


# --- saving without being asked ---


# These change even if no work is done.
_VOLATILE = frozenset(
    {"id", "saved_at", "as_of", "trigger", "reason", "transcript", "context", "files", "dirty"}
    | {"in_flight", "thread", "stated", "act", "watched"}
)

# A conversation that has filled so much of the context is work, even if it changed no file.
_FULL_PERCENT = 60.0


def digest_work(draft: Checkpoint) -> str:
    """Return a digest that stays the same as long as a state says nothing new."""
    plain = {key: value for key, value in to_plain(draft).items() if key not in _VOLATILE}
    return hashlib.blake2b(msgspec.json.encode(plain), digest_size=16).hexdigest()


def autosave(  # noqa: PLR0913 - each is a keyword
    store: Store,
    draft: Checkpoint,
    facts: Facts | None,
    *,
    find_former: Callable[[], str | None] = lambda: None,
    continued: str = "",
    is_forced: bool = False,
    is_noted: bool = False,
    left: tuple[str, datetime] | None = None,
) -> SavedCheckpoint | None:
    """Save a session's state; return None if it says nothing new or is small talk.

    `find_former` returns the session that this one was forked from, and `continued` is the thread
    that it continues without having joined it. A forced save is written even if nothing is
    new, but never opens a thread. Work that is noted opens one, even if the session itself was
    small talk. `left` is the thread that the session left for other work, and when.
    """
    index = store.index()
    found = index.find_thread(draft.session_id) or index.find_thread(find_former())
    if found is None:
        found = _find_unjoined(store, draft, facts, continued)
    if left is not None and (former := index.head(left[0])) is not None and not former.problem:
        before, at = store.load(former), left[1]
        if found is None or found.slot == former.slot:
            return _open_another(store, before, draft, facts, ended_at=at, is_noted=is_noted)
        draft = keep_later_work(before, draft, at)
    if found is not None and found.is_open:
        return _revise(store, found, draft, facts, is_forced=is_forced)
    if found is not None and _has_taken(index, draft.session_id, found):
        return _carry_on(store, found, draft, facts)
    # The thread of the session may have ended; what follows is other work.
    ended = store.load(found) if found is not None and found.problem is None else None
    if ended is not None:
        ended_at = index.find_end(ended.id)
        is_over = found is not None and found.state in FINISHED
        return _open_another(
            store, ended, draft, facts, ended_at=ended_at, is_noted=is_noted, is_over=is_over
        )
    return open_thread(store, with_task(draft)) if is_noted or _opens(draft, facts) else None


def _find_unjoined(
    store: Store, draft: Checkpoint, facts: Facts | None, continued: str
) -> CheckpointEntry | None:
    """Find the thread that a session continues without having joined it."""
    found = store.index().head(continued) if continued else None
    # The session may have been asked, and have said no.
    if found is not None and found.state != "declined":
        return found
    named = facts.continues if facts is not None else None
    return _join_briefed(store, draft, named) if named else None


def _revise(
    store: Store, entry: CheckpointEntry, draft: Checkpoint, facts: Facts | None, *, is_forced: bool
) -> SavedCheckpoint | None:
    """Save the next revision of an open thread, if there is news or it is forced."""
    head = store.load(entry)
    draft = keep_unsettled(head, draft, facts, _list_waiting(store, head, draft, facts))
    worked_at = times.parse(facts.worked_at) if facts is not None else None
    revision = _continue(store, head, entry, draft, worked_at)
    is_wanted = is_forced or has_news(head, revision, worked_at)
    return _write(store, revision) if is_wanted else None


def _open_another(  # noqa: PLR0913 - each is a keyword
    store: Store,
    ended: Checkpoint,
    draft: Checkpoint,
    facts: Facts | None,
    *,
    ended_at: datetime | None,
    is_noted: bool,
    is_over: bool = True,
) -> SavedCheckpoint | None:
    """Open another thread for what a session was asked for and did after its own had ended.

    What the agent still does for the same request, such as tidying up, is finished with it, unless
    the thread was only cleared.
    """
    opened = keep_later_work(ended, draft, ended_at)
    worked_at = times.parse(facts.worked_at) if facts is not None else None
    asked_at = times.parse(facts.worked_for) if facts is not None else None
    is_asked = any(map(is_substantial, [opened.summary, opened.intent, *opened.requests]))
    # Not every transcript says when something was done; then only a request is sure to be new.
    is_later = worked_at > ended_at if worked_at and ended_at else is_asked
    has_plan = is_asked and any(todo.status in {"pending", "in_progress"} for todo in opened.todos)
    is_agreed = bool(asked_at and ended_at and asked_at > ended_at)
    is_wanted = is_asked or is_agreed or not is_over
    has_worked = is_wanted and is_later and (has_plan or has_edited_since(opened, ended_at))
    return open_thread(store, with_task(opened)) if is_noted or has_worked else None


def _join_briefed(store: Store, draft: Checkpoint, name: str) -> CheckpointEntry | None:
    """Join the open thread whose briefing was given to a session; None if there is none."""
    index = store.index()
    found = index.find_named(name) or index.find_renamed(name)
    if found is None or not found.is_open or not (draft.agent and draft.session_id):
        return None
    session = (draft.agent, draft.session_id)
    store.record("resumed", [found.id], session=session, trigger=BY_PROMPT)
    return found


def _has_taken(index: StoreIndex, session_id: str | None, entry: CheckpointEntry) -> bool:
    """Return whether a session consumed a checkpoint by resuming it, and so still works on it."""
    joined = index.find_joined(session_id) if session_id and entry.state == "consumed" else None
    if joined is None or joined.action != "consumed" or entry.problem is not None:
        return False
    ended = [each for each in index.events_of(entry.id) if each.action == "consumed"]
    return bool(ended) and ended[-1].id == joined.id


def _carry_on(
    store: Store, found: CheckpointEntry, draft: Checkpoint, facts: Facts | None
) -> SavedCheckpoint | None:
    """Open a thread with all that the consumed one said, if the session has worked since."""
    head = store.load(found)
    worked_at = times.parse(facts.worked_at) if facts is not None else None
    revision = _continue(store, head, found, draft, worked_at)
    if not has_news(head, revision, worked_at):
        return None
    return open_thread(store, revision, name=head.name)


def _list_waiting(
    store: Store, head: Checkpoint, draft: Checkpoint, facts: Facts | None
) -> set[str]:
    """Return the prompts of other sessions that still wait, unless this session has done work."""
    # The work may well be what a prompt asked for.
    if not head.pending_prompts or (facts is not None and shows_work(facts)):
        return set()
    waiting = prompt_queue.pending(store)
    return {each.text for each in waiting if each.session_id != draft.session_id}


def _continue(
    store: Store,
    head: Checkpoint,
    entry: CheckpointEntry,
    draft: Checkpoint,
    worked_at: datetime | None,
) -> Checkpoint:
    """Return the next revision of a thread, for a session whose last work is from `worked_at`."""
    # Version 0.1 did not record the thread.
    started = msgspec.structs.replace(head, thread=entry.slot)
    is_idle = is_idle_since(head, worked_at)
    return continue_thread(started, draft, store.project.worktree, is_idle=is_idle)


def _opens(draft: Checkpoint, facts: Facts | None) -> bool:
    """Return whether a session has done something that is worth a thread of its own."""
    asked = [draft.summary, draft.intent, *draft.requests, *draft.pending_prompts]
    if draft.trigger == "precompact" and any(map(is_substantial, asked)):
        # A conversation that is compacted is long, and the summary loses most of it.
        return True
    is_dead = draft.trigger == "recovered"
    is_over = is_dead or draft.trigger == "session-end"
    if facts is not None and (is_worth_saving(facts) if is_over else shows_work(facts)):
        return True
    if facts is not None and (facts.percent or 0.0) >= _FULL_PERCENT:
        return any(map(is_substantial, asked))
    # The transcript may lack what hooks saw: the last request, or its answer.
    is_behind = facts is None or draft.intent != facts.intent
    is_waiting = is_dead and (is_behind or bool(draft.pending_prompts or draft.in_flight))
    return is_waiting and any(map(is_substantial, asked))


def open_thread(store: Store, draft: Checkpoint, *, name: str | None = None) -> SavedCheckpoint:
    """Open a thread; without a name, make one of a few words of its task."""
    name = name or suggest_name([draft.summary or draft.intent, draft.intent], draft.branch)
    while True:
        unused = find_unused_name(name, store.index().names_like(name, only_open=True))
        with contextlib.suppress(ChoiceNeeded):
            return _write(store, msgspec.structs.replace(draft, name=unused, thread=None))
        # Another process has just opened a thread with that name, so look again.


def _write(store: Store, draft: Checkpoint) -> SavedCheckpoint:
    saved = store.save(cut_to_limits(redact_value(draft))[0])
    learn_lessons(store, saved.checkpoint)
    return saved


def learn_lessons(store: Store, checkpoint: Checkpoint, *, warns: bool = True) -> list[str]:
    """Remember a saved checkpoint's decisions and failures; return messages about them.

    Without `warns`, nothing is said about an approach that failed before.
    """
    if not (checkpoint.decisions or checkpoint.failed):
        return []
    return knowledge.memory.take_lessons(store, checkpoint, warns=warns)

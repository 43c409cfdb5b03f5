"""Save a composed checkpoint under a name, and judge its quality."""

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import msgspec

from leftoff import knowledge, statusline
from leftoff.checkpoint import EXPECTED, Checkpoint, cut_to_limits, encode
from leftoff.config import Settings
from leftoff.errors import BelowQualityBar
from leftoff.fingerprints import locate_file
from leftoff.names import FORBIDDEN, check_name, kebab
from leftoff.redact import redact_value
from leftoff.store import SavedCheckpoint, Store
from leftoff.threads.continue_thread import (
    continue_thread,
    is_named,
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


class SaveOutcome(msgspec.Struct, frozen=True, kw_only=True):
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
) -> SaveOutcome:
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
    return SaveOutcome(
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
    # A draft made from the thread's head holds all of its words, except those that were removed.
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


def learn_lessons(store: Store, checkpoint: Checkpoint, *, warns: bool = True) -> list[str]:
    """Remember a saved checkpoint's decisions and failures; return messages about them.

    Without `warns`, nothing is said about an approach that failed before.
    """
    if not (checkpoint.decisions or checkpoint.failed):
        return []
    return knowledge.memory.take_lessons(store, checkpoint, warns=warns)

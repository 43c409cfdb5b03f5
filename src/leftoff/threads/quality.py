"""Check whether a fresh session could act on a checkpoint without asking anyone."""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from leftoff.checkpoint import Checkpoint
from leftoff.fingerprints import locate_file
from leftoff.names import FORBIDDEN, kebab

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
# A few quoted lines are fine; so many are a pasted conversation.
_ROLE_LINES_OF_A_CHAT = 4


def lint(checkpoint: Checkpoint, root: Path) -> list[QualityFinding]:
    """Return every rule of the quality bar that the checkpoint breaks."""
    return [
        *_task(checkpoint),
        *_progress(checkpoint),
        *_next_action(checkpoint),
        *_blockers(checkpoint),
        *_decisions(checkpoint),
        *_paths(checkpoint, root),
        *_name(checkpoint),
        *_raw_chat(checkpoint),
    ]


def is_vague(text: str) -> bool:
    """Return whether the text could describe any task at all."""
    words = re.findall(r"[\w']+", text.lower())
    return all(word in _EMPTY_WORDS for word in words)


def _task(checkpoint: Checkpoint) -> Iterator[QualityFinding]:
    task = checkpoint.summary or checkpoint.intent or checkpoint.left_off or ""
    if is_vague(task) or len(task.split()) < 2:
        yield QualityFinding(
            rule="task", message="The task is not clear: say in one sentence what the work is."
        )


def _progress(checkpoint: Checkpoint) -> Iterator[QualityFinding]:
    told = [*checkpoint.done, *([checkpoint.left_off] if checkpoint.left_off else [])]
    evidence = bool(checkpoint.files_modified)
    if not told and not evidence:
        yield QualityFinding(
            rule="progress", message="The progress is missing: say what was done so far."
        )
    elif told and not any(_CONCRETE.search(text) and not is_vague(text) for text in told):
        yield QualityFinding(
            rule="progress", message="The progress names no file, command or result to look at."
        )


def _next_action(checkpoint: Checkpoint) -> Iterator[QualityFinding]:
    if checkpoint.next_action is None or not checkpoint.next_action.text.strip():
        yield QualityFinding(rule="next-action", message="The next action is missing.")
    elif is_vague(text := checkpoint.next_action.text) or len(text.split()) < 2:
        yield QualityFinding(
            rule="next-action",
            message=f"The next action {text!r} cannot be carried out without asking: "
            "name the command, file or change.",
        )


def _blockers(checkpoint: Checkpoint) -> Iterator[QualityFinding]:
    for blocker in checkpoint.blockers:
        if is_vague(blocker) or len(blocker.split()) < 2:
            yield QualityFinding(
                rule="blockers", message=f"The blocker {blocker!r} is not concrete."
            )


def _decisions(checkpoint: Checkpoint) -> Iterator[QualityFinding]:
    for decision in checkpoint.decisions:
        if is_vague(decision.why) and not _REASON.search(decision.what):
            yield QualityFinding(
                rule="decisions", message=f"The decision {decision.what!r} has no reason."
            )


def _paths(checkpoint: Checkpoint, root: Path) -> Iterator[QualityFinding]:
    named = [*(file.path for file in checkpoint.files)]
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


def _raw_chat(checkpoint: Checkpoint) -> Iterator[QualityFinding]:
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

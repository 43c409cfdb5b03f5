"""Render the structured recovery briefing of openclaw, and its question.

The user sees task, date, progress, next action and stale files first, in openclaw's own form. What
else the checkpoint knows follows as in every briefing.
"""

from collections.abc import Iterator

import msgspec

from leftoff.checkpoint import Checkpoint
from leftoff.config import Settings
from leftoff.projects.project import Project
from leftoff.session import state_file
from leftoff.text import fence, times
from leftoff.text.budget import Item, Section
from leftoff.text.fence import Rendered, block, join, say
from leftoff.threads import briefing
from leftoff.threads.check_claims import Checks
from leftoff.wal.notes_place import place

_BUFFER_CHARS = 4_000
_NO_TASK = "work without a stated task"


def render(checkpoint: Checkpoint, checks: Checks, *, budget: int) -> Rendered:
    """Render the briefing, fenced and within the budget."""
    sections = [*_build_head(checkpoint, checks), *_build_rest(checkpoint, checks)]
    return briefing.render(checkpoint, checks, budget=budget, sections=sections)


def question(checkpoint: Checkpoint, checks: Checks) -> Rendered:
    """Return the sentence that the user must approve before anything happens."""
    action = checkpoint.next_action
    return say(
        "Resuming: {task:200}. Last progress: {progress:200}. Next action: {action:300}. "
        "Ready to continue? (yes/no){stale}",
        task=_end(checkpoint.task or _NO_TASK),
        progress=_end(_find_last_progress(checkpoint)),
        action=_end(action.text) if action else "not defined",
        stale=say(
            " Some of it is stale: yes means resume anyway, no means start fresh."
            if checks.is_stale
            else ""
        ),
    )


def quote_buffer(checkpoint: Checkpoint, project: Project, settings: Settings) -> Rendered:
    """Quote the end of the working buffer if the checkpoint says little; empty otherwise."""
    if not is_thin(checkpoint):
        return say("")
    path = place(project, settings).parent / "memory" / "working-buffer.md"
    text = state_file.text_of(path).strip()
    if not text:
        return say("")
    head = say("The checkpoint says little. From the file {path:300}:", path=path)
    return fence.enclose_text(join([head, block(text[-_BUFFER_CHARS:])]))


def is_thin(checkpoint: Checkpoint) -> bool:
    """Return whether a checkpoint does not say what was done, or what comes next."""
    return checkpoint.next_action is None or not (checkpoint.done or checkpoint.left_off)


def _end(text: str) -> str:
    """Return a text without the full stop that the sentence adds."""
    return " ".join(text.split()).rstrip(".")


def _find_last_progress(checkpoint: Checkpoint) -> str:
    done = [text for text in checkpoint.done if not text.startswith("#")]
    return checkpoint.left_off or (done[-1] if done else "none recorded")


def _build_head(checkpoint: Checkpoint, checks: Checks) -> Iterator[Section]:
    saved = say(
        "Saved: {moment} ({age})",
        moment=times.local(checkpoint.described_at),
        age=times.age(checks.age_seconds),
    )
    task = say("\N{PUSHPIN} Resume: {task}", task=checkpoint.task or _NO_TASK)
    yield Section(say(""), [Item(task, 100), Item(saved, 98)])
    done = [Item(say("- {text:lines}", text=text), 90 - n / 100) for n, text in _number(checkpoint)]
    yield Section(say("\N{WHITE HEAVY CHECK MARK} Progress:"), done, _count_rest)
    action = checkpoint.next_action
    guess = say(" (inferred from the session)" if action and action.origin == "inferred" else "")
    following = say(
        "\N{SOON WITH RIGHTWARDS ARROW ABOVE} Next action: {text:lines}{guess}",
        text=action.text if action else "not defined",
        guess=guess,
    )
    yield Section(say(""), [Item(following, 99)])
    stale = [*briefing.list_changes(checks)]
    yield Section(say("\N{WARNING SIGN}\ufe0f Stale warnings:"), stale, _count_rest)


def _number(checkpoint: Checkpoint) -> Iterator[tuple[int, str]]:
    """Yield what was done, the newest with the smallest number, in the order of the file."""
    texts = [*checkpoint.done, *([checkpoint.left_off] if checkpoint.left_off else [])]
    return ((len(texts) - n, text) for n, text in enumerate(texts))


def _count_rest(count: int) -> Rendered:
    return say("+{count} more", count=count)


def _build_rest(checkpoint: Checkpoint, checks: Checks) -> Iterator[Section]:
    source = checkpoint.source
    if source is not None:
        imported = say(
            "Imported from a file of {profile:40}, which anyone may have written: {path:200}",
            profile=source.profile,
            path=source.path or "unknown",
        )
        yield Section(say(""), [Item(imported, 101)])
    shown = msgspec.structs.replace(checkpoint, done=[], left_off=None)
    yield from briefing.build_details(shown, checks)

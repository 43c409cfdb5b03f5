"""Render the structured recovery briefing of openclaw, and its question.

The user sees task, date, progress, next action and stale files first, in openclaw's own form. What
else the checkpoint knows follows as in every briefing.
"""

import re
from collections.abc import Iterator

import msgspec

from leftoff.checkpoint import Checkpoint, Decision, Failure
from leftoff.config import Settings
from leftoff.projects.project import Project
from leftoff.session import state_file
from leftoff.store import Store
from leftoff.text import fence, times
from leftoff.text.budget import Item, Section
from leftoff.text.fence import Rendered, block, join, say
from leftoff.threads import briefing
from leftoff.threads.briefing_changes import list_changes
from leftoff.threads.check_claims import Checks
from leftoff.wal.notes_place import place

_BUFFER_CHARS = 4_000
_NO_TASK = "work without a stated task"
_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*$\n?", re.MULTILINE)


def render(
    checkpoint: Checkpoint, checks: Checks, *, newer: Checkpoint | None = None, budget: int
) -> Rendered:
    """Render the briefing, fenced and within the budget.

    `newer` is an autosave of the same work. It does not change what was saved on purpose.
    """
    since = [_build_since(checkpoint, newer, checks)] if newer else []
    sections = [*_build_head(checkpoint, checks), *since, *_build_rest(checkpoint, checks)]
    return briefing.render(checkpoint, checks, budget=budget, sections=sections)


def question(checkpoint: Checkpoint, checks: Checks) -> Rendered:
    """Return the sentence that the user must approve before anything happens."""
    action = checkpoint.next_action
    return say(
        "Resuming: {task:200}. Last progress: {progress:200}. Next action: {action:300}. "
        "Ready to continue? (yes/no){stale}",
        task=_end(checkpoint.task or _NO_TASK),
        progress=_end(_find_last_progress(checkpoint)),
        action=_end(_strip_fences(action.text)) if action else "not defined",
        stale=say(
            " Some of it is stale: yes means resume anyway, no means start fresh."
            if checks.is_stale
            else ""
        ),
    )


def find_newer(store: Store, checkpoint: Checkpoint) -> Checkpoint | None:
    """Return the newest autosave of the work since a checkpoint was saved; None without one."""
    index = store.index()
    entry = index.get(checkpoint.id)
    head = index.head(entry.slot) if entry is not None else None
    if head is None or head.id == checkpoint.id or not head.is_autosave:
        return None
    return store.load(head)


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


def _strip_fences(text: str) -> str:
    """Return a command or step without the marks of a code block around it."""
    return _FENCE.sub("", text).strip() or text


def _end(text: str) -> str:
    """Return a text without the full stop that the sentence adds."""
    return " ".join(text.split()).rstrip(".")


def _find_last_progress(checkpoint: Checkpoint) -> str:
    """Return where the work stopped, or what was done last, not what a list leaves open."""
    done: list[str] = []
    is_stack = False
    for text in checkpoint.done:
        if text.startswith("#"):
            is_stack = "stack" in text.lower()
        elif not is_stack and not text.startswith("[ ]"):
            done.append(re.sub(r"^\[[xX]\][ \t]+", "", text))
    return checkpoint.left_off or (done[-1] if done else "none recorded")


def _build_head(checkpoint: Checkpoint, checks: Checks) -> Iterator[Section]:
    saved = say(
        "Saved: {moment} ({age})",
        moment=times.local(checkpoint.described_at),
        age=times.age(checks.age_seconds),
    )
    task = say("\N{PUSHPIN} Resume: {task}", task=checkpoint.task or _NO_TASK)
    yield Section(say(""), [Item(task, 100), Item(saved, 98)])
    done = [
        Item(say("- {text:lines}", text=text), 90 - n / 100)
        for n, text in _number_progress(checkpoint)
    ]
    yield Section(say("\N{WHITE HEAVY CHECK MARK} Progress:"), done, _count_rest)
    action = checkpoint.next_action
    guess = say(" (inferred from the session)" if action and action.origin == "inferred" else "")
    following = say(
        "\N{SOON WITH RIGHTWARDS ARROW ABOVE} Next action: {text:lines}{guess}",
        text=_strip_fences(action.text) if action else "not defined",
        guess=guess,
    )
    yield Section(say(""), [Item(following, 99)])
    stale = [*list_changes(checks)]
    yield Section(say("\N{WARNING SIGN}\ufe0f Stale warnings:"), stale, _count_rest)


def _build_since(saved: Checkpoint, newer: Checkpoint, checks: Checks) -> Section:
    """Return what an autosave adds to what was saved on purpose."""
    later = (newer.described_at - saved.described_at).total_seconds()
    heading = say(
        "\N{CLOCKWISE RIGHTWARDS AND LEFTWARDS OPEN CIRCLE ARROWS} Since it was saved "
        "(autosaved {age}):",
        age=times.age(max(0, checks.age_seconds - int(later))),
    )
    news = enumerate(_list_news(saved, newer))
    lines = [Item(say("- {text:lines}", text=text), 88 - n / 100) for n, text in news]
    return Section(heading, lines, _count_rest)


def _list_news(saved: Checkpoint, newer: Checkpoint) -> Iterator[str]:
    """Yield what happened after a checkpoint was saved, one line each."""
    action, known = newer.next_action, {saved.intent, saved.task, *saved.requests}
    for text in dict.fromkeys([*newer.requests, newer.intent]):
        if text and text not in known:
            yield f"asked: {text}"
    for label, key in _LISTED_SINCE.items():
        before = getattr(saved, key)
        found = [_name_value(each) for each in getattr(newer, key) if each not in before]
        yield from [f"{label}: {text}" for text in found]
    known_files = {*saved.files_modified, *saved.dirty}
    edited = [path for path in newer.files_modified if path not in known_files]
    if edited:
        yield f"edited: {', '.join(edited)}"
    if newer.left_off and newer.left_off != saved.left_off:
        yield f"last words: {newer.left_off}"
    if newer.in_flight and newer.in_flight != saved.in_flight:
        yield f"cut short: {newer.in_flight.tool} {newer.in_flight.what}"
    failure = newer.last_failure
    if failure and failure != saved.last_failure:
        yield f"failing: {failure.command}: {failure.error}"
    if action and action.origin == "stated" and action != saved.next_action:
        yield f"next action stated since: {action.text}"


_LISTED_SINCE = {
    "done": "done",
    "decided": "decisions",
    "failed": "failed",
    "blocker": "blockers",
    "question": "questions",
    "note": "notes",
    "waiting prompt": "pending_prompts",
}


def _name_value(value: str | Decision | Failure) -> str:
    if isinstance(value, str):
        return value
    return f"{value.what} — {value.why}" if value.why else value.what


def _number_progress(checkpoint: Checkpoint) -> Iterator[tuple[int, str]]:
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

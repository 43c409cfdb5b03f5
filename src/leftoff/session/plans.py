"""Find the plan that the work follows, and the step that it has reached."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from leftoff.checkpoint import Todo
from leftoff.errors import UsageError
from leftoff.lazy_patterns import lazy
from leftoff.projects.project import read_start
from leftoff.session.plan_text import PlanText, parse_plan

__all__ = [
    "FoundPlan",
    "PlanClues",
    "find_plan",
    "find_plan_paths",
    "guess_step",
    "matches_task",
    "parse_step",
    "read_plan",
    "step_of",
]


# --- the plan in use ---


_MAX_BYTES = 256 * 1024
_MAX_HEAD_BYTES = 2048
_MAX_FILES = 50
_MAX_ENTRIES = 5000
_MAX_PATH = 300

Origin = Literal["metadata", "conversation", "folder"]


class PlanClues(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that hints at a session's plan, the most reliable first.

    Paths and texts are in the order of the conversation; the last one counts. Relative paths start
    at `folder`.
    """

    stated_path: str | None = None
    seen_paths: Sequence[str] = ()
    seen_texts: Sequence[str] = ()
    plans_folders: Sequence[Path] = ()
    folder: Path | None = None
    task: str = ""


class FoundPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan in use; its file may be gone or may never have existed."""

    path: str | None
    plan: PlanText
    origin: Origin


def find_plan(clues: PlanClues) -> FoundPlan | None:
    """Find the plan: stated by the session, mentioned in it, or matching its task."""
    text = clues.seen_texts[-1] if clues.seen_texts else ""
    if clues.stated_path:
        return _plan_at(clues.stated_path, text, clues, "metadata")
    if clues.seen_paths:
        return _plan_at(clues.seen_paths[-1], text, clues, "conversation")
    if text:
        return FoundPlan(path=None, plan=parse_plan(text), origin="conversation")
    for path in _list_newest_plans(clues.plans_folders):
        head = _read_start(path, _MAX_HEAD_BYTES)
        if head and matches_task(head, clues.task):
            plan = read_plan(path) or parse_plan(head)
            return FoundPlan(path=os.fspath(path), plan=plan, origin="folder")
    return None


def read_plan(path: Path) -> PlanText | None:
    """Read a plan file; None if there is no readable one."""
    text = _read_start(path, _MAX_BYTES)
    return None if text is None else parse_plan(text)


def parse_step(words: str) -> tuple[int, int]:
    """Parse a step written as `3/7` or `3 of 7`."""
    found = re.fullmatch(r"\s*([0-9]{1,4})\s*(?:/|of)\s*([0-9]{1,4})\s*", words)
    step, total = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= step <= total:
        raise UsageError(
            f"Invalid step {words!r}: expected STEP/TOTAL.",
            hint="Give the step and the number of steps, for example 3/7.",
        )
    return step, total


_DONE = frozenset({"completed", "done", "cancelled", "canceled", "skipped", "deleted"})
_UNDER_WAY = frozenset({"in_progress", "in-progress", "active", "doing"})


def step_of(plan: PlanText | None, todos: Sequence[Todo] = ()) -> tuple[int, int] | None:
    """Return the current step and the number of steps; None if unknown.

    Open todos are more current than the plan, because few agents tick off their plan. If all todos
    are done they may belong to earlier work, so the plan's own marks come first.
    """
    opened = [at for at, todo in enumerate(todos, 1) if todo.status not in _DONE]
    under_way = [at for at in opened if todos[at - 1].status in _UNDER_WAY]
    if opened:
        return (under_way or opened)[0], len(todos)
    if plan is not None and plan.step is not None:
        return plan.step, plan.total
    return (len(todos), len(todos)) if todos else None


_CLAUSE_END = lazy(r"[.;,:!?\n]|\b(?:and|but)\b|[—–]", re.IGNORECASE)
_OVER = lazy(r"\b(?:done|finished|completed?|works|passes|merged)\b|✅", re.IGNORECASE)
_UNFINISHED = lazy(
    r"\b(?:not|half|partly|almost|nearly|until|when|before|once|to be)\b|n't\b", re.IGNORECASE
)
_MENTION = lazy(r"\b(?:step|task|phase|stage|part|milestone)\s+#?(\d{1,3})\b", re.IGNORECASE)


def guess_step(plan: PlanText, texts: Sequence[str], done: Sequence[str] = ()) -> int | None:
    """Return the step at which the work stopped, if the plan itself marks nothing as done.

    The texts say where it stopped; otherwise it is the step after the last one that was done.
    """
    clauses = [clause for text in texts for clause in _CLAUSE_END.split(text)]
    known = [step for each in clauses if not _is_over(each) for step in _list_named(plan, each)]
    found = [_find_step(plan, text) for text in texts]
    finished = [step for text in done if (step := _find_step(plan, text)) is not None]
    finished += [step for each in clauses if _is_over(each) for step in _list_named(plan, each)]
    after = [min(max(finished) + 1, plan.total)] if finished else []
    return next(iter([*known, *(step for step in found if step is not None), *after]), None)


def _list_named(plan: PlanText, text: str) -> list[int]:
    named = (int(found[1]) for found in _MENTION.finditer(text))
    return [step for step in named if 1 <= step <= plan.total]


def _is_over(clause: str) -> bool:
    """Return whether a part of a sentence says that a step is done, and not only half of it."""
    return _OVER.search(clause) is not None and _UNFINISHED.search(clause) is None


def _find_step(plan: PlanText, text: str) -> int | None:
    """Return the step that a text is about: the only one with most of its significant words."""
    words = _list_stems(text)
    counts = []
    for step in plan.steps:
        wanted = _list_stems(step.text)
        shared = wanted & words
        is_match = len(shared) >= 2 and 2 * len(shared) >= len(wanted)
        counts.append(len(shared) if is_match else 0)
    most = max(counts, default=0)
    return counts.index(most) + 1 if most and counts.count(most) == 1 else None


def _list_stems(text: str) -> set[str]:
    """Return the beginnings of the significant words: `migrating` is about `migrate`."""
    return {word[:_STEM] for word in _list_significant_words(text)}


_STEM = 5


# --- plans in a conversation ---

_PLAN_FILE = lazy(r"\bplans[\\/][\w.@+-]{1,200}?\.md\b")
_NO_PATH = lazy(r"[^\w.@+~:\\/-]")


def find_plan_paths(text: str) -> list[str]:
    """Return the files in a plans folder that a request mentions, in order."""
    paths = []
    for found in _PLAN_FILE.finditer(text):
        before = text[max(0, found.start() - _MAX_PATH) : found.start()]
        paths.append(_NO_PATH.split(before)[-1] + found[0])
    return paths


# Words too common to show which work a plan is for.
_COMMON_WORDS = frozenset(
    (
        "add all and are can change changes code create file files fix for from has have implement"
        " implementation into its let make new not now our plan please project should step steps"
        " support task tasks test tests that the them then this update use using want was will"
        " with work you your"
    ).split()
)


def matches_task(head: str, task: str) -> bool:
    """Return whether a plan's first lines match a task, by title or by many shared words."""
    wanted = _list_significant_words(task)
    title = _list_significant_words(parse_plan(head).title or "")
    shared = title & wanted
    # Short titles share words by chance, so at least two and half of them must match.
    if len(shared) >= 2 and 2 * len(shared) >= min(len(title), len(wanted)):
        return True
    shared = _list_significant_words(head) & wanted
    return len(shared) >= 4 and 3 * len(shared) >= 2 * len(wanted)


def _list_significant_words(text: str) -> set[str]:
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text)
    words = re.findall(r"[^\W_]{3,}", spaced.lower())
    return {word.removesuffix("s") for word in words if word not in _COMMON_WORDS}


# --- files ---


def _plan_at(name: str, text: str, clues: PlanClues, origin: Origin) -> FoundPlan:
    named = clues.folder / name if clues.folder else Path(name)
    # A session from another machine names a home folder that does not exist here; use the name.
    base = re.split(r"[\\/]", name)[-1]
    for place in (named, *(folder / base for folder in clues.plans_folders)):
        if place.is_absolute() and (plan := read_plan(place)) is not None:
            return FoundPlan(path=os.fspath(place), plan=plan, origin=origin)
    return FoundPlan(path=name, plan=parse_plan(text), origin=origin)


def _list_newest_plans(folders: Sequence[Path]) -> list[Path]:
    found = [entry for folder in folders for entry in _list_markdown_files(folder)]
    return [path for _, path in sorted(found, reverse=True)[:_MAX_FILES]]


def _list_markdown_files(folder: Path) -> Iterator[tuple[int, Path]]:
    try:
        with os.scandir(folder) as entries:
            for _, entry in zip(range(_MAX_ENTRIES), entries, strict=False):
                # A link could lead to a file that is not one of this agent's plans.
                if entry.name.endswith(".md") and entry.is_file(follow_symlinks=False):
                    yield entry.stat(follow_symlinks=False).st_mtime_ns, Path(entry.path)
    except OSError:
        return


def _read_start(path: Path, size: int) -> str | None:
    try:
        start = read_start(path, size + 1, follow=True)
    except (OSError, ValueError):
        return None
    if len(start) > size:
        # Drop the last line: cut in two, it could look like another step.
        start = start[: start.rfind(b"\n", 0, size) + 1] or start[:size]
    return start.decode("utf-8-sig", "replace")

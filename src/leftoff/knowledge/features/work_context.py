"""Build what a working agent needs to see: the current files, and a few lines for its helpers.

Both functions are pure: they take values and return bounded text.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import msgspec

from leftoff.git.query import PathChange, printable
from leftoff.knowledge.features.board import Feature, Fix, Loop
from leftoff.knowledge.features.interruption import list_failed_approaches
from leftoff.text.fence import Rendered, join, say

WORKING_LINES = 40
HELPER_CHARS = 500

# Lines of the rendered context without an entry, and the maximum number of entries per part.
_FRAME_LINES = 14
_MOST = {"decisions": 5, "understanding": 4, "next_steps": 5}
_CHANGES = {"?": "new", "A": "new", "D": "deleted", "R": "renamed", "C": "copied"}
# Related files to list before unrelated changes.
_RELATED_FIRST = 5
# How many of each may compete for the 500 characters.
_SCENARIOS, _FAILURES, _RULES = 5, 3, 5


class WorkNotes(msgspec.Struct, frozen=True, kw_only=True):
    """What only the agent or person at work can know."""

    decisions: Sequence[str] = ()
    understanding: Mapping[str, str] = {}
    next_steps: Sequence[str] = ()


class WorkingContext(msgspec.Struct, frozen=True, kw_only=True):
    """The state of the work, in at most 40 lines of JSON."""

    updated_at: datetime
    feature: str | None = None
    summary: str = ""
    files: dict[str, str] = {}
    decisions: list[str] = []
    understanding: dict[str, str] = {}
    next_steps: list[str] = []


def collect_working_context(
    item: Feature | Fix | None, changes: Iterable[PathChange], notes: WorkNotes, at: datetime
) -> WorkingContext:
    """Collect the state of the work: the feature or fix at hand, and the current files."""
    decisions = _format_lines(notes.decisions)[-_MOST["decisions"] :]
    understanding = dict(list(notes.understanding.items())[: _MOST["understanding"]])
    next_steps = _format_lines(notes.next_steps)[: _MOST["next_steps"]]
    room = WORKING_LINES - _FRAME_LINES - len(decisions) - len(understanding) - len(next_steps)
    files = _describe_roles(item, changes)
    return WorkingContext(
        updated_at=at,
        feature=item.id if item else None,
        summary=item.name if item else "",
        files=dict(list(files.items())[:room]),
        decisions=decisions,
        understanding={key: _format_line(text) for key, text in understanding.items()},
        next_steps=next_steps,
    )


def _describe_roles(item: Feature | Fix | None, changes: Iterable[PathChange]) -> dict[str, str]:
    """Describe the role of each file in the work, with the changed files of the item first.

    Some of its other files come next, so that many unrelated changes do not crowd them out.
    """
    related = item.related_files if item else []
    part = f"part of {item.id}" if item else ""
    changed = {printable(each.path): describe_change(each) for each in changes}
    both = {path: f"{changed[path]} - {part}" for path in related if path in changed}
    rest = {path: f"related - {part}" for path in related if path not in changed}
    others = {path: how for path, how in changed.items() if path not in both}
    near = dict(list(rest.items())[:_RELATED_FIRST])
    return {**both, **near, **others, **rest}


def describe_change(change: PathChange) -> str:
    """Return what happened to a file, such as new, modified or deleted."""
    letters = change.code.replace(".", "")
    how = next((_CHANGES[letter] for letter in letters if letter in _CHANGES), "modified")
    return f"{how} from {printable(change.from_path)}" if change.from_path else how


def helper_text(
    loop: Loop,
    item: Feature | Fix,
    *,
    verify: Sequence[str] = (),
    rules: Sequence[str] = (),
) -> Rendered:
    """Brief a helper agent, in at most 500 characters, on the work and on what to avoid."""
    head = say(
        "Feature {id:100}: {name:200} (attempt {attempt}/{most})",
        id=loop.feature,
        name=item.name,
        attempt=loop.attempt,
        most=loop.max_attempts,
    )
    lines = [say("Verify: {text:110}", text="; ".join(verify))] if verify else []
    failed = list_failed_approaches(loop.history)[-_FAILURES:]
    lines += [say("Avoid: {text:90}", text=each) for each in failed]
    lines += [say("Rule: {text:70}", text=each) for each in rules[:_RULES]]
    names = [each.scenario or each.then for each in item.scenarios[:_SCENARIOS]]
    lines += [say("Must hold: {text:60}", text=each) for each in names if each]
    return _keep_fitting([head, *lines], HELPER_CHARS)


def _keep_fitting(lines: Sequence[Rendered], limit: int) -> Rendered:
    kept: list[Rendered] = []
    for line in lines:
        # Skip a line that is too long, but try the shorter ones after it.
        if len(join([*kept, line])) <= limit:
            kept.append(line)
    return join(kept)


def _format_lines(texts: Sequence[str]) -> list[str]:
    return [_format_line(text) for text in texts if text.strip()]


def _format_line(text: str, limit: int = 200) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"

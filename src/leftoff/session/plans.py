"""Find the plan that the work follows, and read its title and steps."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from leftoff.checkpoint import Todo
from leftoff.errors import UsageError
from leftoff.projects.project import read_start

__all__ = [
    "FoundPlan",
    "PlanClues",
    "PlanStep",
    "PlanText",
    "find_pasted_plan",
    "find_plan",
    "find_plan_paths",
    "guess_step",
    "matches_task",
    "parse_plan",
    "parse_step",
    "read_plan",
    "step_of",
]


# --- the steps of a plan, however it is formatted ---


_MAX_LINE = 1000
_MAX_TEXT = 300
_MAX_TITLE = 200


class PlanStep(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a plan."""

    text: str
    done: bool = False


class PlanText(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed plan; `step` is None if nothing in it marks what is done."""

    title: str | None = None
    steps: list[PlanStep] = []
    step: int | None = None

    @property
    def total(self) -> int:
        """The number of steps."""
        return len(self.steps)


class _Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A heading or list item; `sections` are the headings above it, without the plan's title."""

    kind: Literal["heading", "box", "number", "bullet"]
    depth: int
    text: str
    done: bool = False
    sections: tuple[str, ...] = ()


def parse_plan(text: str) -> PlanText:
    """Parse a plan's title, its steps, and the first step that is not done."""
    lines = list(_prose_lines(text))
    entries = list(_entries(lines))
    steps, is_marked = _steps(entries)
    done = sum(step.done for step in steps)
    return PlanText(
        title=_title(lines, entries),
        steps=steps,
        step=min(done + 1, len(steps)) if steps and (is_marked or done) else None,
    )


# --- which entries are steps ---

# Text allowed before a heading's first word: emphasis, an emoji, a checkbox.
_ORNAMENT = r"\W*(?:x\]\W*)?"
_TASK = re.compile(_ORNAMENT + r"(?:step|task)\s+#?\d", re.IGNORECASE)
_PART = re.compile(
    _ORNAMENT + r"(?:phase|stage|part|milestone|change|fix|commit|pr|iteration)\s+#?\d",
    re.IGNORECASE,
)
_NUMBERED = re.compile(_ORNAMENT + r"\d{1,3}(?:\.\d{1,3})*(?:[.):]\s|\s)\s*\S", re.IGNORECASE)
_PLANNING = re.compile(
    r"\b(?:steps?|plan|tasks?|to-?dos?|implementation|changes|checklist|progress|roadmap)\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"\b(?:verif\w+|criteria|test plan|testing|how to test|out of scope|non-goals|risks?|notes?"
    r"|questions?|rollback|background|context|references?|alternatives?|definition of done)\b",
    re.IGNORECASE,
)


def _steps(entries: Sequence[_Entry]) -> tuple[list[PlanStep], bool]:
    """Choose the entries that are steps, and return whether they carry done marks by nature."""
    boxes = [entry for entry in entries if entry.kind == "box"]
    boxes = _outermost([entry for entry in boxes if not _is_aside(entry)] or boxes)
    headings = [entry for entry in entries if entry.kind == "heading" and not _is_aside(entry)]
    tasks = [entry for entry in headings if _TASK.match(entry.text)]
    if boxes:
        # Checkboxes below numbered tasks are details of a task. The tasks are the steps.
        ticked = _with_boxes(entries, tasks)
        return _as_steps(ticked if len(ticked) >= 2 else boxes), True
    parts = [entry for entry in headings if _PART.match(entry.text)]
    numbered = [entry for entry in headings if _NUMBERED.match(entry.text)]
    listed = [entry for entry in entries if entry.kind == "number" and _is_planned(entry)]
    # A bare bullet can be anything, unless its heading announces steps.
    bullets = [entry for entry in entries if entry.kind == "bullet" and entry.sections]
    planned = _outermost([entry for entry in bullets if _is_planned(entry)])
    units = tasks or parts or _best_group(numbered) or _outermost(listed) or planned
    return _as_steps(units), False


def _as_steps(entries: Sequence[_Entry]) -> list[PlanStep]:
    return [PlanStep(text=entry.text[:_MAX_TEXT], done=entry.done) for entry in entries]


def _is_aside(entry: _Entry) -> bool:
    return any(_ASIDE.search(section) for section in entry.sections)


def _is_planned(entry: _Entry) -> bool:
    if _is_aside(entry):
        return False
    return not entry.sections or any(_PLANNING.search(section) for section in entry.sections)


def _outermost(entries: Sequence[_Entry]) -> list[_Entry]:
    edge = min((entry.depth for entry in entries), default=0)
    # Lists are often misaligned by one space; two spaces mark a sub-item.
    return [entry for entry in entries if entry.depth <= edge + 1]


def _best_group(headings: Sequence[_Entry]) -> list[_Entry]:
    """Choose the numbered headings of one section, preferring one that is about work."""
    groups: dict[tuple[int, tuple[str, ...]], list[_Entry]] = {}
    for heading in headings:
        groups.setdefault((heading.depth, heading.sections), []).append(heading)
    several = [group for group in groups.values() if len(group) >= 2]
    working = [group for group in several if _PLANNING.search(" ".join(group[0].sections[-1:]))]
    return max(working or several, key=len, default=[])


def _with_boxes(entries: Sequence[_Entry], tasks: Sequence[_Entry]) -> list[_Entry]:
    """Return the tasks, done if all boxes below are ticked; none if most tasks have no boxes."""
    wanted = set(map(id, tasks))
    below: list[tuple[_Entry, list[bool]]] = []
    is_inside = False
    for entry in entries:
        if id(entry) in wanted:
            below.append((entry, []))
            is_inside = True
        elif entry.kind == "heading" and below and entry.depth <= below[-1][0].depth:
            is_inside = False
        elif entry.kind == "box" and is_inside:
            below[-1][1].append(entry.done)
    # The boxes belong to something else, such as a checklist at the end of some tasks.
    if 2 * sum(bool(ticks) for _, ticks in below) < len(below):
        return []
    return [
        msgspec.structs.replace(task, done=task.done or (bool(ticks) and all(ticks)))
        for task, ticks in below
    ]


# --- markdown ---

_FENCE = re.compile(r"[\s>]*(?:(?:[-*+]|\d+[.)])\s+)?(`{3,}|~{3,})(.*)")
_HEADING = re.compile(r" {0,3}(#{1,6})\s+(\S.*)")
_LEAD_IN = re.compile(r"\s*(?:\*\*([^*]{2,80})\*\*:?|([A-Z][\w ]{2,40}):)\s*")
_LEAD_IN_DEPTH = 7
_ITEM = re.compile(r"([\s>]*)(?:[-*+]|(\d{1,3})[.)])\s+(\S.*)")
_BOX = re.compile(r"\[([ xX✓✔~/>*-]?)\](?:\s+(.*)|$)")
_SIGN = re.compile("([✅☑✔⬜☐🔲◻⏳🔄🚧])\ufe0f?\\s*(.*)")
_DONE_SIGNS = frozenset("xX✓✔-✅☑")
_DONE_WORDS = re.compile(
    r"^\W*(?:[✅☑✔]|\[x\])|^\W*~~[^~]+~~\W*$|[✅☑✔]\ufe0f?\W*$"
    r"|[\[(](?:done|completed?)[\])]\W*$"
    r"|\s[-:\N{EN DASH}\N{EM DASH}]\s*(?:done|completed)\W*$",
    re.IGNORECASE,
)


def _prose_lines(text: str) -> Iterator[str]:
    """Yield the lines outside front matter and fenced code, truncated if very long."""
    lines = text.split("\n")
    # A plan that begins with a horizontal rule has no front matter unless a second one follows.
    if lines[0].strip() == "---" and "---" in (line.strip() for line in lines[1:]):
        end = next(at for at, line in enumerate(lines[1:], 1) if line.strip() == "---")
        lines = lines[end + 1 :]
    fence = ""
    for whole in lines:
        line = whole[:_MAX_LINE].rstrip()
        mark = _FENCE.match(line)
        if not fence:
            if mark:
                fence = mark[1]
            else:
                yield line
        elif mark and mark[1].startswith(fence) and not mark[2].strip():
            fence = ""


def _entries(lines: Sequence[str]) -> Iterator[_Entry]:
    # Signs such as ✅ are checkboxes only if the plan also uses their open counterparts.
    has_open_signs = any(sign in line for line in lines for sign in "⬜☐🔲◻⏳🔄🚧")
    around: list[tuple[int, str]] = []
    title: str | None = None
    for line in lines:
        entry = _heading(line) or _item(line, has_open_signs=has_open_signs)
        if entry is None:
            continue
        if entry.kind == "heading":
            around = [(depth, text) for depth, text in around if depth < entry.depth]
        yield msgspec.structs.replace(entry, sections=tuple(text for _, text in around))
        if entry.kind == "heading" and title is None and entry.depth < _LEAD_IN_DEPTH:
            title = entry.text
        elif entry.kind == "heading":
            around.append((entry.depth, entry.text))


def _heading(line: str) -> _Entry | None:
    if found := _HEADING.match(line):
        text = found[2].rstrip("#").rstrip() or found[2]
        return _Entry(kind="heading", depth=len(found[1]), text=text, done=_is_done(text))
    if found := _LEAD_IN.fullmatch(line):
        text = (found[1] or found[2]).rstrip(":")
        return _Entry(kind="heading", depth=_LEAD_IN_DEPTH, text=text, done=_is_done(text))
    return None


def _item(line: str, *, has_open_signs: bool) -> _Entry | None:
    item = _ITEM.match(line)
    if item is None:
        return None
    depth = len(item[1].replace("\t", "    "))
    # A tick before an item can mean approval. Next to open boxes it means progress.
    box = _BOX.match(item[3]) or (_SIGN.match(item[3]) if has_open_signs else None)
    if box is not None:
        text = (box[2] or "").strip()
        is_ticked = bool(box[1]) and box[1] in _DONE_SIGNS
        return _Entry(kind="box", depth=depth, text=text, done=is_ticked or _is_done(text))
    kind: Literal["number", "bullet"] = "number" if item[2] is not None else "bullet"
    return _Entry(kind=kind, depth=depth, text=item[3], done=_is_done(item[3]))


def _is_done(text: str) -> bool:
    return _DONE_WORDS.search(text) is not None


def _title(lines: Sequence[str], entries: Sequence[_Entry]) -> str | None:
    headings = [
        entry for entry in entries if entry.kind == "heading" and entry.depth < _LEAD_IN_DEPTH
    ]
    if headings:
        chosen = next((entry for entry in headings if entry.depth == 1), headings[0])
        return chosen.text[:_MAX_TITLE]
    first = next((line for line in lines if line.strip()), "")
    return first.strip(" *_#>-=\t").rstrip(":")[:_MAX_TITLE] or None


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
    for path in _newest_plans(clues.plans_folders):
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


_MENTION = re.compile(r"\b(?:step|task|phase|stage|part|milestone)\s+#?(\d{1,3})\b", re.IGNORECASE)


def guess_step(plan: PlanText, texts: Sequence[str], done: Sequence[str] = ()) -> int | None:
    """Return the step at which the work stopped, if the plan itself marks nothing as done.

    The texts say where it stopped; otherwise it is the step after the last one that was done.
    """
    named = [int(found[1]) for text in texts for found in _MENTION.finditer(text)]
    known = [step for step in named if 1 <= step <= plan.total]
    found = [_find_step(plan, text) for text in texts]
    finished = [step for text in done if (step := _find_step(plan, text)) is not None]
    after = [min(max(finished) + 1, plan.total)] if finished else []
    return next(iter([*known, *(step for step in found if step is not None), *after]), None)


def _find_step(plan: PlanText, text: str) -> int | None:
    """Return the step that a text is about: the only one with most of its telling words."""
    words = _stems(text)
    counts = []
    for step in plan.steps:
        wanted = _stems(step.text)
        shared = wanted & words
        is_match = len(shared) >= 2 and 2 * len(shared) >= len(wanted)
        counts.append(len(shared) if is_match else 0)
    most = max(counts, default=0)
    return counts.index(most) + 1 if most and counts.count(most) == 1 else None


def _stems(text: str) -> set[str]:
    """Return the beginnings of the telling words: `migrating` is about `migrate`."""
    return {word[:_STEM] for word in _telling_words(text)}


_STEM = 5


# --- plans in a conversation ---

_PLAN_FILE = re.compile(r"\bplans[\\/][\w.@+-]{1,200}?\.md\b")
_NO_PATH = re.compile(r"[^\w.@+~:\\/-]")
_PASTED = re.compile(
    r"\bimplement (?:the following|this) plan\b[^\n]{0,200}\n\s*(\S.*)", re.IGNORECASE | re.DOTALL
)


def find_plan_paths(text: str) -> list[str]:
    """Return the files in a plans folder that a request mentions, in order."""
    paths = []
    for found in _PLAN_FILE.finditer(text):
        before = text[max(0, found.start() - _MAX_PATH) : found.start()]
        paths.append(_NO_PATH.split(before)[-1] + found[0])
    return paths


def find_pasted_plan(text: str) -> str | None:
    """Return the plan text in a request such as `Implement the following plan:`."""
    found = _PASTED.search(text)
    return found[1].strip() if found else None


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
    wanted = _telling_words(task)
    title = _telling_words(parse_plan(head).title or "")
    shared = title & wanted
    # Short titles share words by chance, so at least two and half of them must match.
    if len(shared) >= 2 and 2 * len(shared) >= min(len(title), len(wanted)):
        return True
    shared = _telling_words(head) & wanted
    return len(shared) >= 4 and 3 * len(shared) >= 2 * len(wanted)


def _telling_words(text: str) -> set[str]:
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


def _newest_plans(folders: Sequence[Path]) -> list[Path]:
    found = [entry for folder in folders for entry in _markdown_files(folder)]
    return [path for _, path in sorted(found, reverse=True)[:_MAX_FILES]]


def _markdown_files(folder: Path) -> Iterator[tuple[int, Path]]:
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

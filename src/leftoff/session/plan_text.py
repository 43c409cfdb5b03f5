"""Read the title and the steps of a plan, however it is formatted."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from leftoff.lazy_patterns import lazy

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

    kind: Literal["heading", "box", "number", "bullet", "row"]
    depth: int
    text: str
    done: bool = False
    sections: tuple[str, ...] = ()


def parse_plan(text: str) -> PlanText:
    """Parse a plan's title, its steps, and the first step that is not done."""
    lines = list(_list_prose_lines(text))
    entries = list(_list_entries(lines))
    steps, is_marked = _choose_steps(entries)
    done = sum(step.done for step in steps)
    return PlanText(
        title=_find_title(lines, entries),
        steps=steps,
        step=min(done + 1, len(steps)) if steps and (is_marked or done) else None,
    )


# --- which entries are steps ---

# Text allowed before a heading's first word: emphasis, an emoji, a checkbox.
_ORNAMENT = r"\W*(?:x\]\W*)?"
_TASK = lazy(
    _ORNAMENT + r"(?:step|task|étape|tâche|schritt|aufgabe|paso|tarea|passo|步骤|ステップ)\s*#?\d",
    re.IGNORECASE,
)
_PART = lazy(
    _ORNAMENT + r"(?:phase|stage|part|milestone|change|fix|commit|pr|iteration)\s+#?\d",
    re.IGNORECASE,
)
_NUMBERED = lazy(_ORNAMENT + r"\d{1,3}(?:\.\d{1,3})*(?:[.):]\s|\s)\s*\S", re.IGNORECASE)
_PLANNING = lazy(
    r"\b(?:steps?|plan|tasks?|to-?dos?|implementation|changes|checklist|progress|roadmap"
    r"|étapes?|tâches|schritte?|aufgaben|pasos|tareas|passos|passi)\b|步骤|手順|ステップ",
    re.IGNORECASE,
)
_ASIDE = lazy(
    r"\b(?:verif\w+|criteria|test plan|testing|how to test|out of scope|non-goals|risks?|notes?"
    r"|questions?|rollback|background|context|references?|alternatives?|definition of done)\b",
    re.IGNORECASE,
)


def _choose_steps(entries: Sequence[_Entry]) -> tuple[list[PlanStep], bool]:
    """Choose the entries that are steps, and return whether they carry done marks by nature."""
    boxes = [entry for entry in entries if entry.kind == "box"]
    boxes = _keep_outermost([entry for entry in boxes if not _is_aside(entry)] or boxes)
    headings = [entry for entry in entries if entry.kind == "heading" and not _is_aside(entry)]
    tasks = [entry for entry in headings if _TASK.match(entry.text)]
    if boxes:
        # Checkboxes below numbered tasks are details of a task. The tasks are the steps.
        ticked = _with_boxes(entries, tasks)
        if len(ticked) >= 2 or len(tasks) <= len(boxes):
            return _as_steps(ticked if len(ticked) >= 2 else boxes), True
    parts = [entry for entry in headings if _PART.match(entry.text)]
    numbered = [entry for entry in headings if _NUMBERED.match(entry.text)]
    listed = [entry for entry in entries if entry.kind == "number" and _is_planned(entry)]
    # A bare bullet can be anything, unless its heading announces steps.
    bullets = [entry for entry in entries if entry.kind == "bullet" and entry.sections]
    planned = _keep_outermost([entry for entry in bullets if _is_planned(entry)])
    rows = [entry for entry in entries if entry.kind == "row" and not _is_aside(entry)]
    units = tasks or parts or _choose_group(numbered) or rows or _keep_outermost(listed) or planned
    return _as_steps(units or _list_bare(entries)), False


def _list_bare(entries: Sequence[_Entry]) -> list[_Entry]:
    """Return the bullets of a plan that nothing announces, if some of them are struck through."""
    bullets = [entry for entry in entries if entry.kind == "bullet" and not _is_aside(entry)]
    bullets = _keep_outermost(bullets)
    is_struck = any(entry.done and entry.text.lstrip("* ")[:1] in {"~", "<"} for entry in bullets)
    return bullets if is_struck else []


def _as_steps(entries: Sequence[_Entry]) -> list[PlanStep]:
    return [PlanStep(text=entry.text[:_MAX_TEXT], done=entry.done) for entry in entries]


def _is_aside(entry: _Entry) -> bool:
    return any(_ASIDE.search(section) for section in entry.sections)


def _is_planned(entry: _Entry) -> bool:
    if _is_aside(entry):
        return False
    return not entry.sections or any(_PLANNING.search(section) for section in entry.sections)


def _keep_outermost(entries: Sequence[_Entry]) -> list[_Entry]:
    edge = min((entry.depth for entry in entries), default=0)
    # Lists are often misaligned by one space; two spaces mark a sub-item.
    return [entry for entry in entries if entry.depth <= edge + 1]


def _choose_group(headings: Sequence[_Entry]) -> list[_Entry]:
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

_FENCE = lazy(r"[\s>]*(?:(?:[-*+]|\d+[.)])\s+)?(`{3,}|~{3,})(.*)")
_HEADING = lazy(r" {0,3}(#{1,6})\s+(\S.*)")
_LEAD_IN = lazy(r"\s*(?:\*\*([^*]{2,80})\*\*:?|([A-Z][\w ]{2,40}):)\s*")
_LEAD_IN_DEPTH = 7
_ITEM = lazy(r"([\s>]*)(?:[-*+]|(\d{1,3})[.)])\s+(\S.*)")
_BOX = lazy(r"\[([ xX✓✔~/>*-]?)\](?:\s+(.*)|$)")
_SIGN = lazy("([✅☑✔⬜☐🔲◻⏳🔄🚧])\ufe0f?\\s*(.*)")
_STRUCK_NUMBER = lazy(r"^(\s*)~~(\d{1,3}[.)])\s+(?=[^~]+~~)(\S)")
_ROW = lazy(r"\s*\|(.*?)\|?\s*$")
_ROW_RULER = lazy(r"\s*\|[\s:]*-+[\s|:-]*$")
_ROW_NUMBER = lazy(r"\W*\d{0,3}\W*")
_OF_STEPS = lazy(
    r"^\W*(?:steps?|tasks?|phases?|stages?|to-?dos?|milestones?|étapes?|tâches?|schritte?|aufgaben?"
    r"|pasos?|tareas?|步骤|任务|ステップ)\W*#?\W*$",
    re.IGNORECASE,
)
_OF_STATE = lazy(
    r"^\W*(?:status|state|done\??|progress|complete[d]?\??|état|statut|fait|stand|erledigt|estado"
    r"|hecho|状态|完成|状態)\W*$|^\W*[✅☑✔✓]",
    re.IGNORECASE,
)
_DONE_STATE = lazy(
    r"\W*(?:[✅☑✔✓]|x\b|done|complete|yes|finished|merged|skipped|dropped|cancel+ed|fait|terminé|oui"
    r"|erledigt|fertig|ja\b|hecho|listo|sí\b|完成|已完成|完了)",
    re.IGNORECASE,
)
_DONE_SIGNS = frozenset("xX✓✔-✅☑")
# A struck text with other words after it was replaced by those.
_STRUCK = (
    r"^[^\w~]*~~[^~]+~~(?=\W*(?:$|\(|done|dropped|skipped|no longer|not needed|obsolete|removed"
    r"|cancel+ed|completed?))"
)
_DONE_WORDS = lazy(
    rf"{_STRUCK}|"
    r"^\W*(?:[✅☑✔]|\[x\])|^\W*<(?:s|del|strike)>|[✅☑✔]\ufe0f?\W*$"
    r"|[\[(](?:done|completed?)[\])]\W*$"
    r"|\s[-:\N{EN DASH}\N{EM DASH}]\s*(?:done|completed)\W*$",
    re.IGNORECASE,
)


def _list_prose_lines(text: str) -> Iterator[str]:
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


def _list_entries(lines: Sequence[str]) -> Iterator[_Entry]:
    # Signs such as ✅ are checkboxes only if the plan also uses their open counterparts.
    has_open_signs = any(sign in line for line in lines for sign in "⬜☐🔲◻⏳🔄🚧")
    around: list[tuple[int, str]] = []
    title: str | None = None
    rows = dict(_list_rows(lines))
    for at, whole in enumerate(lines):
        line = _STRUCK_NUMBER.sub(r"\1\2 ~~\3", whole)
        entry = (
            rows.get(at) or _read_heading(line) or _read_item(line, has_open_signs=has_open_signs)
        )
        if entry is None:
            continue
        if entry.kind == "heading":
            around = [(depth, text) for depth, text in around if depth < entry.depth]
        yield msgspec.structs.replace(entry, sections=tuple(text for _, text in around))
        if entry.kind == "heading" and title is None and entry.depth < _LEAD_IN_DEPTH:
            title = entry.text
        elif entry.kind == "heading":
            around.append((entry.depth, entry.text))


def _list_rows(lines: Sequence[str]) -> Iterator[tuple[int, _Entry]]:
    """Yield the rows of tables that list steps, by their lines."""
    header: list[str] | None = None
    for at, line in enumerate(lines):
        found = _ROW.match(line)
        if found is None:
            header = None
        elif header is None:
            is_header = at + 1 < len(lines) and _ROW_RULER.match(lines[at + 1])
            cells = _split_cells(found[1]) if is_header else []
            header = cells if any(map(_OF_STEPS.search, cells)) else None
        elif not _ROW_RULER.match(line):
            yield at, _read_row(header, _split_cells(found[1]))


def _read_row(header: Sequence[str], cells: Sequence[str]) -> _Entry:
    """Read a row: it is done if a cell of its own says so, or if it is struck through."""
    named = [*zip(header, cells, strict=False)]
    states = [cell for title, cell in named if _OF_STATE.search(title)]
    others = [cell for title, cell in named if cell and not _OF_STATE.search(title)]
    texts = [cell for cell in others if not _ROW_NUMBER.fullmatch(cell)] or others
    text = " ".join(texts[:1])
    is_done = any(map(_DONE_STATE.match, states)) or any(map(_is_done, others))
    return _Entry(kind="row", depth=0, text=text, done=is_done)


def _split_cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.split("|")]


def _read_heading(line: str) -> _Entry | None:
    if found := _HEADING.match(line):
        text = found[2].rstrip("#").rstrip() or found[2]
        return _Entry(kind="heading", depth=len(found[1]), text=text, done=_is_done(text))
    if found := _LEAD_IN.fullmatch(line):
        text = (found[1] or found[2]).rstrip(":")
        return _Entry(kind="heading", depth=_LEAD_IN_DEPTH, text=text, done=_is_done(text))
    return None


def _read_item(line: str, *, has_open_signs: bool) -> _Entry | None:
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


def _find_title(lines: Sequence[str], entries: Sequence[_Entry]) -> str | None:
    headings = [
        entry for entry in entries if entry.kind == "heading" and entry.depth < _LEAD_IN_DEPTH
    ]
    if headings:
        chosen = next((entry for entry in headings if entry.depth == 1), headings[0])
        return chosen.text[:_MAX_TITLE]
    first = next((line for line in lines if line.strip()), "")
    return first.strip(" *_#>-=\t").rstrip(":")[:_MAX_TITLE] or None

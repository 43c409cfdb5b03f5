"""The look that all commands share: color by role, widths, wrapping, rules, pages and threads.

Functions here take text that is safe to print and return lines; `Output` in app.py prints them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click
import msgspec

from leftoff import cli
from leftoff.text import fence

GAP = "  "

STYLES: Mapping[str, Mapping[str, Any]] = {
    "title": {"bold": True},
    "label": {"bold": True},
    "name": {"fg": "cyan"},
    "quiet": {"dim": True},
    "next": {"fg": "green", "bold": True},
    "good": {"fg": "green"},
    "warning": {"fg": "yellow"},
    "bad": {"fg": "red"},
}
"""What each role looks like. Only the terminal's own colors, so that every theme can show them."""


class Look(msgspec.Struct, frozen=True):
    """How wide the terminal is, and whether it shows color."""

    columns: int = 80
    has_color: bool = False

    def paint(self, role: str, text: str) -> str:
        """Return a text in the color of its role."""
        return click.style(text, **STYLES[role]) if text and self.has_color else text

    def narrow(self, columns: int) -> "Look":
        """Return the same look for a part of the screen."""
        return msgspec.structs.replace(self, columns=columns)


# --- widths ---


# Patterns are compiled when they are first used: most lists are short and plain.
# Characters of one column each, and of two: Chinese, Japanese and Korean. Text with anything else
# needs wcwidth, which takes time to load.
_NARROW = " -~\xa0-\xac\xae-\u02ff‐-‧‹›→↑↓─│✓✗⚠"
_WIDE = "\u3001-\u3029\u3041-\u3096\u30a1-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60"
_SIMPLE = f"[{_NARROW}{_WIDE}]*"
_SIGNS = dict.fromkeys(map(ord, "‐‑‒–—―‘’“”…•‹›→↑↓─│✓✗⚠"), "-")
_LAST_LATIN = "\u02ff"
_RIGHT_TO_LEFT = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]"
_LEFT_TO_RIGHT_MARK = "\u200e"


def width(text: str) -> int:
    """Return how many columns a text takes up on a screen."""
    if text.isascii() or _is_narrow(text):
        return len(text)
    if re.fullmatch(_SIMPLE, text):
        return len(text) + len(re.findall(f"[{_WIDE}]", text))
    return cli.wide_text.measure(text)


def _is_narrow(text: str) -> bool:
    """Return whether a text has only Latin letters and common signs; most others need a pattern."""
    # Compiling the patterns takes 4 ms, and every line that was cut ends with an ellipsis.
    plain = text.translate(_SIGNS)
    return plain.isprintable() and max(plain, default="") <= _LAST_LATIN


def cut(line: str, limit: int) -> str:
    """Cut a line that is too wide, between two words if it can, and mark that with an ellipsis."""
    if width(line) <= limit:
        return line
    if not (line.isascii() or _is_narrow(line) or re.fullmatch(_SIMPLE, line)):
        return f"{_end_at_word(cli.wide_text.cut_to(line, limit - 1), line)}…"
    kept = line[: max(0, limit - 1)]
    while width(kept) >= max(1, limit):
        kept = kept[:-1]
    return f"{_end_at_word(kept, line)}…"


def _end_at_word(kept: str, line: str) -> str:
    """Drop the cut-off word at the end, unless that would drop more than half of the text."""
    is_whole = line[len(kept) : len(kept) + 1].isspace()
    whole = (kept if is_whole else kept.rpartition(" ")[0]).rstrip(" ,;:-–—")
    return whole if 2 * len(whole) >= len(kept) else kept


def pad(text: str, places: int) -> str:
    """Fill a text with spaces up to a width."""
    return text + " " * (places - width(text))


def isolate(text: str) -> str:
    """Keep Hebrew or Arabic text from turning around what follows on the same line."""
    # Without the mark, a terminal would show the digits of "2h ago" before the text.
    return f"{text}{_LEFT_TO_RIGHT_MARK}" if re.search(_RIGHT_TO_LEFT, text) else text


# --- wrapping ---


_INDENT = r"(?:\s*(?:[-+>│] |\d{1,2}\. )?)"
# A short label, and at least two spaces before its text.
_LABELLED = r"\s*[^\s:]+(?: [^\s:]+)?\s{2,}(?=\S)"
_WORDS = r"(?<=\S)(?=\s)"
# Chinese, Japanese and Korean text has no spaces, and may be wrapped between any two characters.
_WITHOUT_SPACES = "[\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\uff00-\uff60]"
_LEAST_COLUMNS = 8


def wrap_line(line: str, limit: int, indent: str | None = None) -> list[str]:
    """Wrap a line at spaces; what follows is indented like its text.

    A word that is wider than the line is left whole if it is plain: it may be a path or a command
    that someone wants to copy.
    """
    limit = max(limit, _LEAST_COLUMNS)
    if width(line) <= limit:
        return [line]
    mark = re.match(_INDENT, line)
    indent = " " * (len(mark[0]) if mark else 0) if indent is None else indent
    rows, row = [], ""
    for word in _split_words(line):
        # A label stays on the line of what it is about.
        if row.strip() and width(row) >= len(indent) and width(row + word) > limit:
            rows.append(row.rstrip())
            row = indent + word.lstrip()
        else:
            row += word
    return [*rows, row.rstrip()]


def wrap_text(text: str, limit: int) -> list[str]:
    """Wrap lines at words, for a person; a quiet bar marks quoted text.

    What follows a label, such as `hooks    off`, stays in its column.
    """
    return [row for line in text.split("\n") for row in _wrap_shown(line, limit)]


def _wrap_shown(line: str, limit: int) -> list[str]:
    if _is_quote(line):
        return wrap_line(_show_quotes(line), limit, "│ ")
    return wrap_line(line, limit, _hang(line, limit))


def _hang(line: str, limit: int) -> str | None:
    """Return the indent under the text of a labeled line; None if it has no label."""
    found = re.match(_LABELLED, line)
    return " " * found.end() if found and found.end() <= limit // 3 else None


def wrap_to(text: str, limit: int, most: int) -> list[str]:
    """Wrap a text to a number of lines, and cut the rest."""
    rows = wrap_line(" ".join(text.split()), limit, "")
    if len(rows) > most:
        rows = [*rows[: most - 1], " ".join(rows[most - 1 :])]
    return [cut(row, limit) for row in rows]


def _split_words(line: str) -> Iterator[str]:
    for word in re.split(_WORDS, line):
        if re.search(_WITHOUT_SPACES, word):
            yield from word
        else:
            yield word


# --- rules ---


_LONGEST_RULE = 100


def draw_rule(look: Look, title: str = "", longest: int = _LONGEST_RULE) -> str:
    """Return a quiet line across the screen, with a title in it."""
    columns = min(look.columns, longest)
    if not title:
        return look.paint("quiet", "─" * columns)
    shown = cut(title, columns - 4)
    rest = "─" * (columns - width(shown) - 4)
    return f"{look.paint('quiet', '──')} {look.paint('label', shown)} {look.paint('quiet', rest)}"


# --- pages: a title, then sections with their labels in a column of their own ---


# What a line of a briefing is about: "Task:", "Next action (inferred from the plan):".
_LABEL = r"((?:⚠ )?[A-Z][^:`]{0,60}):(?: |$)"
_WIDEST_LABEL = 19
_SIDE_BY_SIDE = 72
_HEADS = ("Checkpoint: ", "Thread: ", "Left off ", "Saved ")
_WARNING = "Warning: "
_ROLES = {"Next action": "next", "Changed since": "warning", "⚠": "warning", "Warning": "warning"}


class PageSection(msgspec.Struct, frozen=True):
    """A label and the lines under it; a section without a label is a paragraph."""

    label: str
    lines: list[str]


def layout_page(text: str, look: Look, facts: Sequence[str] = ()) -> list[str]:
    """Lay out a briefing or checkpoint for a person: the task first, then facts, then sections.

    The facts about the thread, its name first, replace the lines that open a briefing.
    """
    sections = _join_sections(_split_sections(text, has_facts=bool(facts)))
    tasks = [each for each in sections if each.label == "Task"]
    title = [line for each in tasks for row in each.lines for line in _wrap_title(row, look)]
    rest = [each for each in sections if each not in tasks]
    head = [*title, *(_wrap_facts(facts, look) if facts else [])]
    head += [draw_rule(look)] if head else []
    gutter = _measure_gutter(rest, look)
    return [*head, *(line for each in rest for line in _layout_section(each, look, gutter))]


def _wrap_title(row: str, look: Look) -> list[str]:
    return [look.paint("title", line) for line in wrap_line(_show_quotes(row), look.columns)]


def _split_sections(text: str, *, has_facts: bool) -> Iterator[PageSection]:
    section: PageSection | None = None
    for line in text.split("\n"):
        if has_facts and line.startswith(_HEADS) and section is None:
            continue
        found = None if line.startswith(fence.QUOTE) else re.match(_LABEL, line)
        is_within = line.startswith((" ", "-", "+")) and not found
        # A warning is the first line of "Changed since then".
        is_warning = section is not None and not section.lines and line.startswith(_WARNING)
        if section is not None and (is_within or is_warning):
            section.lines.append(line.replace(_WARNING, "- ⚠ ", 1) if is_warning else line)
            continue
        if section is not None:
            yield section
        if found:
            rest = line[found.end() :]
            section = PageSection(found[1], [rest] if rest else [])
        else:
            section = PageSection("", [line]) if line else None
    if section is not None:
        yield section


def _join_sections(sections: Iterator[PageSection]) -> list[PageSection]:
    """Join sections with the same label into one list: a briefing has a line for each next step."""
    joined: list[PageSection] = []
    for each in sections:
        before = joined[-1] if joined else None
        if before is not None and before.label == each.label and each.label and each.lines:
            lines = [line if line.startswith((" ", "- ")) else f"- {line}" for line in before.lines]
            joined[-1] = PageSection(each.label, [*lines, f"- {each.lines[0]}", *each.lines[1:]])
        else:
            joined.append(each)
    return joined


def _measure_gutter(sections: Sequence[PageSection], look: Look) -> int:
    """Return the width of the column of labels; 0 if the screen is too narrow for one."""
    widths = [width(each.label) for each in sections if each.label]
    fitting = [each for each in widths if each <= _WIDEST_LABEL]
    return max(fitting) + 2 if fitting and look.columns >= _SIDE_BY_SIDE else 0


def _layout_section(section: PageSection, look: Look, gutter: int) -> Iterator[str]:
    if not section.label:
        yield from (row for line in section.lines for row in wrap_line(line, look.columns))
        return
    role = next(
        (role for start, role in _ROLES.items() if section.label.startswith(start)), "label"
    )
    label = look.paint(role, section.label)
    indent = gutter or 2
    lines = _quote_whole(_drop_bullet(section.lines))
    body = [row for line in lines for row in _wrap_body(line, look, indent)]
    if gutter and width(section.label) < gutter and body:
        yield label + " " * (gutter - width(section.label)) + body.pop(0)
    else:
        yield label
    yield from (" " * indent + row for row in body)


def _drop_bullet(lines: list[str]) -> list[str]:
    """Show a list of one item as a text."""
    if len(lines) == 1 and lines[0].startswith("- "):
        return [lines[0].removeprefix("- ")]
    return lines


def _quote_whole(lines: list[str]) -> list[str]:
    """Quote the first line of a text of several lines, too: in a briefing, it follows the label."""
    first, *rest = lines or [""]
    is_text = rest and not first.startswith(("-", " ")) and all(map(_is_quote, rest))
    return [f"{fence.QUOTE}{first}", *rest] if is_text else lines


def _is_quote(line: str) -> bool:
    return line.startswith(fence.QUOTE) or line == _QUOTE_MARK


def _wrap_body(line: str, look: Look, indent: int) -> list[str]:
    shown = _show_quotes(line)
    mark = "│ " if shown is not line else None
    return wrap_line(shown, look.columns - indent, mark)


def _show_quotes(line: str) -> str:
    """Show quoted text behind a quiet bar."""
    return f"│{line.removeprefix(_QUOTE_MARK)}" if _is_quote(line) else line


_QUOTE_MARK = fence.QUOTE.rstrip()


# --- lists of threads ---


class ThreadRow(msgspec.Struct, frozen=True, kw_only=True):
    """What a list shows of a thread."""

    task: str
    name: str
    age: str
    next_action: str = ""
    branch: str = ""
    agent: str = ""
    state: str = ""
    """Empty for an open thread: that is what people expect in a list."""
    place: str = ""
    """Where the work is, if it is not here."""


_COLUMNS_BESIDE = 110
_LEAST_BESIDE = 50
_WIDEST_NAME, _WIDEST_BRANCH = 32, 24
_MOST_LINES = 2
_BETWEEN = " · "


def layout_threads(rows: Sequence[ThreadRow], look: Look, mark: str = "→") -> list[str]:
    """Lay out threads: the task first, the facts beside it or below, then the next action.

    `mark` is before the next action, or before what is shown in its place.
    """
    facts = [_list_facts(row) for row in rows]
    widths = [max(map(width, column)) for column in zip(*facts, strict=True)]
    room = look.columns - sum(each + len(GAP) for each in widths if each)
    if look.columns < _COLUMNS_BESIDE or room < _LEAST_BESIDE:
        blocks = ["\n".join(_layout_block(row, look, mark)) for row in rows]
        return "\n\n".join(blocks).split("\n")
    texts = [width(text) for row in rows for text in (row.task, f"→ {row.next_action}")]
    left = look.narrow(min(room, max(texts, default=0)))
    return [
        line
        for row, cells in zip(rows, facts, strict=True)
        for line in _layout_beside(row, _format_cells(cells, widths, look), left, mark)
    ]


def join_facts(facts: Sequence[str], look: Look) -> str:
    """Return facts about a thread as one quiet line; the first is its name."""
    name, *rest = [each for each in facts if each]
    return look.paint("name", name) + look.paint(
        "quiet", "".join(f"{_BETWEEN}{each}" for each in rest)
    )


def _list_facts(row: ThreadRow) -> list[str]:
    name, branch = cut(row.name, _WIDEST_NAME), cut(row.branch, _WIDEST_BRANCH)
    return [isolate(each) for each in (name, row.age, row.state, branch, row.agent, row.place)]


def _format_cells(cells: Sequence[str], widths: Sequence[int], look: Look) -> str:
    name, *rest = [pad(cell, places) for cell, places in zip(cells, widths, strict=True) if places]
    return f"{look.paint('name', name)}  {look.paint('quiet', '  '.join(rest).rstrip())}"


def _layout_beside(row: ThreadRow, facts: str, look: Look, mark: str) -> Iterator[str]:
    first, *rest = wrap_to(row.task or "-", look.columns, _MOST_LINES)
    gap = " " * (look.columns - width(first))
    yield f"{look.paint('title', isolate(first))}{gap}  {facts}"
    yield from (look.paint("title", line) for line in rest)
    yield from _layout_next(row, look, mark)


def _layout_block(row: ThreadRow, look: Look, mark: str) -> Iterator[str]:
    for line in wrap_to(row.task or "-", look.columns, _MOST_LINES):
        yield look.paint("title", line)
    yield from _wrap_facts(_list_facts(row), look)
    yield from _layout_next(row, look, mark)


def _wrap_facts(facts: Sequence[str], look: Look) -> list[str]:
    """Put facts on as few lines as they need; none of them is broken."""
    lines: list[list[str]] = [[]]
    for fact in filter(None, facts):
        shown = cut(fact, look.columns)
        if lines[-1] and width(_BETWEEN.join([*lines[-1], shown])) > look.columns:
            lines.append([])
        lines[-1].append(shown)
    first, *rest = lines
    return [join_facts(first, look), *(look.paint("quiet", _BETWEEN.join(each)) for each in rest)]


def _layout_next(row: ThreadRow, look: Look, mark: str) -> Iterator[str]:
    if not row.next_action:
        return
    for number, line in enumerate(wrap_to(row.next_action, look.columns - 2, _MOST_LINES)):
        yield f"{look.paint('next', mark) if number == 0 else ' '} {line}"

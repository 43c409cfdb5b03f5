"""Read the tables of a Markdown file as lists, because language models write both."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

_ROW = re.compile(r"[ \t]*\|.*\|[ \t]*$")
_RULER = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_BORDER = re.compile(r"(?<!\\)\|")
_FENCE = re.compile(r"[ \t]*(```|~~~)")
# The heads of columns that say nothing about their cells.
_NUMBERS = frozenset({"", "#", "no", "nr", "n", "id"})
_SUBJECTS = frozenset(
    """
    blocker blockers blocked obstacle obstacles issue issues problem problems decision decisions
    question questions item items task tasks action actions step steps what description file files
    path paths progress done completed note notes context field key name topic point detail details
    阻塞 问题 决策 决定 事项 entscheidung frage problem aufgabe décision decisión
    """.split()
)
_VALUES = frozenset({"value", "values", "content", "wert", "valeur", "valor", "值"})
_REASONS = frozenset(
    {"why", "reason", "reasons", "reasoning", "rationale", "because", "motivation", "justification",
     "grund", "begründung", "warum", "raison", "pourquoi", "razón", "motivo", "理由", "原因"}
)  # fmt: skip


def replace_tables(lines: Sequence[str]) -> list[str]:
    """Return the lines with a bullet for each row of a table; all other lines stay."""
    if not any(line.lstrip(" \t").startswith("|") for line in lines):
        return [*lines]
    return [*_replace(lines)]


def _replace(lines: Sequence[str]) -> Iterator[str]:
    fence, heads = "", None
    for number, line in enumerate(lines):
        mark = _FENCE.match(line)
        if mark is not None:
            fence = "" if mark[1] == fence else fence or mark[1]
        if fence or not _ROW.match(line):
            heads = None
            yield line
        elif heads is not None:
            if not _RULER.match(line) and (cells := split_row(line)) and any(cells):
                yield f"- {_join(heads, cells)}"
        elif number + 1 < len(lines) and _RULER.match(lines[number + 1]):
            heads = split_row(line)
        else:
            yield line


def is_ruler(line: str) -> bool:
    """Return whether a line separates the head of a table from its rows."""
    return _RULER.match(line) is not None


def split_row(line: str) -> list[str]:
    """Return the cells of a row."""
    inside = line.strip(" \t").removeprefix("|").removesuffix("|")
    return [cell.strip(" \t").replace("\\|", "|") for cell in _BORDER.split(inside)]


def _join(heads: Sequence[str], cells: Sequence[str]) -> str:
    """Write a row as one text: its first cell, the others under their heads, then the reason."""
    named = [*zip([*heads, *[""] * len(cells)], cells, strict=False)]
    named = [each for each in named if each[1] and not _is_number(*each)]
    if not named:
        return " ".join(cells).strip()
    (head, first), *rest = named
    if len(rest) == 1 and _fold(rest[0][0]) in _VALUES:
        return f"{first}: {rest[0][1]}"
    if head and _fold(head) not in _SUBJECTS:
        first = f"{head}: {first}"
    why = [cell for title, cell in rest if _fold(title) in _REASONS]
    more = [
        f"{title}: {cell}" if title else cell
        for title, cell in rest
        if _fold(title) not in _REASONS
    ]
    text = f"{first} ({'; '.join(more)})" if more else first
    return f"{text} — {'; '.join(why)}" if why else text


def _is_number(head: str, cell: str) -> bool:
    return _fold(head) in _NUMBERS and cell.strip("#.").isdecimal()


def _fold(head: str) -> str:
    return unicodedata.normalize("NFKC", head).casefold().strip("*_`: \t.?")

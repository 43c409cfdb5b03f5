"""Laying out rows for people, by the width that characters take on a screen."""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

_GAP = "  "
# Columns that hold a sentence: on a narrow terminal each gets a line of its own.
_SENTENCES = frozenset({"summary", "next action", "last request", "meaning"})

Columns = Mapping[str, Sequence[str]]


def one_line(text: str | None, limit: int = 60) -> str:
    """Show a text on one line of bounded width."""
    return cut(" ".join((text or "-").split()), limit)


def format_fallback_notice(folder: Path) -> str:
    """Say where a change waits that could not be written to the store."""
    return (
        f"The store cannot be written, so this was kept under {folder} and will be taken in "
        "by the next command that can."
    )


def cut(line: str, limit: int) -> str:
    """Cut a line that is too wide, and show that it was."""
    if width(line) <= limit:
        return line
    kept, places = [], 0
    for character in line:
        places += _places(character)
        if places >= limit:
            break
        kept.append(character)
    return "".join([*kept, "…"])


def width(text: str) -> int:
    """Tell how many places a text takes on a screen."""
    return len(text) if text.isascii() else sum(map(_places, text))


def terminal_width() -> int:
    """Tell how wide the terminal is."""
    import shutil  # noqa: PLC0415 - loads all compressors, and only terminals need it

    return shutil.get_terminal_size().columns


def full_width(columns: Columns) -> int:
    """Tell how wide the rows are when nothing is shortened."""
    return sum(_widths(columns)) + len(_GAP) * (len(columns) - 1)


def align_columns(columns: Columns) -> list[str]:
    """Lay out the header and the rows with spaces between the columns."""
    widths = _widths(columns)
    rows = [[*columns], *zip(*columns.values(), strict=True)]
    return [_GAP.join(map(_pad_cell, row, widths)).rstrip() for row in rows]


def cards(columns: Columns, limit: int) -> Iterator[tuple[str, str]]:
    """Lay out each row as a headline of its short cells, and a line for each sentence."""
    short = [name for name in columns if name not in _SENTENCES]
    long = [name for name in columns if name in _SENTENCES]
    indent = max(map(len, long), default=0) + 4
    for number in range(len(next(iter(columns.values()), []))):
        row = {name: cells[number] for name, cells in columns.items()}
        head = _GAP.join(row[name] for name in short if row[name] not in {"", "-"})
        lines = (
            f"  {name:{indent - 4}}  {one_line(row[name], limit - indent)}"
            for name in long
            if row[name] not in {"", "-"}
        )
        yield cut(head, limit), "\n".join(lines)


def _widths(columns: Columns) -> list[int]:
    return [max(map(width, [name, *cells])) for name, cells in columns.items()]


def _pad_cell(cell: str, places: int) -> str:
    return cell + " " * (places - width(cell))


def _places(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) == "Cf":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1

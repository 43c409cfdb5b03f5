"""Lay out tables and lines by the width that characters take up on a screen."""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

_GAP = "  "
# Columns that contain sentences; on a narrow terminal each of them gets its own line.
_SENTENCES = frozenset({"summary", "next action", "last request", "meaning"})

Columns = Mapping[str, Sequence[str]]


def one_line(text: str | None, limit: int = 60) -> str:
    """Join a text into one line and cut it to a maximum width."""
    return cut(" ".join((text or "-").split()), limit)


def format_fallback_notice(folder: Path) -> str:
    """Return the warning for a change that could not be written to the store."""
    return (
        f"The store is not writable, so this was saved in {folder}. The next command that can "
        "write to the store moves it there."
    )


def cut(line: str, limit: int) -> str:
    """Cut a line that is too wide and mark the cut with an ellipsis."""
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
    """Return how many columns a text takes up on a screen."""
    return len(text) if text.isascii() else sum(map(_places, text))


def terminal_width() -> int:
    """Return the width of the terminal."""
    import shutil  # noqa: PLC0415 - imports all compressors, and only terminals need it

    return shutil.get_terminal_size().columns


def full_width(columns: Columns) -> int:
    """Return the width of a table in which nothing is cut."""
    return sum(_widths(columns)) + len(_GAP) * (len(columns) - 1)


def align_columns(columns: Columns) -> list[str]:
    """Return the header and the rows with their columns aligned."""
    widths = _widths(columns)
    rows = [[*columns], *zip(*columns.values(), strict=True)]
    return [_GAP.join(map(_pad_cell, row, widths)).rstrip() for row in rows]


def cards(columns: Columns, limit: int) -> Iterator[tuple[str, str]]:
    """Yield each row as a headline of its short cells, and a line for each sentence."""
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
    # Combining marks and format characters have no width; wide East Asian ones take two columns.
    if unicodedata.combining(character) or unicodedata.category(character) == "Cf":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1

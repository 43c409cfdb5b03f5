"""Read and write a cost ledger: one row for everything done for a task, append-only."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from leftoff.profiles.regular_files import read_regular

FILE = "cost-ledger.md"
_FEWEST, _MOST = 6, 8


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One row; an unrecorded cost is unknown, never zero."""

    task: str
    uuid: str
    date: str
    phase: str
    model: str
    kind: str
    note: str
    fallback_fires: int = 0
    attribution: str | None = None


def header(task: str) -> str:
    """Return the first line of a new ledger."""
    return f"# Cost Ledger — {task}\n\n"


def line(row: Row) -> str:
    """Write a row."""
    cells = (row.uuid, row.date, row.phase, row.model, row.kind, row.note, row.fallback_fires)
    return " | ".join(str(cell) for cell in cells) + "\n"


def rows(folder: Path, task: str | None = None) -> Iterator[Row]:
    """Yield the rows of one task's ledger, or of all ledgers."""
    for path in sorted(folder.glob(f"*/{FILE}")):
        if task is not None and path.parent.name != task:
            continue
        found = read_regular(path)
        if found is not None:
            yield from _parse_rows(found[0].decode("utf-8", "replace"), path.parent.name)


def _parse_rows(text: str, task: str) -> Iterator[Row]:
    for each in text.splitlines():
        cells = [cell.strip() for cell in each.strip().strip("|").split("|")]
        if not _FEWEST <= len(cells) <= _MOST or _is_head(cells):
            continue
        fires = cells[6] if len(cells) > _FEWEST else "0"
        yield Row(
            task=task,
            uuid=cells[0],
            date=cells[1],
            phase=cells[2],
            model=cells[3],
            kind=cells[4],
            note=cells[5],
            fallback_fires=int(fires) if fires.isdecimal() else 0,
            attribution=cells[7] or None if len(cells) == _MOST else None,
        )


def _is_head(cells: list[str]) -> bool:
    return cells[0].upper() == "UUID" or not cells[0].strip("-: ")

"""Lay out tables: aligned columns, with sentences cut to fit, or one card for each row."""

from collections.abc import Iterator, Mapping, Sequence

from leftoff.cli.look import GAP, cut, pad, width, wrap_to

# Columns that contain sentences: a table cuts them to fit, and a card has a line for each.
SENTENCES = frozenset(
    {"worktree", "summary", "task", "next action", "last request", "meaning", "prompt"}
)
_LEAST_SENTENCE = 24
_MOST_CARD_LINES = 3

Columns = Mapping[str, Sequence[str]]


def measure_table(columns: Columns) -> int:
    """Return the width of a table in which nothing is cut."""
    return sum(_measure_columns(columns)) + len(GAP) * (len(columns) - 1)


def fit_columns(columns: Columns, limit: int) -> Columns | None:
    """Cut the sentences of a table until it fits; None if too little of them would be left."""
    too_much = measure_table(columns) - limit
    if too_much <= 0:
        return columns
    long = {
        name: places
        for name, places in zip(columns, _measure_columns(columns), strict=True)
        if name in SENTENCES
    }
    room = sum(long.values()) - too_much
    if not long or room < _LEAST_SENTENCE * len(long):
        return None
    shares = _share_room(long, room)
    return {
        name: [cut(cell, shares[name]) for cell in cells] if name in shares else cells
        for name, cells in columns.items()
    }


def _share_room(wanted: Mapping[str, int], room: int) -> dict[str, int]:
    """Divide the room among columns; what a short one does not need, the others get."""
    shares: dict[str, int] = {}
    for number, (name, places) in enumerate(sorted(wanted.items(), key=lambda item: item[1])):
        shares[name] = min(places, (room - sum(shares.values())) // (len(wanted) - number))
    return shares


def align_columns(columns: Columns) -> list[str]:
    """Return the header and the rows with their columns aligned."""
    widths = _measure_columns(columns)
    rows = [[*columns], *zip(*columns.values(), strict=True)]
    return [GAP.join(map(pad, row, widths)).rstrip() for row in rows]


def layout_cards(columns: Columns, limit: int) -> Iterator[tuple[str, str]]:
    """Yield each row as a headline of its short cells, and a line for each sentence."""
    short = [name for name in columns if name not in SENTENCES]
    long = [name for name in columns if name in SENTENCES]
    indent = max(map(len, long), default=0) + 4
    for number in range(len(next(iter(columns.values()), []))):
        row = {name: cells[number] for name, cells in columns.items()}
        head = GAP.join(row[name] for name in short if row[name] not in {"", "-"})
        lines = (
            f"{f'  {name}' if at == 0 else '':{indent}}{text}"
            for name in long
            if row[name] not in {"", "-"}
            for at, text in enumerate(wrap_to(row[name], limit - indent, _MOST_CARD_LINES))
        )
        yield cut(head, limit), "\n".join(lines)


def _measure_columns(columns: Columns) -> list[int]:
    return [max(map(width, [name, *cells])) for name, cells in columns.items()]

"""All output: JSON for programs, plain lines for pipes, colour and tables on a terminal."""

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

_LARGE_BYTES = 20_000_000


class Output:
    """Where a command's words go."""

    def __init__(self, *, as_json: bool = False, quiet: bool = False) -> None:
        self.as_json = as_json
        self.quiet = quiet
        self.is_interactive = sys.stdin.isatty() and sys.stdout.isatty() and not as_json
        self.has_colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ

    def result(self, data: object, text: str) -> None:
        """Show a command's result, as JSON or as text."""
        if self.as_json:
            self.json(data)
        else:
            self.text(text)

    def json(self, data: object) -> None:
        """Print a value as JSON."""
        encoded = msgspec.json.format(msgspec.json.encode(data), indent=2)
        click.echo(encoded.decode())

    def text(self, text: str) -> None:
        """Print text for a person."""
        if text and not self.quiet:
            click.echo(printable(text), color=self.has_colour)

    def warn(self, text: str) -> None:
        """Tell of a weakness, apart from the result."""
        if not self.quiet:
            click.echo(self.style(f"warning: {printable(text)}", fg="yellow"), err=True)

    @contextlib.contextmanager
    def progress(self, path: Path) -> Iterator[Callable[[int], None] | None]:
        """Show how far a large file was read, on a terminal."""
        size = path.stat().st_size if path.is_file() else 0
        if not self.is_interactive or self.quiet or size < _LARGE_BYTES:
            yield None
            return
        with click.progressbar(length=size, label=path.name, file=sys.stderr) as bar:
            yield lambda offset: bar.update(offset - bar.pos)

    def style(self, text: str, **style: Any) -> str:
        """Colour a text where colour is wanted."""
        return click.style(text, **style) if self.has_colour else text

    def table(self, columns: Mapping[str, Sequence[str]]) -> None:
        """Show rows in columns: a drawn table on a terminal, aligned plain text elsewhere."""
        if self.quiet:
            return
        if self.has_colour or self.is_interactive:
            _drawn(columns, colour=self.has_colour)
        else:
            click.echo(aligned(columns))


# Any control but tab, newline and the escapes that only colour.
_STEERING = re.compile(r"\x1b(?!\[[0-9;]*m)|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\ud800-\udfff]")


def printable(text: str) -> str:
    """Take out what could steer a terminal, and what the terminal's encoding cannot show."""
    encoding = sys.stdout.encoding or "utf-8"
    return _STEERING.sub("�", text).encode(encoding, "replace").decode(encoding)


def aligned(columns: Mapping[str, Sequence[str]]) -> str:
    """Lay out columns with spaces; the last one is as long as it needs."""
    rows = [list(columns), *map(list, zip(*columns.values(), strict=True))]
    widths = [max(len(row[i]) for row in rows) for i in range(len(columns))]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def _drawn(columns: Mapping[str, Sequence[str]], *, colour: bool) -> None:
    from rich.console import Console  # noqa: PLC0415 - costs three Python starts, terminals only
    from rich.table import Table  # noqa: PLC0415 - same
    from rich.text import Text  # noqa: PLC0415 - same

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(name, overflow="ellipsis", no_wrap=name not in {"summary", "next action"})
    for row in zip(*columns.values(), strict=True):
        table.add_row(*(Text(cell) for cell in row))
    Console(no_color=not colour, highlight=False).print(table)

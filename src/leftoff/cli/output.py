"""All output: JSON for programs, plain lines for pipes, colour and tables on a terminal."""

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import click
import msgspec

from leftoff.cli import text_columns
from leftoff.text import fence

_LARGE_BYTES = 20_000_000


class Output:
    """Where a command's words go."""

    def __init__(self, *, as_json: bool = False, quiet: bool = False) -> None:
        self.as_json = as_json
        self.quiet = quiet
        self.is_terminal = _is_terminal(sys.stdout)
        self.is_interactive = self.is_terminal and _is_terminal(sys.stdin) and not as_json
        dull = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        self.has_colour = self.is_terminal and not dull

    def result(self, data: object, text: str | Iterable[str]) -> None:
        """Show a command's result, as JSON or as text."""
        if self.as_json:
            self.json(data)
        else:
            self.text(text)

    def json(self, data: object) -> None:
        """Print a value as JSON: exact, and always UTF-8, whatever the terminal speaks."""
        try:
            encoded = msgspec.json.encode(data, enc_hook=str)
        except UnicodeEncodeError:
            encoded = msgspec.json.encode(_valid(data))
        click.echo(_escape_controls(msgspec.json.format(encoded, indent=2)))

    def text(self, text: str | Iterable[str], **style: Any) -> None:
        """Print a line, several lines, or a rendered text, in one style."""
        shown = "" if self.quiet else printable(text)
        if shown:
            click.echo(self._apply_style(shown, style), color=self.has_colour)

    def gap(self) -> None:
        """Leave a line free between two parts."""
        if not self.quiet:
            click.echo()

    def warn(self, text: str) -> None:
        """Tell of a weakness, apart from the result."""
        if not self.quiet:
            warning = printable(f"warning: {text}", sys.stderr)
            click.echo(self._apply_style(warning, {"fg": "yellow"}), err=True)

    def table(self, columns: Mapping[str, Sequence[str]]) -> None:
        """Show rows in columns; on a terminal that is too narrow each row gets lines of its own."""
        if self.quiet:
            return
        clean = {
            name: [printable(fence.line(cell)) for cell in cells] for name, cells in columns.items()
        }
        if self.is_terminal and text_columns.full_width(clean) > text_columns.terminal_width():
            for head, lines in text_columns.cards(clean, text_columns.terminal_width()):
                self.text(head, bold=True)
                self.text(lines.split("\n"))
            return
        header, *rows = text_columns.align_columns(clean)
        self.text(header, bold=True)
        self.text(rows)

    @contextlib.contextmanager
    def progress(self, path: Path) -> Iterator[Callable[[int], None] | None]:
        """Show how far a large file was read, on a terminal."""
        size = path.stat().st_size if path.is_file() else 0
        if not self.is_interactive or self.quiet or size < _LARGE_BYTES:
            yield None
            return
        with click.progressbar(
            length=size, label=printable(fence.line(path.name)), file=sys.stderr
        ) as bar:
            yield lambda offset: bar.update(offset - bar.pos)

    def _apply_style(self, text: str, style: Mapping[str, Any]) -> str:
        return click.style(text, **style) if style and self.has_colour else text


def _join_lines(text: str | Iterable[str]) -> str:
    """Lay out lines so that none can pass for another; what was rendered stays as it is.

    Most lines hold words from a checkpoint, a file or git. A line break in one of them must not
    begin a line of ours, and agents read what we print as well as people do.
    """
    if isinstance(text, fence.Rendered):
        return text.rstrip("\n")
    return fence.lines(text) if isinstance(text, str) else "\n".join(map(_join_lines, text))


# Whatever could steer a terminal: controls but tab and newline, and overrides of the direction
# in which text runs, with which a line can be made to look like another.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


_ESCAPED = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def printable(text: str | Iterable[str], stream: TextIO | None = None) -> str:
    """Lay out lines without what could steer a terminal or what its encoding cannot show."""
    to = stream or sys.stdout
    encoding = (to.encoding if to is not None else None) or "utf-8"
    return _STEERING.sub("�", _join_lines(text)).encode(encoding, "replace").decode(encoding)


def _escape_controls(data: bytes) -> bytes:
    """Write as escapes what could steer a terminal: JSON means the same by them."""
    if data.isascii():
        return data
    return _ESCAPED.sub(lambda found: rf"\u{ord(found[0]):04x}", data.decode()).encode()


def _is_terminal(stream: TextIO | None) -> bool:
    # Started with a stream closed, Python has None in its place.
    return stream is not None and not stream.closed and stream.isatty()


def _valid(data: object) -> Any:
    """Replace bytes that came in as lone surrogates; JSON has no way to say them."""
    plain = msgspec.to_builtins(data, enc_hook=str)
    if isinstance(plain, str):
        return plain.encode("utf-8", "replace").decode()
    if isinstance(plain, dict):
        return {_valid(key): _valid(value) for key, value in plain.items()}
    return [_valid(each) for each in plain] if isinstance(plain, list | tuple) else plain

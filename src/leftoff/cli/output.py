"""Print results: as JSON, as plain lines in a pipe, or with colour and tables on a terminal."""

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

# Smaller files are read before a progress bar would be useful.
_LARGE_BYTES = 20_000_000


class Output:
    """Prints what a command has to say, in the format that the options and the terminal need."""

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
        """Print a value as JSON in UTF-8, whatever the terminal's encoding."""
        try:
            encoded = msgspec.json.encode(data, enc_hook=str)
        # Too rare to clean every value beforehand.
        except UnicodeEncodeError:
            encoded = msgspec.json.encode(_valid(data))
        click.echo(_escape_controls(msgspec.json.format(encoded, indent=2)))

    def text(self, text: str | Iterable[str], **style: Any) -> None:
        """Print a line, several lines or a rendered text in one style."""
        shown = "" if self.quiet else printable(text)
        if shown:
            click.echo(self._apply_style(shown, style), color=self.has_colour)

    def gap(self) -> None:
        """Print an empty line."""
        if not self.quiet:
            click.echo()

    def warn(self, text: str) -> None:
        """Print a warning to stderr."""
        if not self.quiet:
            warning = printable(f"warning: {text}", sys.stderr)
            click.echo(self._apply_style(warning, {"fg": "yellow"}), err=True)

    def table(self, columns: Mapping[str, Sequence[str]]) -> None:
        """Print a table, or one card per row if the terminal is too narrow for it."""
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
        """Show a progress bar on a terminal while a large file is read."""
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
    """Join lines and quote line breaks within them; leave rendered text unchanged.

    Most lines contain text from a checkpoint, a file or git. A line break in that text must not
    start a line that looks like leftoff's own, because agents act on what they read here.
    """
    if isinstance(text, fence.Rendered):
        return text.rstrip("\n")
    return fence.lines(text) if isinstance(text, str) else "\n".join(map(_join_lines, text))


# Characters that could control a terminal: all control characters except tab and newline, and the
# overrides of text direction, which can disguise one line as another.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


_ESCAPED = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def printable(text: str | Iterable[str], stream: TextIO | None = None) -> str:
    """Replace characters that could control the terminal or that its encoding lacks."""
    to = stream or sys.stdout
    encoding = (to.encoding if to is not None else None) or "utf-8"
    return _STEERING.sub("�", _join_lines(text)).encode(encoding, "replace").decode(encoding)


def _escape_controls(data: bytes) -> bytes:
    """Escape characters that could control the terminal; the JSON value stays the same."""
    # The usual case, and decoding large output takes time.
    if data.isascii():
        return data
    return _ESCAPED.sub(lambda found: rf"\u{ord(found[0]):04x}", data.decode()).encode()


def _is_terminal(stream: TextIO | None) -> bool:
    # Python sets a stream to None if the process was started with it closed.
    return stream is not None and not stream.closed and stream.isatty()


def _valid(data: object) -> Any:
    """Replace lone surrogates, which stand for undecodable bytes; JSON cannot encode them."""
    plain = msgspec.to_builtins(data, enc_hook=str)
    if isinstance(plain, str):
        return plain.encode("utf-8", "replace").decode()
    if isinstance(plain, dict):
        return {_valid(key): _valid(value) for key, value in plain.items()}
    return [_valid(each) for each in plain] if isinstance(plain, list | tuple) else plain

"""Give every command its project, settings and output, and the options all of them share."""

import contextlib
import functools
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ParamSpec, TextIO, TypeVar

import click
import msgspec
from click.shell_completion import CompletionItem

from leftoff import config
from leftoff.context import Context, read_environment
from leftoff.errors import ChoiceNeeded, LeftoffError, NameRefused, NotAProject
from leftoff.names import check_name
from leftoff.projects.project import Project, explain_distrust, find_project
from leftoff.store import LISTED, CheckpointEntry, Store
from leftoff.text import fence, times
from leftoff.workspace import Workspace

P = ParamSpec("P")
R = TypeVar("R")

_META = "leftoff.flags"
_RECOMMENDED = "(Recommended)"


class App:
    """What a command works with; the project is looked up on first use."""

    def __init__(self, *, as_json: bool, quiet: bool) -> None:
        self.environment = read_environment()
        self.out = Output(as_json=as_json, quiet=quiet)
        # Some agents run commands in a terminal, too.
        self.out.is_for_agent = self.environment.find_session() is not None

    @functools.cached_property
    def workspace(self) -> Workspace:
        """The open project; outside a project it only gives the settings."""
        try:
            project = self.project
        except NotAProject as refusal:
            # Some commands, such as `capture`, also work outside a project.
            context = Context(self.environment, None)
            return Workspace(context, warn=self.out.warn, refusal=refusal)
        workspace = Workspace(Context(self.environment, project), warn=self.out.warn)
        if (distrust := explain_distrust(project)) is not None:
            workspace.warn_once(["\n".join(distrust)])
        return workspace

    @functools.cached_property
    def project(self) -> Project:
        """The project of the current folder."""
        return find_project(self.environment)

    @property
    def store(self) -> Store:
        """The project's store, including edits you made in mirrored files."""
        return self.workspace.store

    @property
    def settings(self) -> config.Settings:
        """The settings in force."""
        return self.workspace.settings

    def forget_settings(self) -> None:
        """Reload the settings on next use."""
        self.workspace.context.forget_settings()

    def close(self) -> None:
        """Update mirrored files and close the store, if they were used."""
        # A cached property is in __dict__ only after its first use.
        if "workspace" in self.__dict__:
            self.workspace.close()

    def choose(self, choice: ChoiceNeeded) -> str:
        """Ask the user to pick on a terminal; elsewhere raise the choice for the caller."""
        if not self.out.is_interactive:
            raise choice
        click.echo(printable(choice.message))
        for line in _number_choices(choice.choices):
            click.echo(printable(cut(f"  {line}", terminal_width())))
        labels = [str(each.get("label", "")) for each in choice.choices]
        # Enter alone picks the recommended choice.
        default = next((n for n, each in enumerate(labels, 1) if each.endswith(_RECOMMENDED)), None)
        picked = _ask_number(choice.question, len(labels), default)
        return str(choice.choices[picked - 1]["choice"])

    def ask_name(self) -> str:
        """Ask for a name until the answer is valid."""
        while True:
            name = str(click.prompt("Name"))
            try:
                return check_name(name, is_plain=self.settings.names == "plain")
            except NameRefused as refused:
                click.echo(printable(f"{refused.message} {refused.hint}"))


def _ask_number(question: str, highest: int, default: int | None) -> int:
    while True:
        asked = click.prompt(printable(question), default=default, type=str, prompt_suffix=" ")
        answer = str(asked).strip()
        if answer.isdecimal() and 1 <= int(answer) <= highest:
            return int(answer)
        click.echo(printable(f"Enter a number from 1 to {highest}."))


def _number_choices(choices: Sequence[dict[str, Any]]) -> list[str]:
    """Return numbered lines; for checkpoints, add columns that distinguish them."""
    columns = {"": [f"{number}. {each['label']}" for number, each in enumerate(choices, 1)]}
    if all("summary" in each for each in choices):
        moments = [times.parse(each["saved_at"]) for each in choices]
        columns["saved"] = [times.local(moment) if moment else "-" for moment in moments]
        columns["branch"] = [each["branch"] or "-" for each in choices]
        columns["summary"] = [one_line(each["summary"]) for each in choices]
    return align_columns(columns)[1:]


def key_of(entry: CheckpointEntry) -> str:
    """Return the name or id that a user can pass to find a checkpoint."""
    return entry.name or entry.id


def flags(function: Callable[..., R]) -> Callable[..., R]:
    """Add --json and --quiet."""
    quiet = click.option("--quiet", "-q", is_flag=True, help="Print errors only.")
    as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
    return as_json(quiet(function))


def command(**settings: Any) -> Callable[[Callable[..., R]], click.Command]:
    """Make a command that receives an App and accepts --json and --quiet."""

    def wrap(function: Callable[..., R]) -> click.Command:
        @functools.wraps(function)
        def run(*, as_json: bool, quiet: bool, **arguments: Any) -> R:
            # --json may also come before a subcommand: `leftoff memory --json list`.
            above = click.get_current_context().meta.get(_META, {})
            app = App(as_json=as_json or bool(above.get("as_json")), quiet=quiet)
            try:
                return function(app, **{key: _valid(value) for key, value in arguments.items()})
            finally:
                app.close()

        made: click.Command = click.command(**settings)(flags(run))
        return made

    return wrap


def _valid(value: Any) -> Any:
    """Replace undecodable bytes in arguments; JSON cannot store them."""
    if isinstance(value, str):
        return fence.printable(value)
    return tuple(map(_valid, value)) if isinstance(value, tuple) else value


def group(default: click.Command) -> Callable[[Callable[[], None]], click.Group]:
    """Make a group of commands with a default to run when none is named."""

    def wrap(function: Callable[[], None]) -> click.Group:
        @functools.wraps(function)
        def run(**given: bool) -> None:
            context = click.get_current_context()
            context.meta[_META] = given
            if context.invoked_subcommand is None:
                context.invoke(default, **given)

        made: click.Group = click.group(invoke_without_command=True)(flags(run))
        made.add_command(default)
        return made

    return wrap


def complete_names(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """Complete the names of all checkpoints."""
    return complete_from_store(lambda store: store.index().names_like(typed))


def complete_open(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """Complete the names of open checkpoints."""
    return complete_from_store(
        lambda store: _begin_with(typed, store.index().heads([*LISTED], 1000))
    )


def complete_paths(
    _context: click.Context, _parameter: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Let the shell complete file names."""
    return [CompletionItem(typed, type="file")]


def complete_trashed(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """Complete the names of checkpoints in the trash."""
    return complete_from_store(lambda store: _begin_with(typed, store.index().list_trashed(1000)))


def _begin_with(typed: str, entries: list[CheckpointEntry]) -> list[str]:
    return [key for entry in entries if (key := key_of(entry)).startswith(typed)]


def complete_from_store(names: Callable[[Store], list[str]]) -> list[str]:
    """Complete what a function finds in the store of the current project."""
    # An error message would end up in the middle of the line you are typing.
    try:
        store = Store(find_project(read_environment()))
        try:
            return list(dict.fromkeys(names(store)))
        finally:
            store.close()
    except (LeftoffError, OSError):
        return []


def checkpoint_argument(
    complete: Callable[..., list[str]] = complete_names, **settings: Any
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Add the NAME|ID argument."""
    return click.argument("name", metavar="NAME|ID", shell_complete=complete, **settings)


# --- output: JSON, plain lines in a pipe, or colour and tables on a terminal ---


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
        self.is_for_agent = False

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
            encoded = msgspec.json.encode(_encodable(data))
        click.echo(_escape_controls(msgspec.json.format(encoded, indent=2)))

    def text(self, text: str | Iterable[str], **style: Any) -> None:
        """Print a line, several lines or a rendered text in one style."""
        shown = "" if self.quiet else printable(text)
        if shown:
            click.echo(self._apply_style(shown, style), color=self.has_colour)

    def briefing(self, data: object, text: fence.Rendered) -> None:
        """Show a briefing: fenced for an agent, wrapped and in colour for a person."""
        if self.as_json or self.quiet or self.is_for_agent or not self.is_terminal:
            self.result(data, text)
            return
        columns = terminal_width()
        for line in printable(fence.open_text(text)).split("\n"):
            label = "" if line.startswith(fence.QUOTE) else _LABEL.match(line)
            head = label[0] if label else ""
            first, *rest = wrap_line(line, columns)
            # The label may be wider than a very narrow terminal.
            head = head if first.startswith(head) else ""
            styled = self._apply_style(head, {"bold": True}) + first.removeprefix(head)
            click.echo("\n".join([styled, *rest]), color=self.has_colour)

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
        if self.is_terminal and full_width(clean) > terminal_width():
            for head, lines in cards(clean, terminal_width()):
                self.text(head, bold=True)
                self.text(lines.split("\n"))
            return
        header, *rows = align_columns(clean)
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
        return click.style(text, **style) if text and style and self.has_colour else text


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


def _encodable(data: object) -> Any:
    """Replace lone surrogates, which stand for undecodable bytes; JSON cannot encode them."""
    plain = msgspec.to_builtins(data, enc_hook=str)
    if isinstance(plain, str):
        return plain.encode("utf-8", "replace").decode()
    if isinstance(plain, dict):
        return {_encodable(key): _encodable(value) for key, value in plain.items()}
    return [_encodable(each) for each in plain] if isinstance(plain, list | tuple) else plain


# --- tables and lines, by the width of characters on a screen ---


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


# What a line of a briefing is about: "Task:", "Next action (inferred from the plan):".
_LABEL = re.compile(r"(?:⚠ )?[A-Z][^:`]{0,60}:(?= |$)")
_INDENT = re.compile(r"(?:\s*(?:[->] )?)")


def wrap_line(line: str, limit: int) -> list[str]:
    """Wrap a line at spaces; what follows is indented like its text."""
    mark = _INDENT.match(line)
    indent = " " * max(2, len(mark[0]) if mark else 0)
    rows, row = [], ""
    for word in re.split(r"(?<=\S)(?=\s)", line):
        if row.strip() and width(row + word) > limit:
            rows.append(row)
            row = indent + word.lstrip()
        else:
            row += word
    return [*rows, row]


def width(text: str) -> int:
    """Return how many columns a text takes up on a screen."""
    return len(text) if text.isascii() else sum(map(_places, text))


def terminal_width() -> int:
    """Return the width of the terminal."""
    import shutil  # noqa: PLC0415 - 3 ms, and only terminals need it

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

"""Give every command its project, settings and output, and the options all of them share."""

import contextlib
import functools
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ParamSpec, TextIO, TypeVar

import click
import msgspec

from leftoff import cli, config, hooks
from leftoff.checkpoint import NOTHING_NEXT
from leftoff.cli.look import (
    Look,
    cut,
    layout_page,
    wrap_line,
    wrap_text,
)
from leftoff.cli.table_layout import align_columns, fit_columns, layout_cards
from leftoff.context import Context, read_environment
from leftoff.errors import NotAProject, UsageError
from leftoff.names import check_name
from leftoff.projects.project import Project, explain_distrust, find_project
from leftoff.store import CheckpointEntry, Store
from leftoff.text import fence
from leftoff.workspace import Workspace

P = ParamSpec("P")
R = TypeVar("R")

_META = "leftoff.flags"
_COLOR = "leftoff.color"


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
        context = Context(self.environment, project)
        workspace = Workspace(context, warn=self.out.warn, watch=self._watch_index)
        if (distrust := explain_distrust(project)) is not None:
            workspace.warn_once(["\n".join(distrust)])
        return workspace

    def _watch_index(self, count: int) -> contextlib.AbstractContextManager[Callable[[int], None]]:
        return cli.progress_bar.show_progress(self.out, "Building the index", count)

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

    def await_ends(self) -> None:
        """Let the hooks finish saving the sessions that have just ended."""
        state = self.environment.state_folder
        # Looked up here, because nearly always there are none.
        if any((state / "spool").glob("*.SessionEnd.*")):
            hooks.settle.await_ends(state)

    def forget_settings(self) -> None:
        """Reload the settings on next use."""
        self.workspace.context.forget_settings()

    def close(self) -> None:
        """Update mirrored files and close the store, if they were used."""
        # A cached property is in __dict__ only after its first use.
        if "workspace" in self.__dict__:
            self.workspace.close()

    def check_name(self, name: str) -> str:
        """Return a name as the settings want it, or raise NameRefused."""
        return check_name(name, is_plain=self.settings.names == "plain")


def key_of(entry: CheckpointEntry) -> str:
    """Return the name or id that a user can pass to find a checkpoint."""
    return entry.name or entry.id


def flags(function: Callable[..., R]) -> Callable[..., R]:
    """Add --json, --quiet and --color."""
    color = click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        metavar="WHEN",
        expose_value=False,
        callback=_remember_color,
        help="Use color: auto, always or never.",
    )
    quiet = click.option("--quiet", "-q", is_flag=True, help="Print errors only.")
    as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
    return as_json(quiet(color(function)))


def _remember_color(context: click.Context, _parameter: click.Parameter, when: str | None) -> None:
    # The context of a group and those of its commands share `meta`.
    if when is not None:
        context.meta[_COLOR] = when


def command(**settings: Any) -> Callable[[Callable[..., R]], click.Command]:
    """Make a command that receives an App and accepts --json, --quiet and --color."""

    def wrap(function: Callable[..., R]) -> click.Command:
        @functools.wraps(function)
        def run(*, as_json: bool, quiet: bool, **arguments: Any) -> R:
            # --json may also come before a subcommand: `leftoff memory --json list`.
            above = click.get_current_context().meta.get(_META, {})
            app = App(as_json=as_json or bool(above.get("as_json")), quiet=quiet)
            try:
                return function(
                    app, **{key: _replace_undecodable(value) for key, value in arguments.items()}
                )
            finally:
                app.close()

        made: click.Command = click.command(**{"cls": CheckedCommand, **settings})(flags(run))
        return made

    return wrap


class CheckedCommand(click.Command):
    """A command that refuses contradictory options; `sections` are titles on its help page."""

    def __init__(
        self, *given: Any, sections: Mapping[str, Sequence[str]] | None = None, **more: Any
    ) -> None:
        super().__init__(*given, **more)
        self.sections = sections or {}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in sections, the shared ones last."""
        cli.help_layout.write_options(self, ctx, formatter, self.sections)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Check the options, then parse them."""
        ended = args.index("--") if "--" in args else len(args)
        given = {each.partition("=")[0] for each in args[:ended]}
        # For each parameter, one spelling of every value that it was given.
        spellings: dict[str, dict[object, str]] = {}
        for option in self.params:
            if isinstance(option, click.Option) and option.is_flag and option.name:
                values = spellings.setdefault(option.name, {})
                values.update((option.flag_value, each) for each in option.opts if each in given)
                values.update(("off", each) for each in option.secondary_opts if each in given)
        for values in spellings.values():
            if len(values) > 1:
                raise UsageError(f"{' and '.join(values.values())} contradict each other.")
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as refused:
            # For an option without its value, click does not say which command it is of.
            refused.ctx = refused.ctx or ctx
            raise


class _CommandGroup(click.Group):
    """A group of commands whose help page looks like that of a command."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, then the options."""
        cli.help_layout.write_commands(self, ctx, formatter)
        cli.help_layout.write_options(self, ctx, formatter, {})


def _replace_undecodable(value: Any) -> Any:
    """Replace undecodable bytes in arguments; JSON cannot store them."""
    if isinstance(value, str):
        return fence.printable(value)
    return tuple(map(_replace_undecodable, value)) if isinstance(value, tuple) else value


def group(default: click.Command) -> Callable[[Callable[[], None]], click.Group]:
    """Make a group of commands with a default to run when none is named."""

    def wrap(function: Callable[[], None]) -> click.Group:
        @functools.wraps(function)
        def run(**given: bool) -> None:
            context = click.get_current_context()
            context.meta[_META] = given
            if context.invoked_subcommand is None:
                context.invoke(default, **given)

        made: click.Group = click.group(cls=_CommandGroup, invoke_without_command=True)(flags(run))
        made.add_command(default)
        return made

    return wrap


# --- output: JSON, plain lines in a pipe, or color and tables on a terminal ---


class Output:
    """Prints what a command has to say, in the format that the options and the terminal need."""

    def __init__(self, *, as_json: bool = False, quiet: bool = False) -> None:
        self.began = time.monotonic()
        self.as_json = as_json
        self.quiet = quiet
        self.is_terminal = _is_terminal(sys.stdout)
        self.is_interactive = self.is_terminal and _is_terminal(sys.stdin) and not as_json
        self.has_color = wants_color(sys.stdout)
        self.is_for_agent = False
        self._page: list[str] | None = None

    @property
    def is_for_person(self) -> bool:
        """Whether a person reads this on a terminal, so that it may use the terminal's width."""
        return self.is_terminal and not (self.as_json or self.quiet or self.is_for_agent)

    @functools.cached_property
    def look(self) -> Look:
        """The width and the colors of this terminal."""
        columns = terminal_width() if self.is_terminal else _UNLIMITED
        return Look(columns, self.has_color)

    @property
    def can_draw(self) -> bool:
        """Whether a person is at a terminal that can show a picker."""
        is_able = os.environ.get("TERM", "dumb") not in {"", "dumb", "unknown"}
        is_large = (
            terminal_width() >= _LEAST_SIZE.columns and terminal_height() >= _LEAST_SIZE.lines
        )
        return self.is_interactive and self.is_for_person and is_able and is_large

    def result(self, data: object, text: str | Iterable[str], *, is_exact: bool = False) -> None:
        """Show a command's result, as JSON or as text; an exact text is not wrapped."""
        if self.as_json:
            self.json(data)
        elif is_exact:
            self.exact(text)
        else:
            self.text(text)

    def json(self, data: object) -> None:
        """Print a value as JSON in UTF-8, whatever the terminal's encoding."""
        try:
            encoded = msgspec.json.encode(data, enc_hook=str)
        # Too rare to clean every value beforehand.
        except UnicodeEncodeError:
            encoded = msgspec.json.encode(_make_encodable(data))
        click.echo(_escape_controls(msgspec.json.format(encoded, indent=2)))

    def text(self, text: str | Iterable[str], **style: Any) -> None:
        """Print a line, several lines or a rendered text in one style, wrapped for a person."""
        shown = "" if self.quiet else printable(text)
        if shown:
            self._echo(self._apply_style(self._wrap(shown), style))

    def exact(self, text: str | Iterable[str]) -> None:
        """Print code, a patch or another text whose lines must stay as they are."""
        shown = "" if self.quiet else printable(text)
        if shown:
            self._echo(shown)

    def _wrap(self, text: str) -> str:
        return "\n".join(wrap_text(text, self.look.columns)) if self.is_for_person else text

    def lines(self, lines: Iterable[str]) -> None:
        """Print lines that `look` laid out from printable text; they may hold colors."""
        if not self.quiet:
            self._echo(_fit_encoding("\n".join(lines), sys.stdout))

    def briefing(self, data: object, text: fence.Rendered, facts: Sequence[str] = ()) -> None:
        """Show a briefing: fenced for an agent, as a page for a person.

        `facts` are what a person first wants to know of the thread, its name first.
        """
        if not self.is_for_person:
            self.result(data, text)
            return
        shown = [clean_line(each) for each in facts if each]
        self.lines(layout_page(printable(fence.open_text(text)), self.look, shown))

    @contextlib.contextmanager
    def paged(self) -> Iterator[None]:
        """Show what is printed within in a pager if it does not fit on the terminal."""
        if not self.is_for_person or self._page is not None:
            yield
            return
        self._page = []
        try:
            yield
        finally:
            page, self._page = "\n".join(self._page), None
            if page.count("\n") + 2 > terminal_height():
                # As git does: leave at once if it fits, show colors, keep the screen.
                os.environ.setdefault("LESS", "FRX")
                click.echo_via_pager(page, color=self.has_color)
            elif page:
                click.echo(page, color=self.has_color)

    def _echo(self, text: str) -> None:
        if self._page is not None:
            self._page.append(text)
        else:
            click.echo(text, color=self.has_color)

    def gap(self) -> None:
        """Print an empty line."""
        if not self.quiet:
            self._echo("")

    def warn(self, text: str) -> None:
        """Print a warning to stderr."""
        if not self.quiet:
            warning = wrap_for(sys.stderr, printable(f"warning: {text}", sys.stderr))
            click.echo(self._apply_style(warning, {"fg": "yellow"}), err=True)

    def table(self, columns: Mapping[str, Sequence[str]]) -> None:
        """Print a table, or one card per row if the terminal is too narrow for it."""
        if self.quiet:
            return
        with self.paged():
            self._print_table({name: [*map(clean_line, cells)] for name, cells in columns.items()})

    def _print_table(self, columns: Mapping[str, Sequence[str]]) -> None:
        fitting = fit_columns(columns, self.look.columns) if self.is_terminal else columns
        if fitting is None:
            for head, lines in layout_cards(columns, self.look.columns):
                self.text(head, bold=True)
                self.text(lines.split("\n"))
            return
        header, *rows = align_columns(fitting)
        self.text(header, bold=True)
        self.text(rows)

    def _apply_style(self, text: str, style: Mapping[str, Any]) -> str:
        return click.style(text, **style) if text and style and self.has_color else text


def wants_color(stream: TextIO | None) -> bool:
    """Return whether to use color: on a terminal, unless options or the environment say no."""
    context = click.get_current_context(silent=True)
    wish = context.meta.get(_COLOR, "auto") if context else "auto"
    if wish != "auto":
        return bool(wish == "always")
    is_dull = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return _is_terminal(stream) and not is_dull


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
# Compiled on first use, as most text is printable: few lines hold a tab or a control character.
_STEERING = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
# Most output is not JSON, and most JSON is ASCII.
_ESCAPED = "[\x7f-\x9f\u2028-\u202e\u2066-\u2069]"


def printable(text: str | Iterable[str], stream: TextIO | None = None) -> str:
    """Replace characters that could control the terminal or that its encoding lacks."""
    joined = _join_lines(text)
    is_plain = joined.replace("\n", "").isprintable()
    shown = joined if is_plain else re.sub(_STEERING, "�", joined)
    return _fit_encoding(shown, stream or sys.stdout)


def clean_line(text: str | None) -> str:
    """Return a text as one printable line, for `look` to lay out."""
    return printable(fence.line(text or ""))


# The signs that leftoff itself writes, for terminals that lack them.
_PLAIN_SIGNS = str.maketrans({"─": "-", "│": "|", "→": ">", "·": "-", "…": "...", "—": "-"})


def shows_signs(stream: TextIO | None = None) -> bool:
    """Return whether the output can show signs beyond letters, such as `─` and `█`."""
    return _find_encoding(stream or sys.stdout).lower().startswith("utf")


def _find_encoding(stream: TextIO | None) -> str:
    return (stream.encoding if stream is not None else None) or "utf-8"


def _fit_encoding(text: str, stream: TextIO | None) -> str:
    if not shows_signs(stream):
        text = text.translate(_PLAIN_SIGNS)
    encoding = _find_encoding(stream)
    return text.encode(encoding, "replace").decode(encoding)


def _escape_controls(data: bytes) -> bytes:
    """Escape characters that could control the terminal; the JSON value stays the same."""
    # The usual case, and decoding large output takes time.
    if data.isascii():
        return data
    return re.sub(_ESCAPED, lambda found: rf"\u{ord(found[0]):04x}", data.decode()).encode()


def _is_terminal(stream: TextIO | None) -> bool:
    # Python sets a stream to None if the process was started with it closed.
    return stream is not None and not stream.closed and stream.isatty()


def _make_encodable(data: object) -> Any:
    """Replace lone surrogates, which stand for undecodable bytes; JSON cannot encode them."""
    plain = msgspec.to_builtins(data, enc_hook=str)
    if isinstance(plain, str):
        return plain.encode("utf-8", "replace").decode()
    if isinstance(plain, dict):
        return {_make_encodable(key): _make_encodable(value) for key, value in plain.items()}
    return [_make_encodable(each) for each in plain] if isinstance(plain, list | tuple) else plain


# --- the terminal ---


def one_line(text: str | None, limit: int = 60) -> str:
    """Join a text into one line and cut it to a maximum width."""
    line = " ".join((text or "-").split())
    # Most lines are short and plain.
    return line if len(line) <= limit and line.isascii() else cut(line, limit)


def next_line(action: str | None) -> str:
    """Return a next action as one short line; if there is none, the agent's last words."""
    rest = (action or "").removeprefix(NOTHING_NEXT).strip()
    return one_line(rest or action)


def format_fallback_notice(folder: Path) -> str:
    """Return the warning for a change that could not be written to the store."""
    return (
        f"The store is not writable, so this was saved in {folder}. The next command that can "
        "write to the store moves it there."
    )


def terminal_width() -> int:
    """Return the width of the terminal, or of the part of it that COLUMNS names."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    return _measure_terminal().columns or _USUAL_SIZE.columns


def wrap_for(stream: TextIO | None, text: str) -> str:
    """Wrap a message at words if it goes to a terminal."""
    if not _is_terminal(stream):
        return text
    columns = terminal_width()
    return "\n".join(row for line in text.split("\n") for row in wrap_line(line, columns))


def print_message(line: str) -> None:
    """Print a line of an error to stderr, with leftoff's name in red."""
    text = wrap_for(sys.stderr, printable(line, sys.stderr))
    name = "leftoff:"
    if text.startswith(name) and wants_color(sys.stderr):
        text = click.style(name, fg="red", bold=True) + text.removeprefix(name)
    click.echo(text, err=True)


def terminal_height() -> int:
    """Return the height of the terminal."""
    return _measure_terminal().lines or _USUAL_SIZE.lines


_USUAL_SIZE = os.terminal_size((80, 24))
# The smallest terminal on which a picker is of use.
_LEAST_SIZE = os.terminal_size((30, 8))
# Programs that read a pipe want every line whole.
_UNLIMITED = 10_000


def _measure_terminal() -> os.terminal_size:
    try:
        return os.get_terminal_size(sys.stdout.fileno())
    except (AttributeError, OSError, ValueError):
        return _USUAL_SIZE

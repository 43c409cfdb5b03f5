"""Run leftoff's commands; each one lives in its own file and is imported when you call it."""

import contextlib
import gc
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

import click

from leftoff import DISTRIBUTION, __version__
from leftoff.cli.catalog import (
    ALIASES,
    COMMANDS,
    EXAMPLES,
    GROUPS,
    OTHER_WORDS,
    PLUMBING,
    CommandHelp,
)
from leftoff.errors import EXIT_BUG, EXIT_INTERRUPTED, wrap_os_error
from leftoff.load_on_use import load_on_use

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from leftoff.cli import artifacts_view as artifacts_view
    from leftoff.cli import ask_questions as ask_questions
    from leftoff.cli import choose_thread as choose_thread
    from leftoff.cli import clipboard as clipboard
    from leftoff.cli import everywhere_view as everywhere_view
    from leftoff.cli import fill_form as fill_form
    from leftoff.cli import hand_over_command as hand_over_command
    from leftoff.cli import help_layout as help_layout
    from leftoff.cli import native_confirmations as native_confirmations
    from leftoff.cli import nothing_to_resume as nothing_to_resume
    from leftoff.cli import page_formats as page_formats
    from leftoff.cli import pending_view as pending_view
    from leftoff.cli import progress_bar as progress_bar
    from leftoff.cli import sessions_command as sessions_command
    from leftoff.cli import snapshot_command as snapshot_command
    from leftoff.cli import start_agent as start_agent
    from leftoff.cli import status_page as status_page
    from leftoff.cli import thread_picker as thread_picker
    from leftoff.cli import unsaved_view as unsaved_view
    from leftoff.cli import wide_text as wide_text

# Commands use these modules rarely, and they take time to load.
__getattr__ = load_on_use(__name__)


class Commands(click.Group):
    """A group that imports a command only when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List all commands."""
        del ctx
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command and append the example to its help."""
        del ctx
        words = ALIASES.get(cmd_name, (cmd_name,))
        if words[0] not in COMMANDS:
            return None
        command = _import_command(COMMANDS[words[0]])
        command.epilog = _format_example(COMMANDS[words[0]].example)
        for name, within in command.commands.items() if isinstance(command, click.Group) else ():
            within.epilog = _format_example(EXAMPLES[f"{words[0]} {name}"])
            # Shells show it beside the name; click would cut the help at 45 characters.
            within.short_help = (within.help or "").partition("\n")[0].rstrip(".")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command by its name or an alias."""
        name, *rest = args
        if name not in COMMANDS and name not in ALIASES and not name.startswith("-"):
            raise click.UsageError(f"No such command {name!r}.{_suggest(name)}", ctx)
        return super().resolve_command(ctx, [*ALIASES.get(name, (name,)), *rest])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands in groups, the everyday ones first."""
        groups = {**GROUPS, "For agents and scripts": PLUMBING} if ctx.obj is ALL else GROUPS
        for title, commands in groups.items():
            with formatter.section(title):
                # click aligns each section separately; padding aligns the summaries of all groups.
                rows = [(f"{each.name:14}", each.summary) for each in commands]
                formatter.write_dl(rows)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Complete command names without importing the commands."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415 - 0.5 ms; for Tab alone

        # As on the first help page, leave out aliases and the commands for agents and scripts.
        commands = [each for group in GROUPS.values() for each in group]
        found = [each for each in commands if each.name.startswith(incomplete)]
        offered = [CompletionItem(each.name, help=each.summary) for each in found]
        return [*offered, *click.Command.shell_complete(self, ctx, incomplete)]

    def invoke(self, ctx: click.Context) -> object:
        """Run a command, and exit with 0 if the reader closes the pipe early, as `head` does."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            _silence(sys.stdout)
            return 0


ALL = object()
"""Set as a context's `obj` to make `--help` also list the commands for agents and scripts."""


@click.command(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    options_metavar="[-h | -V]",
    epilog="""`leftoff` alone shows the status. `leftoff COMMAND --help` shows the options
and an example, `leftoff help all` the commands of agents and scripts.

Exit codes: 0 success, 1 a problem you can fix, 2 invalid usage, 3 a choice
is needed, 4 below the quality bar, 70 a bug in leftoff, 130 interrupted.""",
)
@click.version_option(
    __version__, "-V", "--version", message=f"leftoff %(version)s ({DISTRIBUTION})"
)
@click.pass_context
def leftoff(context: click.Context) -> None:
    """Pick up where the last session of your coding agent left off."""
    if context.invoked_subcommand is None:
        status = leftoff.get_command(context, "status")
        if status is not None:
            context.invoke(status, as_json=False, quiet=False, with_plan=False, with_next=False)


def _import_command(found: CommandHelp) -> click.Command:
    stem = found.name.replace("-", "_")
    module = importlib.import_module(f"leftoff.cli.{found.module or stem}")
    # Loading is over; see `__main__`. From now on the collector skips what was loaded, and Ctrl-C
    # raises an exception, so that the command can clean up.
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
        if signal.getsignal(signal.SIGINT) not in {signal.SIG_IGN, signal.SIG_DFL}:
            signal.signal(signal.SIGINT, signal.default_int_handler)
    command: click.Command = getattr(module, found.attribute or stem)
    return command


def _format_example(text: str) -> str:
    return f"\b\nExample:\n  {text}"


_MOST_SUGGESTED = 2
# With less, `duplicates` is like `latest`.
_LEAST_ALIKE = 0.65


def _suggest(name: str) -> str:
    if name in OTHER_WORDS:
        return f" Did you mean `leftoff {OTHER_WORDS[name]}`?"
    import difflib  # noqa: PLC0415 - 1 ms, and only needed after a typo

    close = difflib.get_close_matches(name, [*COMMANDS, *ALIASES], _MOST_SUGGESTED, _LEAST_ALIKE)
    meant = dict.fromkeys(" ".join(ALIASES.get(each, (each,))) for each in close)
    named = " or ".join(f"`leftoff {each}`" for each in meant)
    return f" Did you mean {named}?" if close else ""


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code, whatever ends it."""
    given = sys.argv[1:] if arguments is None else [*arguments]
    try:
        # Not standalone: click's own error handling does not know leftoff's exit codes. Commands
        # read `obj` to repeat their arguments in the choices they offer.
        code = leftoff.main(given, prog_name="leftoff", standalone_mode=False, obj=given)
        # Flush now: at interpreter exit, a full disk could no longer change the exit code.
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        _silence(sys.stdout)
        return 0
    except (KeyboardInterrupt, click.Abort):
        # The terminal shows ^C behind the question.
        if sys.stderr is not None and sys.stderr.isatty():
            click.echo(err=True)
        click.echo("Interrupted; nothing more was changed.", err=True)
        return EXIT_INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the one place that reports errors
        return _report_error(error, as_json=_wants_json(given))
    return code if isinstance(code, int) else 0


def _report_error(error: Exception, *, as_json: bool) -> int:
    from leftoff.cli import error_handler  # noqa: PLC0415 - 2 ms, and only needed after an error

    if isinstance(error, OSError):
        error = wrap_os_error(error)
    # If JSON cannot be written to stdout, try again as text, which goes to stderr.
    for wants_json in (as_json, False):
        try:
            error_handler.print_error(error, as_json=wants_json)
        except OSError:
            # The reader closed stdout, or its disk is full. The user may still see stderr.
            _silence(sys.stdout)
        else:
            break
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            _silence(stream)
    return getattr(error, "exit_code", EXIT_BUG)


def _wants_json(given: Sequence[str]) -> bool:
    # click has not parsed the options yet if the error is about them.
    return "--json" in given[: given.index("--")] if "--" in given else "--json" in given


def _silence(stream: TextIO | None) -> None:
    """Discard buffered output, so that the interpreter does not complain when it exits."""
    if stream is None:
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    with contextlib.suppress(OSError, ValueError):
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)

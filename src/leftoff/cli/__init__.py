"""The command line: one file per command, loaded when it is called."""

import contextlib
import importlib
import os
import sys
from collections.abc import Sequence
from typing import TextIO

import click

from leftoff import __version__
from leftoff.errors import EXIT_BUG, EXIT_INTERRUPTED

COMMANDS = {
    "auto": "leftoff.cli.auto:auto",
    "briefing": "leftoff.cli.briefing:briefing",
    "capture": "leftoff.cli.capture:capture",
    "clear": "leftoff.cli.clear:clear",
    "complete": "leftoff.cli.clear:complete",
    "completion": "leftoff.cli.completion:completion",
    "config": "leftoff.cli.config:config",
    "dashboard": "leftoff.cli.dashboard:dashboard",
    "defer": "leftoff.cli.defer:defer",
    "delete": "leftoff.cli.clear:delete",
    "diff": "leftoff.cli.diff:diff",
    "dispatch-check": "leftoff.cli.dispatch:dispatch_check",
    "doctor": "leftoff.cli.doctor:doctor",
    "export": "leftoff.cli.import_:export",
    "feature": "leftoff.cli.feature:feature",
    "hook-python": "leftoff.cli.hookpython:hook_python",
    "import": "leftoff.cli.import_:import_",
    "init": "leftoff.cli.init:init",
    "intent": "leftoff.cli.intent:intent",
    "latest": "leftoff.cli.show:latest",
    "ledger": "leftoff.cli.ledger:ledger",
    "lint": "leftoff.cli.lint:lint",
    "list": "leftoff.cli.list:list_",
    "log": "leftoff.cli.log:log",
    "memory": "leftoff.cli.memory:memory",
    "off": "leftoff.cli.switch:off",
    "on": "leftoff.cli.switch:on_",
    "prompts": "leftoff.cli.prompts:prompts",
    "purge": "leftoff.cli.purge:purge",
    "recover": "leftoff.cli.sessions:recover",
    "reflect": "leftoff.cli.reflect:reflect",
    "restore": "leftoff.cli.restore:restore_",
    "resume": "leftoff.cli.resume:resume",
    "save": "leftoff.cli.save:save",
    "schema": "leftoff.cli.schema:schema",
    "search": "leftoff.cli.search:search",
    "sessions": "leftoff.cli.sessions:sessions",
    "ship": "leftoff.cli.ship:ship",
    "show": "leftoff.cli.show:show",
    "start": "leftoff.cli.start:start",
    "status": "leftoff.cli.status:status",
    "statusline": "leftoff.cli.statusline:statusline",
    "torture": "leftoff.cli.torture:torture",
    "trash": "leftoff.cli.trash:trash",
    "undo": "leftoff.cli.undo:undo",
    "uninstall": "leftoff.cli.uninstall:uninstall",
    "wal": "leftoff.cli.wal:wal",
}


class Commands(click.Group):
    """A group that loads a command when it is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List all commands."""
        del ctx
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one command."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; a reader that goes away, as `head` does, is no error."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            _silence(sys.stdout)
            return 0


@click.command(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 a problem you can fix, 2 usage, 3 a choice is needed, "
    "4 below the quality bar, 70 a bug of ours, 130 interrupted.",
)
@click.version_option(__version__, message="leftoff %(version)s")
def leftoff() -> None:
    """Save where a session left off, and give it back to the next one."""


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command; every way it can end has its exit code here."""
    given = sys.argv[1:] if arguments is None else [*arguments]
    try:
        code = leftoff.main(given, prog_name="leftoff", standalone_mode=False, obj=given)
        # Here, not at the interpreter's end: a full disk must have its exit code.
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        _silence(sys.stdout)
        return 0
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted; nothing more was changed.", err=True)
        return EXIT_INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the one place where errors are caught and told
        return _told(error, as_json=_wants_json(given))
    return code if isinstance(code, int) else 0


def _told(error: Exception, *, as_json: bool) -> int:
    from leftoff.cli import endings  # noqa: PLC0415 - only on the way out

    if isinstance(error, OSError):
        error = endings.refused_by_system(error)
    for wants_json in (as_json, False):
        try:
            endings.tell(error, as_json=wants_json)
        except OSError:
            # Nobody reads us, or the disk our output goes to is full. People may still see stderr.
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
    return "--json" in given[: given.index("--")] if "--" in given else "--json" in given


def _silence(stream: TextIO | None) -> None:
    """Let what is still to be printed go nowhere, so that the interpreter ends without a word."""
    if stream is None:
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    with contextlib.suppress(OSError, ValueError):
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)

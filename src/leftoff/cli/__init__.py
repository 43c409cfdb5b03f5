"""The command line: one file per command, loaded when it is called."""

import importlib
import os
import sys
import traceback
from datetime import UTC, datetime

import click

from leftoff import __version__
from leftoff.errors import (
    EXIT_BUG,
    EXIT_INTERRUPTED,
    BelowQualityBar,
    ChoiceNeeded,
    LeftoffError,
)

COMMANDS = {
    "capture": "leftoff.cli.capture:capture",
    "clear": "leftoff.cli.clear:clear",
    "complete": "leftoff.cli.clear:complete",
    "completion": "leftoff.cli.completion:completion",
    "config": "leftoff.cli.config:config",
    "delete": "leftoff.cli.clear:delete",
    "diff": "leftoff.cli.diff:diff",
    "latest": "leftoff.cli.show:latest",
    "lint": "leftoff.cli.lint:lint",
    "list": "leftoff.cli.list:list_",
    "log": "leftoff.cli.log:log",
    "purge": "leftoff.cli.purge:purge",
    "recover": "leftoff.cli.sessions:recover",
    "resume": "leftoff.cli.resume:resume",
    "save": "leftoff.cli.save:save",
    "schema": "leftoff.cli.schema:schema",
    "search": "leftoff.cli.search:search",
    "sessions": "leftoff.cli.sessions:sessions",
    "show": "leftoff.cli.show:show",
    "status": "leftoff.cli.status:status",
    "trash": "leftoff.cli.trash:trash",
    "undo": "leftoff.cli.undo:undo",
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


@click.command(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 a problem you can fix, 2 usage, 3 a choice is needed, "
    "4 below the quality bar, 70 a bug of ours, 130 interrupted.",
)
@click.version_option(__version__, message="leftoff %(version)s")
def leftoff() -> None:
    """Save where a session left off, and give it back to the next one."""


def run() -> int:
    """Run a command; every way it can end has its exit code here."""
    try:
        code = leftoff.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except LeftoffError as error:
        _tell(error)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted; nothing more was changed.", err=True)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away, as `head` does. Nothing is left to say to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception:  # noqa: BLE001 - the one place where a bug of ours is caught
        _tell_bug()
        return EXIT_BUG
    return code if isinstance(code, int) else 0


def _tell(error: LeftoffError) -> None:
    from leftoff.cli.output import Output, printable  # noqa: PLC0415 - only on the way out

    out = Output(as_json="--json" in sys.argv)
    if isinstance(error, ChoiceNeeded):
        out.json({"message": error.message, "question": error.question, "choices": error.choices})
    elif out.as_json:
        findings = error.findings if isinstance(error, BelowQualityBar) else []
        out.json({"error": error.message, "hint": error.hint, "findings": findings})
        return
    click.echo(f"leftoff: {printable(error.message)}", err=True)
    for finding in error.findings if isinstance(error, BelowQualityBar) else []:
        click.echo(f"  - {printable(finding)}", err=True)
    if error.hint:
        click.echo(f"  {printable(error.hint)}", err=True)


def _tell_bug() -> None:
    from leftoff import paths  # noqa: PLC0415 - only on the way out

    report = f"leftoff {__version__}, Python {sys.version}\n\n{traceback.format_exc()}"
    try:
        folder = paths.state_folder() / "bugs"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        log = folder / f"{datetime.now(UTC):%Y%m%dT%H%M%S}.log"
        log.write_text(report, encoding="utf-8")
    except OSError:
        click.echo(report, err=True)
        click.echo("leftoff: this is a bug of ours; please report the text above.", err=True)
    else:
        last = traceback.format_exc().strip().splitlines()[-1]
        click.echo(f"leftoff: this is a bug of ours ({last}).", err=True)
        click.echo(f"  The report to send us is in {log}", err=True)

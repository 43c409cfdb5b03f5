"""Report errors: as text or JSON, and as a report file if the error is a bug in leftoff."""

import os
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from leftoff import DISTRIBUTION, __version__
from leftoff.cli.app import Output, print_message
from leftoff.cli.catalog import OTHER_SUBWORDS
from leftoff.context import state_folder
from leftoff.errors import BelowQualityBar, ChoiceNeeded, LeftoffError


def print_error(error: Exception, *, as_json: bool) -> None:
    """Print the error that ended a run."""
    if isinstance(error, click.ClickException):
        _print_usage_error(error, as_json=as_json)
    elif isinstance(error, LeftoffError):
        _print_problem(error, as_json=as_json)
    else:
        _print_bug(error, as_json=as_json)


def _print_problem(error: LeftoffError, *, as_json: bool) -> None:
    """Print a problem that the user can solve; choices are always printed as JSON."""
    findings = error.findings if isinstance(error, BelowQualityBar) else []
    # Programs read the choices on stdout; people read the lines on stderr.
    if isinstance(error, ChoiceNeeded):
        _print_json(
            {"message": error.message, "question": error.question, "choices": error.choices}
        )
    elif as_json:
        _print_json({"error": error.message, "hint": error.hint, "findings": findings})
        return
    print_message(f"leftoff: {end_sentence(error.message)}")
    for line in [*(f"- {finding}" for finding in findings), error.hint]:
        if line:
            print_message(f"  {line}")


def _print_usage_error(error: click.ClickException, *, as_json: bool) -> None:
    """Print what click found in the arguments, as leftoff prints its own errors."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    message = end_sentence(_describe(error, context))
    command = context.command_path if context else "leftoff"
    shows = "how it is used" if " " in command else "all commands"
    hint = f"Run `{command} --help` to see {shows}."
    if as_json:
        _print_json({"error": message, "hint": hint, "findings": []})
        return
    print_message(f"leftoff: {message}")
    print_message(f"  {hint}")


def _describe(error: click.ClickException, context: click.Context | None) -> str:
    """Return what click says, with the closest of its suggestions in leftoff's style."""
    near = _list_near(error, context)
    if not near:
        # With suggestions, click's own text would name them.
        said = error.message if hasattr(error, "possibilities") else error.format_message()
        return " ".join(said.split())
    within = f"{context.command_path} " if context and not near[0].startswith("-") else ""
    return f"{error.message.rstrip('.')}. Did you mean `{within}{near[0]}`?"


def _list_near(error: click.ClickException, context: click.Context | None) -> list[str]:
    """Return what may have been meant: the subcommand of this meaning, or similar spellings."""
    group = context.command if context else None
    wanted = OTHER_SUBWORDS.get(getattr(error, "command_name", ""))
    if isinstance(group, click.Group) and wanted:
        return [each for each in wanted if each in group.commands][:1]
    return [*(getattr(error, "possibilities", None) or [])]


def end_sentence(message: str) -> str:
    """Add a missing full stop; a path or a command at the end stays as it can be copied."""
    last = message.rpartition(" ")[2]
    is_plain = bool(last) and (last[-1].isalnum() or last[-1] in "'\")") and "/" not in last
    return f"{message}." if is_plain else message


def _print_bug(error: Exception, *, as_json: bool) -> None:
    """Write a bug report and print its path; print the report itself if that fails."""
    versions = f"leftoff {__version__} ({DISTRIBUTION}), Python {sys.version}"
    report = f"{versions}\n\n{_format_traceback(error)}"
    last = traceback.format_exception_only(error)[-1].strip()
    log = _write_report(report)
    if as_json:
        result = {"error": f"This is a bug in leftoff ({last}).", "findings": []}
        _print_json({**result, "hint": f"Please send us the report in {log}" if log else report})
        return
    if log is None:
        print_message(report)
    print_message(f"leftoff: this is a bug in leftoff ({last}).")
    print_message(
        f"  Please send us the report in {log}" if log else "  Please send us the text above."
    )


def _format_traceback(error: Exception) -> str:
    return "".join(traceback.format_exception(error))


def _write_report(report: str) -> Path | None:
    try:
        folder = state_folder() / "bugs"
        for each in (folder.parent, folder):
            each.mkdir(parents=True, exist_ok=True, mode=0o700)
        log = folder / f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}-{os.getpid()}.log"
        # A traceback may quote private text, so the file is readable by its owner only.
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
            file.write(report)
    except (OSError, RuntimeError):
        return None
    return log


def _print_json(data: dict[str, Any]) -> None:
    Output(as_json=True).json(data)

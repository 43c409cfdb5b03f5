"""Report errors: as text or JSON, and as a report file if the error is a bug in leftoff."""

import os
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from leftoff import __version__
from leftoff.cli.app import Output, printable
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
        _json({"message": error.message, "question": error.question, "choices": error.choices})
    elif as_json:
        _json({"error": error.message, "hint": error.hint, "findings": findings})
        return
    _print_line(f"leftoff: {error.message}")
    for line in [*(f"- {finding}" for finding in findings), error.hint]:
        if line:
            _print_line(f"  {line}")


def _print_usage_error(error: click.ClickException, *, as_json: bool) -> None:
    if as_json:
        _json({"error": error.format_message(), "hint": "Add --help for help.", "findings": []})
    else:
        error.show()


def wrap_os_error(error: OSError) -> LeftoffError:
    """Turn an OSError, such as a full disk, into an error with a hint."""
    what = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
    return LeftoffError(
        f"Operating system error: {what}{error.strerror or error}",
        hint="Everything saved before this is safe.",
    )


def _print_bug(error: Exception, *, as_json: bool) -> None:
    """Write a bug report and print its path; print the report itself if that fails."""
    report = f"leftoff {__version__}, Python {sys.version}\n\n{_format_traceback(error)}"
    last = traceback.format_exception_only(error)[-1].strip()
    log = _write_report(report)
    if as_json:
        told = {"error": f"This is a bug in leftoff ({last}).", "findings": []}
        _json({**told, "hint": f"Please send us the report in {log}" if log else report})
        return
    if log is None:
        _print_line(report)
    _print_line(f"leftoff: this is a bug in leftoff ({last}).")
    _print_line(
        f"  Please send us the report in {log}" if log else "  Please send us the text above."
    )


def _format_traceback(error: Exception) -> str:
    return "".join(traceback.format_exception(error))


def _write_report(report: str) -> Path | None:
    try:
        folder = state_folder() / "bugs"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        log = folder / f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}-{os.getpid()}.log"
        # A traceback may quote private text, so the file is readable by its owner only.
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
            file.write(report)
    except (OSError, RuntimeError):
        return None
    return log


def _json(data: dict[str, Any]) -> None:
    Output(as_json=True).json(data)


def _print_line(line: str) -> None:
    click.echo(printable(line, sys.stderr), err=True)

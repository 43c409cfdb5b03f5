"""The `leftoff ship` command: save, commit, push and open a pull request."""

import sys
from typing import Any

import click
import msgspec

from leftoff import consent
from leftoff.cli.app import App, command, printable
from leftoff.errors import LeftoffError
from leftoff.projects.project import explain_distrust
from leftoff.ship.dry_run import open_scratch_store, plan
from leftoff.ship.outcome import Listener, Options, ShipReport, ShipStep
from leftoff.ship.panel import panel
from leftoff.ship.ship_steps import ship as ship_all

_MARKS = {"done": "done", "skipped": "skip", "failed": "FAIL", "planned": "plan"}
_COLOURS = {"done": "green", "skipped": None, "failed": "red", "planned": "cyan"}
_NAME_WIDTH = 13
# Most runs skip these steps, so only the JSON output lists them when skipped.
_SILENT_IF_SKIPPED = frozenset({"memory", "archive", "briefing", "tidy"})


@command()
@click.option("--message", "-m", default="", help="Commit message.")
@click.option("--no-push", is_flag=True, help="Commit, but do not push.")
@click.option("--no-pr", is_flag=True, help="Do not open or update a pull request.")
@click.option("--dry-run", is_flag=True, help="Show what would happen; change nothing.")
def ship(app: App, message: str, *, no_push: bool, no_pr: bool, dry_run: bool) -> int:
    """Save, commit, push and open a pull request.

    Files that look like secrets are listed and not committed. If a step fails, the steps before
    it stay done; run the command again to continue.
    """
    if not app.project.is_git:
        if (distrust := explain_distrust(app.project)) is not None:
            raise LeftoffError(distrust[0], hint=distrust[1])
        raise LeftoffError(
            "This folder is not in a git repository, so there is nothing to commit.",
            hint="Use `leftoff save`, or create a repository with `git init`.",
        )
    options = Options(
        message=message,
        push=not no_push,
        pull_request=not (no_pr or no_push),
        may_ask=app.out.is_interactive,
    )
    if dry_run:
        return _show_plan(app, options)
    _allow_checks(app)
    report = ship_all(app.store, app.settings, options, _listener(app))
    if app.out.as_json:
        app.out.json(_plain(report))
    else:
        app.out.gap()
        app.out.text(panel(report, advise_clear=app.settings.advise_clear))
    return int(report.has_failed)


def _allow_checks(app: App) -> None:
    """Ask for consent to run the project's checks; stop without it, rather than skip them."""
    waiting = [each for each in app.workspace.configuration.pending if each.key == "verify"]
    for each in waiting:
        if not (app.out.is_interactive and _agrees(app, each.value)):
            raise LeftoffError(
                "This project sets checks to run before a commit, and you have not allowed them.",
                hint="Run `leftoff config allow verify` to see and allow them, or "
                "`leftoff config set verify none --project` to run none.",
            )
        consent.give(app.project, each.key, each.value)
    if waiting:
        app.forget_settings()


def _agrees(app: App, commands: list[str]) -> bool:
    app.out.text("This project's settings run these commands before each commit:")
    app.out.text("\n".join(f"  {command}" for command in commands))
    return click.confirm("Allow them on this machine?", default=False)


def _show_plan(app: App, options: Options) -> int:
    # Not app.store: opening that imports edits in mirrored files, and a dry run changes nothing.
    with open_scratch_store(app.project, app.settings.mirror) as store:
        report = plan(store, app.settings, options)
    if app.out.as_json:
        app.out.json({"dry_run": True, **_plain(report)})
    else:
        for step in report.steps:
            _print_step(app, step)
        app.out.text("Nothing was changed.")
    return int(report.has_failed)


def _listener(app: App) -> Listener:
    if app.out.as_json:
        # stdout must be one JSON document, so the output of checks goes to stderr.
        return Listener(says=lambda line: click.echo(printable(line, sys.stderr), err=True))
    return Listener(
        begins=lambda name: _show_waiting(app, name),
        says=lambda line: app.out.text(f"       {line}"),
        ends=lambda step: _print_step(app, step),
    )


def _show_waiting(app: App, name: str) -> None:
    """Show the running step on a terminal, on a line that the result overwrites."""
    if app.out.is_interactive and not app.out.quiet:
        click.echo(f"{'....' if name else '':<6}{name:<{_NAME_WIDTH}}\r", nl=False)


def _print_step(app: App, step: ShipStep) -> None:
    _show_waiting(app, "")
    if step.state == "skipped" and step.name in _SILENT_IF_SKIPPED:
        return
    line = f"{_MARKS[step.state]}  {step.name:<{_NAME_WIDTH}} {step.text}"
    app.out.text(line, fg=_COLOURS[step.state])
    for each in [*step.lines, *([step.hint] if step.hint else [])]:
        app.out.text(f"       {each}")


def _plain(report: ShipReport) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(report)
    left_out = [{"path": each.display_path, "why": each.why} for each in report.left_out]
    if plain["pull"] is not None:
        # They are long, and GitHub shows them.
        plain["pull"] = {
            key: value for key, value in plain["pull"].items() if key not in {"body", "comments"}
        }
    return {**plain, "left_out": left_out, "failed": report.has_failed}

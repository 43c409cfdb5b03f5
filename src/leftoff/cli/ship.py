"""The `leftoff ship` command: save, commit, push and open a pull request."""

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import click
import msgspec

from leftoff import consent
from leftoff.cli.app import App, command, printable
from leftoff.cli.ask_questions import confirm
from leftoff.cli.look import Look, wrap_line
from leftoff.config import Value
from leftoff.errors import LeftoffError
from leftoff.projects.project import explain_distrust
from leftoff.ship.dry_run import open_scratch_store, plan
from leftoff.ship.outcome import Listener, Options, ShipReport, ShipStep
from leftoff.ship.panel import format_panel
from leftoff.ship.ship_steps import ship as ship_all

_MARKS = {"done": "done", "skipped": "skip", "failed": "FAIL", "planned": "plan"}
_COLORS = {"done": "green", "skipped": None, "failed": "red", "planned": "cyan"}
_ROLES = {"done": "good", "skipped": "quiet", "failed": "bad", "planned": "name"}
_NAME_WIDTH = 13
# Narrower terminals have no room for a column of names.
_COLUMNS_NEEDED = 60
_PANEL_INDENT = 16
# Most runs skip these steps, so only the JSON output lists them when skipped.
_SILENT_IF_SKIPPED = frozenset({"memory", "archive", "briefing", "tidy"})


@command()
@click.option("--message", "-m", default="", help="Commit message.")
@click.option("--no-push", is_flag=True, help="Commit, but do not push.")
@click.option("--no-pr", is_flag=True, help="Do not open or update a pull request.")
@click.option("--dry-run", is_flag=True, help="Show what would happen; change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def ship(app: App, message: str, **given: bool) -> int:
    """Save, commit, push and open a pull request.

    On a terminal, it shows the plan and asks first. Files that look like secrets are listed and
    not committed. If a step fails, the steps before it stay done; run the command again to
    continue.
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
        push=not given["no_push"],
        pull_request=not (given["no_pr"] or given["no_push"]),
        may_ask=app.out.is_interactive,
    )
    if given["dry_run"]:
        code = _show_plan(app, options)
        if not app.out.as_json:
            app.out.text("Nothing was changed.")
        return code
    _allow_checks(app)
    if app.out.is_interactive and not given["yes"]:
        has_failed = bool(_show_plan(app, options))
        app.out.gap()
        if not confirm("Ship this?", default=not has_failed):
            app.out.text("Nothing was changed.")
            return 1
        app.out.gap()
    report = ship_all(app.store, app.settings, options, _build_listener(app))
    if app.out.as_json:
        app.out.json(_to_plain(report))
    else:
        app.out.gap()
        _print_panel(app, format_panel(report, advise_clear=app.settings.advise_clear))
    return int(report.has_failed)


_NOT_ALLOWED = "This project sets checks to run before a commit, and you have not allowed them."
_HOW_TO_ALLOW = (
    "Run `leftoff config allow verify` to see and allow them, or "
    "`leftoff config set verify none --project` to run none."
)


def _list_waiting_checks(app: App) -> list[Value]:
    """Return the checks of the project that wait for the user's consent."""
    return [each for each in app.workspace.configuration.pending if each.key == "verify"]


def _allow_checks(app: App) -> None:
    """Ask for consent to run the project's checks; stop without it, rather than skip them."""
    waiting = _list_waiting_checks(app)
    for each in waiting:
        if not (app.out.is_interactive and _agrees(app, each.value)):
            raise LeftoffError(_NOT_ALLOWED, hint=_HOW_TO_ALLOW)
        consent.give(app.project, each.key, each.value)
    if waiting:
        app.forget_settings()


def _agrees(app: App, commands: list[str]) -> bool:
    app.out.text("This project's settings run these commands before each commit:")
    app.out.exact("\n".join(f"  {command}" for command in commands))
    return confirm("Allow them on this machine?", default=False)


def _show_plan(app: App, options: Options) -> int:
    # Not app.store: opening that imports edits in mirrored files, and a dry run changes nothing.
    with open_scratch_store(app.project, app.settings.mirror) as store:
        report = plan(store, app.settings, options)
    commands = [each for value in _list_waiting_checks(app) for each in value.value]
    if commands:
        report = _with_waiting_checks(report, commands)
    if app.out.as_json:
        app.out.json({"dry_run": True, **_to_plain(report)})
    else:
        for step in report.steps:
            _print_step(app, step)
    return int(report.has_failed)


def _with_waiting_checks(report: ShipReport, commands: list[str]) -> ShipReport:
    """Return a plan that stops where a ship would: before checks that nobody allowed."""
    stop = ShipStep(
        name="checks", state="failed", text=_NOT_ALLOWED, hint=_HOW_TO_ALLOW, lines=commands
    )
    steps = [stop if each.name == "checks" else each for each in report.steps]
    return msgspec.structs.replace(report, steps=steps)


def _build_listener(app: App) -> Listener:
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
    if app.out.is_for_person:
        app.out.lines(_layout_step(step, app.out.look))
        return
    line = f"{_MARKS[step.state]}  {step.name:<{_NAME_WIDTH}} {step.text}"
    app.out.text(line, fg=_COLORS[step.state])
    for each in [*step.lines, *([step.hint] if step.hint else [])]:
        app.out.text(f"       {each}")


def _layout_step(step: ShipStep, look: Look) -> Iterator[str]:
    """Lay out a step for a person: what happens to it, its name, and the rest in a column."""
    mark = _MARKS[step.state]
    indent = " " * (len(mark) + _NAME_WIDTH + 3 if look.columns >= _COLUMNS_NEEDED else 6)
    head = printable(f"{mark}  {step.name:<{_NAME_WIDTH}} {step.text}")
    first, *rest = [
        row for line in head.split("\n") for row in wrap_line(line, look.columns, indent)
    ]
    yield look.paint(_ROLES[step.state], mark) + first.removeprefix(mark)
    yield from rest
    for each in [*step.lines, *([step.hint] if step.hint else [])]:
        text = printable(each).split("\n")
        yield from (row.rstrip() for line in text for row in wrap_line(indent + line, look.columns))


def _print_panel(app: App, lines: Sequence[str]) -> None:
    if not app.out.is_for_person:
        app.out.text(lines)
        return
    look, (heading, *rest) = app.out.look, map(printable, lines)
    rows = [row for line in rest for row in wrap_line(line, look.columns, " " * _PANEL_INDENT)]
    app.out.lines([look.paint("title", heading), *rows])


def _to_plain(report: ShipReport) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(report)
    left_out = [{"path": each.display_path, "why": each.why} for each in report.left_out]
    if plain["pull"] is not None:
        # They are long, and GitHub shows them.
        plain["pull"] = {
            key: value for key, value in plain["pull"].items() if key not in {"body", "comments"}
        }
    return {**plain, "left_out": left_out, "failed": report.has_failed}

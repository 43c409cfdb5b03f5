"""The `leftoff config` command: show or change settings."""

import difflib
from pathlib import Path

import click
import msgspec

from leftoff import config as settings
from leftoff import consent
from leftoff.cli.app import App, clean_line, command, group
from leftoff.cli.ask_questions import confirm
from leftoff.cli.look import wrap_line
from leftoff.errors import UsageError

_project_option = click.option(
    "--project", "in_project", is_flag=True, help="For this project only."
)


def _check_key(_context: click.Context, _parameter: click.Parameter, key: str) -> str:
    """Return the name of a setting; there are too many for a list of them in an error."""
    if key in settings.HELP:
        return key
    near = difflib.get_close_matches(key, settings.HELP, n=1)
    meant = f"Did you mean `{near[0]}`? " if near else ""
    raise UsageError(
        f"There is no setting {key!r}.", hint=f"{meant}Run `leftoff config` to list them all."
    )


def _complete_key(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    return [key for key in settings.HELP if key.startswith(typed)]


_key_argument = click.argument("key", callback=_check_key, shell_complete=_complete_key)


@command()
def explain(app: App) -> None:
    """Show each setting, its value and its source."""
    values = app.workspace.configuration.values
    app.workspace.warn_of_ignored_checks()
    if app.out.as_json:
        app.out.json([msgspec.to_builtins(value) for value in values])
        return
    if app.out.is_for_person:
        with app.out.paged():
            for value in values:
                _show_setting(app, value)
        return
    app.out.table(
        {
            "setting": [value.key for value in values],
            "value": [settings.format_value(value.value) for value in values],
            "from": [value.source for value in values],
            "meaning": [settings.HELP[value.key] for value in values],
        }
    )


def _show_setting(app: App, value: settings.Value) -> None:
    """Show a setting for a person: its value, where that is from, and what it means."""
    look = app.out.look
    known = clean_line(settings.format_value(value.value)) or "(none)"
    source = "" if value.source == "default" else f" (from {clean_line(value.source)})"
    first, *rest = wrap_line(f"{value.key} = {known}{source}", look.columns, "  ")
    app.out.lines([look.paint("name", value.key) + first[len(value.key) :], *rest])
    app.out.lines(wrap_line(f"  {settings.HELP[value.key]}", look.columns))


@group(explain)
def config() -> None:
    """Show or change settings."""


@command(name="set")
@_key_argument
@click.argument("value")
@_project_option
def set_(app: App, key: str, value: str, *, in_project: bool) -> None:
    """Set a value for you, or for this project only."""
    path = _find_file(app, in_project=in_project)
    if in_project:
        settings.set_for(app.project, key, value)
    else:
        settings.write(path, key, value, is_own=not in_project)
    app.out.result({"key": key, "value": value, "path": str(path)}, f"{key} = {value} in {path}")


@command(name="unset")
@_key_argument
@_project_option
def unset(app: App, key: str, *, in_project: bool) -> None:
    """Reset a setting to its default."""
    path = _find_file(app, in_project=in_project)
    settings.write(path, key, None, is_own=not in_project)
    app.out.result({"key": key, "path": str(path)}, f"{key} is no longer set in {path}")


@command(name="allow")
@click.argument("key", required=False, type=click.Choice([*sorted(consent.GUARDED)]))
def allow(app: App, key: str | None) -> int:
    """Allow what this project's settings run or read.

    Shows each value that needs your consent. If a value changes later, you must allow it again.
    """
    pending = [each for each in settings.load(app.project).pending if key in {None, each.key}]
    allowed = [each for each in pending if _confirm_value(app, each)]
    for each in allowed:
        consent.give(app.project, each.key, each.value)
    names = [each.key for each in allowed]
    outcome = f"Allowed {', '.join(names)} on this machine." if names else "Nothing was allowed."
    app.out.result({"allowed": names}, outcome if pending else "No setting needs your consent.")
    # Fail if the user refused everything, so that a script does not go on without consent.
    return int(bool(pending) and not allowed)


def _confirm_value(app: App, value: settings.Value) -> bool:
    """Show a value and ask on a terminal; elsewhere running the command counts as consent."""
    if not app.out.as_json:
        app.out.text(f"{value.source} sets\n  {value.key} = {settings.format_value(value.value)}")
        app.out.text(f"  {settings.HELP[value.key]}")
    return not app.out.is_interactive or confirm("Allow it on this machine?", default=False)


def _find_file(app: App, *, in_project: bool) -> Path:
    return settings.find_project_file(app.project) if in_project else app.environment.config_file


config.add_command(set_)
config.add_command(unset)
config.add_command(allow)

"""leftoff config."""

from pathlib import Path

import click
import msgspec

from leftoff import config as settings
from leftoff import paths
from leftoff.cli.app import App, command, group

_project_option = click.option(
    "--project", "in_project", is_flag=True, help="For this project only."
)


@command()
def explain(app: App) -> None:
    """Show each setting, its value and where it comes from."""
    values = app.loaded.values
    if app.out.as_json:
        app.out.json([msgspec.to_builtins(value) for value in values])
        return
    app.out.table(
        {
            "setting": [value.key for value in values],
            "value": [settings.shown(value.value) for value in values],
            "from": [value.source for value in values],
            "meaning": [settings.HELP[value.key] for value in values],
        }
    )


@group(explain)
def config() -> None:
    """Show the settings and where each value comes from; set and unset them."""


@command(name="set")
@click.argument("key", type=click.Choice([*settings.HELP]))
@click.argument("value")
@_project_option
def set_(app: App, key: str, value: str, *, in_project: bool) -> None:
    """Set a value, for you or for this project."""
    path = _file(app, in_project=in_project)
    settings.write(path, key, value)
    app.out.result({"key": key, "value": value, "path": str(path)}, f"{key} = {value} in {path}")


@command(name="unset")
@click.argument("key", type=click.Choice([*settings.HELP]))
@_project_option
def unset(app: App, key: str, *, in_project: bool) -> None:
    """Take a value back to what it would be without it."""
    path = _file(app, in_project=in_project)
    settings.write(path, key, None)
    app.out.result({"key": key, "path": str(path)}, f"{key} is no longer set in {path}")


def _file(app: App, *, in_project: bool) -> Path:
    return settings.project_file(app.project) if in_project else paths.config_file()


config.add_command(set_)
config.add_command(unset)

"""The `leftoff help` command: show the help of a command, or of all."""

import click
from click.shell_completion import CompletionItem

from leftoff.cli import ALL, leftoff
from leftoff.cli.app import App, command
from leftoff.errors import UsageError


def _complete_commands(
    context: click.Context, _parameter: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Complete the names of commands, and of the subcommands of a group."""
    group: click.Command | None = leftoff
    for name in context.params["names"] or ():
        group = group.get_command(context, name) if isinstance(group, click.Group) else None
    if not isinstance(group, click.Group):
        return []
    found = group.shell_complete(click.Context(group, parent=context), typed)
    return [each for each in found if not each.value.startswith("-")]


@command(name="help")
@click.argument("names", nargs=-1, metavar="[COMMAND]...", shell_complete=_complete_commands)
def help_(app: App, names: tuple[str, ...]) -> None:
    """Show the help of a command, or of all.

    `leftoff help all` also lists the commands that agents and scripts use.
    """
    is_all = names == ("all",)
    top = click.Context(leftoff, info_name="leftoff", obj=ALL if is_all else None)
    _show(app, _page(top, () if is_all else names))


def _show(app: App, help_page: str) -> None:
    if app.out.as_json:
        app.out.json({"help": help_page})
    elif app.out.is_for_person:
        with app.out.paged():
            app.out.lines(help_page.splitlines())
    else:
        click.echo(help_page)


def _page(context: click.Context, names: tuple[str, ...]) -> str:
    for name in names:
        group = context.command
        if not isinstance(group, click.Group):
            raise UsageError(f"`{context.command_path}` has no subcommands.")
        found, command, _ = group.resolve_command(context, [name])
        if command is None:  # pragma: no cover - click has raised an error by now
            raise UsageError(f"No such command {name!r}.")
        context = click.Context(command, info_name=found, parent=context)
    return context.get_help()

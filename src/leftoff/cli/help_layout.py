"""Lay out the options of a command for its help page and man page: the shared ones are last."""

from collections.abc import Mapping, Sequence

import click

_SHARED = frozenset({"--json", "--quiet", "--color", "--help"})
_OWN = "Options"
COMMON = "Common options"
"""The title of the options that every command has."""


def group_options(
    command: click.Command, context: click.Context, sections: Mapping[str, Sequence[str]]
) -> dict[str, list[tuple[str, str]]]:
    """Return what help says of each option, by the title that it is listed under."""
    places = {name: title for title, names in sections.items() for name in names}
    rows: dict[str, list[tuple[str, str]]] = {each: [] for each in (_OWN, *sections, COMMON)}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        # The usage names the arguments.
        if record is None or isinstance(parameter, click.Argument):
            continue
        is_shared = not _SHARED.isdisjoint(parameter.opts)
        rows[COMMON if is_shared else places.get(parameter.name or "", _OWN)].append(record)
    return {title: found for title, found in rows.items() if found}


def write_options(
    command: click.Command,
    context: click.Context,
    formatter: click.HelpFormatter,
    sections: Mapping[str, Sequence[str]],
) -> None:
    """Write the options of a command on its help page."""
    for title, rows in group_options(command, context, sections).items():
        with formatter.section(title):
            formatter.write_dl(rows)


def write_commands(
    group: click.Group, context: click.Context, formatter: click.HelpFormatter
) -> None:
    """List the commands of a group as the first help page lists all commands."""
    commands = [(name, group.get_command(context, name)) for name in group.list_commands(context)]
    with formatter.section("Commands"):
        formatter.write_dl(
            [(name, first_line(each)) for name, each in commands if each is not None]
        )


def first_line(command: click.Command) -> str:
    """Return the summary of a command, without the full stop."""
    return (command.help or "").strip().split("\n", 1)[0].rstrip(".")

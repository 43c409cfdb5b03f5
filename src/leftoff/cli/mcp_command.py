"""The `leftoff mcp` command: serve leftoff's tools to an agent over MCP."""

import click

from leftoff.cli.app import App, command
from leftoff.mcp import methods


@command()
def mcp(app: App) -> int:
    """Serve leftoff's tools to an agent over MCP.

    Agents start this themselves, and talk to it on standard input and output. It ends when they
    close standard input.
    """
    if app.out.is_interactive:
        click.echo("Waiting for an MCP client on standard input. Press Ctrl-D to end.", err=True)
    return methods.serve()

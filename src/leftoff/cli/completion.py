"""leftoff completion."""

import click
from click.shell_completion import get_completion_class

from leftoff.cli.app import App, command


@command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(app: App, shell: str) -> None:
    """Print the completion script for a shell.

    For bash: eval "$(leftoff completion bash)"
    """
    from leftoff.cli import leftoff  # noqa: PLC0415 - the group loads this file

    cls = get_completion_class(shell)
    if cls is None:
        raise click.UsageError(f"There is no completion for {shell}.")
    script = cls(leftoff, {}, "leftoff", "_LEFTOFF_COMPLETE").source()
    app.out.result({"shell": shell, "script": script}, script)

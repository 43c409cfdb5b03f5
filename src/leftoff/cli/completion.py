"""The `leftoff completion` command: print a shell completion script."""

import click
from click.shell_completion import ShellComplete, get_completion_class

from leftoff.cli.app import App, command


@command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(app: App, shell: str) -> None:
    """Print a shell completion script.

    \b
    bash: eval "$(leftoff completion bash)"   in ~/.bashrc
    zsh:  eval "$(leftoff completion zsh)"    in ~/.zshrc
    fish: leftoff completion fish > ~/.config/fish/completions/leftoff.fish
    """  # noqa: D301 - click needs the backspace character
    script = _completer(shell).source().rstrip("\n")
    app.out.result({"shell": shell, "script": script}, script.splitlines())


def _completer(shell: str) -> ShellComplete:
    from leftoff.cli import leftoff  # noqa: PLC0415 - avoids a circular import

    completer = get_completion_class(shell)
    if completer is None:  # pragma: no cover - click knows all three
        raise click.UsageError(f"leftoff has no completion for {shell}.")
    return completer(leftoff, {}, "leftoff", "_LEFTOFF_COMPLETE")

"""The `leftoff completion` command: print or install a shell completion script."""

from pathlib import Path

import click
from click.shell_completion import ShellComplete, get_completion_class

from leftoff.cli import leftoff
from leftoff.cli.app import App, command
from leftoff.errors import LeftoffError, UsageError
from leftoff.store import disk

_SHELLS = ("bash", "zsh", "fish")
_INSTALL = "install"
_VARIABLE = "_LEFTOFF_COMPLETE"
_NOTES = {
    "bash": ["It needs the package bash-completion. Open a new shell to use it."],
    "zsh": [
        "Add these lines to ~/.zshrc, then open a new shell.",
        "If it runs compinit already, add only the first one, above that:",
        "  fpath=({folder} $fpath)",
        "  autoload -Uz compinit && compinit",
    ],
    "fish": ["Open a new shell to use it."],
}


@command()
@click.argument("what", type=click.Choice([*_SHELLS, _INSTALL]))
@click.argument("shell", required=False, type=click.Choice(_SHELLS))
def completion(app: App, what: str, shell: str | None) -> None:
    """Print or install a shell completion script.

    `leftoff completion install` writes the script where your shell looks for it. To load it
    yourself:

    \b
    bash: eval "$(leftoff completion bash)"   in ~/.bashrc
    zsh:  eval "$(leftoff completion zsh)"    in ~/.zshrc, after compinit
    fish: leftoff completion fish > ~/.config/fish/completions/leftoff.fish
    """  # noqa: D301 - click needs the backspace character
    if what == _INSTALL:
        _install(app, shell or _find_shell(app))
        return
    if shell is not None:
        raise UsageError("Name one shell, or run `leftoff completion install SHELL`.")
    script = _write_script(what)
    app.out.result({"shell": what, "script": script}, script.splitlines(), is_exact=True)


def _find_shell(app: App) -> str:
    name = app.environment.find_shell()
    if name not in _SHELLS:
        raise UsageError(
            "leftoff does not know your shell."
            if not name
            else f"leftoff has no completion for {name}.",
            hint="Name one: `leftoff completion install bash`, zsh or fish.",
        )
    return name


def _install(app: App, shell: str) -> None:
    path = _find_place(app, shell)
    data = f"{_write_script(shell)}\n".encode()
    before = path.read_bytes() if path.is_file() else None
    if before is not None and _VARIABLE.encode() not in before:
        raise LeftoffError(
            f"{path} is not leftoff's, so it was left unchanged",
            hint="Move it away, then try again.",
        )
    if before != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        disk.replace(path, data, temps=path.parent)
    notes = [each.format(folder=path.parent) for each in _NOTES[shell]]
    done = "is already installed in" if before == data else "was installed in"
    app.out.result(
        {"shell": shell, "path": str(path), "changed": before != data},
        [f"The completion for {shell} {done} {path}", *notes],
    )


def _find_place(app: App, shell: str) -> Path:
    """Return the file in which a shell looks for completions of leftoff."""
    data, config = app.environment.find_data_folder(), app.environment.config_file.parents[1]
    places = {
        "bash": data / "bash-completion" / "completions" / "leftoff",
        "zsh": data / "zsh" / "site-functions" / "_leftoff",
        "fish": config / "fish" / "completions" / "leftoff.fish",
    }
    return places[shell]


def _write_script(shell: str) -> str:
    return _find_completer(shell).source().rstrip("\n")


def _find_completer(shell: str) -> ShellComplete:
    completer = get_completion_class(shell)
    if completer is None:  # pragma: no cover - click knows all three
        raise click.UsageError(f"leftoff has no completion for {shell}.")
    return completer(leftoff, {}, "leftoff", _VARIABLE)

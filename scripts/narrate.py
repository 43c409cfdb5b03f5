"""Print the demo: headings, explanations, and commands with their own output."""

import shlex
import shutil
import subprocess
import sys
import textwrap

import click

from stage import Stage

_WIDTH = 92


def heading(text: str) -> None:
    """Print the heading of a chapter."""
    click.secho(f"\n{text}", bold=True, fg="cyan")
    click.secho("─" * len(text), fg="cyan")


def say(text: str) -> None:
    """Print an explanation."""
    click.echo()
    click.secho(textwrap.fill(text, min(_WIDTH, shutil.get_terminal_size().columns)), fg="green")


def command(line: str) -> None:
    """Print a command line."""
    click.secho(f"\n$ {line}", bold=True)


def output(text: str) -> None:
    """Print what a command printed whose output was read."""
    click.echo(text)


def show(world: Stage, *words: str) -> None:
    """Print a command, then run it with its own output."""
    command(_shown(words))
    _run(world, *words)


def shell(world: Stage, line: str) -> None:
    """Print a shell command, then run it with its own output."""
    command(line)
    _run(world, "sh", "-c", line)


def _run(world: Stage, *words: str) -> None:
    sys.stdout.flush()
    done = subprocess.run(
        words,
        cwd=world.project,
        env=world.environment,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(f"The command ended with {done.returncode}.")


def flat(options: dict[str, str]) -> list[str]:
    """Return options and their values as arguments of a command."""
    return [word for option in options.items() for word in option]


def _shown(words: tuple[str, ...]) -> str:
    line = shlex.join(words)
    return line if len(line) <= _WIDTH - 2 else line.replace(" --", " \\\n    --")

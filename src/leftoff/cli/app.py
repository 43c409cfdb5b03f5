"""What every command has at hand: the project, its store, the settings, and the output."""

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import click

from leftoff import config, paths
from leftoff.cli.output import Output
from leftoff.errors import ChoiceNeeded
from leftoff.store import Store

P = ParamSpec("P")
R = TypeVar("R")


class App:
    """The world of one run, made when first asked for."""

    def __init__(self, *, as_json: bool, quiet: bool) -> None:
        self.out = Output(as_json=as_json, quiet=quiet)

    @functools.cached_property
    def project(self) -> paths.Project:
        """The project we stand in."""
        return paths.find_project()

    @functools.cached_property
    def store(self) -> Store:
        """The project's store."""
        return Store(self.project)

    @functools.cached_property
    def settings(self) -> config.Settings:
        """The settings in force; a source that cannot be used is told and left out."""
        loaded = config.load(self.project)
        for problem in loaded.problems:
            self.out.warn(problem)
        return loaded.settings

    def choose(self, choice: ChoiceNeeded) -> str:
        """Let the user pick on a terminal; elsewhere hand the choice on."""
        if not self.out.is_interactive:
            raise choice
        click.echo(choice.message)
        for number, each in enumerate(choice.choices, 1):
            details = [each[key] for key in ("branch", "saved_at", "summary") if each.get(key)]
            click.echo(f"  {number}. {each['label']}  {'  '.join(map(str, details))}".rstrip())
        numbers = click.IntRange(1, len(choice.choices))
        picked = click.prompt(choice.question, type=numbers)
        return str(choice.choices[picked - 1]["choice"])


def command(**settings: Any) -> Callable[[Callable[..., R]], click.Command]:
    """Make a command that gets an App and knows --json and --quiet."""

    def wrap(function: Callable[..., R]) -> click.Command:
        @functools.wraps(function)
        def run(*, as_json: bool, quiet: bool, **arguments: Any) -> R:
            return function(App(as_json=as_json, quiet=quiet), **arguments)

        quiet = click.option("--quiet", "-q", is_flag=True, help="Say nothing but errors.")
        as_json = click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
        made: click.Command = click.command(**settings)(as_json(quiet(run)))
        return made

    return wrap


def complete_names(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """Offer the names of checkpoints to the shell."""
    return Store(paths.find_project()).index().names_like(typed)


def checkpoint_argument(**settings: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make an argument that names a checkpoint."""
    return click.argument("name", metavar="NAME|ID", shell_complete=complete_names, **settings)

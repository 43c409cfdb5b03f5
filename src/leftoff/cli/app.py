"""Give every command its project, store, settings and output, and the options all of them share."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import click
from click.shell_completion import CompletionItem

from leftoff import config
from leftoff.cli.output import Output, printable
from leftoff.cli.text_columns import align_columns, cut, one_line, terminal_width
from leftoff.context import Context, read_environment
from leftoff.errors import ChoiceNeeded, LeftoffError, NameRefused, NotAProject
from leftoff.git import state
from leftoff.names import check_name
from leftoff.projects.project import Project, explain_distrust, find_project
from leftoff.store import LISTED, CheckpointEntry, Store
from leftoff.text import times
from leftoff.workspace import Workspace

P = ParamSpec("P")
R = TypeVar("R")

_META = "leftoff.flags"
_RECOMMENDED = "(Recommended)"


class App:
    """What a command works with; the project is looked up on first use."""

    def __init__(self, *, as_json: bool, quiet: bool) -> None:
        self.out = Output(as_json=as_json, quiet=quiet)
        self.environment = read_environment()

    @functools.cached_property
    def workspace(self) -> Workspace:
        """The open project; outside a project it only gives the settings."""
        try:
            project = self.project
        except NotAProject as refusal:
            # Some commands, such as `capture`, also work outside a project.
            context = Context(self.environment, None)
            return Workspace(context, warn=self.out.warn, refusal=refusal)
        workspace = Workspace(Context(self.environment, project), warn=self.out.warn)
        if (distrust := explain_distrust(project)) is not None:
            workspace.warn_once(["\n".join(distrust)])
        return workspace

    @functools.cached_property
    def project(self) -> Project:
        """The project of the current folder."""
        return find_project(self.environment)

    @property
    def store(self) -> Store:
        """The project's store, including edits you made in mirrored files."""
        return self.workspace.store

    @property
    def settings(self) -> config.Settings:
        """The settings in force."""
        return self.workspace.settings

    def forget_settings(self) -> None:
        """Reload the settings on next use."""
        self.workspace.context.forget_settings()

    def close(self) -> None:
        """Update mirrored files and close the store, if they were used."""
        # A cached property is in __dict__ only after its first use.
        if "workspace" in self.__dict__:
            self.workspace.close()

    def choose(self, choice: ChoiceNeeded) -> str:
        """Ask the user to pick on a terminal; elsewhere raise the choice for the caller."""
        if not self.out.is_interactive:
            raise choice
        click.echo(printable(choice.message))
        for line in _number_choices(choice.choices):
            click.echo(printable(cut(f"  {line}", terminal_width())))
        labels = [str(each.get("label", "")) for each in choice.choices]
        # Enter alone picks the recommended choice.
        default = next((n for n, each in enumerate(labels, 1) if each.endswith(_RECOMMENDED)), None)
        picked = _ask_number(choice.question, len(labels), default)
        return str(choice.choices[picked - 1]["choice"])

    def ask_name(self) -> str:
        """Ask for a name until the answer is valid."""
        while True:
            name = str(click.prompt("Name"))
            try:
                return check_name(name)
            except NameRefused as refused:
                click.echo(printable(f"{refused.message} {refused.hint}"))


def _ask_number(question: str, highest: int, default: int | None) -> int:
    while True:
        asked = click.prompt(printable(question), default=default, type=str, prompt_suffix=" ")
        answer = str(asked).strip()
        if answer.isdecimal() and 1 <= int(answer) <= highest:
            return int(answer)
        click.echo(printable(f"Enter a number from 1 to {highest}."))


def _number_choices(choices: Sequence[dict[str, Any]]) -> list[str]:
    """Return numbered lines; for checkpoints, add columns that distinguish them."""
    columns = {"": [f"{number}. {each['label']}" for number, each in enumerate(choices, 1)]}
    if all("summary" in each for each in choices):
        moments = [times.parse(each["saved_at"]) for each in choices]
        columns["saved"] = [times.local(moment) if moment else "-" for moment in moments]
        columns["branch"] = [each["branch"] or "-" for each in choices]
        columns["summary"] = [one_line(each["summary"]) for each in choices]
    return align_columns(columns)[1:]


def key_of(entry: CheckpointEntry) -> str:
    """Return the name or id that a user can pass to find a checkpoint."""
    return entry.name or entry.id


def flags(function: Callable[..., R]) -> Callable[..., R]:
    """Add --json and --quiet."""
    quiet = click.option("--quiet", "-q", is_flag=True, help="Print errors only.")
    as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
    return as_json(quiet(function))


def command(**settings: Any) -> Callable[[Callable[..., R]], click.Command]:
    """Make a command that receives an App and accepts --json and --quiet."""

    def wrap(function: Callable[..., R]) -> click.Command:
        @functools.wraps(function)
        def run(*, as_json: bool, quiet: bool, **arguments: Any) -> R:
            # --json may also come before a subcommand: `leftoff memory --json list`.
            above = click.get_current_context().meta.get(_META, {})
            app = App(as_json=as_json or bool(above.get("as_json")), quiet=quiet)
            try:
                return function(app, **{key: _valid(value) for key, value in arguments.items()})
            finally:
                app.close()

        made: click.Command = click.command(**settings)(flags(run))
        return made

    return wrap


def _valid(value: Any) -> Any:
    """Replace undecodable bytes in arguments; JSON cannot store them."""
    if isinstance(value, str):
        return state.printable(value)
    return tuple(map(_valid, value)) if isinstance(value, tuple) else value


def group(default: click.Command) -> Callable[[Callable[[], None]], click.Group]:
    """Make a group of commands with a default to run when none is named."""

    def wrap(function: Callable[[], None]) -> click.Group:
        @functools.wraps(function)
        def run(**given: bool) -> None:
            context = click.get_current_context()
            context.meta[_META] = given
            if context.invoked_subcommand is None:
                context.invoke(default, **given)

        made: click.Group = click.group(invoke_without_command=True)(flags(run))
        made.add_command(default)
        return made

    return wrap


def complete_names(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """Complete the names of all checkpoints."""
    return complete_from_store(lambda store: store.index().names_like(typed))


def complete_open(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """Complete the names of open checkpoints."""
    return complete_from_store(
        lambda store: _begin_with(typed, store.index().heads([*LISTED], 1000))
    )


def complete_paths(
    _context: click.Context, _parameter: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Let the shell complete file names."""
    return [CompletionItem(typed, type="file")]


def complete_trashed(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """Complete the names of checkpoints in the trash."""
    return complete_from_store(lambda store: _begin_with(typed, store.index().list_trashed(1000)))


def _begin_with(typed: str, entries: list[CheckpointEntry]) -> list[str]:
    return [key for entry in entries if (key := key_of(entry)).startswith(typed)]


def complete_from_store(names: Callable[[Store], list[str]]) -> list[str]:
    """Complete what a function finds in the store of the current project."""
    # An error message would end up in the middle of the line you are typing.
    try:
        store = Store(find_project(read_environment()))
        try:
            return list(dict.fromkeys(names(store)))
        finally:
            store.close()
    except (LeftoffError, OSError):
        return []


def checkpoint_argument(
    complete: Callable[..., list[str]] = complete_names, **settings: Any
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Add the NAME|ID argument."""
    return click.argument("name", metavar="NAME|ID", shell_complete=complete, **settings)

"""What every command has at hand: the project, its store, the settings, and the output."""

import contextlib
import functools
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import click
from click.shell_completion import CompletionItem

from leftoff import config, gitstate, paths, times
from leftoff.cli.layout import aligned, cut, one_line, terminal_width
from leftoff.cli.output import Output, printable
from leftoff.errors import ChoiceNeeded, LeftoffError, NameRefused, NoSuchCheckpoint, NotAProject
from leftoff.names import checked_name, kebab
from leftoff.profiles.mirror import Mirrors, open_mirrors
from leftoff.store import LISTED, TRASHED, Entry, Store

P = ParamSpec("P")
R = TypeVar("R")

_META = "leftoff.flags"
_RECOMMENDED = "(Recommended)"


class App:
    """The world of one run, made when first asked for."""

    def __init__(self, *, as_json: bool, quiet: bool) -> None:
        self.out = Output(as_json=as_json, quiet=quiet)
        self.unwritten: dict[str, str] = {}
        """Why the native files of a profile could not be brought up to date."""
        self._told: set[str] = set()

    @functools.cached_property
    def project(self) -> paths.Project:
        """The project we are in; a repository that is not trusted is named once."""
        project = paths.find_project()
        if (distrust := paths.distrust_of(project)) is not None:
            self._warn_once(["\n".join(distrust)])
        return project

    @property
    def store(self) -> Store:
        """The project's store, with all that was changed by hand in mirrored files."""
        return self._opened[0]

    @property
    def gone(self) -> list[str]:
        """The names whose mirrored file somebody removed."""
        return self._opened[1]

    @functools.cached_property
    def _opened(self) -> tuple[Store, list[str]]:
        store = Store(self.project)
        edits = self.mirrors.import_edits(store)
        self._warn_once(edits.problems)
        return store, edits.gone

    @functools.cached_property
    def mirrors(self) -> Mirrors:
        """The native files of the profiles that this project mirrors."""
        return open_mirrors(self.settings.mirror)

    def mirror(self) -> dict[str, list[Path]]:
        """Bring mirrored files up to date; return what was written, by profile."""
        if not self.settings.mirror:
            return {}
        exported = self.mirrors.export_changes(self.store, briefing=self.briefing)
        self.unwritten = exported.unwritten
        failed = set(exported.unwritten.values())
        others = [problem for problem in exported.problems if problem not in failed]
        self._warn_once([*others, *exported.warnings])
        return exported.written

    def own_up(self, problem: str) -> str:
        """Return a problem that the caller tells, so that nobody else does."""
        self._told.add(problem)
        return problem

    def _warn_once(self, problems: Iterable[str]) -> None:
        """Warn of what was not told yet: files are looked at more than once in a run."""
        for problem in problems:
            if problem not in self._told:
                self.out.warn(self.own_up(problem))

    def briefing(self) -> str:
        """Make the text that tells a new session where the project stands."""
        from leftoff import memorybriefing  # noqa: PLC0415 - only a layout with such a file asks

        return memorybriefing.page(self.store)

    def at_work(self, what: str) -> contextlib.AbstractContextManager[None]:
        """Leave a mark while a command works, where a mirrored system looks for one."""
        return self.mirrors.mark_work(self.project, what)

    def noted(self, *, since: datetime | None = None) -> dict[str, Any]:
        """Return what mirrored files tell of the work at hand, in canonical keys."""
        return self.mirrors.read_notes(self.store, since=since)

    def keeps_notes(self) -> bool:
        """Say whether a mirrored system keeps notes on the work at hand."""
        return self.mirrors.keep_notes()

    @property
    def settings(self) -> config.Settings:
        """The settings in force."""
        return self.loaded.settings

    @functools.cached_property
    def loaded(self) -> config.Loaded:
        """The settings and their sources; one that cannot be used is told and left out."""
        try:
            project = self.project
        except NotAProject:
            # A session can be read anywhere, and one has settings anywhere.
            project = None
        loaded = config.load(project)
        for problem in loaded.problems:
            self.out.warn(problem)
        return loaded

    def forget_settings(self) -> None:
        """Read the settings again when they are next asked for."""
        self.__dict__.pop("loaded", None)

    def close(self) -> None:
        """Let go of what was opened."""
        if "_opened" not in self.__dict__:
            return
        try:
            self.mirror()
            self._warn_once(self.unwritten.values())
        finally:
            self.store.close()

    def find(self, name: str) -> Entry:
        """Find a checkpoint by name or id; a name may be typed as it was when it was saved."""
        try:
            return self.store.find(name)
        except NoSuchCheckpoint:
            stored = kebab(name)
            if not stored or stored == name:
                raise
            found = self.store.index().head(stored)
            if found is None:
                raise
            return found

    def find_listed(self, name: str) -> Entry:
        """Find a checkpoint that was not put away."""
        entry = self.find(name)
        if entry.state in TRASHED:
            raise LeftoffError(
                f"{name} is already {entry.state}",
                hint=f"`leftoff trash restore {key_of(entry)}` brings it back.",
            )
        return entry

    def choose(self, choice: ChoiceNeeded) -> str:
        """Let the user pick on a terminal; elsewhere hand the choice on."""
        if not self.out.is_interactive:
            raise choice
        click.echo(printable(choice.message))
        for line in _numbered(choice.choices):
            click.echo(printable(cut(f"  {line}", terminal_width())))
        labels = [str(each.get("label", "")) for each in choice.choices]
        # What is recommended is taken by a bare Enter.
        default = next((n for n, each in enumerate(labels, 1) if each.endswith(_RECOMMENDED)), None)
        picked = _ask_number(choice.question, len(labels), default)
        return str(choice.choices[picked - 1]["choice"])

    def ask_name(self) -> str:
        """Ask for a name until one is given that can be one."""
        while True:
            name = str(click.prompt("Name"))
            try:
                return checked_name(name)
            except NameRefused as refused:
                click.echo(printable(f"{refused.message} {refused.hint}"))


def _ask_number(question: str, highest: int, default: int | None) -> int:
    while True:
        asked = click.prompt(printable(question), default=default, type=str, prompt_suffix=" ")
        answer = str(asked).strip()
        if answer.isdecimal() and 1 <= int(answer) <= highest:
            return int(answer)
        click.echo(printable(f"Enter a number from 1 to {highest}."))


def _numbered(choices: Sequence[dict[str, Any]]) -> list[str]:
    """Lay out choices with a number each; a checkpoint with what tells it from the others."""
    columns = {"": [f"{number}. {each['label']}" for number, each in enumerate(choices, 1)]}
    if all("summary" in each for each in choices):
        moments = [datetime.fromisoformat(each["saved_at"]) for each in choices]
        columns["saved"] = [times.local(moment) for moment in moments]
        columns["branch"] = [each["branch"] or "-" for each in choices]
        columns["summary"] = [one_line(each["summary"]) for each in choices]
    return aligned(columns)[1:]


def key_of(entry: Entry) -> str:
    """Tell by which word a user finds a checkpoint again."""
    return entry.name or entry.id


def flags(function: Callable[..., R]) -> Callable[..., R]:
    """Add --json and --quiet."""
    quiet = click.option("--quiet", "-q", is_flag=True, help="Print errors only.")
    as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
    return as_json(quiet(function))


def command(**settings: Any) -> Callable[[Callable[..., R]], click.Command]:
    """Make a command that gets an App and knows --json and --quiet."""

    def wrap(function: Callable[..., R]) -> click.Command:
        @functools.wraps(function)
        def run(*, as_json: bool, quiet: bool, **arguments: Any) -> R:
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
    """Show stray bytes of the command line as text; no checkpoint could hold them otherwise."""
    if isinstance(value, str):
        return gitstate.printable(value)
    return tuple(map(_valid, value)) if isinstance(value, tuple) else value


def group(default: click.Command) -> Callable[[Callable[[], None]], click.Group]:
    """Make a group of commands, one of which runs when none is named."""

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
    """Offer the names of checkpoints to the shell."""
    return _completed(lambda store: store.index().names_like(typed))


def complete_open(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """Offer the names of what is open to the shell."""
    return _completed(lambda store: _begin_with(typed, store.index().heads([*LISTED], 1000)))


def complete_paths(
    _context: click.Context, _parameter: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Let the shell offer its files."""
    return [CompletionItem(typed, type="file")]


def complete_trashed(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    """Offer the names of what is in the trash to the shell."""
    return _completed(lambda store: _begin_with(typed, store.index().trashed(1000)))


def _begin_with(typed: str, entries: list[Entry]) -> list[str]:
    return [key for entry in entries if (key := key_of(entry)).startswith(typed)]


def _completed(names: Callable[[Store], list[str]]) -> list[str]:
    # A shell that asks for words has no use for an error.
    try:
        store = Store(paths.find_project())
        try:
            return list(dict.fromkeys(names(store)))
        finally:
            store.close()
    except (LeftoffError, OSError):
        return []


def checkpoint_argument(
    complete: Callable[..., list[str]] = complete_names, **settings: Any
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make an argument that names a checkpoint."""
    return click.argument("name", metavar="NAME|ID", shell_complete=complete, **settings)

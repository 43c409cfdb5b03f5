"""Complete the names of checkpoints and files in a shell."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import click
from click.shell_completion import CompletionItem

from leftoff.cli.app import key_of
from leftoff.context import read_environment
from leftoff.errors import LeftoffError
from leftoff.projects.project import find_project
from leftoff.store import LISTED, CheckpointEntry, Store

P = ParamSpec("P")
R = TypeVar("R")


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
    name = "NAME|ID" if settings.get("required", True) else "[NAME|ID]"
    return click.argument("name", metavar=name, shell_complete=complete, **settings)

"""The `leftoff trash` command: list what is in the trash, and restore it."""

from pathlib import Path

import msgspec

from leftoff import profiles
from leftoff.cli.app import App, command, group, key_of
from leftoff.cli.complete_words import checkpoint_argument, complete_trashed
from leftoff.cli.list import describe_entry, limit_option, show
from leftoff.cli.undo import warn_of_unlisted
from leftoff.errors import NoSuchCheckpoint
from leftoff.names import kebab
from leftoff.projects.project import Project, list_folders
from leftoff.store import TRASHED, CheckpointEntry
from leftoff.store import trash as trashed_files
from leftoff.text import times


@command(name="list")
@limit_option
def trash_list(app: App, limit: int) -> None:
    """List what is in the trash, newest first."""
    entries = app.store.index().list_trashed(limit)
    files = trashed_files.list_files(app.project.store)[:limit]
    if not files:
        show(app, entries, empty="The trash is empty.")
    elif app.out.as_json:
        now = app.store.now()
        app.out.json(
            [*(describe_entry(each, now) for each in entries), *map(msgspec.to_builtins, files)]
        )
    else:
        show(app, entries, empty="")
        app.out.table(
            {
                "file": [each.name for each in files],
                "moved": [times.local(each.at) for each in files],
                "from": [each.came_from for each in files],
            }
        )


@group(trash_list)
def trash() -> None:
    """List or restore what is in the trash."""


@command(name="restore")
@checkpoint_argument(complete_trashed)
def trash_restore(app: App, name: str) -> None:
    """Restore a checkpoint or a file."""
    if any(name in {each.name, each.path} for each in trashed_files.list_files(app.project.store)):
        found = trashed_files.restore(app.project.store, name, _list_folders(app.project))
        app.out.result(
            {"restored": found.name, "path": found.came_from}, f"Restored {found.came_from}"
        )
        return
    entry = _find_trashed(app, name)
    app.store.record("restored", [entry.id])
    app.out.result(
        {"restored": key_of(entry), "id": entry.id}, f'Restored checkpoint "{key_of(entry)}"'
    )
    warn_of_unlisted(app, [entry.id])


def _list_folders(project: Project) -> list[Path]:
    """List the folders that files may be restored to: the project's, and those of profiles."""
    homes = [profiles.load(name).home(project) for name in profiles.PROFILES]
    return [*list_folders(project), project.store, *homes]


def _find_trashed(app: App, name: str) -> CheckpointEntry:
    # Search the trash first: an open checkpoint may have the same name.
    for entry in app.store.index().list_trashed(1_000_000):
        if entry.id == name or (entry.name is not None and entry.name in {name, kebab(name)}):
            return entry
    found = app.workspace.find(name)
    if found.state in TRASHED:
        return found
    raise NoSuchCheckpoint(
        f"{name} is not in the trash", hint="Run `leftoff trash list` to see what is."
    )


trash.add_command(trash_restore)

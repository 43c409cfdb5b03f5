"""The `leftoff import` and `leftoff export` commands: exchange checkpoints with other systems."""

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import click
import msgspec

from leftoff import profiles
from leftoff.cli.app import App, command
from leftoff.errors import LeftoffError, UsageError
from leftoff.profiles import import_native
from leftoff.profiles.mirror.export_changes import export_all
from leftoff.profiles.mirror.mirror import Mirror
from leftoff.store import LISTED, Store
from leftoff.text.plural import format_count

_folder = click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
_NAMED_PROBLEMS = 20


@command(name="import")
@click.option(
    "--from", "profile", type=click.Choice([*profiles.PROFILES]), help="Which system's files."
)
@click.option(
    "--from-store",
    "earlier",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Move the checkpoints of another leftoff store here.",
)
@_folder
def import_(app: App, profile: str | None, earlier: Path | None, folder: Path | None) -> None:
    """Import checkpoints of another system.

    Without FOLDER, leftoff looks where that system keeps this project's files. You can run it
    again; it imports only what is new.
    """
    if earlier is not None:
        if profile is not None or folder is not None:
            raise UsageError("--from-store cannot be combined with --from or FOLDER.")
        _move_in(app, earlier)
        return
    if profile is None:
        raise UsageError("Name what to import: --from SYSTEM, or --from-store FOLDER.")
    loaded = profiles.load(profile)
    place = folder or loaded.home(app.project)
    if not loaded.is_here(place):
        raise LeftoffError(
            f"No {profile} files found in {place}",
            hint=f"Name the folder: `leftoff import --from {profile} FOLDER`.",
        )
    with contextlib.closing(Store(app.project)) as fresh:
        # Not app.store: opening that imports unmirrored files silently, and this must count them.
        is_new = Mirror(fresh, profile, place).manifest.read_cursor() is None
        store = fresh if is_new else app.store
        report = import_native.import_all(
            store,
            profile,
            loaded,
            place,
            watched=lambda found: _show_progress(app, found),
            is_ours=Mirror(store, profile, place).wrote,
        )
    # Opening the app's store makes close() update the mirrored files.
    _ = app.store
    app.out.result(msgspec.to_builtins(report), _format_report(report))
    if not app.out.as_json:
        for problem in report.problems[:_NAMED_PROBLEMS]:
            app.out.warn(f"Skipped {problem.path}: {problem.problem}")
        if rest := report.problems[_NAMED_PROBLEMS:]:
            app.out.warn(f"Skipped {format_count(len(rest), 'more file')}; --json lists them all.")


def _move_in(app: App, earlier: Path) -> None:
    """Move everything in another store into this project's store."""
    place = earlier.resolve()
    project = app.project
    if place == project.store or not (place / "checkpoints").is_dir():
        raise LeftoffError(
            f"{place} is not the store of another project.",
            hint="`leftoff doctor` lists stores whose folder no longer exists.",
        )
    before = app.store.index().count_heads([*LISTED])
    moved = msgspec.structs.replace(project, earlier=(*project.earlier, place))
    with contextlib.closing(Store(moved)) as store:
        count = store.index().count_heads([*LISTED]) - before
    is_left = (place / "checkpoints").is_dir()
    app.out.result(
        {"imported": count, "from": str(place), "left": is_left},
        f"Moved {format_count(count, 'checkpoint')} from {place} to {project.store}",
    )
    if is_left:
        app.out.warn(f"Some files in {place} could not be moved and are still there")


def _show_progress(app: App, found: Iterable[Path]) -> Iterator[Path]:
    """Show a progress bar on a terminal."""
    paths = [*found]
    if not app.out.is_interactive or app.out.quiet:
        yield from paths
        return
    with click.progressbar(paths, label="Importing") as shown:
        yield from shown


def _format_report(report: import_native.ImportReport) -> list[str]:
    lines = [
        f"Imported {format_count(report.imported, 'checkpoint')}; {report.known} already existed."
    ]
    for count, one, several in (
        (report.prompts, "queued prompt", "queued prompts"),
        (report.memories, "memory entry", "memory entries"),
        (report.features, "feature", "features"),
    ):
        if count:
            lines.append(f"Imported {count} {one if count == 1 else several}.")
    return lines


@command(name="export")
@click.option(
    "--to",
    "profile",
    required=True,
    type=click.Choice([*profiles.PROFILES]),
    help="Which system's files.",
)
@_folder
def export(app: App, profile: str, folder: Path | None) -> None:
    """Export checkpoints as another system's files."""
    place = folder or profiles.load(profile).home(app.project)
    written = export_all(app.store, profile, place, briefing=app.workspace.brief)
    shown = [str(path) for path in dict.fromkeys(written)]
    app.out.result(
        {"folder": str(place), "written": shown},
        f"Wrote {format_count(len(shown), 'file')} to {place}",
    )

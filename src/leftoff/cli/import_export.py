"""The `leftoff import` and `leftoff export` commands: exchange checkpoints with other systems."""

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import click
import msgspec

from leftoff import profiles
from leftoff.cli.app import App, command
from leftoff.cli.progress_bar import show_progress
from leftoff.errors import LeftoffError, NoSuchCheckpoint, UsageError
from leftoff.profiles import import_native
from leftoff.profiles.mirror.export_changes import export_all
from leftoff.profiles.mirror.mirror import Mirror
from leftoff.snapshots.code_patches import (
    ExportedThread,
    PatchReport,
    export_patches,
    import_patches,
)
from leftoff.store import LISTED, Store
from leftoff.text.plural import format_count

_folder = click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
_NAMED_PROBLEMS = 20
_MOST_THREADS = 100_000


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
    """Import checkpoints from another system.

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
    code = _import_code(app, place)
    shown = {**msgspec.to_builtins(report), "snapshots": len(code.done)}
    app.out.result(shown, _format_report(report, len(code.done)))
    _warn_of_code(app, code)
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
    """Show a progress bar on a terminal if there is much to import."""
    paths = [*found]
    with show_progress(app.out, "Importing", len(paths)) as advance:
        for number, path in enumerate(paths):
            advance(number)
            yield path


def _import_code(app: App, place: Path) -> PatchReport:
    """Import the code of threads; those have just been imported.

    Files of other systems do not name what was saved automatically, so the name is the one shown.
    """

    def find_thread(name: str) -> str | None:
        try:
            return app.workspace.find(name).slot if name else None
        except NoSuchCheckpoint:
            return None

    return import_patches(app.project, place, find_thread)


def _warn_of_code(app: App, code: PatchReport) -> None:
    for what, problem in code.problems.items():
        app.out.warn(f"Skipped {what}: {problem}")


def _format_report(report: import_native.ImportReport, snapshots: int) -> list[str]:
    lines = [
        f"Imported {format_count(report.imported, 'checkpoint')}; {report.known} already existed."
    ]
    for count, one, several in (
        (report.prompts, "queued prompt", "queued prompts"),
        (report.memories, "memory entry", "memory entries"),
        (report.features, "feature", "features"),
        (snapshots, "snapshot of code", "snapshots of code"),
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
    """Export checkpoints as another system's files.

    With FOLDER, the uncommitted code of each thread is exported too, as a patch for `git apply`.
    """
    place = folder or profiles.load(profile).home(app.project)
    written = export_all(app.store, profile, place, briefing=app.workspace.brief)
    # A system's own folder may be in the worktree, where patches would be uncommitted code again.
    code = export_patches(app.project, _list_threads(app), place) if folder else PatchReport()
    shown = [str(path) for path in dict.fromkeys(written)]
    lines = [
        f"Wrote {format_count(len(shown), 'file')} to {place}" if shown else "Nothing to export."
    ]
    lines += [f"Wrote uncommitted code to {each}" for each in code.done]
    app.out.result({"folder": str(place), "written": shown, "patches": code.done}, lines)
    _warn_of_code(app, code)


def _list_threads(app: App) -> Iterator[ExportedThread]:
    """Yield all listed threads."""
    index = app.store.index()
    for each in index.heads([*LISTED], _MOST_THREADS):
        sessions = frozenset(entry.session_id for entry in index.revisions(each.slot))
        yield ExportedThread(slot=each.slot, name=each.name or each.slot, sessions=sessions)

"""leftoff import, leftoff export."""

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import click
import msgspec

from leftoff import importing, mirroring, profiles
from leftoff.cli.app import App, command
from leftoff.errors import LeftoffError
from leftoff.store import Store

_folder = click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
_NAMED_PROBLEMS = 20


@command(name="import")
@click.option(
    "--from", "profile", required=True, type=click.Choice([*profiles.PROFILES]), help="Whose files."
)
@_folder
def import_(app: App, profile: str, folder: Path | None) -> None:
    """Take in the checkpoints of another system; its files stay as they are.

    Without FOLDER they are looked for where that system keeps them for this project. A second run
    adds nothing.
    """
    loaded = profiles.load(profile)
    place = folder or loaded.home(app.project)
    if not loaded.is_here(place):
        raise LeftoffError(
            f"There are no {profile} files in {place}",
            hint=f"Name the folder: `leftoff import --from {profile} FOLDER`.",
        )
    with contextlib.closing(Store(app.project)) as fresh:
        # Opening the app's store takes in files that were never mirrored, and would not tell.
        is_new = mirroring.Mirror(fresh, profile, place).cursor() is None
        store = fresh if is_new else app.store
        report = importing.import_all(
            store,
            profile,
            loaded,
            place,
            watched=lambda found: _watched(app, found),
            is_ours=mirroring.Mirror(store, profile, place).wrote,
        )
    # Opened, so that at the end the files of mirrored systems follow.
    _ = app.store
    app.out.result(msgspec.to_builtins(report), _told(report))
    if not app.out.as_json:
        for problem in report.problems[:_NAMED_PROBLEMS]:
            app.out.warn(f"{problem.path} was skipped: {problem.problem}")
        if rest := report.problems[_NAMED_PROBLEMS:]:
            app.out.warn(f"{len(rest)} more files were skipped; --json names them all.")


def _watched(app: App, found: Iterable[Path]) -> Iterator[Path]:
    """Show how far it got, on a terminal."""
    paths = [*found]
    if not app.out.is_interactive or app.out.quiet:
        yield from paths
        return
    with click.progressbar(paths, label="Importing") as shown:
        yield from shown


def _told(report: importing.Report) -> list[str]:
    lines = [f"Imported {report.imported} checkpoint(s); {report.known} were here already."]
    for count, what in (
        (report.prompts, "prompt(s) that wait"),
        (report.memories, "memory entries"),
        (report.features, "features"),
    ):
        if count:
            lines.append(f"Imported {count} {what}.")
    return lines


@command(name="export")
@click.option(
    "--to", "profile", required=True, type=click.Choice([*profiles.PROFILES]), help="Whose files."
)
@_folder
def export(app: App, profile: str, folder: Path | None) -> None:
    """Write the listed checkpoints as the files of another system."""
    place = folder or profiles.load(profile).home(app.project)
    written = mirroring.export(app.store, profile, place, briefing=app.briefing)
    shown = [str(path) for path in dict.fromkeys(written)]
    app.out.result(
        {"folder": str(place), "written": shown}, f"Wrote {len(shown)} file(s) to {place}"
    )

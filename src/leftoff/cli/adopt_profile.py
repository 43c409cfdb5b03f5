"""Going on as with another system: its habits, its files, and what they hold already."""

from collections.abc import Iterator

import click

from leftoff import config, profiles
from leftoff.cli.app import App
from leftoff.cli.output import printable
from leftoff.errors import NotAProject
from leftoff.hooks import answer_compaction
from leftoff.profiles import import_native
from leftoff.profiles.mirror.mirror import Mirror
from leftoff.profiles.profile import Profile
from leftoff.text.plural import format_count


def follow(app: App, name: str | None, *, dry_run: bool) -> list[str]:
    """Set a profile up for this project, or offer one whose files are here; say what was done."""
    if name is not None:
        return _preview_setup(app, name) if dry_run else _set_up(app, name)
    return [] if dry_run else list(_offer_profiles(app))


def _preview_setup(app: App, name: str) -> list[str]:
    place = profiles.load(name).home(app.project)
    return [f"The {name} files in {place} would be taken in and kept up to date."]


def _set_up(app: App, name: str) -> list[str]:
    # Files that only the profile until now brought along end with it.
    chosen = [each for each in app.workspace.configuration.values if each.key == "mirror"]
    kept = [other for each in chosen if not config.is_of_profile(each) for other in each.value]
    mirrored = [*dict.fromkeys([*kept, name])]
    # What is there is read before anything is written beside it.
    said = _import_files(app, name, profiles.load(name))
    config.set_for(app.project, "profile", name)
    config.set_for(app.project, "mirror", ",".join(mirrored))
    app.forget_settings()
    # Opened, so that at the end its files are looked at: from now on whatever is new is noticed.
    _ = app.store
    # A compaction may be the first that we hear of a session.
    answer_compaction.expect(
        app.environment.state_folder,
        "claude",
        "any",
        str(app.project.worktree),
        app.settings,
    )
    place = profiles.load(name).home(app.project)
    return [*said, f"This project follows {name} now, and keeps its files in {place} up to date."]


def _import_files(app: App, name: str, profile: Profile) -> list[str]:
    place = profile.home(app.project)
    if not profile.is_here(place):
        return []
    is_ours = Mirror(app.store, name, place).wrote
    report = import_native.import_all(app.store, name, profile, place, is_ours=is_ours)
    skipped = [f"{each.path} was skipped: {each.problem}" for each in report.problems]
    return [f"Imported {format_count(report.imported, 'checkpoint')} from {place}", *skipped]


def _offer_profiles(app: App) -> Iterator[str]:
    """Offer the systems whose files are in the project and that it does not follow yet."""
    try:
        project = app.project
    except NotAProject:
        return
    for name in profiles.PROFILES:
        if name in app.settings.mirror:
            continue
        profile = profiles.load(name)
        place = profile.home(project)
        if not profile.is_here(place):
            continue
        question = f"There are {name} files in {place}. Take them in and keep them up to date?"
        if app.out.is_interactive and click.confirm(printable(question), default=False):
            yield from _set_up(app, name)
        else:
            yield (
                f"There are {name} files in {place}: `leftoff init --profile {name}` takes them "
                "in and keeps them up to date."
            )

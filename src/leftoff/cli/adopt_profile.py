"""Adopt another system's profile in `leftoff init`: its settings, and the files it left here."""

from collections.abc import Iterator

from leftoff import config, profiles
from leftoff.cli.app import App
from leftoff.cli.ask_questions import confirm
from leftoff.errors import NotAProject
from leftoff.hooks import answer_compaction, first_prompt
from leftoff.profiles import import_native
from leftoff.profiles.mirror.mirror import Mirror
from leftoff.profiles.profile import Profile
from leftoff.text.plural import format_count

NONE = "default"
"""The profile of a project that follows no other system."""


def follow(app: App, name: str | None, *, dry_run: bool) -> list[str]:
    """Set up the named profile, or offer those whose files exist; return lines to print."""
    if name is not None:
        return _preview_setup(app, name) if dry_run else _set_up(app, name)
    return [] if dry_run else list(_offer_profiles(app))


def _preview_setup(app: App, name: str) -> list[str]:
    if name == NONE:
        return ["This project would follow no other system, and its files would stay as they are."]
    place = profiles.load(name).home(app.project)
    return [f"The {name} files in {place} would be imported and kept up to date."]


def _set_up(app: App, name: str) -> list[str]:
    if name == NONE:
        return _leave(app)
    chosen = _list_chosen_mirrors(app)
    # Read the existing files before writing any of our own next to them.
    said = _import_files(app, name, profiles.load(name))
    config.set_for(app.project, "profile", name)
    if chosen is not None:
        config.set_for(app.project, "mirror", ",".join(dict.fromkeys([*chosen, name])))
    app.forget_settings()
    # Opening the store makes close() sync the mirrored files, so later edits are recognized.
    _ = app.store
    # A compaction may be a session's first event, so its reply must be ready before any session.
    answer_compaction.expect(
        app.environment.state_folder,
        "claude",
        "any",
        str(app.project.worktree),
        app.settings,
    )
    first_prompt.expect(app.environment.state_folder, str(app.project.worktree), app.settings)
    place = profiles.load(name).home(app.project)
    return [*said, f"This project now follows {name} and keeps its files in {place} up to date."]


def _leave(app: App) -> list[str]:
    left = app.settings.mirror
    config.set_for(app.project, "profile", NONE)
    app.forget_settings()
    stay = (
        "Their slash commands, such as /checkpoint, stay for your other projects; "
        "`leftoff uninstall` removes them."
    )
    return ["This project now follows no other system.", *([stay] if left else [])]


def _list_chosen_mirrors(app: App) -> list[str] | None:
    """Return the systems that somebody chose to mirror; None if the profile decides.

    Versions before 0.2 wrote the profile itself there, which nobody chose.
    """
    value = next(each for each in app.workspace.configuration.values if each.key == "mirror")
    if value.source == "default" or config.is_of_profile(value):
        return None
    return [] if value.value == [app.settings.profile] else value.value


def _import_files(app: App, name: str, profile: Profile) -> list[str]:
    place = profile.home(app.project)
    if not profile.is_here(place):
        return []
    is_ours = Mirror(app.store, name, place).wrote
    report = import_native.import_all(app.store, name, profile, place, is_ours=is_ours)
    skipped = [f"Skipped {each.path}: {each.problem}" for each in report.problems]
    return [f"Imported {format_count(report.imported, 'checkpoint')} from {place}", *skipped]


def _offer_profiles(app: App) -> Iterator[str]:
    """Offer each system that has files here and is not mirrored yet."""
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
        question = f"Found {name} files in {place}. Import them and keep them up to date?"
        if app.out.is_interactive and confirm(question, default=False):
            yield from _set_up(app, name)
        else:
            yield (
                f"Found {name} files in {place}. Run `leftoff init --profile {name}` to import "
                "them and keep them up to date."
            )

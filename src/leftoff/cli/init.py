"""The `leftoff init` command: wire your agents so that they save automatically."""

from collections.abc import Sequence

import click

from leftoff import profiles
from leftoff.agents.registry import AGENTS
from leftoff.cli import adopt_profile, sessions_command
from leftoff.cli.app import App, command
from leftoff.cli.change_preview import confirm_changes, describe_change, show
from leftoff.errors import LeftoffError
from leftoff.session.sessions import KnownSession
from leftoff.store import LISTED
from leftoff.wiring import detect_agents, install
from leftoff.wiring.foreign_files import FileChange
from leftoff.wiring.install import Done, Places


@command()
@click.option(
    "--agent",
    "agents",
    multiple=True,
    type=click.Choice([*AGENTS]),
    help="Wire this agent, even if it was not found; repeatable.",
)
@click.option(
    "--scope",
    type=click.Choice(["user", "project"]),
    default="user",
    show_default=True,
    help="Write to your own settings or the project's.",
)
@click.option(
    "--profile",
    type=click.Choice([*profiles.PROFILES]),
    help="Import this system's files and adopt its conventions.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Show what would change; change nothing.")
def init(  # noqa: PLR0913 - one option each
    app: App,
    agents: tuple[str, ...],
    scope: str,
    profile: str | None,
    *,
    yes: bool,
    dry_run: bool,
) -> None:
    """Wire your agents so that they save automatically."""
    wired = _to_wire(app, agents, profile)
    places = install.find_places(
        app.environment, app.project.worktree if scope == "project" else None
    )
    used = _list_profiles(app, profile)
    changes = _plan(places, used) if wired else []
    done = [] if dry_run else _install_hooks(app, places, changes, yes=yes)
    backups = [str(each.backup) for each in done if each.backup]
    notes = _notes(app, places, scope)
    notes += [
        *_explain_commands(places, used),
        *adopt_profile.follow(app, profile, dry_run=dry_run),
    ]
    unsaved = [] if dry_run else _find_unsaved(app)
    if app.out.as_json:
        told = {"done": bool(done), "agents": wired, "settings": str(places.settings)}
        listed = [describe_change(change) for change in changes]
        rest = {"backups": backups, "notes": notes}
        found = sessions_command.describe_unsaved(app, unsaved)
        app.out.json({**told, "changes": listed, **rest, "unsaved": found})
        return
    if wired:
        _print_outcome(app, changes, done, dry_run=dry_run)
    else:
        app.out.text("Claude Code was not found, so no hooks were installed. Use `leftoff save`.")
    kept = [f"Backed up the previous file to {backup}" for backup in backups]
    app.out.text([*kept, *notes, *sessions_command.format_unsaved(app, unsaved)])


def _find_unsaved(app: App) -> list[KnownSession]:
    """Return sessions from before the hooks were installed, if this is a project without saves."""
    try:
        return (
            [] if app.store.index().count_heads([*LISTED]) else sessions_command.find_unsaved(app)
        )
    except (LeftoffError, OSError):
        return []


def _to_wire(app: App, agents: tuple[str, ...], profile: str | None) -> list[str]:
    """Choose the agents to wire; adopting a profile works without any."""
    if profile is not None and not agents and not detect_agents.can_wire(app.environment):
        return []
    return detect_agents.to_wire(app.environment, agents)


def _list_profiles(app: App, profile: str | None) -> list[str]:
    """Return the profiles whose files and conventions this project uses, the new one included."""
    return [*app.settings.mirror, *([profile] if profile else [])]


def _plan(places: Places, used: Sequence[str]) -> list[FileChange]:
    """Plan what to install: the profiles in use need more events and slash commands."""
    events = profiles.find_wanted_events(used)
    return install.plan_install(places, events=events, with_commands=bool(used))


def _explain_commands(places: Places, used: Sequence[str]) -> list[str]:
    return [
        f"/{path.stem} stays as it is, because {path} is not leftoff's. Move it away and run "
        "`leftoff init` again to get leftoff's."
        for path in (install.list_foreign_commands(places) if used else ())
    ]


def _install_hooks(
    app: App, places: Places, changes: Sequence[FileChange], *, yes: bool
) -> list[Done]:
    # Hooks fail silently, so make sure that they can run before installing them.
    install.check_python()
    install.compile_package()
    if not changes or not confirm_changes(app, changes, "Install the hooks?", yes=yes):
        return []
    return install.install(places, changes)


def _print_outcome(
    app: App, changes: Sequence[FileChange], done: Sequence[Done], *, dry_run: bool
) -> None:
    if not changes:
        app.out.text("Claude Code's hooks are already installed; nothing to do.")
    elif dry_run:
        app.out.text("This would be done:")
        show(app, changes)
    elif done:
        app.out.text("Installed Claude Code's hooks:")
        show(app, changes, are_done=True)
        app.out.text("Run `leftoff doctor` to test them, or `leftoff uninstall` to undo this.")
    else:
        app.out.text("Nothing was changed.")


def _notes(app: App, places: Places, scope: str) -> list[str]:
    notes = []
    if others := [
        detect_agents.TITLES[agent] for agent in detect_agents.only_read(app.environment)
    ]:
        notes.append(
            f"Also found: {', '.join(others)}. leftoff reads their sessions; this version does not "
            "wire their hooks."
        )
    notes += [
        f"You edited {path}, so it was left unchanged."
        for path in install.list_edited_skills(places)
    ]
    if install.has_hooks_disabled(places):
        notes.append(
            f"disableAllHooks is set in {places.settings}: hooks will not run until you unset it."
        )
    if scope == "project":
        notes.append(
            f"The command in {places.settings} contains a path on this machine; do not commit it."
        )
    return notes

"""The `leftoff uninstall` command: remove the hooks; your checkpoints stay."""

from collections.abc import Sequence

import click

from leftoff.cli.app import App, command
from leftoff.cli.change_preview import confirm_changes, describe_changes, show
from leftoff.wiring import install
from leftoff.wiring.foreign_files import FileChange
from leftoff.wiring.install import Done
from leftoff.wiring.install_places import Places, find_places


@command()
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Show what would change; change nothing.")
def uninstall(app: App, *, yes: bool, dry_run: bool) -> None:
    """Remove the hooks; your checkpoints stay."""
    places = find_places(app.environment)
    changes = install.plan_uninstall(places)
    done = [] if dry_run else _uninstall_hooks(app, places, changes, yes=yes)
    notes = [f"Your checkpoints stay in each repository's .git/leftoff and in {places.state}"]
    notes += [f"You edited {path}, so it stays." for path in install.list_edited_skills(places)]
    if app.out.as_json:
        listed = describe_changes(changes, with_diffs=dry_run)
        app.out.json({"done": bool(done), "changes": listed, "notes": notes})
        return
    is_shown = app.out.is_interactive and not yes
    _print_outcome(app, changes, done, dry_run=dry_run, is_shown=is_shown)
    if done or dry_run or not changes:
        app.out.text(notes)


def _uninstall_hooks(
    app: App, places: Places, changes: Sequence[FileChange], *, yes: bool
) -> list[Done]:
    if not changes or not confirm_changes(app, changes, "Remove the hooks?", yes=yes):
        return []
    return install.uninstall(places, changes)


def _print_outcome(
    app: App, changes: Sequence[FileChange], done: Sequence[Done], *, dry_run: bool, is_shown: bool
) -> None:
    """Say what was done; `is_shown` if the user was asked about these changes just now."""
    if not changes:
        app.out.text("leftoff's hooks are not installed; nothing to do.")
    elif dry_run:
        app.out.text("This would be done:")
        show(app, changes)
    elif done:
        app.out.text("Removed the hooks" if is_shown else "Removed the hooks:")
        if not is_shown:
            show(app, changes, are_done=True)
    else:
        app.out.text("Nothing was changed.")

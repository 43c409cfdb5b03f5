"""leftoff lint."""

from leftoff import quality, restore, saving
from leftoff.cli.app import App, checkpoint_argument, command
from leftoff.errors import NoSuchCheckpoint


@command()
@checkpoint_argument(required=False)
def lint(app: App, name: str | None) -> None:
    """Hold a checkpoint against the quality bar; exit 4 if it fails."""
    entry = restore.choose(app.store, name)
    if entry is None:
        raise NoSuchCheckpoint("No saved checkpoints found.", hint="`leftoff save` makes one.")
    findings = quality.lint(app.store.load(entry), app.project.worktree)
    if findings:
        raise saving.refused(findings)
    shown = entry.name or entry.id
    app.out.result({"name": shown, "findings": []}, f"{shown} passes the quality bar.")

"""The `leftoff lint` command: check a checkpoint against the quality bar."""

from leftoff.cli.app import App, command, key_of
from leftoff.cli.complete_words import checkpoint_argument
from leftoff.errors import NoSuchCheckpoint
from leftoff.text.fence import quote_key
from leftoff.threads import check_claims, persist


@command()
@checkpoint_argument(required=False)
def lint(app: App, name: str | None) -> None:
    """Check a checkpoint against the quality bar.

    Checks the newest one unless you name another. Exits with 4 if it fails.
    """
    entry = app.workspace.find(name) if name is not None else check_claims.find_newest(app.store)
    if entry is None:
        raise NoSuchCheckpoint(
            "No saved checkpoints found.", hint="Run `leftoff save` to create one."
        )
    findings = persist.lint(app.store.load(entry), app.project.worktree)
    if findings:
        key = quote_key(entry.name, entry.id)
        raise persist.build_quality_error(
            findings, hint=f"Run `leftoff save {key} --overwrite` with more details."
        )
    app.out.result(
        {"name": key_of(entry), "findings": []}, f"{key_of(entry)} passes the quality bar."
    )

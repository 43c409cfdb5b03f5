"""The `leftoff defer` command: silence context warnings until the next save."""

from leftoff.cli.app import App, command
from leftoff.errors import UsageError
from leftoff.hooks import replies
from leftoff.session import records


@command()
def defer(app: App) -> None:
    """Silence context warnings until the next save.

    A compaction also ends the silence.
    """
    running = app.environment.find_session()
    if running is None:
        raise UsageError(
            "This command works only in an agent's session.",
            hint="Ask the agent to run it in its shell.",
        )
    agent, session_id = running
    records.defer(app.store, agent, session_id, app.store.now())
    folder = records.load(app.store, agent, session_id).cwd or str(app.project.worktree)
    place = replies.path_of(
        app.environment.state_folder, folder, agent, "UserPromptSubmit", session_id
    )
    # The reply prepared for the next prompt may still contain the warning.
    place.unlink(missing_ok=True)
    app.out.result(
        {"deferred": session_id}, "Silenced context warnings until the next save or compaction."
    )

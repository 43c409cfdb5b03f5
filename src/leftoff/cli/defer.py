"""leftoff defer."""

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
            "No agent's session runs this command.", hint="Let the agent run it, in its shell."
        )
    agent, session_id = running
    records.defer(app.store, agent, session_id, app.store.now())
    folder = records.load(app.store, agent, session_id).cwd or str(app.project.worktree)
    place = replies.path_of(
        app.environment.state_folder, folder, agent, "UserPromptSubmit", session_id
    )
    # What lies ready for the next prompt was said before.
    place.unlink(missing_ok=True)
    app.out.result(
        {"deferred": session_id}, "No advice on the context until the next save or compaction."
    )

"""leftoff undo."""

from leftoff.cli.app import App, command
from leftoff.store import Event

_VERBS = {
    "cleared": "clearing",
    "consumed": "consuming",
    "declined": "declining",
    "restored": "restoring",
    "saved": "overwriting",
}


@command()
def undo(app: App) -> None:
    """Revert the last consume, clear, overwrite, decline or restore; repeat to go further back."""
    event = app.store.undo()
    if event is None:
        app.out.result({"undone": None}, "There is nothing to undo.")
        return
    names = [_name(app, checkpoint_id) for checkpoint_id in _back(event)]
    app.out.result(
        {"undone": event.action, "ids": event.ids, "names": names},
        f"Undid {_VERBS[event.action]} {', '.join(names)}",
    )


def _back(event: Event) -> list[str]:
    return [event.replaced] if event.replaced is not None else event.ids


def _name(app: App, checkpoint_id: str) -> str:
    entry = app.store.index().get(checkpoint_id)
    return entry.name or entry.id if entry else checkpoint_id

"""leftoff undo."""

from leftoff.cli.app import App, command, key_of
from leftoff.store import Event

_VERBS = {
    "cleared": "clearing",
    "consumed": "consuming",
    "declined": "declining",
    "restored": "restoring",
    "saved": "overwriting",
}
_NAMED = 5


@command()
def undo(app: App) -> None:
    """Revert the last consume, clear, overwrite, decline or restore; repeat to go further back."""
    event = app.store.undo()
    if event is None:
        app.out.result({"undone": None, "ids": [], "names": []}, "There is nothing to undo.")
        return
    names = [_name(app, checkpoint_id) for checkpoint_id in _back(event)]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    app.out.result(
        {"undone": event.action, "ids": event.ids, "names": names},
        f"Undid {_VERBS[event.action]} {', '.join(names[:_NAMED])}{more}",
    )


def _back(event: Event) -> list[str]:
    return [event.replaced] if event.replaced is not None else event.ids


def _name(app: App, checkpoint_id: str) -> str:
    entry = app.store.index().get(checkpoint_id)
    return key_of(entry) if entry else checkpoint_id

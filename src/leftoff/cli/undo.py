"""The `leftoff undo` command: undo the last clear, done, overwrite or decline."""

from collections.abc import Sequence

from leftoff.cli.app import App, command, key_of
from leftoff.store import LISTED

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
    """Undo the last clear, done, overwrite or decline.

    Also undoes a restore from the trash. Repeat to go further back.
    """
    event = app.store.undo()
    if event is None:
        app.out.result({"undone": None, "ids": [], "names": []}, "Nothing to undo.")
        return
    back = event.brings_back
    names = [_name(app, checkpoint_id) for checkpoint_id in back]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    app.out.result(
        {"undone": event.action, "ids": event.ids, "names": names},
        f"Undid {_VERBS[event.action]} {', '.join(names[:_NAMED])}{more}",
    )
    warn_of_unlisted(app, back)


def warn_of_unlisted(app: App, ids: Sequence[str]) -> None:
    """Warn about restored checkpoints that are not listed because a newer one has their name."""
    found = [app.store.index().get(each) for each in ids]
    behind = [entry for entry in found if entry and entry.state in LISTED and not entry.is_head]
    for entry in behind:
        app.out.warn(
            f"A newer checkpoint is listed as {key_of(entry)}; "
            f"run `leftoff resume {entry.id}` to resume this one."
        )


def _name(app: App, checkpoint_id: str) -> str:
    entry = app.store.index().get(checkpoint_id)
    return key_of(entry) if entry else checkpoint_id

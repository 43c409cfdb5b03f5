"""The `leftoff undo` and `leftoff redo` commands: revert the last act, or bring it back."""

from collections.abc import Sequence
from typing import Any

import click

from leftoff.cli.app import App, command, key_of, one_line
from leftoff.store import LISTED, StoreEvent, revert_acts
from leftoff.text import times
from leftoff.text.plural import format_count

_DEEDS = {
    "saved": "saving {}",
    "resumed": "resuming {}",
    "declined": "declining {}",
    "consumed": "marking {} as done",
    "cleared": "clearing {}",
    "dropped": "dropping {}",
    "restored": "restoring {}",
}
# What an act with several events did, by its trigger: for scripts and for people.
_TOGETHER = {"recovered": "recovered", "import": "imported", "ship": "shipped"}
_COUNTED = {"recovered": ("recovering", "session"), "import": ("importing", "checkpoint")}
_NAMED = 5


@command()
@click.option("--dry-run", is_flag=True, help="Show what would be undone; change nothing.")
def undo(app: App, *, dry_run: bool) -> None:
    """Undo the last thing you did to a checkpoint.

    Undoes a save, resume, decline, done, clear, drop, restore, recover or import. Repeat to go
    further back; `leftoff redo` goes forward again. Autosaves are not undone.
    """
    index = app.store.index()
    act = index.find_undoable()
    if act is None:
        app.out.result({"undone": None, "ids": [], "names": []}, "Nothing to undo.")
        return
    # Read before the undo, which hides them.
    told, deed, more = _describe(app, act), _format_deed(app, act), _count_autosaves(app, act)
    if dry_run:
        text = f"Would undo {deed}{more} ({_age(app, act)})."
        app.out.result({"would_undo": _name_deed(act), **told}, text)
        return
    undone = app.store.undo()
    if undone is None or undone.id != act.id:
        # Another process acted in between.
        act = undone or act
        told, deed, more = _describe(app, act), _format_deed(app, act), ""
    lines = [f"Undid {deed}{more}", "Run `leftoff redo` to do it again."]
    app.out.result({"undone": _name_deed(act), **told}, lines)
    warn_of_unlisted(app, [act.replaced] if act.replaced else act.ids)


@command()
@click.option("--dry-run", is_flag=True, help="Show what would be redone; change nothing.")
def redo(app: App, *, dry_run: bool) -> None:
    """Bring back what you undid last.

    Repeat to go further forward. Nothing can be redone after you did something new.
    """
    found = app.store.index().find_redoable()
    if found is None:
        app.out.result({"redone": None, "ids": [], "names": []}, "Nothing to redo.")
        return
    act = found[1]
    if dry_run:
        text = f"Would redo {_format_deed(app, act)} ({_age(app, act)})."
        app.out.result({"would_redo": _name_deed(act), **_describe(app, act)}, text)
        return
    act = app.store.redo() or act
    text = f"Redid {_format_deed(app, act)}"
    app.out.result({"redone": _name_deed(act), **_describe(app, act)}, text)
    warn_of_unlisted(app, act.ids)


def warn_of_unlisted(app: App, ids: Sequence[str]) -> None:
    """Warn about restored checkpoints that their name does not find: a newer one has it."""
    index = app.store.index()
    found = [entry for each in ids if (entry := index.get(each)) and entry.state in LISTED]
    named = {entry.id: index.find_named(entry.name) for entry in found if entry.name}
    behind = [entry for entry in found if (other := named.get(entry.id)) and other.id != entry.id]
    for entry in behind:
        app.out.warn(
            f"A newer checkpoint is named {key_of(entry)}; "
            f"run `leftoff resume {entry.id}` to resume this one."
        )


def _describe(app: App, act: StoreEvent) -> dict[str, Any]:
    return {"ids": act.ids, "names": _names(app, act.ids), "at": act.at.isoformat()}


def _name_deed(act: StoreEvent) -> str:
    return _TOGETHER.get(act.trigger or "", act.action) if act.act is not None else act.action


def _format_deed(app: App, act: StoreEvent) -> str:
    names = _names(app, act.ids)
    if act.act is not None and act.trigger == "ship":
        shown = [_label(app, each) for each in act.ids]
        return f"saving {_join(shown)} as shipped; its commits stay"
    if act.act is not None and act.trigger in _COUNTED:
        deed, what = _COUNTED[act.trigger]
        return f"{deed} {format_count(len(names), what)}: {_join(names)}"
    if act.replaced is not None:
        former = _names(app, [act.replaced])
        if former != names:
            return f"saving {former[0]} as {names[0]}"
        return f"overwriting {names[0]}"
    return _DEEDS[act.action].format(_join(names))


def _label(app: App, checkpoint_id: str) -> str:
    """Return the name of a checkpoint; what was shipped without a thread has only a task."""
    entry = app.store.index().get(checkpoint_id)
    if entry is not None and entry.name is None and entry.task:
        return f'"{one_line(entry.task)}"'
    return key_of(entry) if entry is not None else checkpoint_id


def _join(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


def _count_autosaves(app: App, act: StoreEvent) -> str:
    """Say how many later autosaves an undo hides along with a save."""
    count = len(revert_acts.list_hidden(app.store.index(), act)) - len(act.ids)
    return f", and {format_count(count, 'later autosave')} of it" if count > 0 else ""


def _age(app: App, act: StoreEvent) -> str:
    return times.age((app.store.now() - act.at).total_seconds())


def _names(app: App, ids: Sequence[str]) -> list[str]:
    index = app.store.index()
    return [key_of(entry) if (entry := index.get(each)) else each for each in ids]

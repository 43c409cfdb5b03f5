"""The `leftoff undo` and `leftoff redo` commands: revert the last act, or bring it back."""

from collections.abc import Sequence
from typing import Any

import click

from leftoff import cli
from leftoff.checkpoint import AUTOMATIC
from leftoff.cli.app import App, command, key_of
from leftoff.cli.ask_questions import confirm
from leftoff.store import LISTED, StoreEvent, revert_acts
from leftoff.text import times
from leftoff.text.plural import format_count
from leftoff.threads.act_words import describe_act, join_names, name_checkpoints

# What an act with several events did, by its trigger: for scripts.
_TOGETHER = {"recovered": "recovered", "import": "imported", "ship": "shipped"}
_MOST_EVENTS = 200


@command()
@click.option("--dry-run", is_flag=True, help="Show what would be undone; change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def undo(app: App, *, dry_run: bool, yes: bool) -> None:
    """Undo the last change to a checkpoint.

    On a terminal, it shows what it will undo and asks first.

    Undoes a save, resume, decline, done, clear, drop, restore, recover, import or ship (its commits
    stay), and files that you restored from a snapshot. Repeat to go further back; `leftoff redo`
    goes forward again. Automatic saves are not undone.
    """
    index = app.store.index()
    act = index.find_undoable()
    if act is None:
        stay = " Automatic saves are not undone." if _list_automatic(app, None) else ""
        app.out.result({"undone": None, "ids": [], "names": []}, f"Nothing to undo.{stay}")
        return
    # Read before the undo, which hides them.
    details, change, more = (
        _describe(app, act),
        _format_change(app, act),
        _count_autosaves(app, act),
    )
    kept = _format_kept(app, act)
    if dry_run:
        text = f"Would undo {change}{more} ({_format_age(app, act)})."
        app.out.result({"would_undo": _name_change(act), **details}, [text, *kept])
        return
    announced = [f"This undoes {change}{more} ({_format_age(app, act)}).", *kept]
    if not yes and not _agrees(app, announced, "Undo it?"):
        return
    if act.snapshots:
        _change_files(app, act, is_undone=True)
    undone = app.store.undo()
    if undone is None or undone.id != act.id:
        # Another process acted in between.
        act = undone or act
        details, change, more = _describe(app, act), _format_change(app, act), ""
    lines = [f"Undid {change}{more}", *kept, "Run `leftoff redo` to do it again."]
    app.out.result({"undone": _name_change(act), **details}, lines)
    warn_of_unlisted(app, [act.replaced] if act.replaced else act.ids)


@command()
@click.option("--dry-run", is_flag=True, help="Show what would be redone; change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def redo(app: App, *, dry_run: bool, yes: bool) -> None:
    """Redo what you last undid.

    On a terminal, it shows what it will redo and asks first.

    Repeat to go further forward. Nothing can be redone after you did something new.
    """
    found = app.store.index().find_redoable()
    if found is None:
        app.out.result({"redone": None, "ids": [], "names": []}, "Nothing to redo.")
        return
    act = found[1]
    if dry_run:
        text = f"Would redo {_format_change(app, act)} ({_format_age(app, act)})."
        app.out.result({"would_redo": _name_change(act), **_describe(app, act)}, text)
        return
    announced = [f"This redoes {_format_change(app, act)} ({_format_age(app, act)})."]
    if not yes and not _agrees(app, announced, "Redo it?"):
        return
    if act.snapshots:
        _change_files(app, act, is_undone=False)
    act = app.store.redo() or act
    text = f"Redid {_format_change(app, act)}"
    app.out.result({"redone": _name_change(act), **_describe(app, act)}, text)
    warn_of_unlisted(app, act.ids)


def _agrees(app: App, announced: Sequence[str], question: str) -> bool:
    """Show a person what will happen and ask; others have decided by running the command."""
    if not (app.out.is_interactive and app.out.is_for_person):
        return True
    app.out.text(announced)
    if confirm(question):
        return True
    app.out.text("Nothing was changed.")
    return False


def _change_files(app: App, act: StoreEvent, *, is_undone: bool) -> None:
    """Take back files that were restored from a snapshot, or restore them again."""
    commands = cli.snapshot_command
    change = commands.revert_restore if is_undone else commands.repeat_restore
    change(app, act)


def warn_of_unlisted(app: App, ids: Sequence[str]) -> None:
    """Warn about restored checkpoints that their name does not find: a newer one has it."""
    index = app.store.index()
    found = [entry for each in ids if (entry := index.get(each)) and entry.state in LISTED]
    named = {entry.id: index.find_named(entry.name) for entry in found if entry.name}
    behind = [
        entry
        for entry in found
        # A newer revision of the same thread is what its name should find.
        if (other := named.get(entry.id)) and other.slot != entry.slot
    ]
    for entry in behind:
        app.out.warn(
            f"A newer checkpoint is named {key_of(entry)}; "
            f"run `leftoff resume {entry.id}` to resume this one."
        )


def _describe(app: App, act: StoreEvent) -> dict[str, Any]:
    return {"ids": act.ids, "names": _name_targets(app, act.ids), "at": act.at.isoformat()}


def _name_change(act: StoreEvent) -> str:
    return _TOGETHER.get(act.trigger or "", act.action) if act.act is not None else act.action


def _format_change(app: App, act: StoreEvent) -> str:
    return describe_act(app.store.index(), act)


def _count_autosaves(app: App, act: StoreEvent) -> str:
    """Say how many later autosaves an undo hides along with a save."""
    count = len(revert_acts.list_hidden(app.store.index(), act)) - len(act.ids)
    return f", and {format_count(count, 'later automatic save')} of it" if count > 0 else ""


def _format_kept(app: App, act: StoreEvent) -> list[str]:
    """Say which automatic saves are newer than what is undone, and stay."""
    kept = _list_automatic(app, act)
    if not kept:
        return []
    names = join_names([*dict.fromkeys(_name_targets(app, kept))])
    stay = "stays" if len(kept) == 1 else "stay"
    return [f"{format_count(len(kept), 'newer automatic save')} {stay}: {names}"]


def _list_automatic(app: App, act: StoreEvent | None) -> list[str]:
    """List what was saved automatically since an act, newest first, and stays when it is undone."""
    index = app.store.index()
    hidden = {*revert_acts.list_hidden(index, act)} if act is not None else set()
    found: list[str] = []
    for event in index.newest_events(_MOST_EVENTS):
        if act is not None and (event.id == act.id or (act.act and event.act == act.act)):
            break
        if event.action == "saved" and event.trigger in AUTOMATIC and event.act is None:
            found += [each for each in event.ids if each not in hidden]
    return found


def _format_age(app: App, act: StoreEvent) -> str:
    return times.age((app.store.now() - act.at).total_seconds())


def _name_targets(app: App, ids: Sequence[str]) -> list[str]:
    return name_checkpoints(app.store.index(), ids)

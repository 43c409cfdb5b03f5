"""The `leftoff diff` command: show what changed between two checkpoints."""

import click

from leftoff.checkpoint import to_plain
from leftoff.cli.app import App, clean_line, command, printable
from leftoff.cli.checkpoint_view import label_values
from leftoff.cli.choose_thread import choose_open
from leftoff.cli.complete_words import complete_names
from leftoff.cli.list import format_name
from leftoff.cli.look import Look, wrap_line
from leftoff.errors import LeftoffError
from leftoff.store import CheckpointEntry
from leftoff.text import times
from leftoff.threads.compare import KeyChange, compare
from leftoff.threads.field_labels import LABELS


@command()
@click.argument("old", metavar="[A]", required=False, shell_complete=complete_names)
@click.argument("new", metavar="[B]", required=False, shell_complete=complete_names)
def diff(app: App, old: str | None, new: str | None) -> None:
    """Show what changed between two checkpoints.

    With one name: what its last save changed. With none: the same for the only open thread.
    """
    if old is not None and new is not None:
        entries = (app.workspace.find(old), app.workspace.find(new))
    else:
        entries = find_last_two(app, app.workspace.find(old) if old else choose_open(app, "diff"))
        if not app.out.as_json:
            since = f"since {times.local(entries[0].saved_at)}"
            app.out.text(f"What changed in {format_name(entries[1])} {since}:")
    if app.out.as_json:
        app.out.json(_compare(app, *entries))
        return
    with app.out.paged():
        app.out.lines(layout_changes(app, *entries, app.out.look))


def _compare(app: App, old: CheckpointEntry, new: CheckpointEntry) -> list[KeyChange]:
    return compare(*(to_plain(app.store.load(entry)) for entry in (old, new)))


def layout_changes(app: App, old: CheckpointEntry, new: CheckpointEntry, look: Look) -> list[str]:
    """Lay out what differs between two checkpoints: what went in red, what came in green."""
    lines: list[str] = []
    # The work comes before the details.
    order = {key: number for number, key in enumerate(LABELS)}
    changes = {change.key: change for change in _compare(app, old, new)}
    # The last commit names the same commit, and the project has not changed.
    for key in ("project", *(["head"] if "last_commit" in changes else [])):
        changes.pop(key, None)
    for change in sorted(changes.values(), key=lambda each: order.get(each.key, len(order))):
        label, before = label_values(change.key, change.removed)
        after = label_values(change.key, change.added)[1]
        # A file may differ only in what no person reads, such as its hash.
        removed = [each for each in before if each not in after]
        added = [each for each in after if each not in before]
        if removed or added:
            lines.append(look.paint("label", clean_line(label)))
        for sign, role, values in (("-", "bad", removed), ("+", "good", added)):
            for each in values:
                shown = printable(f"  {sign} {each}").split("\n")
                rows = [row for line in shown for row in wrap_line(line, look.columns)]
                lines += [look.paint(role, row) for row in rows]
    return lines or ["The checkpoints do not differ."]


def find_last_two(app: App, entry: CheckpointEntry) -> tuple[CheckpointEntry, CheckpointEntry]:
    """Return a thread's last save and the one before; of an older one, that and the last."""
    revisions = app.store.index().revisions(entry.slot)
    newest = next((each for each in revisions if each.is_head), entry)
    before = entry if entry.id != newest.id else None
    before = before or next((each for each in revisions if each.id < newest.id), None)
    if before is None:
        raise LeftoffError(
            f"{format_name(entry)} was saved only once, so there is nothing to compare.",
            hint="Name two checkpoints: `leftoff diff A B`.",
        )
    return before, newest

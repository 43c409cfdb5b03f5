"""Let the user choose a thread in the picker, with its briefing beside it."""

from collections.abc import Callable, Sequence

import click
import msgspec
from msgspec.structs import replace

from leftoff.cli.app import App, printable
from leftoff.cli.clipboard import copy_text
from leftoff.cli.diff import find_last_two, layout_changes
from leftoff.cli.list import build_rows, format_name, list_facts
from leftoff.cli.look import Look, layout_page, wrap_line
from leftoff.cli.picker import PickerAction, PickerItem, PickerPlan, pick
from leftoff.errors import EXIT_INTERRUPTED, LeftoffError
from leftoff.store import Action, CheckpointEntry
from leftoff.text import fence, times


class ThreadChoice(msgspec.Struct, frozen=True, kw_only=True):
    """What to choose, and what Enter then does."""

    question: str
    verb: str
    load: Callable[[], Sequence[CheckpointEntry]]


def pick_thread(app: App, choice: ThreadChoice) -> CheckpointEntry:
    """Let the user choose a thread; leaving the picker ends the command."""
    threads = _Threads(app, choice)
    plan = PickerPlan(
        question=choice.question,
        verb=choice.verb,
        load=threads.load,
        preview=threads.preview,
        diff=threads.diff,
        actions=(
            PickerAction("c-t", "done", lambda item: threads.end(item, "consumed")),
            PickerAction("c-x", "drop", lambda item: threads.end(item, "dropped")),
            PickerAction("c-z", "undo", lambda _: threads.undo(), lambda: threads.acts > 0),
            PickerAction("c-y", "copy", threads.copy),
        ),
    )
    result = pick(plan, app.out.look)
    app.out.text(result.messages)
    if result.item is None:
        # Leaving is not an error, so there is nothing to say.
        raise click.exceptions.Exit(EXIT_INTERRUPTED)
    return threads.entries[result.item.key]


class _Threads:
    """Reads the threads of a picker, and carries out its actions."""

    def __init__(self, app: App, choice: ThreadChoice) -> None:
        self.app, self.choice = app, choice
        self.entries: dict[str, CheckpointEntry] = {}
        self.acts = 0

    def load(self) -> list[PickerItem]:
        found = [each for each in self.choice.load() if not each.problem]
        self.entries = {each.id: each for each in found}
        rows = build_rows(self.app, found, self.app.store.now())
        if self.app.settings.offers == "saved":
            # guardz names the date of each, not its age.
            dates = [times.local(entry.as_of).split()[0] for entry in found]
            rows = [replace(row, age=date) for row, date in zip(rows, dates, strict=True)]
        return [PickerItem(entry.id, row) for entry, row in zip(found, rows, strict=True)]

    def preview(self, item: PickerItem, look: Look) -> list[str]:
        entry = self.entries[item.key]
        try:
            text = printable(fence.open_text(self._render_briefing(entry)))
        except (LeftoffError, OSError) as error:
            return wrap_line(printable(str(error)), look.columns)
        return layout_page(text, look, list_facts(self.app, entry))

    def diff(self, item: PickerItem, look: Look) -> list[str]:
        try:
            old, new = find_last_two(self.app, self.entries[item.key])
            return layout_changes(self.app, old, new, look)
        except (LeftoffError, OSError) as error:
            return wrap_line(printable(str(error)), look.columns)

    def end(self, item: PickerItem, action: Action) -> str:
        entry = self.entries[item.key]
        try:
            if action == "consumed":
                self.app.workspace.finish(entry.id)
            else:
                self.app.store.record(action, [entry.id])
        except LeftoffError as refused:
            return refused.message
        self.acts += 1
        message = "Marked {} as done" if action == "consumed" else "Dropped {}"
        return f"{message.format(format_name(entry))}; `leftoff undo` reopens it."

    def undo(self) -> str:
        # Acts from before the picker opened are not in view, so they stay.
        if not self.acts:
            return "Nothing to undo here."
        self.acts -= 1
        self.app.store.undo()
        return "Undid that; `leftoff redo` does it again."

    def copy(self, item: PickerItem) -> str:
        entry = self.entries[item.key]
        copy_text(self._render_briefing(entry))
        return f"Copied the briefing of {format_name(entry)}."

    def _render_briefing(self, entry: CheckpointEntry) -> fence.Rendered:
        workspace, budget = self.app.workspace, self.app.settings.budget
        checkpoint = self.app.store.load(entry)
        return workspace.render_briefing(checkpoint, workspace.check(checkpoint), budget=budget)

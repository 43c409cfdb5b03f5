"""Show the file changes of `init` and `uninstall`, and ask before making them."""

import difflib
import shlex
from collections.abc import Sequence
from typing import Any

import click

from leftoff.cli.app import App
from leftoff.cli.ask_questions import ask_word
from leftoff.cli.list import shorten_path
from leftoff.errors import ChoiceNeeded
from leftoff.redact import redact
from leftoff.text.plural import format_count
from leftoff.wiring.foreign_files import FileChange, merge_changes

_DONE = {"create": "created", "change": "changed", "remove": "removed"}


def describe_changes(
    changes: Sequence[FileChange], *, with_diffs: bool = False
) -> list[dict[str, Any]]:
    """Return changes as JSON-ready values, one for each file; the diffs are long."""
    return [
        {
            "path": str(change.path),
            "action": change.action,
            "what": change.what,
            "agent": change.agent,
            **({"diff": format_diff(change)} if with_diffs else {}),
        }
        for change in merge_changes(changes)
    ]


def format_diff(change: FileChange) -> str:
    """Return the diff of a settings file; files that leftoff owns need none."""
    if not change.is_foreign or change.path.suffix not in {".json", ".jsonc", ".toml"}:
        return ""
    before, after = (_split_lines(data) for data in (change.before, change.after))
    name = str(change.path)
    # Settings may hold API keys, and an agent may read this output.
    return redact("\n".join(difflib.unified_diff(before, after, name, name, lineterm="")))


def show(app: App, changes: Sequence[FileChange], *, are_done: bool = False) -> None:
    """List changes, those for each agent together; include their diffs unless they are done."""
    _list_changes(app, changes, are_done=are_done)
    if not are_done:
        _show_diffs(app, changes)


def _list_changes(app: App, changes: Sequence[FileChange], *, are_done: bool) -> None:
    changes = merge_changes(changes)
    # Sorting is stable: leftoff's own files come first, then the agents in their order.
    order = [*dict.fromkeys(["", *(change.agent for change in changes)])]
    for change in sorted(changes, key=lambda each: order.index(each.agent)):
        action = _DONE[change.action] if are_done else change.action
        path = shorten_path(app, change.path) if app.out.is_for_person else change.path
        app.out.text(f"  {action:9}{path}  ({change.what})")


def _show_diffs(app: App, changes: Sequence[FileChange]) -> None:
    for text in filter(None, map(format_diff, merge_changes(changes))):
        app.out.gap()
        app.out.exact(text.splitlines())


def _ask(app: App, changes: Sequence[FileChange], question: str) -> bool:
    """List the changes and ask; the diffs of several agents would fill more than a screen."""
    _list_changes(app, changes, are_done=False)
    has_diff = any(map(format_diff, changes))
    while True:
        app.out.gap()
        answer = ask_word(question, ("yes", "no", "diff") if has_diff else ("yes", "no"), "yes")
        if answer != "diff":
            return answer == "yes"
        with app.out.paged():
            _show_diffs(app, changes)


def confirm_changes(app: App, changes: Sequence[FileChange], question: str, *, yes: bool) -> bool:
    """Ask before changing files; raise the choice for the caller if there is no terminal."""
    if yes:
        return True
    if app.out.is_interactive:
        return _ask(app, changes, question)
    given = click.get_current_context().find_root().obj
    paths = [str(each.path) for each in merge_changes(changes)]
    raise ChoiceNeeded(
        f"{format_count(len(paths), 'file')} would change: {', '.join(paths)}",
        question=question,
        choices=[
            {
                "choice": "yes",
                "label": "Change them",
                "command": shlex.join(["leftoff", *given, "--yes"]),
                "changes": describe_changes(changes),
            },
            {"choice": "no", "label": "Leave everything as it is"},
        ],
        hint="Add --yes to make the changes, or --dry-run to see them.",
    )


def _split_lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").splitlines()

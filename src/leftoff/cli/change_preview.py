"""Show the file changes of `init` and `uninstall`, and ask before making them."""

import difflib
import shlex
from collections.abc import Sequence
from typing import Any

import click

from leftoff.cli.app import App, printable
from leftoff.errors import ChoiceNeeded
from leftoff.redact import redact
from leftoff.text.plural import format_count
from leftoff.wiring.foreign_files import FileChange

_DONE = {"create": "created", "change": "changed", "remove": "removed"}


def describe_change(change: FileChange) -> dict[str, Any]:
    """Return a change as JSON-ready values."""
    return {
        "path": str(change.path),
        "action": change.action,
        "what": change.what,
        "diff": format_diff(change),
    }


def format_diff(change: FileChange) -> str:
    """Return the diff of a settings file; files that leftoff owns need none."""
    if not change.is_foreign or change.path.suffix != ".json":
        return ""
    before, after = (_lines(data) for data in (change.before, change.after))
    name = str(change.path)
    # Settings may hold API keys, and an agent may read this output.
    return redact("\n".join(difflib.unified_diff(before, after, name, name, lineterm="")))


def show(app: App, changes: Sequence[FileChange], *, are_done: bool = False) -> None:
    """List changes; include their diffs unless they are done."""
    for change in changes:
        action = _DONE[change.action] if are_done else change.action
        app.out.text(f"  {action:8}{change.path}  ({change.what})")
    if are_done:
        return
    for text in filter(None, map(format_diff, changes)):
        app.out.gap()
        app.out.text(text.splitlines())


def confirm_changes(app: App, changes: Sequence[FileChange], question: str, *, yes: bool) -> bool:
    """Ask before changing files; raise the choice for the caller if there is no terminal."""
    if yes:
        return True
    if app.out.is_interactive:
        show(app, changes)
        app.out.gap()
        return click.confirm(printable(question), default=True)
    given = click.get_current_context().find_root().obj
    raise ChoiceNeeded(
        f"{format_count(len(changes), 'file')} would change: "
        f"{', '.join(str(each.path) for each in changes)}",
        question=question,
        choices=[
            {
                "choice": "yes",
                "label": "Change them",
                "command": shlex.join(["leftoff", *given, "--yes"]),
                "changes": [describe_change(change) for change in changes],
            },
            {"choice": "no", "label": "Leave everything as it is"},
        ],
        hint="Add --yes to make the changes, or --dry-run to see them.",
    )


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").splitlines()

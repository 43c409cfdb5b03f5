"""The `leftoff wal` command (write-ahead log): note at once what must not get lost."""

import sys

import click

from leftoff.cli.app import App, command, group
from leftoff.errors import UsageError
from leftoff.text.fence import block, join, say
from leftoff.wal import scan_message, working_notes
from leftoff.wal.notes_place import find_unused, place


@command(name="show")
def show(app: App) -> None:
    """Print the working notes."""
    path = place(app.project, app.settings)
    text = working_notes.read(path)
    other = find_unused(app.project, app.settings)
    if other is not None:
        app.out.warn(
            f"{other} is not used because it may have come with the repository; "
            "run `leftoff config set notes worktree --project` to use it"
        )
    shown = join([say("From the file {path}:", path=path), block(text)])
    answer = shown if text else f"There are no notes in {path}"
    app.out.result({"path": str(path), "text": text}, answer)


@group(default=show)
def wal() -> None:
    """Keep working notes that must not get lost.

    Corrections, names, values, preferences, decisions and drafts.
    """


@command(name="add")
@click.option("--kind", required=True, type=click.Choice(working_notes.KINDS), help="Kind of note.")
@click.argument("words", nargs=-1, required=True, metavar="TEXT...")
def add(app: App, kind: working_notes.Kind, words: tuple[str, ...]) -> None:
    """Add a note and write it to disk."""
    noted = working_notes.add(
        app.store, kind, _join_words(words), path=place(app.project, app.settings)
    )
    app.out.result(_build_row(noted) | {"path": str(noted.path)}, _format_line(noted))


@command(name="scan")
@click.argument("words", nargs=-1, metavar="[TEXT... | -]")
@click.option("--dry-run", is_flag=True, help="Show what would be noted; write nothing.")
def scan(app: App, words: tuple[str, ...], *, dry_run: bool) -> None:
    """Note the corrections, names and values in a message.

    Reads standard input if TEXT is missing or `-`.
    """
    found = scan_message.scan(_join_words(words) if words and words != ("-",) else _read_input())
    path = place(app.project, app.settings)
    if dry_run:
        rows: list[dict[str, object]] = [{"kind": each.kind, "text": each.text} for each in found]
        lines = [f"{each.kind}: {each.text}" for each in found]
    else:
        noted = [working_notes.add(app.store, each.kind, each.text, path=path) for each in found]
        rows, lines = [_build_row(each) for each in noted], [_format_line(each) for each in noted]
    result = {"path": str(path), "found": rows}
    app.out.result(result, lines or "Found nothing to note.")


@command(name="reset")
def reset(app: App) -> None:
    """Start new notes; the old ones go to the trash."""
    moved = working_notes.reset(app.store, path=place(app.project, app.settings))
    said = f"Moved the notes to {moved}" if moved else "There are no notes."
    app.out.result({"moved": str(moved) if moved else None}, said)


def _join_words(words: tuple[str, ...]) -> str:
    text = " ".join(words)
    if not text.strip():
        raise UsageError("The note is empty.", hint="Pass its text as TEXT.")
    return text


def _read_input() -> str:
    # On a terminal, the command would seem to hang.
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("No message given.", hint="Pass it as TEXT or on standard input.")
    return sys.stdin.buffer.read().decode("utf-8", "replace")


def _build_row(noted: working_notes.NotedLine) -> dict[str, object]:
    return {"kind": noted.kind, "text": noted.text, "is_new": noted.is_new}


def _format_line(noted: working_notes.NotedLine) -> str:
    state = "Noted" if noted.is_new else "Already there"
    return f"{state} ({noted.kind}): {noted.text}"


for each in (add, scan, reset):
    wal.add_command(each)

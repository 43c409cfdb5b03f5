"""Confirm a save in the words of the five systems, as their `noise` setting asks."""

from collections.abc import Callable
from pathlib import Path

from leftoff.checkpoint import Checkpoint
from leftoff.cli.app import one_line
from leftoff.cli.save import Written, next_line

_SHOWN_CHARS = 200
_ADVICE = "You can clear the agent's context now; the next session gets this checkpoint."


def confirm(
    noise: str, checkpoint: Checkpoint, path: Path, written: Written, *, advise_clear: bool
) -> list[str]:
    """Return the lines that confirm a saved checkpoint in the style of one system."""
    lines = _STYLES[noise](checkpoint, path, written)
    return [*lines, "", f"  {_ADVICE}"] if noise == "panel" and advise_clear else lines


# guardz's format.
def _format_line(checkpoint: Checkpoint, path: Path, written: Written) -> list[str]:
    del path, written
    name = checkpoint.name
    return [f'Checkpoint "{name}" saved. Resume anytime: `continue {name}`']


# claude-sail's format.
def _format_box(checkpoint: Checkpoint, path: Path, written: Written) -> list[str]:
    natives = [each for found in written.values() for each in found]
    return [
        _RULE,
        "  CHECKPOINT SAVED",
        _RULE,
        "",
        f"  Location: {_shorten(natives[0] if natives else path)}",
        f"  Summary:  {one_line(checkpoint.task, _SHOWN_CHARS)}",
        f"  Decisions: {len(checkpoint.decisions)} recorded",
        f"  Next:     {next_line(checkpoint)}",
        "",
        "  This context will be surfaced on next session start.",
        "",
        _RULE,
    ]


_RULE = "━" * 53


def _shorten(path: Path) -> Path:
    """Return a path as one would type it in the current folder."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


# quoin's format.
def _report(checkpoint: Checkpoint, path: Path, written: Written) -> list[str]:
    del checkpoint
    natives = [each for found in written.values() for each in found]
    saved = [each for each in natives if each.parent.name == "checkpoints"]
    marks = [each for each in natives if each.name.startswith("pending-restore-")]
    return [
        f"Checkpoint saved to: {saved[0] if saved else path}",
        *(f"Sentinel written: {each}" for each in dict.fromkeys(marks)),
        "To resume: /checkpoint --restore in a fresh session (in a terminal: leftoff restore)",
    ]


# claude-harness's format.
def _format_panel(checkpoint: Checkpoint, path: Path, written: Written) -> list[str]:
    natives = dict.fromkeys(str(each) for found in written.values() for each in found)
    rows = [
        ("Saved", [f"{checkpoint.name}: {one_line(checkpoint.task, _SHOWN_CHARS)}"]),
        ("Next", [next_line(checkpoint), *checkpoint.next_steps]),
        ("Kept in", [str(path), *natives]),
    ]
    lines = [
        f"  {label if number == 0 else '':<{_LABEL_WIDTH}}{text}"
        for label, texts in rows
        for number, text in enumerate(texts)
    ]
    return ["CHECKPOINT COMPLETE", *lines]


_LABEL_WIDTH = 9


_STYLES: dict[str, Callable[[Checkpoint, Path, Written], list[str]]] = {
    "line": _format_line,
    "box": _format_box,
    "report": _report,
    "panel": _format_panel,
}

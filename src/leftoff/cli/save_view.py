"""Format the confirmation of a save in the style that the `noise` setting names."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from leftoff.checkpoint import Checkpoint
from leftoff.cli.text_columns import one_line

_SHOWN_CHARS = 200

Written = Mapping[str, Sequence[Path]]
"""The native files written for the checkpoint, by profile."""


def confirmation(
    noise: str, checkpoint: Checkpoint, path: Path, written: Written, *, advise_clear: bool = False
) -> list[str]:
    """Return the lines that confirm a saved checkpoint."""
    told = _NOISE[noise](checkpoint, path, written)
    return [*told, "", f"  {_ADVICE}"] if noise == "panel" and advise_clear else told


_ADVICE = "You can clear the agent's context now; the next session gets this checkpoint."


def _silent(checkpoint: Checkpoint, path: Path, written: Written) -> list[str]:
    del checkpoint, path, written
    return []


# guardz's format.
def _line(checkpoint: Checkpoint, path: Path, written: Written) -> list[str]:
    del path, written
    name = checkpoint.name
    return [f'Checkpoint "{name}" saved. Resume anytime: `continue {name}`']


def _full(checkpoint: Checkpoint, path: Path, written: Written) -> list[str]:
    natives = [str(each) for found in written.values() for each in found]
    return [
        f'Saved checkpoint "{checkpoint.name}"',
        f"  Task  {one_line(checkpoint.task, _SHOWN_CHARS)}",
        f"  Next  {_next(checkpoint)}",
        f"  Path  {path}",
        *(f"  Also  {each}" for each in dict.fromkeys(natives)),
    ]


# claude-sail's format.
def _box(checkpoint: Checkpoint, path: Path, written: Written) -> list[str]:
    natives = [each for found in written.values() for each in found]
    return [
        _RULE,
        "  CHECKPOINT SAVED",
        _RULE,
        "",
        f"  Location: {natives[0] if natives else path}",
        f"  Summary:  {one_line(checkpoint.task, _SHOWN_CHARS)}",
        f"  Decisions: {len(checkpoint.decisions)} recorded",
        f"  Next:     {_next(checkpoint)}",
        "",
        "  This will be surfaced when the next session starts.",
        "",
        _RULE,
    ]


_RULE = "━" * 53


# quoin's format.
def _report(checkpoint: Checkpoint, path: Path, written: Written) -> list[str]:
    del checkpoint
    natives = dict.fromkeys(str(each) for found in written.values() for each in found)
    first, *others = natives or [str(path)]
    return [
        f"Checkpoint saved to: {first}",
        *(f"Also written: {each}" for each in others),
        "To resume: `leftoff resume --pending` in a fresh session",
    ]


# claude-harness's format.
def _panel(checkpoint: Checkpoint, path: Path, written: Written) -> list[str]:
    natives = dict.fromkeys(str(each) for found in written.values() for each in found)
    rows = [
        ("Saved", [f"{checkpoint.name}: {one_line(checkpoint.task, _SHOWN_CHARS)}"]),
        ("Next", [_next(checkpoint)]),
        ("Kept in", [str(path), *natives]),
    ]
    lines = [
        f"  {label if number == 0 else '':<{_LABEL_WIDTH}}{text}"
        for label, texts in rows
        for number, text in enumerate(texts)
    ]
    return ["CHECKPOINT COMPLETE", *lines]


_LABEL_WIDTH = 9


def _next(checkpoint: Checkpoint) -> str:
    action = checkpoint.next_action
    return one_line(action.text, _SHOWN_CHARS) if action else "(none given)"


_NOISE: dict[str, Callable[[Checkpoint, Path, Written], list[str]]] = {
    "silent": _silent,
    "line": _line,
    "full": _full,
    "box": _box,
    "report": _report,
    "panel": _panel,
}

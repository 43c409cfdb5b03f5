"""Refusals: what the store answers when a name is in use, or stands for nothing it holds."""

from collections.abc import Sequence

from leftoff.errors import ChoiceNeeded, LeftoffError, NoSuchCheckpoint
from leftoff.store.index import CheckpointEntry


def name_taken(standing: CheckpointEntry) -> LeftoffError:
    """Say that a name is in use, with what a person needs to choose."""
    saved = standing.saved_at.astimezone().strftime("%Y-%m-%d %H:%M")
    left_off = standing.left_off or standing.task or "(nothing noted)"
    return ChoiceNeeded(
        f'A checkpoint named "{standing.name}" exists, saved {saved}: {left_off}',
        question=f'Overwrite "{standing.name}"?',
        choices=[
            {
                "choice": "overwrite",
                "label": "Overwrite",
                "command": f"leftoff save {standing.name} --overwrite",
                "saved_at": standing.saved_at.isoformat(),
                "left_off": standing.left_off,
                "id": standing.id,
            },
            {"choice": "rename", "label": "Different name", "command": "leftoff save OTHER-NAME"},
        ],
        hint="Add --overwrite to save a new revision (the old one stays in `leftoff log`), "
        "or give another name.",
    )


def not_found(key: str, matches: Sequence[CheckpointEntry], names: Sequence[str]) -> LeftoffError:
    """Say that nothing has this name or id, with the nearest that there is."""
    if matches:
        ids = ", ".join(entry.id for entry in matches[:5])
        return NoSuchCheckpoint(
            f"Several checkpoints match '{key}': {ids}", hint="Give more of it."
        )
    import difflib  # noqa: PLC0415 - only someone who mistyped needs it

    near = difflib.get_close_matches(key, names, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    return NoSuchCheckpoint(
        f"No checkpoint named '{key}'", hint=f"{hint}`leftoff list` shows the ones there are."
    )

"""The errors for a name that is in use, unknown or ambiguous, with what a person can do."""

from collections.abc import Sequence

from leftoff.errors import ChoiceNeeded, LeftoffError, NoSuchCheckpoint
from leftoff.store.index import CheckpointEntry


def name_taken(standing: CheckpointEntry) -> LeftoffError:
    """Return the error for a name in use, with the choices a person has."""
    saved = standing.saved_at.astimezone().strftime("%Y-%m-%d %H:%M")
    left_off = standing.left_off or standing.task or "(no summary)"
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
    """Return the error for an unknown or ambiguous key, with the closest names."""
    if matches:
        ids = ", ".join(entry.id for entry in matches[:5])
        return NoSuchCheckpoint(
            f"Several checkpoints match '{key}': {ids}", hint="Type more of the id."
        )
    import difflib  # noqa: PLC0415 - 1 ms, and only a mistyped name needs it

    near = difflib.get_close_matches(key, names, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    return NoSuchCheckpoint(
        f"No checkpoint named '{key}'", hint=f"{hint}Run `leftoff list` to see all checkpoints."
    )

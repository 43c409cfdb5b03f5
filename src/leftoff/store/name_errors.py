"""The errors for a name that is in use, unknown or ambiguous, with what a person can do."""

from collections.abc import Sequence

from leftoff.errors import ChoiceNeeded, LeftoffError, NoSuchCheckpoint
from leftoff.store.index import CheckpointEntry
from leftoff.text.fence import quote_key


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
                "command": f"leftoff save {quote_key(standing.name, standing.id)} --overwrite",
                "saved_at": standing.saved_at.isoformat(),
                "left_off": standing.left_off,
                "id": standing.id,
            },
            {"choice": "rename", "label": "Different name", "command": "leftoff save OTHER-NAME"},
        ],
        hint="Add --overwrite to save a new revision (the old one stays in `leftoff log`), "
        "or give another name.",
    )


def explain_not_found(
    key: str, matches: Sequence[CheckpointEntry], names: Sequence[str]
) -> LeftoffError:
    """Return the error for an unknown or ambiguous key, with the closest names."""
    if matches:
        ids = ", ".join(entry.id for entry in matches[:5])
        return NoSuchCheckpoint(
            f"Several checkpoints match '{key}': {ids}", hint="Type more of the id."
        )
    near = _find_near(key, names)
    hint = f"Did you mean {' or '.join(near)}? " if near else ""
    return NoSuchCheckpoint(
        f"No checkpoint named '{key}'", hint=f"{hint}Run `leftoff list` to see all checkpoints."
    )


def _find_near(key: str, names: Sequence[str]) -> list[str]:
    """Return the names that somebody may have meant: those with these letters, or the closest."""
    import difflib  # noqa: PLC0415 - 1 ms, and only a mistyped name needs it

    typed = "-".join(key.casefold().split())
    within = [name for name in names if len(typed) >= _LEAST_TYPED and typed in name.casefold()]
    within.sort(key=lambda name: (not name.startswith(typed), name))
    # Comparing takes long, and a typo rarely is in the first letter.
    alike = [name for name in names if name.startswith(typed[:1])]
    return within[:_MOST_NEAR] or difflib.get_close_matches(typed, alike, n=1)


_LEAST_TYPED = 2
_MOST_NEAR = 3

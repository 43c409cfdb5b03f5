"""Save a checkpoint again: as its files are now, or with the progress of another day."""

import re
from datetime import datetime

import msgspec

from leftoff.checkpoint import Checkpoint, FileRef, cut_to_limits, from_plain, to_plain
from leftoff.config import Settings
from leftoff.fingerprints import state_of
from leftoff.names import clean_name, kebab
from leftoff.redact import redact_value
from leftoff.store import SavedCheckpoint, Store
from leftoff.threads.compose import place_of, read_git_state, with_files, with_step


def refresh(store: Store, checkpoint: Checkpoint, settings: Settings) -> SavedCheckpoint:
    """Save a checkpoint again with the current state of git, its files and its plan.

    Files that are gone are removed from it, and a note names them.
    """
    root = store.project.worktree
    plan = checkpoint.plan
    planned = [plan.path] if plan and plan.path else []
    named = [*(file.path for file in checkpoint.files), *checkpoint.files_modified, *planned]
    gone = {path for path in named if state_of(FileRef(path=path), root) == "missing"}
    now = {**place_of(store.project), **read_git_state(store.project, settings)}
    seen = {**to_plain(checkpoint), **now}
    # `with_step` reads the step again from the plan file.
    unread = msgspec.structs.replace(plan, step=None, total=None) if plan else None
    draft = msgspec.structs.replace(
        from_plain(seen, Checkpoint),
        # It now describes this worktree, no longer the file that it was imported from.
        source=None,
        files=[file for file in checkpoint.files if file.path not in gone],
        files_modified=[path for path in checkpoint.files_modified if path not in gone],
        plan=None if gone.intersection(planned) else unread,
        notes=[*checkpoint.notes, *(f"Gone when it was refreshed: {path}" for path in gone)],
    )
    kept, _ = cut_to_limits(redact_value(with_files(with_step(draft, root), root)))
    return store.save(kept, overwrite=True)


_DAY = re.compile(r"### Day (\d+) \((\d{4}-\d{2}-\d{2})\)")


def append_day(draft: Checkpoint, store: Store, name: str) -> Checkpoint:
    """Add today's progress to that of earlier days, under a heading for each day.

    The first save gets day 1. Earlier decisions and failures stay, because the task is the same.
    """
    index = store.index()
    spellings = (clean_name(name), kebab(name))
    earlier = next(filter(None, map(index.find_named, filter(None, spellings))), None)
    if earlier is None or earlier.problem is not None:
        return draft
    before = store.load(earlier)
    done = before.done
    if not any(_DAY.fullmatch(each) for each in done):
        done = [_format_day(1, earlier.saved_at), *done]
    dates = [found[2] for each in done if (found := _DAY.fullmatch(each))]
    today = _format_day(len(dates) + 1, store.now())
    heading = [] if f"({dates[-1]})" in today else [today]
    return msgspec.structs.replace(
        draft,
        summary=draft.summary or before.summary,
        done=[*done, *heading, *draft.done],
        decisions=[
            *(each for each in before.decisions if each not in draft.decisions),
            *draft.decisions,
        ],
        failed=[*(each for each in before.failed if each not in draft.failed), *draft.failed],
    )


def _format_day(number: int, moment: datetime) -> str:
    return f"### Day {number} ({moment.astimezone():%Y-%m-%d})"

"""List what is left to do after a ship, and where everything is stored."""

from collections.abc import Collection, Sequence

from leftoff.checkpoint import Checkpoint
from leftoff.knowledge.features import Board
from leftoff.redact import redact
from leftoff.ship.choose_files import format_path
from leftoff.ship.outcome import Check
from leftoff.store import Store

_MOST = 5


def remaining(
    dirty: Sequence[str], saved: Checkpoint | None, checks: Sequence[Check], board: Board
) -> list[str]:
    """List what is left to do, most urgent first."""
    found = [f"Fix: {check.command}" for check in checks if not check.has_passed]
    if saved is not None:
        found += [f"Blocked: {each}" for each in saved.blockers[:_MOST]]
        found += [f"Next: {saved.next_action.text}"] if saved.next_action else []
    if dirty:
        found.append(f"Not committed: {_some([format_path(path) for path in dirty])}")
    unfinished = [f"{each.id} {each.name} [{each.status}]" for each in board.pressing]
    return [redact(each) for each in [*found, *unfinished[:_MOST]]]


def describe_locations(
    store: Store, saved: Checkpoint | None, native: Collection[str]
) -> dict[str, str]:
    """List where the checkpoint, the memory and the native files are stored."""
    root, here = store.project.store, store.project.worktree
    files = {"memory": root / "memory.jsonl", "features": root / "features.json"}
    kept = {"checkpoint": f"leftoff show {saved.id}"} if saved else {}
    for what, path in files.items():
        if path.exists():
            kept[what] = str(path.relative_to(here) if path.is_relative_to(here) else path)
    return kept | ({"in the repository": _some(sorted(native))} if native else {})


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more

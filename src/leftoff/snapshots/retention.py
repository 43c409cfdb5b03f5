"""Keep the snapshots of a project within their limit, and pack them."""

from collections.abc import Collection, Mapping

import msgspec

from leftoff.projects.project import Project
from leftoff.snapshots.shelf import Shelf, Snapshot, list_shelves

# Below this, loose objects cost little; packing reads everything.
_LOOSE = 2_000
# Each file takes a block of the disk until it is packed, and each snapshot a pack or some objects.
_LOOSE_BYTES = 16_000_000
_LOCK_SECONDS = 60.0


def measure(project: Project) -> int:
    """Return how many bytes the snapshots of a project take."""
    return sum(each.size() for each in list_shelves(project))


def needs_tidying(project: Project, *, limit: int) -> bool:
    """Return whether there is something to pack or to drop."""
    return any(_is_due(each, limit) for each in list_shelves(project))


def _is_due(shelf: Shelf, limit: int) -> bool:
    if not shelf.objects.exists():
        return False
    loose, loose_bytes = shelf.objects.count_loose()
    return loose > _LOOSE or loose_bytes > _LOOSE_BYTES or shelf.objects.size() > limit


class OpenThreads(msgspec.Struct, frozen=True, kw_only=True):
    """The threads whose newest snapshot stays."""

    slots: Collection[str] = ()
    by_session: Mapping[str, str] = {}
    """The threads of sessions; a session's first snapshots are often older than its thread."""

    def thread_of(self, snapshot: Snapshot) -> str | None:
        """Return the thread that a snapshot belongs to."""
        return snapshot.thread or self.by_session.get(snapshot.session or "")


def tidy(project: Project, *, limit: int, open_threads: OpenThreads) -> int:
    """Pack the snapshots, and drop old ones above the limit; return how many were dropped."""
    return sum(_tidy(each, limit, open_threads) for each in list_shelves(project))


def _tidy(shelf: Shelf, limit: int, open_threads: OpenThreads) -> int:
    if not _is_due(shelf, limit):
        return 0
    with shelf.lock_tidying() as is_first:
        if not is_first:
            return 0
        # Takes longest, so snapshots may be taken meanwhile.
        shelf.objects.pack()
        if shelf.objects.size() <= limit:
            return 0
        with shelf.lock(_LOCK_SECONDS) as is_held:
            return _drop_oldest(shelf, limit, open_threads) if is_held else 0


def _drop_oldest(shelf: Shelf, limit: int, open_threads: OpenThreads) -> int:
    """Drop snapshots until the rest fits; the newest of each open thread always stays."""
    dropped = 0
    shelf.objects.drop_unnamed()
    while (size := shelf.objects.size()) > limit:
        candidates = list_droppable([*shelf.newest()], open_threads, {*shelf.list_destroyed()})
        if not candidates:
            return dropped
        # How much one of them frees is known only after packing, so drop a share of them at once.
        share = max(1, round(len(candidates) * (1 - limit / size)))
        shelf.remove(each.id for each in candidates[:share])
        dropped += share
        shelf.objects.drop_unnamed()
    return dropped


def list_droppable(
    newest: list[Snapshot], open_threads: OpenThreads, destroyed: Collection[str]
) -> list[Snapshot]:
    """List what may be dropped, in that order: of ended threads first, the oldest first.

    What open threads offer to bring back stays.
    """
    kept: set[str] = set()
    droppable: list[tuple[bool, Snapshot]] = []
    for each in newest:
        thread = open_threads.thread_of(each)
        is_open = thread in open_threads.slots
        if is_open and each.id in destroyed:
            kept.add(thread or "")
            continue
        group = thread or f"worktree {each.worktree}"
        if group in kept or (thread is not None and not is_open):
            droppable.append((is_open, each))
        kept.add(group)
    return [each for _, each in sorted(droppable, key=lambda pair: (pair[0], pair[1].id))]

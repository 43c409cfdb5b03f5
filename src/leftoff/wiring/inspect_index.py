"""Checks of the indexes: what they say is compared with the files, and made anew if it differs."""

from collections.abc import Callable, Iterator

from leftoff.knowledge import memory
from leftoff.store import Store
from leftoff.wiring.findings import DoctorFinding, World, ok, warning


def check_index(world: World) -> Iterator[DoctorFinding]:
    """Check that the indexes say what the files say; one that does not is built anew."""
    if world.project is None or not world.project.store.is_dir():
        return
    store = Store(world.project)
    try:
        yield _check_one(
            "index",
            lambda: store.index().is_sound(),
            lambda: store.index().rebuild(),
            files="the checkpoints",
        )
        if not memory.is_empty(store):
            yield _check_one(
                "memory index",
                lambda: memory.is_sound(store),
                lambda: memory.rebuild(store),
                files="memory.jsonl",
            )
    finally:
        store.close()


def _check_one(
    check: str, is_sound: Callable[[], bool], rebuild: Callable[[], None], *, files: str
) -> DoctorFinding:
    if is_sound():
        return ok(check, f"It agrees with {files}")
    rebuild()
    return warning(
        check,
        f"The {check} did not match {files}; it was rebuilt",
        why="Commands may have missed checkpoints or entries, or taken a name that was in use. "
        "Nothing was lost: the files are the record.",
        do="Nothing, unless it happens again: then the disk may be failing.",
    )

"""Check that the indexes match the files they are built from, and rebuild those that do not."""

from collections.abc import Callable, Iterator

from leftoff.knowledge import memory
from leftoff.store import Store
from leftoff.wiring.findings import DoctorFinding, World, ok, warning


def check_index(world: World) -> Iterator[DoctorFinding]:
    """Check that the indexes match the files; rebuild those that do not."""
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
        return ok(check, f"It matches {files}")
    rebuild()
    return warning(
        check,
        f"The {check} did not match {files}; it was rebuilt",
        why="Commands may have missed checkpoints or entries, or reused a name. "
        "Nothing was lost: the files have everything.",
        do="Nothing. If it happens again, your disk may be failing.",
    )

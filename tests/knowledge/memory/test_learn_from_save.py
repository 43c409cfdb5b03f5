"""What clearing and undoing checkpoints does to what they taught; see also tests/cli."""

from leftoff.knowledge import memory
from leftoff.store import Store


def test_reviewing_an_empty_memory_writes_nothing(store: Store) -> None:
    assert memory.review_lessons(store, ["20261115T120004000Z-228b2772"]) == []
    assert not any(path.exists() for path in store.log_paths("memory"))

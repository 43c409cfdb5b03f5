"""A save finds what exists under a name without an index, and never builds a large index."""

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta

import pytest

from leftoff.errors import ChoiceNeeded
from leftoff.projects.project import Project
from leftoff.store import Store, current_revision
from leftoff.store.layout import Area
from stores import Clock, draft


@pytest.fixture(autouse=True)
def _every_log_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a log of any length be too long for a save to make an index of."""
    monkeypatch.setattr(current_revision, "_SHORT_BYTES", -1)


@pytest.fixture
def unread(project: Project, clock: Clock) -> Iterator[Store]:
    """Return a store with a bit of everything, and no index."""
    store = Store(project, now=clock)
    for name in ("open-one", "cleared-one", "undone-one", "resumed-one", "purged-one"):
        store.save(draft(name))
    store.save(draft("open-one", "second"), overwrite=True)
    store.save(draft("undone-one", "second"), overwrite=True)
    store.undo()
    store.record("cleared", [store.find("cleared-one").id])
    store.record("resumed", [store.find("resumed-one").id, store.find("open-one").id])
    store.purge(store.index().revisions(store.find("purged-one").slot))
    store.close()
    for left in project.store.glob("index*"):
        left.unlink()
    yield store
    store.close()


def has_index(store: Store) -> bool:
    return (store.project.store / "index.sqlite").exists()


@pytest.mark.parametrize("name", ["open-one", "undone-one", "resumed-one"])
def test_a_name_in_use_is_known_without_an_index(unread: Store, name: str) -> None:
    with pytest.raises(ChoiceNeeded, match=name):
        unread.save(draft(name))

    assert not has_index(unread)


@pytest.mark.parametrize("name", ["cleared-one", "purged-one", "open-on", "new-one"])
def test_a_name_that_is_free_is_given_without_an_index(unread: Store, name: str) -> None:
    unread.save(draft(name))

    assert not has_index(unread)


def test_the_census_and_the_index_say_the_same(unread: Store) -> None:
    areas = [Area(unread.project.store)]
    names = ("open-one", "cleared-one", "undone-one", "resumed-one", "purged-one", "none-such")
    counted = {
        each: current_revision.find_previous(areas, draft(each), unread.now()) for each in names
    }

    index = unread.index()

    for name, (found, last_id) in counted.items():
        head = index.find_named(name)
        assert (found, last_id) == (head, index.last_id(head.slot) if head else None), name
    assert current_revision.names_like(areas, "re") == ["resumed-one"]


def test_a_file_without_a_line_counts(unread: Store, project: Project) -> None:
    log = project.store / "events.jsonl"
    before = log.read_bytes()
    unread.save(draft("lost-line"))
    log.write_bytes(before)

    with pytest.raises(ChoiceNeeded, match="lost-line"):
        unread.save(draft("lost-line"))


def test_a_torn_line_does_not_hide_its_file(unread: Store, project: Project) -> None:
    log = project.store / "events.jsonl"
    unread.save(draft("torn-line"))
    log.write_bytes(log.read_bytes()[:-20] + b"\n")

    with pytest.raises(ChoiceNeeded, match="torn-line"):
        unread.save(draft("torn-line"))


@pytest.mark.parametrize("name", [None, "open-one"])
def test_a_clock_set_back_does_not_let_an_older_revision_win(
    unread: Store, clock: Clock, name: str | None
) -> None:
    first = unread.save(draft(name, session_id="s1", agent="claude"), overwrite=True)
    clock.move(days=-3)

    second = unread.save(draft(name, session_id="s1", agent="claude"), overwrite=True)

    assert second.checkpoint.id > first.checkpoint.id
    assert second.checkpoint.saved_at < first.checkpoint.saved_at + timedelta(0)


def test_a_line_that_could_not_be_written_does_not_free_the_name(project: Project) -> None:
    """The log is a folder: saves are kept and acknowledged, and leave no line."""
    store = Store(project)
    store.save(draft("first-one"))
    store.index()
    log = project.store / "events.jsonl"
    kept = log.rename(log.with_suffix(".kept"))
    log.mkdir()
    store.save(draft("login-form"))
    store.close()
    log.rmdir()
    kept.rename(log)

    with pytest.raises(ChoiceNeeded, match="login-form"), closing(Store(project)) as again:
        again.save(draft("login-form"))

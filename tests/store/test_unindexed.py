"""What a save must know about log lines beyond the index, and when it needs the index."""

from pathlib import Path

from leftoff.store import Store
from leftoff.store.current_revision import Lag
from leftoff.store.log import LogMark, identify
from stores import draft


def lag_of(store: Store) -> Lag:
    """Read the whole log as a lag."""
    log = store.project.store / "events.jsonl"
    lag = Lag(log, LogMark(identify(log)[0], 0, b""))
    assert lag.grow()
    return lag


def test_a_name_that_was_saved_is_concerned_and_another_is_not(store: Store) -> None:
    store.save(draft("login-form"))
    lag = lag_of(store)

    assert lag.may_concern(draft("login-form"), None)
    assert not lag.may_concern(draft("csv-import"), None)


def test_it_grows_by_what_another_process_adds(store: Store) -> None:
    store.save(draft("login-form"))
    lag = lag_of(store)
    other = Store(store.project)
    other.save(draft("csv-import"))
    other.close()

    assert lag.grow()
    assert lag.may_concern(draft("csv-import"), None)


def test_an_event_of_the_newest_revision_concerns_its_name(store: Store) -> None:
    saved = store.save(draft("login-form"))
    standing = store.find("login-form")
    log = store.project.store / "events.jsonl"
    inode, size = identify(log)
    lag = Lag(log, LogMark(inode, size, b""))
    assert lag.grow()
    before = lag.may_concern(draft("login-form"), standing)
    store.record("cleared", [saved.checkpoint.id])
    assert lag.grow()

    assert (before, lag.may_concern(draft("login-form"), standing)) == (False, True)


def test_an_undo_can_concern_any_name(store: Store) -> None:
    saved = store.save(draft("login-form"))
    store.record("cleared", [saved.checkpoint.id])
    store.undo()

    assert lag_of(store).may_concern(draft("csv-import"), None)


def test_a_log_that_was_replaced_is_another_log(store: Store) -> None:
    store.save(draft("login-form"))
    lag = lag_of(store)
    log = store.project.store / "events.jsonl"
    copy = Path(f"{log}.copy")
    copy.write_bytes(log.read_bytes())
    copy.replace(log)

    assert not lag.grow()


def test_a_long_lag_is_indexed(store: Store) -> None:
    for number in range(501):
        store.save(draft(f"name-{number}"))

    assert lag_of(store).may_concern(draft("csv-import"), None)

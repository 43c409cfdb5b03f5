"""An event that settle cannot finish is killed, retried and set aside, and delays no other."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.waiting import until
from leftoff import context
from leftoff.context import read_environment
from leftoff.hooks import lease, settle, spool, trouble
from leftoff.store import Store
from leftoff.wiring import inspect_spool
from leftoff.wiring.findings import World
from leftoff.wiring.install_places import find_places
from talk import Talk

pytestmark = pytest.mark.slow("waits for time limits")

# Reading it takes minutes of CPU, and it takes no room.
_ENDLESS_BYTES = 1 << 42


@pytest.fixture
def state() -> Path:
    return context.state_folder()


@pytest.fixture
def endless(talk: Talk) -> Talk:
    """Return a session whose transcript takes far too long to be read."""
    endless = Talk(talk.folder, "endless")
    endless.ask("Read all of this")
    os.truncate(endless.transcript, _ENDLESS_BYTES)
    endless.post("Stop")
    return endless


def settles(state: Path, seconds: float) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-I", "-m", "leftoff.hooks.settle", str(state), str(seconds)]
    return subprocess.Popen(words)


@contextlib.contextmanager
def at_work(state: Path) -> Iterator[list[int]]:
    """Yield the two processes of a settle that is at the endless event; kill them at the end."""
    process = settles(state, 600)
    until(lambda: _is_at(state, "claude.Stop"), "the endless event to be tried")
    until(lambda: len(_pids(state)) == 2, "a worker")
    pids = _pids(state)
    try:
        yield pids
    finally:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()


def _is_at(state: Path, name: str) -> bool:
    # An event is read first, and settled when all were.
    found = lease.words_of(f"{state}/trying")
    waiting = [letter.path.name for letter in spool.list_letters(state)]
    return bool(found) and found[0].startswith(name) and waiting == [found[0]]


def _pids(state: Path) -> list[int]:
    return [pid for mark in lease.list_marks(str(state)) for pid in lease.pids_of(mark)]


def test_others_do_not_wait_behind_an_event_that_takes_too_long(
    endless: Talk, talk: Talk, store: Store, state: Path
) -> None:
    talk.ask("Add a login form")
    talk.edit("app.py")
    talk.post("SessionEnd", reason="other")

    assert settles(state, 2).wait(120) == 0

    (left,) = spool.list_letters(state)
    assert (left.failures, left.deaths) == (1, 0)
    assert [entry.session_id for entry in store.index().newest(9)] == [talk.session_id]
    assert lease.list_marks(str(state)) == []
    assert not (state / "trying").exists()
    del endless


def test_an_event_that_took_too_long_three_times_is_set_aside_and_reported(
    endless: Talk, state: Path
) -> None:
    (letter,) = spool.list_letters(state)
    tried = lease.next_name(lease.next_name(letter.path.name, "t"), "t")
    letter.path.rename(letter.path.with_name(tried))

    for _ in range(2):
        assert settles(state, 2).wait(120) == 0

    assert spool.list_letters(state) == []
    assert [path.name for path in (state / "poison").iterdir()] == [letter.path.name]
    assert "set aside" in trouble.list_recent(state)[-1].where
    del endless


def test_a_kill_from_outside_counts_apart_from_a_failure(endless: Talk, state: Path) -> None:
    with at_work(state):
        pass

    lease.count_death(str(state), "k")

    (left,) = spool.list_letters(state)
    assert (left.failures, left.deaths) == (0, 1)
    assert not left.is_hopeless
    del endless


def test_a_settle_that_was_stopped_is_killed_by_the_next_and_its_event_tried_last(
    endless: Talk, talk: Talk, store: Store, state: Path
) -> None:
    with at_work(state) as pids:
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        # As some seconds later.
        (mark,) = lease.list_marks(str(state))
        lease_over = f"settling.{pids[0]}.{(lease.now() or 0) - 1}.{pids[1]}"
        (state / mark).rename(state / lease_over)
        talk.ask("Add a login form")
        talk.edit("app.py")
        talk.post("SessionEnd", reason="other")

        assert settles(state, 2).wait(120) == 0

    assert [entry.session_id for entry in store.index().newest(9)] == [talk.session_id]
    (left,) = spool.list_letters(state)
    assert left.deaths == 1
    del endless


def test_a_worker_whose_parent_was_killed_holds_the_lock_and_no_lease(
    endless: Talk, state: Path
) -> None:
    with at_work(state) as pids:
        os.kill(pids[0], signal.SIGKILL)
        until(lambda: not lease.is_held(str(state)), "the lease to be void")

        assert settle.run(state) is False
    del endless


def test_a_session_start_does_not_wait_for_an_event_that_takes_too_long(
    endless: Talk, talk: Talk, store: Store, state: Path
) -> None:
    with at_work(state):
        talk.start()

        assert len(spool.list_letters(state)) == 1
    assert store.index().newest(9) == []
    del endless


def test_doctor_says_that_settle_does_not_advance(endless: Talk, state: Path) -> None:
    (name,) = [letter.path.name for letter in spool.list_letters(state)]
    with at_work(state):
        (found,) = inspect_spool.check_spool(World(places=find_places(read_environment())))

    assert found.level == "broken"
    assert f"1 event is waiting, but settle has been processing {name}" in found.what
    del endless


def test_what_waits_for_more_than_a_minute_is_reported_to_the_next_session(
    talk: Talk, state: Path
) -> None:
    talk.post("Stop")
    (letter,) = spool.list_letters(state)
    os.utime(letter.path, (1, 1))

    assert [each.where for each in trouble.list_recent(state)] == ["settle"]
    assert settle.run(state)
    assert trouble.list_recent(state) == []

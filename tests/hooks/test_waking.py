"""One of many events wakes settle, and no leftover mark keeps events waiting."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.waiting import until
from hooks.letterboxes import BOXES, DISTINCT, Letterbox
from leftoff.hooks import lease

_STAYS = '#!/bin/sh\nmkdir "$0.starts/$$"\nread -r _ <"$0.fifo"\n'


class Woken:
    """A program in the place of settle that notes each start, and stays until it is let go."""

    def __init__(self, box: Letterbox, root: Path) -> None:
        self._path = root / "settle"
        self._path.write_text(_STAYS, encoding="utf-8")
        self._path.chmod(0o755)
        self._folder = root / "settle.starts"
        self._folder.mkdir()
        os.mkfifo(root / "settle.fifo")
        # Held open in both directions, so that nobody waits for us to open it.
        self._fifo = os.open(root / "settle.fifo", os.O_RDWR)
        box.install(str(self._path))

    def starts(self) -> list[int]:
        return [int(path.name) for path in self._folder.iterdir()]

    def let_go(self) -> None:
        started = self.starts()
        os.write(self._fifo, b"\n" * len(started))
        until(lambda: not any(map(_is_at_work, started)), "all to end")
        os.close(self._fifo)


def _is_at_work(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return False
    return state[0] not in {"Z", "X"}


@pytest.fixture(params=DISTINCT)
def box(request: pytest.FixtureRequest, tmp_path: Path) -> Letterbox:
    return Letterbox(BOXES[request.param], tmp_path)


@pytest.fixture
def woken(box: Letterbox, tmp_path: Path) -> Iterator[Woken]:
    woken = Woken(box, tmp_path)
    yield woken
    woken.let_go()


def _slot() -> int:
    return (lease.now() or 0) // 5


def fire_at_once(box: Letterbox, count: int) -> None:
    running = [
        subprocess.Popen(
            [*box.command, "claude", "Stop"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            cwd=box.folder,
            env=box.env,
        )
        for _ in range(count)
    ]
    assert {process.wait(120) for process in running} == {0}


@pytest.mark.skipif(lease.now() is None, reason="no clock that a shell can read")
def test_a_burst_of_events_wakes_one_settle(box: Letterbox, woken: Woken) -> None:
    begun = _slot()
    fire_at_once(box, 30)
    ended = _slot()
    until(woken.starts, "a settle to be started")

    # A claim holds for its five seconds and the next: on a busy machine a burst may take longer.
    assert len(woken.starts()) <= 1 + (ended - begun) // 2
    assert len(box.spooled()) == 30


@pytest.mark.skipif(lease.now() is None, reason="no clock that a shell can read")
def test_a_settle_that_died_at_once_is_followed_by_another(box: Letterbox, woken: Woken) -> None:
    box.fire("Stop", b"{}")
    until(woken.starts, "a settle to be started")
    (first,) = woken.starts()
    os.kill(first, 9)
    until(lambda: not _is_at_work(first), "its end")

    box.fire("Stop", b"{}")

    until(lambda: len(woken.starts()) == 2, "another settle")


@pytest.mark.skipif(lease.now() is None, reason="no clock that a shell can read")
@pytest.mark.usefixtures("woken")
def test_a_claim_without_a_pid_holds_in_the_next_slot(box: Letterbox) -> None:
    """Its process is just starting a settle, which takes a while on a busy machine."""
    before, slot = -1, _slot()
    while before != slot:
        before = slot
        box.state.mkdir(parents=True, exist_ok=True)
        lease.forget_claims(str(box.state))
        (box.state / f"waking.{before - 1}").touch()
        box.fire("Stop", b"{}")
        slot = _slot()

    assert not (box.state / f"waking.{before}").exists()


def test_a_settle_that_holds_its_lease_is_left_to_its_work(box: Letterbox, woken: Woken) -> None:
    lease.SettleMark(str(box.state)).hold(0)

    box.fire("Stop", b"{}")

    assert woken.starts() == []
    assert len(box.spooled()) == 1


def _claims(state: Path) -> Iterator[Path]:
    at = lease.now() or 0
    yield from (state / f"waking.{slot}" for slot in range(at // 5 - 20, at // 5 - 1))


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _live_pid(state: Path) -> None:
    _write(state / f"settling.{os.getpid()}", "")
    for path in _claims(state):
        _write(path, f"{os.getpid()}\n")


def _old_lease(state: Path) -> None:
    _write(state / f"settling.{os.getpid()}.{(lease.now() or 9) - 1}.0", "")


def _endless_lease(state: Path) -> None:
    _write(state / f"settling.{os.getpid()}.99999999999999999999999.0", "")


def _everybody(state: Path) -> None:
    _write(state / f"settling.-1.{(lease.now() or 0) + 5}.0", "")


def _no_text(state: Path) -> None:
    _write(Path(f"{state}/settling.\udcff \n$(touch x)`.*"), "")


def _empty(state: Path) -> None:
    _write(state / "settling.", "")


def _fifo(state: Path) -> None:
    os.mkfifo(state / "settling")
    os.mkfifo(state / f"settling.{os.getpid()}.0.0")


def _folder(state: Path) -> None:
    (state / "settling").mkdir()
    (state / f"settling.{os.getpid()}.0.0").mkdir()


def _huge(state: Path) -> None:
    for name in ("settling", f"settling.{os.getpid()}.0.0"):
        with (state / name).open("wb") as file:
            file.truncate(1 << 40)


@pytest.mark.parametrize(
    "plant",
    [_live_pid, _old_lease, _endless_lease, _everybody, _no_text, _empty, _fifo, _folder, _huge],
)
def test_a_mark_that_nobody_holds_keeps_no_event_waiting(
    box: Letterbox, woken: Woken, plant: object
) -> None:
    assert callable(plant)
    plant(box.state)

    done = box.fire("Stop", b"{}")

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    until(woken.starts, "a settle to be started")

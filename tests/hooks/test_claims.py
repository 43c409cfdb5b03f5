"""Of several processes that want to settle, one gets the claim and the others leave."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from leftoff.hooks import lease

pytestmark = pytest.mark.skipif(lease.now() is None, reason="no clock that a shell can read")


@pytest.fixture
def state(tmp_path: Path) -> Path:
    (folder := tmp_path / "state").mkdir()
    return folder


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leftoff.hooks.lease._PATIENCE_SECONDS", 0.05)


def slots() -> range:
    """Return the slots of now and around it, as one may end while a test runs."""
    now = (lease.now() or 0) // 5
    return range(now - 1, now + 3)


def plant(state: Path, content: str) -> None:
    for slot in slots():
        (state / f"waking.{slot}").write_text(content, encoding="utf-8")


def dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_the_first_one_gets_the_claim(state: Path) -> None:
    assert lease.make_claim(str(state))

    (path,) = state.iterdir()
    assert path.name.startswith("waking.")
    assert path.read_text(encoding="utf-8") == f"{os.getpid()}\n"


def test_a_process_that_has_the_claim_keeps_it(state: Path) -> None:
    assert lease.make_claim(str(state))
    assert lease.make_claim(str(state))


def test_a_claim_of_a_living_process_holds(state: Path) -> None:
    plant(state, f"{os.getppid()}\n")

    assert not lease.make_claim(str(state))


def test_a_claim_of_the_slot_before_holds(state: Path) -> None:
    is_made, before = True, -1
    while before != (lease.now() or 0) // 5:
        before = (lease.now() or 0) // 5
        lease.forget_claims(str(state))
        (state / f"waking.{before - 1}").write_text(f"{os.getppid()}\n", encoding="utf-8")
        is_made = lease.make_claim(str(state))

    assert not is_made


def test_a_claim_of_the_slot_before_holds_before_its_pid_is_written(state: Path) -> None:
    is_made, before = True, -1
    while before != (lease.now() or 0) // 5:
        before = (lease.now() or 0) // 5
        lease.forget_claims(str(state))
        (claim := state / f"waking.{before - 1}").touch()
        starter = threading.Thread(target=claim.write_text, args=(f"{os.getppid()}\n",))
        starter.start()
        is_made = lease.make_claim(str(state))
        starter.join()

    assert not is_made


def test_a_claim_of_a_dead_process_is_followed_by_another(state: Path) -> None:
    dead = dead_pid()
    plant(state, f"{dead}\n")

    assert lease.make_claim(str(state))

    (made,) = state.glob(f"waking.*.{dead}")
    assert made.read_text(encoding="utf-8") == f"{os.getpid()}\n"


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("content", ["", "-1\n", "0\n", "nobody\n", "../../x\n", "9" * 99])
def test_a_claim_that_names_nobody_stops_nobody(state: Path, content: str) -> None:
    plant(state, content)

    assert lease.make_claim(str(state))


@pytest.mark.usefixtures("impatient")
def test_a_fifo_in_the_place_of_a_claim_stops_nobody(state: Path) -> None:
    for slot in slots():
        os.mkfifo(state / f"waking.{slot}")

    assert lease.make_claim(str(state))


def test_claims_are_forgotten_and_nothing_else(state: Path) -> None:
    lease.make_claim(str(state))
    (state / "settling.1.-.0").touch()

    lease.forget_claims(str(state))

    assert [path.name for path in state.iterdir()] == ["settling.1.-.0"]


def test_where_no_claim_can_be_written_the_process_goes_on(state: Path) -> None:
    assert lease.make_claim(str(state / "missing"))

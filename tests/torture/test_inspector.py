"""The inspector answers, and is replaced if it dies or hangs."""

import os
import time
from pathlib import Path

import pytest

from leftoff.torture.inspector import Inspector


def answer(question: bytes) -> bytes:
    if question == b"die":
        os._exit(1)
    while question == b"hang":
        time.sleep(60)
    return str(os.getpid()).encode() if question == b"who" else question * 100_000


@pytest.fixture
def inspector(tmp_path: Path) -> Inspector:
    return Inspector(answer, tmp_path)


def test_it_answers_from_a_process_that_stays(inspector: Inspector) -> None:
    first = inspector.ask(b"who")

    assert inspector.ask(b"long") == b"long" * 100_000 + b"\n"
    assert inspector.ask(b"who") == first != str(os.getpid()).encode() + b"\n"
    inspector.stop()


@pytest.mark.parametrize("question", [b"die", b"hang"])
def test_one_that_dies_or_hangs_gives_no_answer_and_is_replaced(
    inspector: Inspector, question: bytes
) -> None:
    first = inspector.ask(b"who")

    assert inspector.ask(question, seconds=0.2) is None
    assert inspector.ask(b"who") not in {None, first}
    inspector.stop()


def test_it_ends_when_it_is_stopped(inspector: Inspector) -> None:
    process = int(inspector.ask(b"who") or 0)

    inspector.stop()

    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)

"""The looker answers, and is replaced if it dies or hangs."""

import os
import time
from pathlib import Path

import pytest

from leftoff.torture.looker import Looker


def answer(question: bytes) -> bytes:
    if question == b"die":
        os._exit(1)
    while question == b"hang":
        time.sleep(60)
    return str(os.getpid()).encode() if question == b"who" else question * 100_000


@pytest.fixture
def looker(tmp_path: Path) -> Looker:
    return Looker(answer, tmp_path)


def test_it_answers_from_a_process_that_stays(looker: Looker) -> None:
    first = looker.ask(b"who")

    assert looker.ask(b"long") == b"long" * 100_000 + b"\n"
    assert looker.ask(b"who") == first != str(os.getpid()).encode() + b"\n"
    looker.stop()


@pytest.mark.parametrize("question", [b"die", b"hang"])
def test_one_that_dies_or_hangs_gives_no_answer_and_is_replaced(
    looker: Looker, question: bytes
) -> None:
    first = looker.ask(b"who")

    assert looker.ask(question, seconds=0.2) is None
    assert looker.ask(b"who") not in {None, first}
    looker.stop()


def test_it_ends_when_it_is_stopped(looker: Looker) -> None:
    process = int(looker.ask(b"who") or 0)

    looker.stop()

    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)

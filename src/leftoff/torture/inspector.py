"""A process that takes no part in any trial and inspects what each trial left.

A fresh fork spends most of its time on page faults, and a process that stays does not. It keeps
nothing from one look for the next, and is replaced from time to time.
"""

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable
from pathlib import Path

from leftoff.torture import forks

_LOOKS = 200
_CHUNK = 1 << 16


class Inspector:
    """Answers questions, one line each, in a process of its own."""

    def __init__(self, answer: Callable[[bytes], bytes], folder: Path) -> None:
        self._answer = answer
        self._folder = folder
        self._child = 0
        self._asked = 0

    def ask(self, question: bytes, *, seconds: float = forks.PATIENCE_SECONDS) -> bytes | None:
        """Return the answer, or None if the process died or hung."""
        if not self._child:
            self._start()
        answer = self._exchange(question, time.monotonic() + seconds)
        self._asked += 1
        if answer is None or self._asked >= _LOOKS:
            self.stop()
        return answer

    def _start(self) -> None:
        theirs, self._questions = os.pipe()
        self._answers, ours = os.pipe()

        def work() -> None:
            # If the child kept the parent's ends of the pipes, it would not notice that the parent
            # is gone.
            os.close(self._questions)
            os.close(self._answers)
            with open(theirs, "rb") as questions:  # noqa: PTH123 - a descriptor
                for question in questions:
                    _write(ours, self._answer(question.rstrip(b"\n")) + b"\n")

        with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - a device
            streams = (nowhere.fileno(), nowhere.fileno())
            self._child = forks.start(work, cwd=self._folder, streams=streams)
        os.close(theirs)
        os.close(ours)
        self._asked = 0

    def _exchange(self, question: bytes, deadline: float) -> bytes | None:
        try:
            _write(self._questions, question + b"\n")
        except BrokenPipeError:
            return None
        answer = b""
        while not answer.endswith(b"\n"):
            left = max(0.0, deadline - time.monotonic())
            if not select.select([self._answers], [], [], left)[0]:
                return None
            data = os.read(self._answers, _CHUNK)
            if not data:
                return None
            answer += data
        return answer

    def stop(self) -> None:
        """End the process; the next question starts another one."""
        if not self._child:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._child, signal.SIGKILL)
        os.waitpid(self._child, 0)
        os.close(self._questions)
        os.close(self._answers)
        self._child = 0


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]

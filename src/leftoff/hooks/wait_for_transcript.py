"""Wait until the transcript has caught up with an event, because agents write it later."""

import time
from collections.abc import Callable
from pathlib import Path

import msgspec

# Claude Code 2.1.325 is up to 0.11 s late at the end of a turn, and later under load.
_SECONDS = 1.5
# By then an agent has written all that it will write, however busy the machine is.
_OLD_SECONDS = 10.0
_PAUSE = 0.02
TAIL = 256 * 1024
_CHARS = 80


def wait_for_words(
    words: str,
    transcript: Path,
    *,
    told_at: float,
    after: int,
    is_writer_alive: Callable[[], bool],
) -> bool:
    """Wait a moment until the transcript holds the words of an event; return whether it does.

    Only text after the given offset counts: the same words may have been said before. The wait
    ends if the writer dies, and is skipped for an old event. At the end of the first turn there may
    be no file yet.
    """
    if not words.strip() or not transcript.parent.is_dir():
        return False
    is_old = time.time() - told_at > _OLD_SECONDS
    deadline = time.monotonic() + (0 if is_old else _SECONDS)
    while not holds(transcript, words, after=after):
        if time.monotonic() > deadline or not is_writer_alive():
            return holds(transcript, words, after=after)
        time.sleep(_PAUSE)
    return True


def holds(transcript: Path, words: str, *, after: int) -> bool:
    """Return whether the end of the transcript, from an offset on, holds these words."""
    last_line = words.strip().splitlines()[-1].strip()[-_CHARS:]
    return msgspec.json.encode(last_line)[1:-1] in _tail(transcript, after)


def _tail(transcript: Path, after: int) -> bytes:
    try:
        with transcript.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(min(after, size), size - TAIL))
            return file.read()
    except OSError:
        return b""

"""The transcript lags behind the event: an agent writes it when it has the time."""

import time
from pathlib import Path

import msgspec

# Claude Code 2.1.325 was seen to be up to 0.11 s late when a turn ends, and more under load.
_SECONDS = 1.0
_PAUSE = 0.02
_TAIL = 256 * 1024
_CHARS = 80


def wait_for_words(words: str, transcript: Path, *, after: int) -> bool:
    """Wait, not for long, until the transcript holds what an event told; say whether it does.

    Only what lies after the given offset counts: the same words may have been said before.
    """
    lines = words.strip().splitlines()
    if not lines or not transcript.is_file():
        return False
    wanted = msgspec.json.encode(lines[-1].strip()[-_CHARS:])[1:-1]
    deadline = time.monotonic() + _SECONDS
    while wanted not in _tail(transcript, after):
        if time.monotonic() > deadline:
            return False
        time.sleep(_PAUSE)
    return True


def _tail(transcript: Path, after: int) -> bytes:
    try:
        with transcript.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(min(after, size), size - _TAIL))
            return file.read()
    except OSError:
        return b""

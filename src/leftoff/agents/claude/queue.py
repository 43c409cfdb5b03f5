"""The queue of prompts typed while Claude Code works, which its own notices share.

The queue is a list of texts, notices included, because `dequeue` takes whatever is oldest.
"""

from leftoff.agents.claude.requests import request_in
from leftoff.agents.stream import Event, PromptQueued, PromptTaken, UserText

_MOST_QUEUED = 100


def take_queue_operation(queue: list[str], operation: str, text: str, *, at: str) -> list[Event]:
    """Follow one operation and tell what became of the prompts of a person."""
    if operation == "enqueue":
        queue.append(text)
        del queue[:-_MOST_QUEUED]
        asked = request_in(text)
        return [PromptQueued(at=at, text=asked)] if asked else []
    if operation == "popAll":
        taken, queue[:] = list(queue), []
    else:
        taken = _take(queue, text)
    return [PromptTaken(at=at, text=asked) for gone in taken if (asked := request_in(gone))]


def take_queued_command(queue: list[str], text: str, *, at: str) -> list[Event]:
    """Follow a queued prompt that reached the agent in the middle of a turn."""
    if text in queue:
        queue.remove(text)
    asked = request_in(text)
    if not asked:
        return []
    return [PromptTaken(at=at, text=asked), UserText(at=at, text=asked)]


def _take(queue: list[str], text: str) -> list[str]:
    """Take the named text, or the oldest one where the version does not name it."""
    if text:
        if text in queue:
            queue.remove(text)
        return [text]
    return [queue.pop(0)] if queue else []

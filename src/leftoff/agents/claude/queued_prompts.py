"""Follow Claude Code's queue of prompts typed while it works; its notices use it too.

Notices are tracked as well, because an operation without a text counts places in the queue. The
queue is stored with the session: it holds keys instead of texts, and an empty key for a notice.
"""

from typing import Any

from leftoff.agents.claude.requests import request_in
from leftoff.agents.stream import PromptQueued, PromptTaken, SessionEvent, UserText, prompt_key

_MOST_QUEUED = 100
_NOTICE = ""


def take_queue_operation(
    queue: list[str], operation: str, text: str, *, at: str
) -> list[SessionEvent]:
    """Apply one queue operation, and return the events for a person's prompts."""
    asked = request_in(text)
    if operation == "enqueue":
        queue.append(prompt_key(asked) if asked else _NOTICE)
        del queue[:-_MOST_QUEUED]
        return [PromptQueued(at=at, text=asked)] if asked else []
    if operation == "popAll":
        taken, queue[:] = list(queue), []
    elif text:
        taken = [_remove_key(queue, prompt_key(asked) if asked else _NOTICE)]
    else:
        taken = _take_unnamed(queue, operation)
    return [PromptTaken(at=at, key=key) for key in taken if key != _NOTICE]


def _take_unnamed(queue: list[str], operation: str) -> list[str]:
    """Take the entry that an operation without a text means.

    A turn begins with the oldest entry. `remove` follows entries that the agent read in the middle
    of a turn; notices that were read earlier stay behind, so what was read is at the end.
    """
    if not queue:
        return []
    return [queue.pop() if operation == "remove" else queue.pop(0)]


def take_queued_command(queue: list[str], text: str, *, at: str) -> list[SessionEvent]:
    """Handle a queued prompt that reached the agent in the middle of a turn."""
    asked = request_in(text)
    _remove_key(queue, prompt_key(asked) if asked else _NOTICE)
    if not asked:
        return []
    return [PromptTaken(at=at, text=asked), UserText(at=at, text=asked)]


def drop_overtaken(
    state: dict[str, Any], queue: list[str], asked: str, *, at: str
) -> list[SessionEvent]:
    """Empty the queue when the user types a prompt directly.

    Claude Code accepts one only after it has taken everything from its queue.
    """
    key = prompt_key(asked)
    if key in (state.pop("dequeued", _NOTICE), *queue):
        _remove_key(queue, key)
        return []
    taken, queue[:] = list(queue), []
    return [PromptTaken(at=at, key=each) for each in taken if each != _NOTICE]


def _remove_key(queue: list[str], key: str) -> str:
    if key in queue:
        queue.remove(key)
    return key

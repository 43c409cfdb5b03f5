"""Follow Claude Code's queue of prompts typed while it works; its notices use it too.

`dequeue` takes whatever is oldest, so notices are tracked as well. The queue is stored with the
session: it holds keys instead of texts, and an empty key for a notice.
"""

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
    else:
        # Some versions do not name the prompt that they dequeue; it is the oldest.
        taken = [_remove_key(queue, prompt_key(asked) if asked else _NOTICE)] if text else queue[:1]
        del queue[: 0 if text else 1]
    return [PromptTaken(at=at, key=key) for key in taken if key != _NOTICE]


def take_queued_command(queue: list[str], text: str, *, at: str) -> list[SessionEvent]:
    """Handle a queued prompt that reached the agent in the middle of a turn."""
    asked = request_in(text)
    _remove_key(queue, prompt_key(asked) if asked else _NOTICE)
    if not asked:
        return []
    return [PromptTaken(at=at, text=asked), UserText(at=at, text=asked)]


def _remove_key(queue: list[str], key: str) -> str:
    if key in queue:
        queue.remove(key)
    return key

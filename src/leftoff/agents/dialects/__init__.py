"""Name the agents with hooks, and the module that translates each one's payloads and replies.

Dialects are separate from `agents.registry`, which reads sessions: session start must load a
dialect in a few milliseconds, and loading the readers takes fifty.
"""

from leftoff.agents.claude import dialect
from leftoff.agents.hook_events import Dialect

DIALECTS: dict[str, Dialect] = {
    "claude": dialect,
}

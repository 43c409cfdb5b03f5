"""One module per agent with hooks: what it sends to them, and what it accepts as a reply.

They are apart from `agents`, which reads sessions, because session start must load them in a few
milliseconds and the readers take fifty.
"""

from leftoff.agents.claude import dialect
from leftoff.agents.hook_events import Dialect

DIALECTS: dict[str, Dialect] = {
    "claude": dialect,
}

"""One module per agent with hooks: what it sends to them, and what it accepts as a reply.

They are apart from `agents`, which reads sessions, because session start must load them in a few
milliseconds and the readers take fifty.
"""

from leftoff.dialects import claude
from leftoff.dialects.base import Dialect

DIALECTS: dict[str, Dialect] = {
    "claude": claude,
}

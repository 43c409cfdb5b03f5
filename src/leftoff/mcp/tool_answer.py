"""What a tool returns."""

from typing import Any

import msgspec

from leftoff.text.fence import Rendered


class Answer(msgspec.Struct, frozen=True):
    """What a tool returns: text for the model, and the same as values."""

    text: Rendered
    data: dict[str, Any]

"""Shorten texts and find their titles."""

import re

from leftoff.agents.loose_values import cut, cut_start

_TITLE_WITHIN = 4000
_TITLE_CHARS = 200
_HEADING = re.compile(r"^#+[ \t]*(\S.*)$", re.MULTILINE)
_FIRST_LINE = re.compile(r"(\S.*)")


def clip(text: str, chars: int) -> str:
    """Shorten a long text to its beginning and end."""
    if len(text) <= chars:
        return text
    return f"{cut(text, chars // 2)}\n…\n{cut_start(text, chars // 2)}"


def title_of(text: str) -> str:
    """Return the first heading of a text, or its first line."""
    heading = _HEADING.search(text, 0, _TITLE_WITHIN) or _FIRST_LINE.search(text, 0, _TITLE_WITHIN)
    return cut(heading[1].strip(), _TITLE_CHARS) if heading else ""

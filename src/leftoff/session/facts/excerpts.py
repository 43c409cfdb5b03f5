"""Shorten texts and find their titles."""

import re

from leftoff.agents.loose_values import cut, cut_start

_TITLE_WITHIN = 4000
_TITLE_CHARS = 200
_LONGEST_LINE = 400
_HEADING = re.compile(r"^#+[ \t]*(\S.*)$", re.MULTILINE)
_FIRST_LINE = re.compile(r"(\S.*)")


def clip(text: str, chars: int) -> str:
    """Shorten a long text to its beginning and end."""
    if len(text) <= chars:
        return text
    start, end = cut(text, chars // 2), cut_start(text, chars // 2)
    # Half a line at the seam would read as a line of its own.
    _, seam, rest = end[:_LONGEST_LINE].partition("\n")
    return f"{start}\n…\n{rest + end[_LONGEST_LINE:] if seam else end}"


def shorten(text: str, chars: int) -> str:
    """Cut a text that is too long, and mark that."""
    return text if len(text) <= chars else f"{cut(text, chars - 2).rstrip()} …"


def title_of(text: str) -> str:
    """Return the first heading of a text, or its first line."""
    heading = _HEADING.search(text, 0, _TITLE_WITHIN) or _FIRST_LINE.search(text, 0, _TITLE_WITHIN)
    return cut(heading[1].strip(), _TITLE_CHARS) if heading else ""

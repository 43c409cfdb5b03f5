"""Read JSON as language models write it: with comments, trailing commas or a code fence around it.

Nothing is dropped: comments become the member `_comments` of the object.
"""

import json
import re
from typing import Any

import msgspec

COMMENTS = "_comments"
_BOM = "\ufeff"
_ODD = (msgspec.MsgspecError, UnicodeDecodeError, UnicodeEncodeError, RecursionError)
_FENCE = re.compile(r"\s*```[a-zA-Z0-9]*[ \t]*\r?\n(.*?)\r?\n?```\s*", re.DOTALL)
_STRING = r'"(?:[^"\\]|\\.)*"'
_COMMENT = re.compile(rf"({_STRING})|//([^\r\n]*)|/\*(.*?)\*/", re.DOTALL)
_TRAILING = re.compile(rf"({_STRING})|,(?=\s*[}}\]])", re.DOTALL)
_WORDS = re.compile(rf"({_STRING})|\b(True|False|None)\b", re.DOTALL)
_PYTHON = {"True": "true", "False": "false", "None": "null"}


def parse(data: bytes | str) -> Any:
    """Parse JSON, strictly if possible; raise ValueError if it cannot be understood."""
    text = data.decode("utf-8", "surrogateescape") if isinstance(data, bytes) else data
    text = text.removeprefix(_BOM)
    try:
        return msgspec.json.decode(text.encode())
    except _ODD as error:
        found = _parse_loosely(text)
        if found is None:
            raise ValueError(f"It is not JSON: {error}") from error
        return found


def _parse_loosely(text: str) -> Any:
    fenced = _FENCE.fullmatch(text)
    comments: list[str] = []

    def drop_comment(found: re.Match[str]) -> str:
        if found[1] is not None:
            return found[1]
        comments.append((found[2] if found[2] is not None else found[3]).strip())
        return " "

    bare = _COMMENT.sub(drop_comment, fenced[1] if fenced else text)
    bare = _TRAILING.sub(lambda found: found[1] or "", bare)
    bare = _WORDS.sub(lambda found: found[1] or _PYTHON[found[2]], bare)
    try:
        # Not strict: a string may contain line breaks.
        value = json.loads(bare, strict=False)
        # What cannot be written again, such as NaN or half of an emoji, cannot be kept either.
        msgspec.json.encode(value)
    except (ValueError, RecursionError, TypeError, msgspec.MsgspecError):
        return None
    said = [each for each in comments if each]
    return {**value, COMMENTS: said} if said and isinstance(value, dict) else value

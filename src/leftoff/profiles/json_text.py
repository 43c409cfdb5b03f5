"""Set members of a JSON object in its text, leaving the rest unchanged."""

import json
import re
from collections.abc import Mapping
from typing import Any

_SPACE = re.compile(r"[ \t\r\n]*")
_decoder = json.JSONDecoder()


def with_members(text: str, members: Mapping[str, Any]) -> str:
    """Return an object's text with these members; raise ValueError if it is not an object."""
    for key, value in members.items():
        text = _with_member(text, key, value)
    return text


def _with_member(text: str, key: str, value: object) -> str:
    bom = "\ufeff" if text.startswith("\ufeff") else ""
    body = text.removeprefix(bom)
    found = json.loads(body)
    if not isinstance(found, dict):
        raise ValueError("It is not a JSON object.")  # noqa: TRY004 - bad data, not a bad call
    if key in found and _is_same(found[key], value):
        return text
    spans = _spans(body)
    written = json.dumps(value, ensure_ascii=False)
    if key in spans:
        start, end = spans[key]
        return f"{bom}{body[:start]}{written}{body[end:]}"
    member = f"{json.dumps(key, ensure_ascii=False)}: {written}"
    return bom + _add(body, member, is_first=not spans)


def _is_same(one: object, other: object) -> bool:
    # True equals 1 in Python, but not in a file.
    return one == other and type(one) is type(other)


def _add(body: str, member: str, *, is_first: bool) -> str:
    """Add a member at the end of the object, on its own line if the others have theirs."""
    close = body.rindex("}")
    before = body[:close].rstrip()
    tail = body[len(before) : close]
    indent = re.search(r"\{[ \t]*(\r?\n[ \t]*)\"", body)
    gap = indent[1] if indent else ("" if is_first else " ")
    return f"{before}{'' if is_first else ','}{gap}{member}{tail}{body[close:]}"


def _spans(body: str) -> dict[str, tuple[int, int]]:
    """Find the value of each member; if a key is repeated, the last one counts."""
    spans: dict[str, tuple[int, int]] = {}
    at = _skip(body, _skip(body, 0) + 1)
    while body[at] != "}":
        key, at = _decoder.raw_decode(body, at)
        start = _skip(body, _skip(body, at) + 1)
        _, end = _decoder.raw_decode(body, start)
        spans[key] = (start, end)
        at = _skip(body, end)
        if body[at] == ",":
            at = _skip(body, at + 1)
    return spans


def _skip(body: str, at: int) -> int:
    found = _SPACE.match(body, at)
    return found.end() if found else at

"""Private keys in text armour: whole, cut off at either end, escaped in JSON, or line-numbered."""

import re
from collections.abc import Iterator

from leftoff.redact.shapes import Span

KIND = "private key"
# What may stand between two lines of a key: line ends, their escapes at any depth, quotes and
# plus signs of source code, diff marks, line numbers with their arrow or tab.
_BREAK = rb"(?:[ \t\r\n\"'+>|,;:-]|\\+[nrt]?|\d{1,5}(?=[ \t]*(?:\xe2\x86\x92|[|:\t]))|\xe2\x86\x92)"
_BREAK_BYTES = b" \t\r\n\"'>|,;:\\"
_BASE64 = rb"[A-Za-z0-9+/=]"
_HEADERS = (
    rb"(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset):[^\n\\]{0,200}" + _BREAK + rb"++)*+"
)
_OPENING = re.compile(
    rb"-{4,5}BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-{4,5}"
    + _BREAK + rb"*+" + _HEADERS
    + rb"(?:" + _BASE64 + rb"{16,}+" + _BREAK + rb"*+)++"
    # The last lines of a key are shorter, but only before its end mark.
    + rb"(?:(?:" + _BASE64 + rb"{1,15}+" + _BREAK + rb"*+){0,2}-{4,5}END [A-Z0-9 ]{0,40}-{4,5})?"
)  # fmt: skip
_CLOSING = re.compile(rb"-{5}END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-{5}")
_TAIL = re.compile(
    rb"(?<!" + _BASE64 + rb")(?:" + _BASE64 + rb"{32,}+" + _BREAK + rb"++)++"
    rb"(?:" + _BASE64 + rb"{1,31}+" + _BREAK + rb"*+){0,2}\Z"
)  # fmt: skip
_TAIL_REACH = 8192
_PUTTY = re.compile(
    rb"Private-Lines: \d+" + _BREAK + rb"++(?:" + _BASE64 + rb"{8,}+" + _BREAK + rb"*+)++"
)  # fmt: skip


def find_blocks(data: bytes) -> Iterator[Span]:
    """Yield every private key block, and what is left of one that was cut off."""
    if b"PRIVATE KEY" in data:
        yield from _openings(data)
        yield from _tails(data)
    if b"Private-Lines: " in data:
        for found in _PUTTY.finditer(data):
            yield Span(*found.span(), KIND)


def _openings(data: bytes) -> Iterator[Span]:
    for found in _OPENING.finditer(data):
        text = found[0]
        # A trailing break belongs to the text after the key, not to the key.
        end = found.start() + len(text.rstrip(_BREAK_BYTES))
        yield Span(found.start(), end if not text.endswith(b"-") else found.end(), KIND)


def _tails(data: bytes) -> Iterator[Span]:
    for closing in _CLOSING.finditer(data):
        start = max(0, closing.start() - _TAIL_REACH)
        lines = data[start : closing.start()].rstrip(_BREAK_BYTES)
        if not lines[-1:].isalnum() and lines[-1:] not in (b"+", b"/", b"="):
            continue
        if found := _TAIL.search(data, start, closing.start()):
            yield Span(found.start(), closing.end(), KIND)

"""Private keys in text armour: in any layout, behind prefixes, escaped, or cut off at either end.

What a key looks like between its two marks depends on who printed it: a log puts a time before each
line, a program puts quotes and plus signs around it. So the marks are found first, and the text
between two of them is a key if enough of it is random. Where a mark is missing, the lines beside
the other one are followed for as long as they look like a key.
"""

import base64
import binascii
from collections.abc import Iterator
from typing import NamedTuple

from leftoff.redact.lazy import lazy
from leftoff.redact.shapes import Span

KIND = "private key"
_JOINT = rb"[ +_]{0,2}"
# OpenVPN writes its name in small letters; SSH2 has four dashes and blanks; forms have `+`.
_MARK = lazy(
    rb"-{2,5}[ +]?(?P<side>BEGIN|END)" + _JOINT
    + rb"(?:[A-Z0-9.]{1,20}+[ +_]{1,2}+){0,5}?[A-Z0-9]{0,12}?"
    rb"(?:PRIVATE" + _JOINT + rb"KEY(?:" + _JOINT + rb"BLOCK)?"
    rb"|OpenVPN" + _JOINT + rb"Static" + _JOINT
    + rb"key" + _JOINT + rb"V1)[ +]?-{2,5}"
)  # fmt: skip
_MARK_REACH = 100
# An expression that begins with one fixed, rare byte is the fastest search there is.
_ARMOUR = lazy(rb"V(?:ATE(?<=PRIVATE)|1(?<=Static.key.V1))")
_PUTTY_WORD = lazy(rb"P(?:rivate-)")
_PUTTY = lazy(rb"(?P<begin>Private-Lines:[ +]?\d{1,3})|Private-(?:MAC|Hash):[ +]?[0-9a-f]{40,64}")
# A run of a key's body. PHP writes `\/` for a slash.
_RUN = lazy(rb"[A-Za-z0-9+/=_]{16,}(?:\\{1,4}/[A-Za-z0-9+/=_]+)*")
_ANY_RUN = lazy(rb"[A-Za-z0-9+/=_]++")
_CLASSES = (lazy(rb"[a-z]"), lazy(rb"[A-Z]"), lazy(rb"[0-9+/]"))
_HEXADECIMAL = lazy(rb"[0-9a-f]{32,}|[0-9A-F]{32,}")
# Prefixes may be longer than the lines of the key, but never much.
_LEAST_SHARE = 0.25
_LEAST_RANDOM = 32
# The biggest keys in use (RSA with 16,384 bits, PGP with pictures left out) behind long prefixes.
_LONGEST = 100_000
_GAP = 200
_LONG_RUN = 40
_ENCODED = b"LS0tLS1CRUdJTi"
_ENCODED_LINE = rb"[A-Za-z0-9+/_-]"
_ENCODED_RUN = lazy(
    _ENCODED_LINE + rb"{40,}+(?:[\s\\]{1,8}+" + _ENCODED_LINE + rb"{20,}+)*+"
    rb"(?:[\s\\]{0,8}+" + _ENCODED_LINE + rb"*+={1,2})?"
)  # fmt: skip
_ENCODED_HEAD = 80


class _Mark(NamedTuple):
    start: int
    end: int
    is_begin: bool


def find_blocks(data: bytes, *, may_have_marks: bool = True) -> Iterator[Span]:
    """Yield every private key block, and what is left of one that was cut off."""
    if marks := _marks(data) if may_have_marks else []:
        yield from _between(data, marks)
    yield from _encoded(data)


def _marks(data: bytes) -> list[_Mark]:
    marks: list[_Mark] = []
    for word, pattern in ((_ARMOUR, _MARK), (_PUTTY_WORD, _PUTTY)):
        done = 0
        for hit in word.finditer(data):
            at = hit.start()
            if at < done:
                continue
            found = pattern.search(data, max(done, at - _MARK_REACH), at + _MARK_REACH)
            if found and found.start() <= at < found.end():
                is_begin = found.lastgroup == "begin" or found[0].lstrip(b"- +")[:1] == b"B"
                marks.append(_Mark(*found.span(), is_begin))
                done = found.end()
    return sorted(marks)


def _between(data: bytes, marks: list[_Mark]) -> Iterator[Span]:
    """Pair each mark with the next one; follow the lines of those that are left alone."""
    paired = -1
    for at, mark in enumerate(marks):
        before = marks[at - 1].end if at else 0
        after = marks[at + 1].start if at + 1 < len(marks) else len(data)
        closes = mark.is_begin and at + 1 < len(marks) and not marks[at + 1].is_begin
        if closes and after - mark.end <= _LONGEST and _is_key(data[mark.end : after]):
            yield Span(mark.start, marks[at + 1].end, KIND)
            paired = at + 1
        elif mark.is_begin:
            end = _follow(data, mark.end, min(after, mark.end + _LONGEST))
            if end > mark.end:
                yield Span(mark.start, end, KIND)
        elif at != paired:
            start = _follow_back(data, max(before, mark.start - _LONGEST), mark.start)
            if start < mark.start:
                yield Span(start, mark.end, KIND)


def _is_key(text: bytes) -> bool:
    random = sum(len(run) for run in _RUN.findall(text) if _is_random(run))
    return random >= max(_LEAST_RANDOM, _LEAST_SHARE * len(text))


def _is_random(run: bytes) -> bool:
    return all(kind.search(run) for kind in _CLASSES) or bool(_HEXADECIMAL.search(run))


def _follow(data: bytes, start: int, stop: int) -> int:
    """Return where the lines of a key end that has no end mark."""
    end, width = start, 0
    for found in _RUN.finditer(data, start, stop):
        size = len(found[0])
        is_line = size in (width, width + 1) or size >= _LONG_RUN
        if found.start() - end > _gap(data, start, end) or not _is_random(found[0]):
            # The headers of an encrypted key are not random.
            if end > start or found.start() - start > _GAP:
                break
            continue
        if not is_line and end > start:
            # The last line may be short, or cut off.
            return found.end() if data[end : found.start()].count(b"\n") <= 1 else end
        end, width = found.end(), max(width, size)
    return end


def _gap(data: bytes, start: int, end: int) -> int:
    return _GAP if end > start or b"\n" in data[start : start + _GAP] else _GAP // 4


def _follow_back(data: bytes, start: int, stop: int) -> int:
    """Return where the lines of a key begin that has no mark before it."""
    runs = [found.span() for found in _ANY_RUN.finditer(data, start, stop)]
    begin, width = stop, 0
    for first, last in reversed(runs):
        size = last - first
        if begin - last > _GAP:
            break
        if size < 16 or not _is_random(data[first:last]):
            # Before the end mark: its last, short line, or a prefix. Further up: a prefix.
            continue
        if width and size not in (width, width - 1) and size < _LONG_RUN:
            break
        begin, width = first, max(width, size) if begin != stop else 0
    return begin


def _encoded(data: bytes) -> Iterator[Span]:
    """Yield private keys that were encoded once more, marks and all."""
    at = data.find(_ENCODED)
    while at >= 0:
        found = _ENCODED_RUN.match(data, at)
        if found and b"PRIVATE" in _decoded_head(found[0]):
            yield Span(at, at + len(found[0].rstrip()), KIND)
        at = data.find(_ENCODED, found.end() if found else at + 1)


def _decoded_head(text: bytes) -> bytes:
    head = b"".join(text[: 2 * _ENCODED_HEAD].split())[:_ENCODED_HEAD]
    try:
        return base64.b64decode(head)
    except binascii.Error:
        return b""

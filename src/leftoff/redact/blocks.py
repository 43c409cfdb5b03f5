"""Find private keys in text armour: in any layout, prefixed, escaped, or cut off at either end.

The text between the two marks of a key depends on the program that printed it: a log puts a time
before each line, and source code puts quotes and plus signs around it. So the marks are found
first, and the text between two of them is a key if enough of it is random. If one mark is missing,
the lines beside the other mark count for as long as they look like a key.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import NamedTuple

from leftoff.lazy_patterns import lazy
from leftoff.redact.shapes import Run, Span, find_long_runs

KIND = "private key"
_JOINT = rb"[ +_]{0,2}"
# OpenVPN writes its name in lower case, SSH2 uses four dashes and spaces, and forms use `+`.
_MARK = lazy(
    rb"-{2,5}[ +]?(?P<side>BEGIN|END)" + _JOINT
    + rb"(?:[A-Z0-9.]{1,20}+[ +_]{1,2}+){0,5}?[A-Z0-9]{0,12}?"
    rb"(?:PRIVATE" + _JOINT + rb"KEY(?:" + _JOINT + rb"BLOCK)?"
    rb"|OpenVPN" + _JOINT + rb"Static" + _JOINT
    + rb"key" + _JOINT + rb"V1)[ +]?-{2,5}"
)  # fmt: skip
_MARK_REACH = 100
# A pattern that begins with one fixed, rare byte is the fastest search there is.
_ARMOUR = lazy(rb"V(?:ATE(?<=PRIVATE)|1(?<=Static.key.V1))")
_PUTTY_WORD = lazy(rb"P(?:rivate-)")
_PUTTY = lazy(rb"(?P<begin>Private-Lines:[ +]?\d{1,3})|Private-(?:MAC|Hash):[ +]?[0-9a-f]{40,64}")
# A run of characters in the body of a key. PHP escapes a slash as `\/`.
_RUN = lazy(rb"[A-Za-z0-9+/=_]{16,}(?:\\{1,4}/[A-Za-z0-9+/=_]+)*")
_CLASSES = (lazy(rb"[a-z]"), lazy(rb"[A-Z]"), lazy(rb"[0-9+/]"))
_HEXADECIMAL = lazy(rb"[0-9a-f]{32,}|[0-9A-F]{32,}")
# PowerShell writes a line break as a backtick and an `n`. All lines may be joined into one.
_HEXADECIMAL_LINE = lazy(rb"(?i)n?(?:[0-9a-f]{16,32}|[0-9a-f]{100,})")
# A capital and the letters after it count as one run. Runs in base64 have about two characters,
# runs in names have four or more.
_NAME_RUNS = lazy(rb"[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[+/=_]+")
# Between other lines of a key, a line may have longer runs, such as `MIIEpAIBAAKCAQEA`.
_STRICT, _LOOSE = 3.2, 5.0
_ZEROS = lazy(rb"A{3,}")
# The marks of everything that is not a private key, and the beginnings of SSH public keys and of
# web tokens.
_FOREIGN = lazy(
    rb"-{2,5}[ +]?(?:BEGIN|END)[ +_](?![^-\r\n]{0,60}(?:PRIVATE|Static))"
    rb"|(?:ssh-|ecdsa-)[a-z0-9-]{3,40}[ +]AAAA|\beyJ[\w-]{8,500}\.eyJ"
)
_HEADER = lazy(rb"(?:Version|Comment|Hash|Charset|MessageID|Proc-Type|DEK-Info):")
_HEADERS = 800
# A prefix may be longer than the line of the key that it precedes.
_LEAST_SHARE = 0.12
_LEAST_RANDOM = 32
# The biggest keys in use behind long prefixes: RSA with 16,384 bits, PGP without pictures.
_LONGEST = 100_000
# `-----BEGIN` in base64.
_GAP = 200
_ENCODED = b"LS0tLS1CRUdJTi"
_ENCODED_LINE = rb"[A-Za-z0-9+/_-]"
_ENCODED_RUN = lazy(
    _ENCODED_LINE + rb"{40,}+(?:[\s\\]{1,8}+" + _ENCODED_LINE + rb"{20,}+)*+"
    rb"(?:[\s\\]{0,8}+" + _ENCODED_LINE + rb"*+={1,2})?"
)  # fmt: skip
_ENCODED_HEAD = 160
_ENCODED_CHARACTERS = lazy(rb"[A-Za-z0-9+/_=-]*+")
_ENCODED_LINES = lazy(rb"[A-Za-z0-9+/_-]{16,}={0,2}")
# Lines of encoded text have 64 or 76 characters.
_WIDEST = 100
# `-----BEGIN` in hexadecimal, and in base64 of base64.
_HEXADECIMAL_MARK = b"2d2d2d2d2d424547494e20"
_TWICE = b"TFMwdExTMUNSVWRKVGl"
_ANY_ENCODED = lazy(rb"U(?:dJTi(?<=" + _ENCODED + rb")|NSVWRKVGl(?<=" + _TWICE + rb"))")
_TWICE_LEAST = 100
# An encoded mark has at least this many letters and digits in a row: `+` and `/` encode none of the
# characters of a mark.
_ENCODED_MARK = 36
_LONG_LINE = 48
# The first line of a key in DER has the lengths of its parts, which are mostly capitals.
_FIRST_LINE = b"MII"
_NAMED = lazy(rb"PRIVATE|OpenVPN Static")


class _Mark(NamedTuple):
    start: int
    end: int
    is_begin: bool
    is_hexadecimal: bool


def find_blocks(
    data: bytes, long_runs: list[Run] | None = None, *, may_have_marks: bool = True
) -> Iterator[Span]:
    """Yield every private key block, and what remains of one that was cut off."""
    if marks := _marks(data) if may_have_marks else []:
        yield from _between(data, marks)
    long_runs = find_long_runs(data) if long_runs is None else long_runs
    if long_runs and _may_be_encoded(data, long_runs):
        yield from _find_encoded(data)
        yield from _find_twice(data, _TWICE)
        yield from _find_twice(data, _HEXADECIMAL_MARK)


def _may_be_encoded(data: bytes, long_runs: list[Run]) -> bool:
    """Return whether a run has an encoded mark, from `-----BEGIN` to `PRIVATE KEY`."""
    return any(
        _ANY_ENCODED.search(data, start, end) or data.find(_HEXADECIMAL_MARK, start, end) >= 0
        for start, end in long_runs
        if end - start >= _ENCODED_MARK
    )


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
                marks.append(_Mark(*found.span(), is_begin, b"tatic" in found[0]))
                done = found.end()
    return sorted(marks)


def _between(data: bytes, marks: list[_Mark]) -> Iterator[Span]:
    """Pair each begin mark with the end mark after it, and follow the lines of unpaired marks."""
    paired = -1
    for at, mark in enumerate(marks):
        before = marks[at - 1].end if at else 0
        after = marks[at + 1].start if at + 1 < len(marks) else len(data)
        closes = mark.is_begin and at + 1 < len(marks) and not marks[at + 1].is_begin
        if closes and after - mark.end <= _LONGEST and _is_key(data[mark.end : after]):
            yield Span(mark.start, marks[at + 1].end, KIND)
            paired = at + 1
        elif mark.is_begin:
            end = _follow(data, mark, min(after, mark.end + _LONGEST))
            if end > mark.end:
                yield Span(mark.start, end, KIND)
        elif at != paired:
            start = _follow_back(data, max(before, mark.start - _LONGEST), mark)
            if start < mark.start:
                yield Span(start, mark.end, KIND)


def _is_key(text: bytes) -> bool:
    random = sum(len(run) for run in _RUN.findall(text) if _is_random(run))
    return random >= max(_LEAST_RANDOM, _LEAST_SHARE * len(text))


def _is_random(run: bytes) -> bool:
    return _is_mixed(run) or bool(_HEXADECIMAL.search(run))


def _is_mixed(run: bytes, most: float = _STRICT) -> bool:
    """Return whether a run is base64 rather than a long name such as `X509CertificateBuilder`."""
    if not all(kind.search(run) for kind in _CLASSES):
        return False
    # Zero bytes in a key are a row of `A`.
    solid = _ZEROS.sub(b"A", run)
    return len(solid) <= most * len(_NAME_RUNS.findall(solid))


def _follow(data: bytes, mark: _Mark, stop: int) -> int:
    """Return where the lines of a key without an end mark end."""
    start = end = mark.end
    if foreign := _FOREIGN.search(data, start, stop):
        stop = foreign.start()
    for found in _RUN.finditer(data, start, stop):
        if found.start() - end > _gap(data, start, end):
            break
        if _is_line(found[0], mark, is_first=end == start):
            end = found.end()
    return end


def _is_line(run: bytes, mark: _Mark, *, is_first: bool) -> bool:
    """Return whether a run is a line of a key, not a hash in a prefix or a commit after the key."""
    if mark.is_hexadecimal:
        return _HEXADECIMAL_LINE.fullmatch(run) is not None
    # No name, path or hash is this long, and the lines of a key have 64 characters or more.
    if len(run) >= _LONG_LINE or _is_mixed(run, _STRICT if is_first else _LOOSE):
        return True
    return not is_first and run.startswith(_FIRST_LINE)


def _gap(data: bytes, start: int, end: int) -> int:
    if end > start:
        return _GAP
    # Headers of an encrypted key or an armour come before its first line.
    head = data[start : start + _GAP]
    if _HEADER.search(head):
        return _HEADERS
    return _GAP if b"\n" in head else _GAP // 4


def _follow_back(data: bytes, start: int, mark: _Mark) -> int:
    """Return where the lines of a key without a begin mark begin."""
    begin = stop = mark.start
    for foreign in _FOREIGN.finditer(data, start, stop):
        start = foreign.end()
    runs = [found.span() for found in _RUN.finditer(data, start, stop)]
    for first, last in reversed(runs):
        if begin - last > _GAP:
            break
        if _is_line(data[first:last], mark, is_first=begin == stop):
            begin = first
    return begin


def _find_encoded(data: bytes) -> Iterator[Span]:
    """Yield private keys that were encoded once more, including their marks."""
    at = data.find(_ENCODED)
    while at >= 0:
        found = _ENCODED_RUN.match(data, at)
        done = found.end() if found else at + 1
        if found and _NAMED.search(_decode_head(found[0])):
            done = _follow_encoded(data, at, at + len(found[0].rstrip()))
            yield Span(at, done, KIND)
        at = data.find(_ENCODED, done)


def _find_twice(data: bytes, mark: bytes) -> Iterator[Span]:
    """Yield keys in hexadecimal or in base64 of base64, recognized by how they begin."""
    at = data.find(mark)
    while at >= 0:
        end = _ENCODED_CHARACTERS.match(data, at).end()  # type: ignore[union-attr]
        if end - at >= _TWICE_LEAST:
            yield from _find_encoded_twice(data, at, end)
        at = data.find(mark, end)


def _follow_encoded(data: bytes, start: int, end: int) -> int:
    """Return the end of an encoded key with prefixed lines, which all have the same length."""
    width = end - start
    if width > _WIDEST:
        return end
    gap = 0
    for found in _ENCODED_LINES.finditer(data, end, end + _LONGEST):
        size = len(found[0])
        gap = gap or found.start() - end
        is_line = size <= width and not found[0].startswith(_ENCODED)
        if not is_line or found.start() - end > min(_GAP, gap + 4):
            break
        end = found.end()
        if size < width:
            break
    return end


def _find_encoded_twice(data: bytes, start: int, end: int) -> Iterator[Span]:
    head = data[start : start + 2 * _ENCODED_HEAD]
    if head.startswith(_HEXADECIMAL_MARK):
        text = bytes.fromhex(re.match(rb"(?:[0-9a-f]{2})*", head)[0].decode())  # type: ignore[index]
    else:
        text = _decode_head(_decode_head(head))
    if _NAMED.search(text):
        yield Span(start, end, KIND)


def _decode_head(text: bytes) -> bytes:
    head = b"".join(text[: 2 * _ENCODED_HEAD].split())
    head = head[: len(head) // 4 * 4][:_ENCODED_HEAD]
    try:
        return base64.b64decode(head)
    except binascii.Error:
        return b""

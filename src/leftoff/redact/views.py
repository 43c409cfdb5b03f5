"""Decode a text to what its reader sees: without escapes, colours and invisible characters.

A view records where each of its bytes comes from, so that a secret found in it can be cut out of
the original text.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cache, partial
from itertools import pairwise
from typing import NamedTuple

from leftoff.redact.escapes import (
    BACKSLASHED,
    BLANKED,
    BLANKS_OF,
    BRANCHES,
    COLOURS,
    COMMON,
    DRAWING,
    FAMILIES,
    INVISIBLE,
    LINE_ESCAPE,
    NAMED,
    NEEDED,
    OVERSTRIKE,
    TERMINAL,
    WRITTEN_COLOURS,
    compile_branches,
)

# A secret and the name it is given are close together; the lines of a private key are many.
_REACH = 400
_KEY_REACH = 20_000
# `%5Cu003d` and the like: up to three programs encoded the text, one after the other.
_DEPTH = 3
_FIXED = {"soft": b"", "plus": b" "}
_BASES = {"octal": 8, "decimal": 10}
_BLANKS = frozenset(b" \t\n\r")
_FEW = 3000
_FEW_MARKS, _RARE = 3, 1500
_SAMPLE = 4000


class _Change(NamedTuple):
    """Bytes `at` to `until` of a view are bytes `start` to `end` of its source."""

    at: int
    until: int
    start: int
    end: int


_Steps = list[tuple[list[int], list[_Change]]]


class TextView:
    """A stretch of a text as a reader sees it, decoded in one or more steps."""

    __slots__ = ("_gap", "_start", "_steps", "_written", "data")

    def __init__(self, data: bytes, start: int, written: bytes, gap: bytes) -> None:
        """Keep the decoded text, where its stretch starts, the stretch and what joins it."""
        self.data = data
        self._start = start
        self._written = written
        self._gap = gap
        self._steps: _Steps | None = None

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Return where in the text the view's bytes `start` to `end` come from."""
        # Most views contain no secret, so the steps are recorded only when they are needed.
        if self._steps is None:
            self._steps = _trace(self._written, self._gap)
        end -= 1
        for ats, changes in reversed(self._steps):
            start = _place(ats, changes, start)[0]
            end = _place(ats, changes, end)[1] - 1
        return self._start + start, self._start + end + 1


def _place(ats: list[int], changes: list[_Change], at: int) -> tuple[int, int]:
    index = bisect_right(ats, at) - 1
    if index < 0:
        return at, at + 1
    change = changes[index]
    if at < change.until:
        return change.start, change.end
    place = change.end + at - change.until
    return place, place + 1


def blank_escapes(data: bytes) -> tuple[bytes, list[int]]:
    """Replace line ends and colours with spaces, byte for byte, so that a word may begin there.

    Also returns where the other escapes with a backslash are.
    """
    places: list[int] = []
    if b"\\" in data:
        data, places = _blank_line_escapes(data)
        data = _compile(DRAWING).sub(b"      ", data)
    return _blank_colours(data) if b"\x1b" in data else data, places


def _blank_colours(data: bytes) -> bytes:
    """Put as many blanks in the place of each colour."""
    parts = _compile(b"(" + TERMINAL + b")").split(data)
    parts[1::2] = [b" " * len(colour) for colour in parts[1::2]]
    return b"".join(parts)


def _blank_line_escapes(data: bytes) -> tuple[bytes, list[int]]:
    # `replace` searches the text three times, and editing costs time for each place. Source code
    # has few places, text in JSON has one per line.
    if data.count(b"\\", 0, _SAMPLE) * _FEW > min(len(data), _SAMPLE) * 100:
        for escape, blank in BLANKED:
            data = data.replace(escape, blank)
        return data, [found.start() for found in _compile(BACKSLASHED).finditer(data)]
    lines: list[int] = []
    others: list[int] = []
    for found in _compile(LINE_ESCAPE + b"|" + BACKSLASHED).finditer(data):
        (lines if found.lastindex else others).append(found.start())
    return _blank_at(data, lines) if lines else data, others


def _blank_at(data: bytes, lines: list[int]) -> bytes:
    edited = bytearray(data)
    for at in lines:
        edited[at] = 32
        edited[at + 1] = BLANKS_OF[data[at + 1]]
    return bytes(edited)


def decode_views(data: bytes, backslashes: list[int]) -> Iterable[TextView]:
    """Return the stretches of a text around its escapes, decoded."""
    places = _escapes(data, backslashes)
    return _decode_around(data, places) if places else ()


def _decode_around(data: bytes, places: list[int]) -> Iterator[TextView]:
    for start, end in _stretches(data, places):
        yield from _decode_stretch(data, start, end)


def _escapes(data: bytes, backslashes: list[int]) -> list[int]:
    places = backslashes.copy()
    for mark, family in FAMILIES:
        if mark in data:
            places += _places(data, mark, _compile(family))
    for rare, mark, family in () if data.isascii() else INVISIBLE:
        if any(map(data.__contains__, rare)):
            places += _places(data, mark, _compile(family))
    for first, pattern, away in COMMON:
        if first in data and _compile(pattern).search(data):
            places += [found.start() + away for found in _compile(pattern).finditer(data)]
    places.sort()
    return places


def _places(data: bytes, mark: bytes, pattern: re.Pattern[bytes]) -> list[int]:
    """List where a pattern that begins with this mark matches, without every one of many in a row.

    If the mark is rare, `find` is many times as fast as the pattern; if not, the pattern is faster,
    so it takes over after a few hits.
    """
    places: list[int] = []
    failures = _FEW_MARKS + len(data) // _RARE
    at = data.find(mark)
    while at >= 0 and failures:
        found = pattern.match(data, at)
        if found is None:
            failures -= 1
            at = data.find(mark, at + 1)
            continue
        places.append(at)
        # The first and the last of them are enough to determine the stretch.
        last = data.rfind(mark, found.end(), at + _REACH)
        if last > at and (further := pattern.match(data, last)):
            places.append(last)
            found = further
        at = data.find(mark, found.end())
    if at >= 0:
        places += [found.start() for found in pattern.finditer(data, at)]
    return places


@cache
def _compile(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern)


def _stretches(data: bytes, places: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the surroundings of all places, merged where they touch."""
    around = [(place - _REACH, place + _REACH) for place in places]
    if b"PRIVATE" in data:
        keys = [found.start() for found in re.finditer(b"PRIVATE", data)]
        far = [(key - _KEY_REACH, key + _KEY_REACH) for key in keys if _is_near(key, places)]
        around = sorted([*around, *far])
    start, end = around[0]
    for first, last in around:
        if first > end:
            yield max(0, start), end
            start = first
        end = max(end, last)
    yield max(0, start), min(len(data), end)


def _is_near(key: int, places: list[int]) -> bool:
    """Return whether the mark of a key may be escaped; otherwise it is found without a view."""
    at = bisect_right(places, key - _REACH)
    return at < len(places) and places[at] < key + _REACH


def _decode_stretch(data: bytes, start: int, end: int) -> Iterator[TextView]:
    """Yield a stretch without its colours, and one with spaces instead of them.

    Both are needed because a colour may be inside a word or between two words.
    """
    written = data[start:end]
    joined, spaced = _colourless(written) or _decode_both(written)
    if joined == written:
        return
    yield TextView(blank_escapes(joined)[0], start, written, b"")
    if spaced != joined:
        yield TextView(blank_escapes(spaced)[0], start, written, b" ")


def _colourless(written: bytes) -> tuple[bytes, bytes] | None:
    """Decode a text that has colours and no other escape, both ways, in less time."""
    if b"\x1b" not in written or any(
        first in written and other in written for first, other in WRITTEN_COLOURS
    ):
        return None
    parts = _compile(COLOURS).split(written)
    joined = b"".join(parts)
    if len(joined) == len(written) or _has_escapes(joined):
        return None
    # Where each colour is beside a blank, more blanks make no difference.
    solid = filter(None, parts)
    if not any(one[-1] not in _BLANKS and two[0] not in _BLANKS for one, two in pairwise(solid)):
        return joined, joined
    spaced = b" ".join(parts)
    return None if _has_escapes(spaced) else (joined, spaced)


def _decode_both(written: bytes) -> tuple[bytes, bytes]:
    joined, has_gap = _decode(written, b"")
    return joined, _decode(written, b" ")[0] if has_gap else joined


def _decode(data: bytes, gap: bytes) -> tuple[bytes, bool]:
    """Decode all levels of escapes; also return whether any of them became nothing."""
    has_gap = False
    for _ in range(_DEPTH):
        known: dict[bytes, bytes] = {}
        clear = partial(_clear_once, known, gap, is_mail=b"=3D" in data)
        deeper = _compile_escapes(data).sub(clear, data)
        if deeper == data:
            break
        data = deeper
        has_gap = has_gap or b"" in known.values()
    return data, has_gap


def _clear_once(
    known: dict[bytes, bytes], gap: bytes, found: re.Match[bytes], *, is_mail: bool
) -> bytes:
    """Return the text that an escape encodes; most texts repeat a few escapes."""
    text = found[0]
    clear = known.get(text)
    if clear is None:
        decoded = _clear(found, gap, is_mail=is_mail)
        clear = known[text] = text if decoded is None else decoded
    return clear


def _trace(data: bytes, gap: bytes) -> _Steps:
    """Decode all levels of escapes, and record each change."""
    steps: _Steps = []
    for _ in range(_DEPTH):
        data, changes = _decode_level(data, gap)
        if not changes:
            break
        steps.append(([change.at for change in changes], changes))
    return steps


def _decode_level(data: bytes, gap: bytes) -> tuple[bytes, list[_Change]]:
    is_mail = b"=3D" in data
    parts: list[bytes] = []
    changes: list[_Change] = []
    done = size = 0
    for found in _compile_escapes(data).finditer(data):
        clear = _clear(found, gap, is_mail=is_mail)
        if clear is None:
            continue
        start, end = found.span()
        parts += (data[done:start], clear)
        size += start - done
        changes.append(_Change(size, size + len(clear), start, end))
        size += len(clear)
        done = end
    parts.append(data[done:])
    return b"".join(parts), changes


def _compile_escapes(data: bytes) -> re.Pattern[bytes]:
    """Return a pattern for the escapes that this text may contain: fewer branches are faster."""
    if b"\x08" in data:
        return _compile(OVERSTRIKE)
    return compile_branches(_branches_in(data))


def _has_escapes(data: bytes) -> bool:
    """Return whether there is anything to decode; one search for each first byte is the fastest."""
    return b"\x08" in data or any(
        compile_branches((first,)).search(data) for first in _branches_in(data)
    )


def _branches_in(data: bytes) -> tuple[bytes, ...]:
    # A single byte is found many times as fast as a longer text.
    return tuple(
        first
        for first, _ in BRANCHES
        if first in data and (first not in NEEDED or NEEDED[first] in data)
    )


def _clear(found: re.Match[bytes], gap: bytes, *, is_mail: bool) -> bytes | None:
    """Return the text that an escape encodes, or None if it must stay."""
    name = found.lastgroup
    if name is None:
        return gap
    if not is_mail and name in ("mail", "soft"):
        return None
    text = found[name]
    if name in _FIXED:
        return _FIXED[name]
    if name in ("slash", "named"):
        return NAMED.get(text, text)
    return _character(int(text, _BASES.get(name, 16)))


def _character(code: int) -> bytes | None:
    return bytes([code]) if 32 <= code < 127 or code in _BLANKS else None

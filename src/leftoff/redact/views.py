"""Decode a text to what its reader sees: without escapes, colours and invisible characters.

A view records where each of its bytes comes from, so that a secret found in it can be cut out of
the original text.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

# A secret and its name are close together, but a private key has many lines.
_REACH = 400
_KEY_REACH = 20_000
# `%5Cu003d` and the like: up to three programs encoded the text, one after the other.
_DEPTH = 3

_NAMED = {
    b"quot": b'"', b"apos": b"'", b"amp": b"&", b"lt": b"<", b"gt": b">", b"equals": b"=",
    b"colon": b":", b"nbsp": b" ", b"num": b"#", b"sol": b"/", b"plus": b"+", b"NewLine": b"\n",
    b"Tab": b"\t", b"comma": b",", b"semi": b";", b"lowbar": b"_", b"hyphen": b"-", b"period": b".",
}  # fmt: skip
_ENTITY = (
    rb"&(?:amp;){0,3}(?:#0{0,4}(?P<decimal>[0-9]{1,3})|#[xX]0{0,4}(?P<entity>[0-9a-fA-F]{1,2})"
    rb"|(?P<named>" + b"|".join(_NAMED) + rb"));"
)
_PERCENT = rb"%(?:25){0,3}(?P<percent>[0-7][0-9a-fA-F])"
# A form encodes a space as a plus sign.
_FORM = rb"(?P<plus>)(?=%2[27])"
_BACKSLASH = (
    rb"(?:u(?:\{0{0,4}|00|\{)(?P<unicode>[0-7][0-9a-fA-F])\}?"
    rb"|x(?P<hexadecimal>[0-7][0-9a-fA-F])|(?P<octal>[01][0-7]{2})|(?P<slash>/))"
)
_MAIL = rb"(?P<mail>[2-7][0-9A-F])|(?P<soft>[ \t]?\r?\n)"
_OVERSTRIKE = rb"[\x21-\x7e]?\x08"
_COLOUR = (
    rb"(?:\[[0-9;:?]{0,32}[A-Za-z]|\]8;[^\x07\x1b\\]{0,1000}(?:\x07|\x1b\\|\\{1,8}(?:u0007|x07|a)))"
)
_ESCAPES = rb"(?:u001[bB]|x1[bB]|033|e)"
_BARE_COLOUR = rb"(?:[0-9]{1,3}(?:;[0-9]{1,3}){0,4})?m(?:\[K)?"
_WRITTEN = rb"u(?:200[b-fB-F]|2060|[fF][eE][fF][fF]|00[aA][dD])"
# Each branch begins with one byte, so the search skips all other bytes.
_BRANCHES: tuple[tuple[bytes, bytes], ...] = (
    (b"%", _PERCENT[1:]),
    (b"&", _ENTITY[1:]),
    (b"=", _MAIL),
    (b"+", _FORM),
    (b"\x1b", _COLOUR),
    (b"^", rb"\[" + _COLOUR),
    (b"[", _BARE_COLOUR),
    (
        b"\\",
        rb"\\{0,7}(?:" + _ESCAPES + _COLOUR + b"|" + _WRITTEN + b"|" + _BACKSLASH + b")",
    ),
    (b"\xe2", rb"\x80[\x8b-\x8f]|\x81\xa0"),
    (b"\xef", rb"\xbb\xbf"),
    (b"\xc2", rb"\xad"),
)
# These branches begin with a byte that is common in source code, so a text must contain these bytes
# first.
_NEEDED = {b"=": b"=3D", b"+": b"%2", b"^": b"^["}
# Colours that are spelled out. The other branches would remove only their end.
_WRITTEN_COLOURS = (b"^[", b"\\e[", b"\x08")
# The same, only as far as needed to find one. It begins with a literal, so the search is fast.
_BACKSLASHED = (
    rb"\\(?:u(?:00[0-7][0-9a-fA-F]|\{|200[b-fB-F]|2060|[fF][eE][fF][fF]|00[aA][dD])|x[0-7][0-9a-fA-F]"
    rb"|[01][0-7]{2}|/|e\[)"
)
# What a text must contain before a family of escapes is searched for: a single byte is found at the
# speed of memory, and most texts contain none of these.
_FAMILIES: tuple[tuple[bytes, bytes], ...] = (
    (b"%", _PERCENT),
    (b"\x1b", rb"\x1b" + _COLOUR),
    (b"&", _ENTITY),
    (b"^", rb"\^\[\["),
    (b"\x08", rb"\x08"),
    (b"\xe2", rb"\xe2[\x80\x81][\x8b-\x8f\xa0](?<=\x80[\x8b-\x8f]|\x81\xa0)"),
    (b"\xef", rb"\xef\xbb\xbf"),
    (b"\xc2", rb"\xc2\xad"),
)
# Two escapes begin with a byte that is common in source code, so they are found faster by what
# follows it. The number is the distance from there back to the escape.
_COMMON = ((rb"3D(?<==3D)", 1), (rb"0m(?<=\[0m)", -1))
_ASCII_FAMILIES = tuple(family for family in _FAMILIES if family[0].isascii())
_TERMINAL = rb"\x1b" + _COLOUR
_COLOURS = _TERMINAL + rb"|\[" + _BARE_COLOUR
_FIXED = {"soft": b"", "plus": b" "}
_BASES = {"octal": 8, "decimal": 10}
_BLANKS = frozenset(b"\t\n\r")
_FEW = 3000
_FEW_MARKS, _RARE = 3, 1500
_SAMPLE = 4000
_BLANKED = ((b"\\n", b" \n"), (b"\\r", b" \r"), (b"\\t", b" \t"))
_BLANKS_OF = {ord("n"): ord("\n"), ord("r"): ord("\r"), ord("t"): ord("\t")}
# Arrows and box lines, which tools draw between a line number and its line.
_DRAWN = b"\\u2"
_DRAWING = rb"\\u2[15][0-9a-fA-F]{2}"
_LINE_ESCAPE = rb"\\([nrt])"


class _Change(NamedTuple):
    """Bytes `at` to `until` of a view are bytes `start` to `end` of its source."""

    at: int
    until: int
    start: int
    end: int


class TextView(NamedTuple):
    """A stretch of a text as a reader sees it, decoded in one or more steps."""

    data: bytes
    start: int
    steps: tuple[tuple[list[int], list[_Change]], ...] = ()
    # The original text and the replacement for each colour: the steps are computed only when
    # needed.
    written: bytes = b""
    gap: bytes = b""

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Return where in the text the view's bytes `start` to `end` come from."""
        steps = self.steps
        if self.written:
            steps = _decode_deeply(TextView(self.written, self.start), self.gap).steps
        end -= 1
        for ats, changes in reversed(steps):
            start = _place(ats, changes, start)[0]
            end = _place(ats, changes, end)[1] - 1
        return self.start + start, self.start + end + 1


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
        if _DRAWN in data:
            data = _compile(_DRAWING).sub(b"      ", data)
    return _blank_colours(data) if b"\x1b" in data else data, places


def _blank_colours(data: bytes) -> bytes:
    """Replace each colour with the same number of spaces."""
    parts = _compile(b"(" + _TERMINAL + b")").split(data)
    parts[1::2] = [b" " * len(colour) for colour in parts[1::2]]
    return b"".join(parts)


def _blank_line_escapes(data: bytes) -> tuple[bytes, list[int]]:
    # `replace` searches the text three times, and editing costs time for each place. Source code
    # has few places, text in JSON has one per line.
    if data.count(b"\\", 0, _SAMPLE) * _FEW > min(len(data), _SAMPLE) * 100:
        for escape, blank in _BLANKED:
            data = data.replace(escape, blank)
        return data, [found.start() for found in _compile(_BACKSLASHED).finditer(data)]
    lines: list[int] = []
    others: list[int] = []
    for found in _compile(_LINE_ESCAPE + b"|" + _BACKSLASHED).finditer(data):
        (lines if found.lastindex else others).append(found.start())
    return _blank_at(data, lines) if lines else data, others


def _blank_at(data: bytes, lines: list[int]) -> bytes:
    edited = bytearray(data)
    for at in lines:
        edited[at] = 32
        edited[at + 1] = _BLANKS_OF[data[at + 1]]
    return bytes(edited)


def decode_views(data: bytes, backslashes: list[int]) -> Iterator[TextView]:
    """Yield the stretches of a text around its escapes, decoded."""
    places = _escapes(data, backslashes)
    if places:
        for start, end in _stretches(data, places):
            yield from _decode_stretch(data, start, end)


def _escapes(data: bytes, backslashes: list[int]) -> list[int]:
    places = backslashes.copy()
    for mark, family in _ASCII_FAMILIES if data.isascii() else _FAMILIES:
        if mark in data:
            places += _places(data, mark, _compile(family))
    for pattern, away in _COMMON:
        if _compile(pattern).search(data):
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
        around = sorted([*around, *((key - _KEY_REACH, key + _KEY_REACH) for key in keys)])
    start, end = around[0]
    for first, last in around:
        if first > end:
            yield max(0, start), end
            start = first
        end = max(end, last)
    yield max(0, start), min(len(data), end)


def _decode_stretch(data: bytes, start: int, end: int) -> Iterator[TextView]:
    """Yield a stretch without its colours, and one with spaces instead of them.

    Both are needed because a colour may be inside a word or between two words.
    """
    if colourless := list(_colourless(data[start:end], start)):
        yield from colourless
        return
    joined = _decode_deeply(TextView(data[start:end], start), b"")
    if not joined.steps:
        return
    yield joined
    if any(change.at == change.until for _, changes in joined.steps for change in changes):
        yield _decode_deeply(TextView(data[start:end], start), b" ")


def _colourless(written: bytes, start: int) -> Iterator[TextView]:
    """Yield the same two views faster, for a text that has colours but no other escapes."""
    if b"\x1b" not in written or any(other in written for other in _WRITTEN_COLOURS):
        return
    parts = _compile(_COLOURS).split(written)
    views = [(gap.join(parts), gap) for gap in (b"", b" ")]
    if any(len(data) == len(written) or _compile_escapes(data).search(data) for data, _ in views):
        return
    for data, gap in views:
        yield TextView(blank_escapes(data)[0], start, (), written, gap)


def _decode_deeply(view: TextView, gap: bytes) -> TextView:
    for _ in range(_DEPTH):
        deeper = _decode(view, gap)
        if deeper is None:
            break
        view = deeper
    return view._replace(data=blank_escapes(view.data)[0])


def _decode(view: TextView, gap: bytes) -> TextView | None:
    """Decode one level of escapes; return None if there are none."""
    data, is_mail = view.data, b"=3D" in view.data
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
    if not changes:
        return None
    parts.append(data[done:])
    steps = (*view.steps, ([change.at for change in changes], changes))
    return TextView(b"".join(parts), view.start, steps)


def _compile_escapes(data: bytes) -> re.Pattern[bytes]:
    """Return a pattern for the escapes that this text may contain: fewer branches are faster."""
    if b"\x08" in data:
        return _compile(_OVERSTRIKE)
    return _compile_branches(
        tuple(first for first, _ in _BRANCHES if _NEEDED.get(first, first) in data)
    )


@cache
def _compile_branches(firsts: tuple[bytes, ...]) -> re.Pattern[bytes]:
    rests = [re.escape(first) + b"(?:" + dict(_BRANCHES)[first] + b")" for first in firsts]
    return re.compile(b"|".join(rests) if rests else rb"(?!)")


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
        return _NAMED.get(text, text)
    return _character(int(text, _BASES.get(name, 16)))


def _character(code: int) -> bytes | None:
    return bytes([code]) if 32 <= code < 127 or code in _BLANKS else None

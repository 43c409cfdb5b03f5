"""Find secrets by their own shape: an issuer's format is known, so no context is needed.

Nearly all of them contain one long run of letters, digits, `_` and `-`. Such runs are rare in any
text and quick to find, so only they are checked. The shapes are rows of data in
`leftoff.redact.issuers`, indexed by their first bytes. A pattern is compiled when its opening first
occurs in a text.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from leftoff.lazy_patterns import lazy
from leftoff.redact.issued import is_issued, is_made_up, is_random
from leftoff.redact.rule_index import (
    KEY,
    Opening,
    anchors,
    any_infix,
    index_anchored,
    index_joints,
    index_openings,
    infixes,
    pattern,
)


class Span(NamedTuple):
    """Bytes `start` to `end` are a secret of this kind."""

    start: int
    end: int
    kind: str


# Where a run of key-like characters begins and ends.
Run = tuple[int, int]
# The kind of a run that looks issued, although no table describes it.
GUESS = "token"
_RUN_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_TO_RUNS = bytes(ord("a") if byte in _RUN_BYTES else ord(" ") for byte in range(256))
# No shape in the tables has a shorter run, and a higher limit would miss an AWS access key.
_SHORTEST = 20
_LONG_RUN = b"a" * _SHORTEST
# Commits and other things that are named by their hash: every line of `git log` has one.
_HASH_LENGTHS = frozenset((32, 40, 64))
_HASH_RUN = lazy(rb"(?<![^ \t\n])[0-9a-f]{32,64}(?![^ \t\n])")
_DIGIT = lazy(rb"[0-9]")
# A body in one case has no joints. A digit comes early in it; in a word it never comes.
_BODY = lazy(rb"(?<![A-Za-z0-9])(?=[A-Za-z]{0,30}[0-9])[A-Za-z0-9]{12}")
_STRETCH = lazy(rb"[A-Za-z0-9]{12}")
_KEYS = lazy(rb"(?s)(?<![A-Za-z0-9])(?=([A-Za-z0-9*_:]..))")
# The same except for the first position, and twice as fast because it begins with a byte to search
# for.
_LATER_KEYS = lazy(rb"(?s)[^A-Za-z0-9](?=([A-Za-z0-9*_:]..))")
_TILDE = lazy(rb"Q~")
# What may come between the opening of a shape and its long run: dots, slashes, a colon.
_LEAD_JOINTS = b".~:!/$=+@?|;*&"
_LEAD_BYTES = bytes(sorted(_RUN_BYTES)) + _LEAD_JOINTS
_LEAD, _TRAIL = 120, 60
_DOTS = frozenset(b".~:")
# No shape without an opening is shorter.
_SHORTEST_INFIX = 30
# Fixed parts so short that they occur in base64 by chance.
_UNSURE = (
    b"AAAAAAAAAA",
    b"NRAL",
    b"-NRMA",
    b"+A",
    b"tt-",
    b"msh",
    b"AZDO",
    b"ACDb",
    b"AzFu",
    b"AzSe",
)
# In base64 these are zeros.
_ZEROS, _ZERO = b"AAAAAAAAAA", ord("A")
_GOES_ON = (b"+", b"/", b"~", b".", b"=")
# How much of a body is matched and judged, so that a text that consists of openings still takes
# linear time. A longer body is cut out to its end.
_LONGEST, _JUDGED = 2500, 300
_REST = lazy(rb"[A-Za-z0-9_.=/+-]*+")
_BASE64 = b"+/"
# So much base64 before a shape is an image or a font. A key is shorter.
_IMAGE_REACH = 200
_IMAGE = lazy(rb"[A-Za-z0-9+/]{200}")
_JSON, _EMBEDDED = b"eyJ", b";base64,"
# Not words, but not secrets either: what people type in place of one.
_SEQUENCE = lazy(rb"(?i)abcdef|123456|qwerty")
# Openings that are words in any program, so the body must decide.
_WEAK = frozenset(
    b"test_ live_ api_ app- web_ app_ auto_ ss_ key- secret_ secret- access_ refresh_ sandbox_ "
    b"dataset- api- sdk- mob- prod: dev: pk_ sk_ ak_ sk- md- fc- pa- at- ws- cu_ b_ re_ act_ "
    b"NF- as- ak- ls__ cal_ sts_ pub s. b. r. 00 11 SK AC MC5 sk EAAA AKC cli_ master- "
    b"account- cli- sk. pk. tk. KEY AK1 0.A 1.A Tsk_ Tpk_ lk_".split()
)
# What looks like the body of a shape, but is a hash or a number.
_NOT_BODIES = {
    b"00": lazy(rb"[0-9a-f]+|[0-9A-F]+"),
    b"11": lazy(rb"[0-9]+"),
    # The id of a user or a role opens nothing, so the one in a manual may stay.
    **dict.fromkeys((b"AIDA", b"AROA"), lazy(rb".*EXAMPLE")),
}
_NONE = lazy(rb"(?!)")
# Beside an unknown kind, these bytes indicate a path, a call, or a part of a longer text.
_NOT_BEFORE = b"/+.@#%&$\\~-_"
_NOT_AFTER = b"/+=.@(\\~%"
_NAME_BYTES = bytes(sorted(_RUN_BYTES)) + b"."
_LABEL = 16
# The end of a public key's mark, if nothing separates it from the key.
_RULE = b"---"
_DIGEST = lazy(rb"(?i)(?:sha\d{1,3}|md5|hash|digest|checksum|integrity|etag)[\"']?[:=-]\s*[\"']?\Z")
# `sha256=…` in the list of files of a Python package: some hash begins like a shape by chance.
_HASHED_FILE = lazy(rb"(?i)sha\d{1,3}[:=-][\w+/-]{0,88}\Z")
_PREFIX = 96
# GitHub names its records by a type and packed numbers: `PVTI_lAHO…`, `PR_kwDO…`.
_RECORD = lazy(rb"[A-Z]{1,8}_(?:k[gw]|l[AQ])[A-Z]O")
# `"id": "…"`, `id=…` and `--list-id …` name a record.
_ID_BEFORE = lazy(
    rb"(?:(?<![A-Za-z])(?:[Ii]d|ID)|[a-z](?:Id|ID|Identifier|Arn)|[A-Za-z0-9][_-](?:id|ID)"
    rb"|identifier)s?(?:[\\\"'`]{0,4}\s?(?:=>|[:=])\s{0,8}|[ ])[\\\"'`\[]{0,4}\Z"
)
_ID_REACH = 32
_TAIL = lazy(rb"[A-Za-z0-9+/_-]{0,1000}={0,2}")
_NOT_SOLID = lazy(rb"[^A-Za-z0-9]")
_TAIL_JOINTS = (b"-", b"_", b"+", b"/")
_SHORTEST_TAIL = 6
_REACH = 8
# A token of Azure DevOps is base32 of 52 characters; a hash of nix has neither of these letters.
_PAT_LENGTH = 52
_PAT = lazy(rb"(?=[a-z]*[2-7])(?=[a-z2-7]*?[eotu])[a-z2-7]{52}(?![/+=.])")
# Password hashes: `$` and the name of the method, then parameters, salt and hash.
_HASH = lazy(
    rb"\$(?:2[abxy]?\$\d{1,2}\$([\w./]{53})|[156]\$(?:rounds=\d{1,9}\$)?[\w./]{1,16}\$[\w./]{22,86}"
    rb"|[78]\$[\w./]{8,32}\$[\w./]{40,86}|g?y\$[\w./]{1,16}\$[\w./]{1,86}\$[\w./]{40,86}"
    rb"|argon2(?:id|i|d)\$v=\d{1,3}\$[\w=,]{1,60}\$[\w+/]{8,88}\$[\w+/]{16,172}"
    rb"|[PH]\$[\w./]{31}(?![\w./])"
    rb"|[89]\$[\w./]{14}\$[\w./]{43}"
    rb"|(?:apr1|sha1|sha256|sha512|sm3|md5)\$[\w./]{1,16}\$[\w./]{22,86}"
    rb"|bcrypt-sha256\$[\w,=]{1,40}\$[\w./]{22}\$[\w./]{31}|S\$[\w./]{52}"
    rb"|keepass\$[\w*]{60,2000}|(?:NT|LM)\$[0-9A-Fa-f]{32}|DCC2\$\d{1,6}#[^\s#]{1,64}#[0-9a-f]{32}"
    rb"|(?:pbkdf2|scrypt)[\w:-]{0,20}\$[\w$=,./+]{20,300}"
    rb"|krb5[a-z]{2,8}\$\d\d\$[^\s$]{1,200}\$[^\s\"']{32,8192})"
)


def find_shapes(
    data: bytes, long_runs: list[Run] | None = None, *, may_be_anchored: bool = True
) -> Iterator[Span]:
    """Yield every secret that its own shape gives away."""
    long_runs = find_long_runs(data) if long_runs is None else long_runs
    if long_runs and (runs := _shaped_runs(data, long_runs)):
        yield from _in_runs(data, runs)
    if b"$" in data:
        for hashed in _HASH.finditer(data):
            yield Span(*hashed.span(hashed.lastindex or 0), "password hash")
    if may_be_anchored or _may_be_anchored(data):
        yield from _find_anchored(data, has_word=may_be_anchored)


def _in_runs(data: bytes, runs: list[Run]) -> Iterator[Span]:
    done = 0
    index = index_openings()
    for start, end in runs:
        if end <= done:
            continue
        if _DIGIT.search(data, start, end):
            found = _in_run(data, max(start, done), end)
        else:
            # A random text without any digit is rare, so only its start is tried.
            begin = _lead(data, start) if data[start - 1] in _DOTS else start
            found = _find_opened(data, begin, index.find(data[begin : begin + KEY]))
        for span in found:
            yield span
            done = span.end


def _is_harmless(data: bytes, start: int, end: int) -> bool:
    return _is_hash(data, start, end) or _is_name(data, start, end) or _is_short(data, start, end)


def _is_short(data: bytes, start: int, end: int) -> bool:
    """Recognize names such as `X509_get_serialNumber`: no part is long, and none opens a shape."""
    if end - start >= _SHORTEST_INFIX or data[end : end + 1] in _GOES_ON:
        return False
    if (data[start - 1 : start] or b" ") in _LEAD_JOINTS or _STRETCH.search(data, start, end):
        return False
    return not index_openings().has_any(_LATER_KEYS.findall(data, start, end))


def _may_be_anchored(data: bytes) -> bool:
    """Return whether a text may have a row that needs no word: a tilde is rare and found fast."""
    return b"~" in data and _TILDE.search(data) is not None


def _is_hash(data: bytes, start: int, end: int) -> bool:
    """Recognize a bare hash, which is never a shape."""
    return end - start in _HASH_LENGTHS and _HASH_RUN.match(data, start) is not None


def _is_name(data: bytes, start: int, end: int) -> bool:
    """Recognize names such as `GL_TEXTURE_2D_ARRAY`: one case only, and no part is long."""
    run = data[start:end]
    is_plain = run.islower() or (run.isupper() and b"-" not in run)
    return is_plain and _BODY.search(run) is None


def _find_anchored(data: bytes, *, has_word: bool) -> Iterator[Span]:
    rows = index_anchored()
    done: dict[bytes, int] = {}
    for literal, at in anchors(has_word=has_word).hits(data):
        if at < done.get(literal, 0):
            continue
        kind, shape, _ = rows[literal]
        for start in range(at, max(-1, at - _REACH), -1):
            if found := pattern(shape).match(data, start):
                yield Span(*found.span(found.lastindex or 0), kind)
                done[literal] = found.end()
                break


def find_long_runs(data: bytes) -> list[Run]:
    """List where each run of key-like characters begins and ends."""
    # Searching for equal bytes takes 1 ms per megabyte, a regular expression takes 10 ms.
    find = data.translate(_TO_RUNS).find
    runs: list[Run] = []
    start = find(_LONG_RUN)
    while start >= 0:
        end = find(b" ", start + _SHORTEST)
        if end < 0:
            runs.append((start, len(data)))
            break
        runs.append((start, end))
        start = find(_LONG_RUN, end)
    return runs


def _shaped_runs(data: bytes, runs: list[Run]) -> list[Run]:
    """Drop the runs that no shape can match; most of them are names without a digit."""
    has_digit, find = _DIGIT.search, index_openings().find
    return [
        (start, end)
        for start, end in runs
        if ((here := find(data[start : start + KEY])) and _is_opened(data, start, here))
        or (
            not _is_harmless(data, start, end)
            if has_digit(data, start, end)
            else data[start - 1] in _DOTS
        )
    ]


def _is_opened(data: bytes, at: int, openings_here: list[Opening]) -> bool:
    """Return whether a shape may begin here: the year of a date opens one, but is too short."""
    for text, _, least in openings_here:
        body = at + len(text)
        if data.startswith(text, at) and (not least or data[body : body + least].isalnum()):
            return True
    return False


def _in_run(data: bytes, start: int, end: int) -> Iterator[Span]:
    before = data[start - 1 : start] or b" "
    begin = _lead(data, start) if before in _LEAD_JOINTS else start
    # Most runs have no opening of a shape, and without positions the keys are found twice as fast.
    keys = [data[begin : begin + KEY], *_LATER_KEYS.findall(data, begin, end)]
    if index_openings().has_any(keys):
        at = begin
        for place, rows in _openings_in(data, begin, end):
            if place >= at:
                for span in _find_opened(data, place, rows):
                    yield span
                    at = span.end
        if at > begin:
            return
    yield from _find_unopened(data, begin, start, end)


def _openings_in(data: bytes, start: int, end: int) -> Iterator[tuple[int, list[Opening]]]:
    find = index_openings().find
    if first := _KEYS.match(data, start, end):
        yield start, find(first[1])
    for found in _LATER_KEYS.finditer(data, start, end):
        if rows := find(found[1]):
            yield found.end(), rows


def _lead(data: bytes, start: int) -> int:
    window = data[max(0, start - _LEAD) : start]
    return start - (len(window) - len(window.rstrip(_LEAD_BYTES)))


def _find_opened(data: bytes, at: int, openings_here: list[Opening]) -> Iterator[Span]:
    for text, rows, _ in openings_here:
        if not data.startswith(text, at):
            continue
        body = at + len(text)
        for (kind, shape, _), solid in rows:
            if solid and not data[body : body + solid].isalnum():
                continue
            found = pattern(shape).match(data, at, at + _LONGEST)
            if found and _is_whole(data, found, text) and _is_body(found[0][len(text) :], text):
                start, end = found.span(found.lastindex or 0)
                rest = _REST.match(data, end) if end == at + _LONGEST else None
                yield Span(start, rest.end() if rest else _end_of_run(data, end), kind)
                return


def _end_of_run(data: bytes, end: int) -> int:
    """Return where a secret ends whose issuer uses more characters than its shape names."""
    tail = _TAIL.match(data, end)
    if data[end : end + 1] not in _TAIL_JOINTS or not tail or len(tail[0]) < _SHORTEST_TAIL:
        return end
    return tail.end() if is_random(_NOT_SOLID.sub(b"", tail[0][:_JUDGED])) else end


def _is_body(body: bytes, opening: bytes) -> bool:
    body = body[:_JUDGED]
    if _NOT_BODIES.get(opening, _NONE).fullmatch(body) or set(body) == {opening[-1]}:
        return False
    # The cheaper check comes first, because many function names begin with `test_`.
    if opening in _WEAK and not is_random(body) and _SEQUENCE.search(body) is None:
        return False
    return not is_made_up(body)


def _is_whole(data: bytes, found: re.Match[bytes], text: bytes) -> bool:
    """Return whether a shape is complete, not in the middle of another name or of base64."""
    # A source map in a `data:` URL is also JSON in base64, but a web token has dots.
    if _HASHED_FILE.search(data, max(0, found.start() - _PREFIX), found.start()):
        return False
    if text == _JSON and b"." not in found[0] and data.endswith(_EMBEDDED, 0, found.start()):
        return False
    before = data[found.start() - 1 : found.start()] or b" "
    # `test_chacha20poly1305aead(` is a function.
    is_part = before in b"-_" or data[found.end() : found.end() + 1] == b"("
    if text in _WEAK and is_part:
        return False
    if not text.isalnum():
        return True
    after = data[found.end() : found.end() + 1] or b" "
    is_path = after == b"/" and data[found.end() + 1 : found.end() + 9].isdigit()
    return before not in _BASE64 and (after not in _BASE64 or is_path)


def _find_unopened(data: bytes, begin: int, start: int, end: int) -> Iterator[Span]:
    """Yield a secret that its middle or its end reveals; otherwise one that looks issued."""
    if end - begin >= _SHORTEST_INFIX or data[end : end + 1] in _GOES_ON:
        text = data[begin : end + _TRAIL]
        for literal, row in infixes() if any_infix().search(text) else ():
            if literal in text and (found := pattern(row[1]).search(text)):
                first, last = found.span(found.lastindex or 0)
                if _is_infix(data, begin + found.start(), begin + found.end(), literal):
                    yield Span(begin + first, begin + last, row[0])
                    return
        for row in index_joints().get(b"-", ()):
            if pattern(row[1]).fullmatch(data, start, end):
                yield Span(start, end, row[0])
                return
        for row in index_joints().get(data[start - 1 : start], ()):
            found = pattern(row[1]).search(text)
            if found and _is_joined(data, begin + found.start(), found[0]):
                first, last = found.span(found.lastindex or 0)
                yield Span(begin + first, begin + last, row[0])
                return
    if _STRETCH.search(data, start, end):
        yield from _unknown(data, start, end)


def _is_joined(data: bytes, start: int, text: bytes) -> bool:
    """Return whether the long parts beside a joint are random, and the first one is whole."""
    is_whole = not data[start - 1 : start].isalnum() or not start
    parts = [part for part in re.split(rb"[/:.]", text) if len(part) > _SHORTEST]
    return is_whole and bool(parts) and all(map(is_random, parts))


def _is_infix(data: bytes, start: int, end: int, literal: bytes) -> bool:
    """Return whether a shape with a short fixed part is more than the middle of some base64."""
    before, after = data[start - 1 : start] or b" ", data[end : end + 1] or b" "
    if _IMAGE.match(data, max(0, start - _IMAGE_REACH), start):
        return False
    if literal not in _UNSURE:
        return True
    if literal == _ZEROS and (before.isalnum() or after.isalnum() or data[start] == _ZERO):
        return False
    return before not in _BASE64 and after not in _BASE64 and is_random(data[start:end])


def _unknown(data: bytes, start: int, end: int) -> Iterator[Span]:
    """Yield a run that looks issued, with the dotted names before it and the base64 after it."""
    if end - start == _PAT_LENGTH and _PAT.match(data, start):
        yield Span(start, end, "azure token")
        return
    if data[start - 1 : start] == b".":
        window = data[max(0, start - _LEAD) : start]
        start -= len(window) - len(window.rstrip(_NAME_BYTES))
    if (after := data[end : end + 1]) and after in b"+/=":
        found = _TAIL.match(data, end)
        end = found.end() if found else end
    before, after = data[start - 1 : start] or b" ", data[end : end + 1] or b" "
    run = data[start:end]
    if before in _NOT_BEFORE or after in _NOT_AFTER or _RULE in run or not is_issued(run):
        return
    if _RECORD.match(run) or _DIGEST.search(data, max(0, start - _LABEL), start):
        return
    if not _ID_BEFORE.search(data, max(0, start - _ID_REACH), start):
        yield Span(start, end, GUESS)

"""Secrets told by the name they are given: `DB_PASSWORD=…`, `"api_key": "…"`, `--token …`."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from leftoff.redact.judge import is_environment_secret, is_password, is_token
from leftoff.redact.shapes import Span

_KINDS = {
    b"pass": "password",
    b"pwd": "password",
    b"secret": "secret",
    b"token": "token",
    b"key": "key",
    b"credential": "credential",
}
_WORD = {
    b"pass": rb"(?:passw(?:or)?d?|passphrase|passcode|(?P<short>pass))",
    b"credential": rb"credentials?",
}
# What a name may go on with after its telling word, and how it is closed: `PASSWORD_2`, `token"]`.
_SUFFIX = (
    rb"(?:[ _-]?(?:access|key)|[_-]?(?:base64|base|b64|value|val|production|prod|dev|staging|stage"
    rb"|test|live|default|old|new|str|string|text|plain|raw|[0-9]{1,3})){0,4}+"
    rb"(?:\\*[\"'`]\]?+)?+(?:[ ]\[(?:none|\*+\w*)\])?+"
)
_SEPARATOR = (
    rb"(?:[ \t]*+(?:(?P<equals>:=|=>|={1,3}|!={1,2})"
    rb"|:[ \t]*[a-z_][\w.\[\] |?&<>]{0,40}?=(?=[ \t]*[bfru]?\\*[\"'])"
    rb"|(?P<colon>:))"
    rb"|(?:[\s,]|\\+[nr])*+\\*[\"']?value\\*[\"']?[ \t]*(?P<pair>[:=])"
    rb"|(?P<is>[ ](?:is|was)\b:?)"
    rb"|(?P<tag>>)"
    rb"|(?P<blank>(?=[ \t])))"
)
_VALUE = (
    rb"(?P<gap>[ \t]*+)(?:[bfru]{0,2}(?P<mark>\\*[\"'`])"
    rb"|(?P<bare>[^\s\"'`\\,;&<>(){}\[\]|]{1,200}+))"
)
_MARK = re.compile(rb"(\\*)([\"'`])|[\r\n]")
_ASSIGNMENTS = {
    stem: re.compile(_WORD.get(stem, stem) + _SUFFIX + _SEPARATOR + _VALUE) for stem in _KINDS
}
_NAME_BYTES = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_NAME_REACH = 48
# A key is a secret only where the word before it says so: a cache key or a primary key is none.
_KEY_OF = re.compile(
    rb"(?:api|app|application|access|secret|private|auth|encryption|encrypt|signing|master|account"
    rb"|admin|service|client|consumer|deploy|session|storage|shared|subscription|license|licence"
    rb"|root|ssh|webhook|jwt|hmac|crypto|cipher|bot|server|functions|role|anon|sdk)[ _-]?\Z"
)
# These are tokens of another trade: paging, tokenizers, design systems.
_NOT_OF = re.compile(
    rb"(?:page|continuation|cancell?(?:ation)?|sync|pad|eos|bos|unk|mask|stop|special|design|next"
    rb"|prev|previous|first|last|max|min|num|per|public|syntax|color)[ _-]?\Z"
)
# A name with its issuer or use before the word leaves no other meaning.
_QUALIFIED = re.compile(rb"[a-z0-9][ _-]?\Z")
_LINE_ENDS = (b"\n", b"\\n", b"\r")
_BARE = re.compile(rb"[^\s\"'`\\,;&<>(){}\[\]|]++")
_TO_BLANK = re.compile(rb"[^\s\"'`\\]++")
_CALLS = (b"(", b"[", b"{", b"<")
_TRAILING = b".,;:?)]}>"


class _Assignment(NamedTuple):
    stem: bytes
    left: bytes  # of the name, before its telling word
    before: bytes  # up to two bytes before the name
    found: re.Match[bytes]


def find_keyed(data: bytes, low: bytes) -> Iterator[Span]:
    """Yield every value whose name says that it is a secret."""
    for stem, pattern in _ASSIGNMENTS.items():
        at = low.find(stem)
        while at >= 0:
            found = pattern.match(low, at)
            span = _secret_of(data, _assignment(data, stem, found)) if found else None
            if span:
                yield span
            at = low.find(stem, span.end if span else at + 1)


def _assignment(data: bytes, stem: bytes, found: re.Match[bytes]) -> _Assignment:
    head = data[max(0, found.start() - _NAME_REACH) : found.start()]
    rest = head.rstrip(_NAME_BYTES)
    return _Assignment(stem, head[len(rest) :], rest[-2:], found)


def secret_under_key(key: str, value: str) -> str | None:
    """Name the kind of secret that a whole value is, judged by the key it is stored under."""
    data = f'"{key}": '.encode("utf-8", "surrogatepass") + b'"'
    body = value.encode("utf-8", "surrogatepass")
    if any(byte in body for byte in b"\r\n") or len(body) > 2000:
        return None
    escaped = body.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    line = data + escaped + b'"'
    for span in find_keyed(line, line.lower()):
        if span.start == len(data):
            return span.kind
    return None


def _secret_of(data: bytes, one: _Assignment) -> Span | None:
    # `AWS Secret Access Key` has its words apart, so look past the name itself.
    words = data[max(0, one.found.start() - 16) : one.found.start()].lower()
    if _NOT_OF.search(words) or (one.stem == b"key" and not _KEY_OF.search(words)):
        return None
    # In a URL the name is a user, and the value has its own rule.
    if one.before == b"//" or not _is_said(data, one):
        return None
    start, end = _value_span(data, one)
    if not _is_secret(data, one, data[start:end]):
        return None
    if one.found["bare"]:
        end = max(end, start + len(_matched(_BARE, data, start).rstrip(_TRAILING)))
    return Span(start, end, _KINDS[one.stem])


def _is_said(data: bytes, one: _Assignment) -> bool:
    """Tell `DB_PASS=…`, `"pass": "…"` and `userPass` from a test run's `pass: 12` and a compass."""
    if one.stem != b"pass" or not one.found["short"]:
        return True
    if one.left and not one.left.endswith(b"_"):
        return data[one.found.start() : one.found.start() + 1] == b"P" and one.left[-1:].islower()
    return bool(one.found["mark"]) or (bool(one.left) and _is_environment(data, one))


def _value_span(data: bytes, one: _Assignment) -> tuple[int, int]:
    found = one.found
    if found["mark"]:
        return found.end(), _closing(data, found.end(), found["mark"])
    start, end = found.span("bare")
    if _is_environment(data, one) and not found["gap"]:
        if one.before[-1:] in (b'"', b"'"):
            mark = one.before if one.before[:1] == b"\\" else one.before[-1:]
            return start, _closing(data, start, mark)
        if not one.before or one.before.endswith(_LINE_ENDS):
            end = start + len(_matched(_TO_BLANK, data, start))
    return start, start + len(data[start:end].rstrip(_TRAILING))


def _closing(data: bytes, start: int, mark: bytes) -> int:
    """Find where a quoted text ends; a mark inside of it has more backslashes than its ends."""
    depth = len(mark) - 1
    for found in _MARK.finditer(data, start):
        if not found[2]:
            return found.start()
        if found[2] == mark[-1:] and len(found[1]) % (2 * depth + 2) == depth:
            return found.end() - len(mark)
    return len(data)


def _matched(pattern: re.Pattern[bytes], data: bytes, start: int) -> bytes:
    found = pattern.match(data, start)
    return found[0] if found else b""


def _is_environment(data: bytes, one: _Assignment) -> bool:
    """`NAME=value` of a shell, an environment dump, a query or a connection string."""
    found = one.found
    name = one.left + data[found.start() : found.start() + len(one.stem)]
    if found["equals"] == b"=" and not found["gap"]:
        return name.isupper() or one.before.strip()[-1:] in (b";", b"?", b"&")
    return bool(found["colon"] or found["pair"]) and name.isupper() and b"_" in name


def _is_secret(data: bytes, one: _Assignment, value: bytes) -> bool:
    found, is_flag = one.found, one.left.startswith(b"--")
    after = data[found.end() : found.end() + 1]
    if found["blank"] is not None and (not is_flag or value.startswith(b"-")):
        return False
    if found["bare"] and after in _CALLS and not found["tag"]:
        return False
    is_password_name = _KINDS[one.stem] == "password"
    if found["is"] and not is_password_name and len(value) < 16:
        return False
    in_environment = _is_environment(data, one)
    if in_environment and not is_password_name:
        return is_environment_secret(value)
    literal = bool(found["mark"]) and not found["is"]
    literal = literal or in_environment or bool(found["tag"]) or (is_flag and not found["gap"])
    if is_password_name:
        return is_password(value, literal=literal)
    return is_token(value, literal=literal, named=_is_qualified(one))


def _is_qualified(one: _Assignment) -> bool:
    return one.stem == b"key" or bool(_QUALIFIED.search(one.left.lower()))

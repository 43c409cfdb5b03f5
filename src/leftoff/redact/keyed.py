"""Secrets told by the name they are given: `DB_PASSWORD=…`, `"api_key": "…"`, `--token …`."""

import re
from functools import cache
from typing import NamedTuple

from leftoff.redact.judge import (
    is_environment_secret,
    is_password,
    is_token,
    is_unlike_words,
    looks_random,
)
from leftoff.redact.lazy import lazy
from leftoff.redact.shapes import Span
from leftoff.redact.telling import is_telling

_KINDS = {
    b"pass": "password",
    b"pwd": "password",
    b"secret": "secret",
    b"token": "token",
    b"key": "key",
    b"cred": "credential",
}
_WORD = {
    b"pass": rb"(?:passw(?:or)?d?|passphrase|passcode|(?P<short>pass))",
    b"cred": rb"cred(?:ential)?s?",
}
# What a name may go on with after its telling word, and how it is closed: `PASSWORD_2`, `token"]`.
_SUFFIX = (
    rb"(?:[ ](?:access|key)(?![\w-])|[_-]?(?:access|key)|[_-]?(?:base64|base|b64"
    rb"|value|val|production|prod|dev|staging|stage"
    rb"|test|live|default|old|new|str|string|text|plain|raw|[0-9]{1,3})){0,4}+"
    rb"(?:\\{0,8}+[\"'`]\]?+)?+(?:[ ]\[(?:none|\*+\w*)\])?+"
)
_QUOTE = rb"(?=[bfrun@$]{0,3}\\{0,8}[\"'`])"
_SEPARATOR = (
    rb"(?:(?:[\s,]|\\{1,8}[nr]){0,60}+\\{0,8}[\"']?value\\{0,8}[\"']?[ \t]{0,8}(?P<pair>[:=])"
    rb"|[ \t]{0,40}+(?:(?P<equals>:=|=>|->|={1,3}|!={1,2})"
    rb"|:[ \t]{0,8}[a-z_&*][\w.:\[\] |?&<>*']{0,40}?=(?=[ \t]{0,8}[bfru]?\\{0,8}[\"'])"
    rb"|\)?[ ]{0,2}(?P<default>,|\|\||\?\?|\?:|or(?=[ ]))[ \t]{0,8}"
    + _QUOTE
    + rb"|(?P<fallback>:-)"
    rb"|(?P<colon>:)|(?P<call>\()[ \t]{0,8}" + _QUOTE + rb")"
    rb"|[ ]{0,4}\{\s{0,40}(?:type\s{0,8}=\s{0,8}string\s{1,40})?default[ ]{0,8}(?P<variable>=)"
    rb"|</\w{1,20}>\s{0,20}<\w{1,20}(?P<item>>)"
    rb"|(?P<is>[ ](?:is|was)\b:?)"
    rb"|(?P<tag>>)"
    rb"|(?P<blank>(?=[ \t])))"
)
_VALUE = (
    rb"(?P<gap>[ \t]{0,40}+)(?:[bfrun@$]{0,3}(?P<mark>\\{0,8}[\"'`])"
    rb"|(?P<bare>[^\s\"'`\\,;&<>(){}\[\]|]{1,200}+))"
)
_MARK = lazy(rb"(\\*+)([\"'`])|[\r\n]")
STEMS = tuple(_KINDS)
_NAME_BYTES = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_NAME_REACH = 88
# A name with its issuer or use before the word leaves no other meaning.
_QUALIFIED = lazy(rb"[a-z0-9][ _-]?\Z")
# Functions that store a value under a name, or look one up and fall back to the value.
_STORING = lazy(
    rb"(?i)(?:env|environ|fetch|get|getOrDefault|property|put|set|add|append|define|header|param"
    rb"|field"
    rb"|entry|config|option|literal|of|with|prop|variable|string)s?\(\s{0,8}\\{0,8}[\"'`]\Z"
)
_SETTING = lazy(
    rb"(?i)\b(?:set|setx|add|put|config|env|arg|setenv)\s{1,4}(?:-\w{1,12}\s{1,4}){0,2}"
    rb"(?:\S{1,40}[/:.])?\Z"
)
# `setPassword("…")` and `.password("…")`, but not `checkPassword("…")`.
_SETTER = lazy(
    rb"(?i)(?:^|set|with|use|put|update|change|new|basic|auth|user|admin|root|db|database|client"
    rb"|api|access|secret|private|ssh|key|store|http|smtp|proxy)[_-]?\Z"
)
_SQL = {
    "password": lazy(
        rb"(?i)\b(?:create|alter|grant|set|user|role|login|options|identified|encrypted|dblink)"
        rb"\s[^\n]*\Z"
    ),
    "secret": lazy(rb"(?i)\bcreate\s(?:[a-z ]{0,40} )?secret\b"),
    "key": lazy(rb"(?i)\bcreate\s(?:[a-z ]{0,40} )?(?:secret|credential|key)\b"),
}
_SQL_REACH = 200
_LINE_ENDS = (b"\n", b"\\n", b"\r")
_BARE = lazy(rb"[^\s\"'`\\,;&<>(){}\[\]|]++")
_TO_BLANK = lazy(rb"[^\s\"'`\\]++")
_CLOSERS = lazy(rb"[)\]},;]")
_CALLS = (b"(", b"[", b"{", b"<")
_INSIDE = (b"|", b";", b"&", b",")
_TRAILING = b".,;:?)]}>"
_LONG = 20
# No judge takes less.
_SHORTEST = 4
# What may precede `key` in a name that says what it opens; a bare `key` says nothing.
_JOINED = frozenset(bytes([byte]) for byte in b"abcdefghijklmnopqrstuvwxyz _-")
_SPACED = (b"set", b"SET", b"Set", b"add", b"put", b"config", b"ENV", b"ARG", b"env")


class _Assignment(NamedTuple):
    stem: bytes
    left: bytes  # of the name, before its telling word
    before: bytes  # what precedes the name
    found: re.Match[bytes]

    @property
    def is_flag(self) -> bool:
        """Say whether the name is an option of a command."""
        return self.left.startswith(b"-")

    @property
    def is_short(self) -> bool:
        """Say whether the name ends in a mere `pass`, which has other meanings too."""
        return self.stem == b"pass" and self.found["short"] is not None


def find_keyed_at(data: bytes, low: bytes, stem: bytes, at: int) -> Span | None:
    """Find the value of a name whose telling word is at this place, if it is a secret."""
    # Whether the name tells is the cheaper question for a key, and most keys do not.
    is_key = stem == b"key"
    if is_key and (low[at - 1 : at] not in _JOINED or not is_telling(data, low, stem, at)):
        return None
    found = _pattern(stem).match(low, at)
    if not found or not (is_key or is_telling(data, low, stem, at)):
        return None
    if found["blank"] is not None and not _may_be_spaced(data, at):
        return None
    return _secret_of(data, _assignment(data, stem, found))


def _may_be_spaced(data: bytes, at: int) -> bool:
    """Tell quickly whether only a blank may be between a name and its value: most text is prose."""
    before = data[max(0, at - _NAME_REACH) : at]
    return (
        b" -" in before
        or b" '" in data[at : at + _NAME_REACH]
        or any(word in before for word in _SPACED)
    )


@cache
def _pattern(stem: bytes) -> re.Pattern[bytes]:
    return re.compile(_WORD.get(stem, stem) + _SUFFIX + _SEPARATOR + _VALUE)


def _assignment(data: bytes, stem: bytes, found: re.Match[bytes]) -> _Assignment:
    head = data[max(0, found.start() - _NAME_REACH) : found.start()]
    rest = head.rstrip(_NAME_BYTES)
    return _Assignment(stem, head[len(rest) :], rest, found)


def secret_under_key(key: str, value: str) -> str | None:
    """Name the kind of secret that a whole value is, judged by the key it is stored under."""
    data = f'"{key}": '.encode("utf-8", "surrogatepass") + b'"'
    body = value.encode("utf-8", "surrogatepass")
    if any(byte in body for byte in b"\r\n") or len(body) > 2000:
        return None
    escaped = body.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    line = data + escaped + b'"'
    low = line.lower()
    for stem in STEMS:
        at = low.rfind(stem, 0, len(data))
        span = find_keyed_at(line, low, stem, at) if at >= 0 else None
        if span and span.start == len(data):
            return span.kind
    return None


def _secret_of(data: bytes, one: _Assignment) -> Span | None:
    if not _is_said(data, one) or not _is_assigned(data, one):
        return None
    start, end = _value_span(data, one)
    if not _is_secret(data, one, data[start:end]):
        return None
    if one.found["bare"]:
        end = max(end, start + len(_matched(_BARE, data, start).rstrip(_TRAILING)))
    return Span(start, end, _KINDS[one.stem])


def _is_said(data: bytes, one: _Assignment) -> bool:
    """Tell `DB_PASS=…`, `"pass": "…"` and `userPass` from a test run's `pass: 12` and a compass."""
    if not one.is_short or one.is_flag:
        return True
    if one.left and not one.left.endswith(b"_"):
        return data[one.found.start() : one.found.start() + 1] == b"P" and one.left[-1:].islower()
    return bool(one.found["mark"]) or (bool(one.left) and _is_environment(data, one))


def _is_assigned(data: bytes, one: _Assignment) -> bool:
    """Tell whether what follows the name is its value, and not the next word or argument."""
    found = one.found
    # In a URL the name is a user, and the value has its own rule.
    if one.before.endswith(b"//"):
        return False
    # In `arn:…:secret:name` the name is a part of a path.
    if found["colon"] and not found["gap"] and one.before.endswith(b":"):
        return False
    if found["default"]:
        return found["default"] in (b"||", b"??", b"?:") or bool(_STORING.search(one.before))
    if found["call"]:
        return bool(_SETTER.search(one.left)) and not (one.is_short and not one.left)
    is_plain = found["blank"] is None or one.is_flag
    return is_plain or _is_statement(data, one) or bool(_SETTING.search(one.before))


def _is_statement(data: bytes, one: _Assignment) -> bool:
    """Tell `ALTER USER me PASSWORD '…'` from a sentence with a quoted word in it."""
    sql, at = _SQL.get(_KINDS[one.stem]), one.found.start()
    if one.found["mark"] != b"'" or one.is_short or sql is None:
        return False
    return bool(sql.search(data[max(0, at - _SQL_REACH) : at]))


def _value_span(data: bytes, one: _Assignment) -> tuple[int, int]:
    found = one.found
    if found["mark"]:
        return found.end(), _closing(data, found.end(), found["mark"])
    start, end = found.span("bare")
    if _is_environment(data, one) and not found["gap"]:
        if one.before[-1:] in (b'"', b"'"):
            mark = one.before[-2:] if one.before[-2:-1] == b"\\" else one.before[-1:]
            return start, _closing(data, start, mark)
        if not one.before or one.before.endswith(_LINE_ENDS):
            end = start + len(_matched(_TO_BLANK, data, start))
    elif data[end : end + 1] in (*_INSIDE, *_CALLS, b">") and (
        one.is_flag or (found["colon"] and found["gap"])
    ):
        whole = _matched(_TO_BLANK, data, start)
        if data[end : end + 1] in _INSIDE or _is_bracketed(whole):
            end = start + len(whole)
    return start, start + len(data[start:end].rstrip(_TRAILING))


def _is_bracketed(value: bytes) -> bool:
    """Tell a random value that happens to hold an opening bracket from a call."""
    return len(value) >= _LONG and not _CLOSERS.search(value) and looks_random(value)


def _closing(data: bytes, start: int, mark: bytes) -> int:
    """Find where a quoted text ends; a mark inside of it has more backslashes than its ends.

    Two texts with the same mark never overlap, so all of these together stay linear.
    """
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
    is_pair = found["colon"] or found["pair"] or found["fallback"]
    return bool(is_pair) and name.isupper() and b"_" in name


def _is_secret(data: bytes, one: _Assignment, value: bytes) -> bool:
    if len(value) < _SHORTEST or _is_no_value(data, one, value):
        return False
    found, is_password_name = one.found, _KINDS[one.stem] == "password"
    in_environment = _is_environment(data, one)
    literal = bool(found["mark"]) and not found["is"]
    literal = literal or in_environment or bool(found["tag"] or found["item"])
    literal = literal or (one.is_flag and not found["gap"])
    if is_password_name:
        return is_password(value, literal=literal)
    if in_environment and found["equals"]:
        return is_environment_secret(value)
    if found["call"] and not looks_random(value):
        return False
    if found["blank"] is not None and not one.is_flag:
        literal = False
    return is_token(value, literal=literal, named=_is_qualified(one))


def _is_no_value(data: bytes, one: _Assignment, value: bytes) -> bool:
    """Tell what only looks like a value: the next option, a call, a word of a sentence."""
    found = one.found
    after = data[found.end() : found.end() + 1]
    if found["blank"] is not None and value.startswith(b"-") and not _is_dashed(value):
        return True
    if _is_same(data, one, value) or (value.startswith(b":") and not is_unlike_words(value)):
        return True
    is_call = found["bare"] and after in _CALLS and not _is_bracketed(value)
    if is_call and not (found["tag"] or found["item"]):
        return True
    if found["is"] and _KINDS[one.stem] != "password":
        return len(value) < 16
    # `NAME_OF_PASSWORD: Some words about it`
    is_said = found["colon"] and value.isalpha() and after in (b" ", b"\t")
    return bool(is_said) and _is_environment(data, one)


def _is_same(data: bytes, one: _Assignment, value: bytes) -> bool:
    """Tell a constant that holds its own name: `API_PASSWORD = "apiPassword"`."""
    word = data[one.found.start() : one.found.start() + len(value) + 8]
    squashed = value.replace(b"_", b"").replace(b"-", b"").lower()
    name = (one.left + word).replace(b"_", b"").replace(b"-", b"").lower()
    return name.startswith(squashed)


def _is_dashed(value: bytes) -> bool:
    """Tell a random value that happens to begin with a dash from the next option."""
    return len(value) >= _LONG and not value.startswith(b"--") and is_unlike_words(value)


def _is_qualified(one: _Assignment) -> bool:
    return one.stem == b"key" or bool(_QUALIFIED.search(one.left.lower()))

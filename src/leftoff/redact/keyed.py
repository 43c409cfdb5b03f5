"""Find secrets by the name of their value: `DB_PASSWORD=…`, `"api_key": "…"`, `--token …`."""

import re
from functools import cache

from leftoff.lazy_patterns import lazy
from leftoff.redact.assignments import (
    KINDS,
    Assignment,
    closing,
    is_assigned,
    is_environment,
    is_pair,
    is_public,
    is_qualified,
    is_said,
    is_same,
    is_statement,
    is_translated,
    match_at,
)
from leftoff.redact.judge import (
    has_random_part,
    is_code,
    is_dashed,
    is_dashed_name,
    is_environment_secret,
    is_in_table,
    is_label,
    is_password,
    is_placeholder,
    is_random_object,
    is_token,
    is_unlike_words,
    is_wordy,
    looks_random,
)
from leftoff.redact.prose import is_remark, is_stated, is_stated_token
from leftoff.redact.secret_names import names_secret
from leftoff.redact.shapes import Span
from leftoff.redact.syntaxes import SEPARATOR, SUFFIX, VALUE, WORD

STEMS = tuple(KINDS)
_NAME_BYTES = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_NAME_REACH = 88
_LINE_ENDS = (b"\n", b"\\n", b"\r")
_BARE = lazy(rb"[^\s\"'`\\,;&<>(){}\[\]|]++")
_TO_TAG = lazy(rb"[^\s\"'`\\<]++")
_TO_BLANK = lazy(rb"[^\s\"'`\\]++")
_TO_AND = lazy(rb"[^\s\"'`\\&]++")
_PARAMETER = (b"?", b"&")
# The value continues after such a sign, unless the sign begins `&quot;`.
_MORE = lazy(rb"[|;&,](?!\w{1,8};)[^\s\"'`\\]++")
_CLOSERS = lazy(rb"[)\]},;]")
_COMPARED = (b"==", b"===", b"!=", b"!==")
_CALLS = (b"(", b"[", b"{", b"<")
_INSIDE = (b"|", b";", b"&", b",")
_TRAILING = b".,;:?)]}>"
_LONG = 20
# No rule accepts a shorter value.
_SHORTEST = 4
# What may precede `key` in a name that says what the key opens. A bare `key` says nothing.
_JOINED = frozenset(bytes([byte]) for byte in b"abcdefghijklmnopqrstuvwxyz _-.")
_SECOND = lazy(
    rb"[^\"'\\\r\n]{0,100}\\{0,8}[\"'],[ ]{0,2}\\{0,8}[\"']([^\"'\\\r\n]{1,200})\\{0,8}[\"']"
)
# A single word that is the whole value, as in settings and on command lines.
_LOWER = lazy(rb"[a-z]{6,20}\Z")
_PLAIN_START = lazy(rb"(?:^|\n|[&?\"']|\\n)[ \t]*(?:- )?\Z")
_PLAIN_END = lazy(rb"[ \t]*(?:\Z|[\r\n&\"']|\\n|[ ]--?\w|[ ]#|[ ]https?:)")
# `the db password=…`, `my root password: …`
_SENTENCE = lazy(rb"(?i)(?<![\w.-])(?:the|my|our|your|this)[ ](?:[a-z]{1,20}[ ]){0,2}\Z")
_WORD_LENGTH = 8
_AFTER = 80
_CLOSED = lazy(rb"\s*(?:<|&lt;|\\u003c)\\*/")
_LINKED = lazy(rb"(?:<|&lt;)\\?/a\b")
_CLOSED_OR_CUT = lazy(rb"\s*(?:<|&lt;|\\u003c)\\*/|[ \t]*(?:\\[rn]|[\r\n\\\"'`]|\Z)")
_LETTERS_BEYOND = lazy(rb"[A-Za-z]*[\x80-\xff][A-Za-z\x80-\xff'-]*[.!?]?\Z")
_NUMBERED_NAME = lazy(rb"[a-z]+(?:_[a-z]+)*_[a-z]+[0-9]{1,2}\Z")
_LONG_NUMBER = 6
# `Option<Vec<u8>>`
_TYPE = lazy(rb"[A-Z]\w*<[A-Z]")
# `"/create_passkey" => "users#create_passkey"` is a route of Rails.
_ACTION = lazy(rb"[a-z][a-z_/]*#[a-z][a-z_]*\Z")
# `e.value:delete`, `a.b?.c?await`: a program joins names by a question, as minified code does.
_JOINED_NAMES = lazy(rb"[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+[?:=!]+[A-Za-z_$]")
# Where a program keeps entries under keys that it chooses.
_STORES = (b"storage", b"session", b"shared", b"project", b"cookie", b"channel", b"stream")
_SPACED = lazy(rb"(?:^|[ \t\n])-|set|SET|Set|_param|add|put|config|ENV|ARG|env|define")


def find_keyed_at(data: bytes, low: bytes, stem: bytes, at: int) -> Span | None:
    """Return the value of the name that has this word at this position, if it is a secret."""
    # For a key, the name is cheaper to check than the value, and rules out most of them.
    is_key = stem == b"key"
    if is_key and (low[at - 1 : at] not in _JOINED or not names_secret(data, low, stem, at)):
        return None
    found = _pattern(stem).match(low, at)
    if not found or not (is_key or names_secret(data, low, stem, at)):
        return None
    if found["blank"] is not None and not _may_be_spaced(data, at):
        return None
    return _secret_of(data, _assignment(data, stem, found))


def _may_be_spaced(data: bytes, at: int) -> bool:
    """Return whether a name and its value may be separated only by a space: most text is prose."""
    return b" '" in data[at : at + _NAME_REACH] or bool(
        _SPACED.search(data, max(0, at - _NAME_REACH), at)
    )


@cache
def _pattern(stem: bytes) -> re.Pattern[bytes]:
    return re.compile(WORD.get(stem, stem) + SUFFIX + SEPARATOR + VALUE)


def _assignment(data: bytes, stem: bytes, found: re.Match[bytes]) -> Assignment:
    head = data[max(0, found.start() - _NAME_REACH) : found.start()]
    rest = head.rstrip(_NAME_BYTES)
    return Assignment(stem, head[len(rest) :], rest, found)


def secret_under_key(key: str, value: str) -> str | None:
    """Return the kind of secret that a whole value is, judged by the key it is stored under."""
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


def _secret_of(data: bytes, one: Assignment) -> Span | None:
    if not is_said(data, one) or not is_assigned(data, one):
        return None
    if one.found["object"]:
        return _object_of(one)
    if is_pair(data, one):
        return _second_of(data, one)
    start, end = _value_span(data, one)
    if not _is_secret(data, one, data[start:end]):
        return None
    if one.found["bare"]:
        end = max(end, start + len(match_at(_BARE, data, start).rstrip(_TRAILING)))
    return Span(start, end, one.kind)


def _object_of(one: Assignment) -> Span | None:
    """Find an object without quotes and spaces that has a random part: `{auth:…}`."""
    start, end = one.found.span("object")
    is_code = one.found["call"] or one.found["default"] or one.found["blank"] is not None
    if (is_code and not one.is_flag) or not is_random_object(one.found["object"]):
        return None
    return Span(start, end, one.kind)


def _second_of(data: bytes, one: Assignment) -> Span | None:
    found = _SECOND.match(data, one.found.end())
    is_secret = found and is_password(found[1], literal=True)
    return Span(*found.span(1), one.kind) if found and is_secret else None


def _value_span(data: bytes, one: Assignment) -> tuple[int, int]:
    found = one.found
    if found["mark"]:
        return found.end(), closing(data, found.end(), found["mark"])
    start, end = found.span("bare")
    if found["tag"] or found["item"]:
        return start, start + len(match_at(_TO_TAG, data, start))
    if is_environment(data, one) and not found["gap"]:
        # The quote before the name closes after the value: `"DB_PASSWORD=…"`.
        is_closed = data[found.start("equals") - 1] in b"\"'`]"
        if one.before[-1:] in (b'"', b"'") and not is_closed:
            mark = one.before[-2:] if one.before[-2:-1] == b"\\" else one.before[-1:]
            quoted = closing(data, start, mark)
            # In `ssh host "DB_PASSWORD=… ./run"` the quoted text goes on after the value.
            is_command = one.kind == "password" and b" " in data[start:quoted]
            return start, start + len(match_at(_TO_BLANK, data, start)) if is_command else quoted
        if not one.before or one.before.endswith(_LINE_ENDS):
            end = start + len(match_at(_TO_BLANK, data, start))
        else:
            end = _end_with_brackets(data, start, end)
    elif found["equals"] == b"=" and one.before.endswith(_PARAMETER):
        end = _end_with_brackets(data, start, end)
    elif found["is"] and not is_wordy(data[start:end].rstrip(_TRAILING)):
        end += len(match_at(_MORE, data, end))
    elif data[end : end + 1] in (*_INSIDE, *_CALLS, b">") and (
        one.is_flag or (found["colon"] and found["gap"])
    ):
        whole = match_at(_TO_BLANK, data, start)
        if data[end : end + 1] in _INSIDE or _is_bracketed(whole):
            end = start + len(whole)
    return start, start + len(data[start:end].rstrip(_TRAILING))


def _end_with_brackets(data: bytes, start: int, end: int) -> int:
    """Return the end of a random value that contains a bracket or a pipe."""
    if data[end : end + 1] not in (*_CALLS, b">", b"|"):
        return end
    whole = match_at(_TO_AND, data, start)
    return start + len(whole) if _is_bracketed(whole) else end


def _is_bracketed(value: bytes) -> bool:
    """Return whether a value is random and merely contains a bracket, rather than a call."""
    if len(value) < _LONG or _CLOSERS.search(value) or _TYPE.match(value):
        return False
    return looks_random(value)


def _is_secret(data: bytes, one: Assignment, value: bytes) -> bool:
    if len(value) < _SHORTEST or _is_no_value(data, one, value):
        return False
    if _is_printed(data, one, value) or _is_expression(data, one, value):
        return False
    if one.found["is"] or _is_mere_secret(one) or _SENTENCE.search(one.before):
        is_value = is_stated(value) if one.kind == "password" else is_stated_token(value)
        if is_value or is_remark(value):
            return is_value
    return _is_given(data, one, value)


def _is_given(data: bytes, one: Assignment, value: bytes) -> bool:
    found, is_password_name = one.found, one.kind == "password"
    in_environment = is_environment(data, one)
    literal = bool(found["mark"]) and not found["is"]
    literal = literal or in_environment or bool(found["tag"] or found["item"])
    literal = literal or (one.is_flag and not found["gap"])
    if is_password_name or (found["mark"] == b"'" and is_statement(data, one)):
        return is_password(value, literal=literal) or _is_plain_word(data, one, value)
    if in_environment and found["equals"]:
        return is_environment_secret(value)
    if found["call"] and not (looks_random(value) or is_unlike_words(value)):
        return False
    if found["blank"] is not None and not one.is_flag:
        literal = False
    named = is_qualified(one) and not _is_stored_by_name(one)
    if named and len(value) >= _WORD_LENGTH and _LOWER.match(value) and not is_placeholder(value):
        # `invite_token: "invitetoken"` only names what belongs there.
        return one.stem not in value and (literal or _is_plain_word(data, one, value))
    return is_token(value, literal=literal, named=named)


def _is_stored_by_name(one: Assignment) -> bool:
    """Return whether a key may be the name of an entry: `STORAGE_KEY = "app-theme"`."""
    return one.stem == b"key" and one.left.lower().rstrip(b"_-").endswith(_STORES)


def _is_mere_secret(one: Assignment) -> bool:
    """Return whether the name is just `secret`; longer names have their own rules."""
    is_mere = one.stem == b"secret" and not one.left and one.found[0][6:7] in (b":", b"=", b" ")
    return is_mere and bool(one.found["bare"]) and bool(one.found["colon"] or one.found["equals"])


def _is_plain_word(data: bytes, one: Assignment, value: bytes) -> bool:
    """Accept `password=swordfish` in settings or a command, not a name in a program."""
    found = one.found
    if (
        not _LOWER.match(value)
        or is_placeholder(value)
        or _PLAIN_END.match(data, found.end()) is None
    ):
        return False
    if one.is_flag:
        return True
    is_setting = (found["equals"] == b"=" and not found["gap"]) or bool(found["colon"])
    return is_setting and _PLAIN_START.search(one.before) is not None


def _is_printed(data: bytes, one: Assignment, value: bytes) -> bool:
    """Return whether a command prints the value, or the value is one line of a table of hashes."""
    found = one.found
    if (found["mark"] or b"").endswith(b"`") and found["equals"] == b"=" and not found["gap"]:
        return b" " in value
    return bool(found["bare"]) and is_in_table(data, found.start("bare"), value)


def _is_expression(data: bytes, one: Assignment, value: bytes) -> bool:
    """Return whether a value without quotes is part of an expression, a type or a message."""
    found = one.found
    if not found["bare"]:
        return False
    after = data[found.start("bare") + len(value) :][:_AFTER]
    if found["tag"] or found["item"]:
        return _is_text_of_tag(one, value, after)
    if found["equals"] in _COMPARED or _LETTERS_BEYOND.match(value) or _is_program(value, after):
        return True
    # `password: debug2: channel 2`
    if found["colon"] and found["gap"] and after.startswith(b": "):
        return True
    if found["colon"] and data[found.start("colon") - 1] in b"\"'":
        return (value.isdigit() and len(value) < _LONG_NUMBER) or is_code(value)
    is_spaced = found["equals"] and found["gap"] and after.startswith(b";")
    return bool(is_spaced and _NUMBERED_NAME.match(value))


def _is_text_of_tag(one: Assignment, value: bytes, after: bytes) -> bool:
    """Return whether a text after a tag is a translation, a link or no text of this tag."""
    # `<a href="…/password">reset</a>` is a link.
    # `<PASSWORD> db/app`, `<PASSWORD>@host` and `Map<Key, Password>.get` are not XML.
    is_open = one.found["gap"] or value.startswith((b"@", b"."))
    is_closed = (_CLOSED if is_open else _CLOSED_OR_CUT).match(after)
    return not is_closed or bool(_LINKED.match(after) or _LETTERS_BEYOND.match(value))


def _is_program(value: bytes, after: bytes) -> bool:
    """Return whether names are joined by a question, or a macro is called: `hashmap! {`."""
    if value.endswith(b"!") and after.lstrip(b" ")[:1] in _CALLS:
        return True
    return bool(_JOINED_NAMES.match(value)) and not has_random_part(value)


def _is_no_value(data: bytes, one: Assignment, value: bytes) -> bool:
    """Return whether this only looks like a value: an option, a call, a word of a sentence."""
    found = one.found
    after = data[found.end() : found.end() + 1]
    is_next = found["blank"] is not None and value.startswith(b"-") and not is_dashed(value)
    # `ssh_key::Algorithm`
    is_next = is_next or (value.startswith(b":") and not (found["gap"] and is_unlike_words(value)))
    is_next = is_next or (found["equals"] == b"=>" and _ACTION.match(value) is not None)
    # `isToken(token: Node): token is CommaToken` is a type.
    is_next = is_next or (found["is"] is not None and one.before.endswith(b"): "))
    if is_next or is_same(data, one, value) or is_public(one, value):
        return True
    # `password :symbol` in Ruby, and `pass = resolver->get()` in C
    is_name = found["colon"] and not found["gap"] and data[found.start("colon") - 1] in b" \t"
    if (is_name and is_wordy(value)) or (after == b">" and value.endswith(b"-")):
        return True
    is_bare_call = data.startswith(b"()", found.end())
    is_call = found["bare"] and after in _CALLS and (is_bare_call or not _is_bracketed(value))
    is_call = is_call and not (is_environment(data, one) and has_random_part(value))
    if is_call and not (found["tag"] or found["item"]):
        return True
    if found["is"] and (one.kind != "password" or is_wordy(value)):
        return (len(value) < 16 or is_dashed_name(value)) and not is_stated_token(value)
    if found["mark"] and not one.is_flag:
        # `if password == "x-oauth-basic"`
        is_compared = found["equals"] in _COMPARED and is_wordy(value)
        return is_compared or is_label(value) or is_translated(one, value)
    # `NAME_OF_PASSWORD: Some words about it`
    is_said = found["colon"] and found["bare"] and is_wordy(value) and after in (b" ", b"\t")
    rest = data[found.end() : found.end() + 8].lstrip(b" \t")
    return bool(is_said) and rest[:1].isalnum()

"""Build the markers that replace secrets, and recognize the ones that are already in a text."""

import re
from functools import cache

from leftoff.lazy_patterns import lazy

# The last word of every kind of secret. Only a text that names such a kind is a marker, so writing
# `[redacted: …]` around a secret does not hide it.
NOUNS = frozenset(
    b"authorization certificate code cookie credential credentials dsn hash id jwt key keys login "
    b"macaroon password passphrase secret secrets seed session signature string token tokens uri "
    b"url webhook".split()
)  # fmt: skip
_OPENING = b"[redacted: "
_OPENED = lazy(re.escape(_OPENING))
_MARKER = lazy(rb"(\[redacted: (?:[a-z0-9.&]{1,16}[ -]){0,4}[a-z]{2,16}\])")
# Each word of a kind is a name, such as `auth0`. A key has more digits.
_MANY_DIGITS = lazy(rb"(?:[a-z]*[0-9]){3}")


@cache
def marker(kind: str) -> bytes:
    """Return the text that replaces a secret of this kind and is recognized as a marker later."""
    text = _OPENING + kind.encode() + b"]"
    return text if is_marker(text) else _OPENING + b"secret]"


def split_at_markers(data: bytes) -> list[bytes]:
    """Split a text at its markers: text, marker, text, and so on."""
    # An expression finds a long text faster than `in` does.
    if b"[" not in data or not _OPENED.search(data):
        return [data]
    parts: list[bytes] = []
    at = 0
    for found in _MARKER.finditer(data):
        if is_marker(found[0]):
            parts += (data[at : found.start()], found[0])
            at = found.end()
    return [*parts, data[at:]]


def is_marker(text: bytes) -> bool:
    """Return whether a text is a real marker, not something that imitates one around a secret."""
    if not _MARKER.fullmatch(text):
        return False
    words = re.split(rb"[ -]", text[len(_OPENING) : -1])
    return (words[-1] in NOUNS or words == [b"password", b"in", b"url"]) and not any(
        _MANY_DIGITS.match(word) for word in words
    )

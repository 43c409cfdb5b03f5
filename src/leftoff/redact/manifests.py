"""Find the values of a Kubernetes Secret: every value, whatever its name."""

from collections.abc import Iterator

from leftoff.lazy_patterns import lazy
from leftoff.redact.judge import is_address_with_key, is_placeholder
from leftoff.redact.shapes import Span

# Backslashes may be anywhere, because a manifest in JSON may itself be quoted in JSON.
_KIND = lazy(rb"kind\\{0,8}[\"']?:[ \t]{0,8}\\{0,8}[\"']?\Z")
_KIND_REACH = 40
_REACH = 20_000
_BLOCK = lazy(rb"(?<![^\n])([ \t]{0,12})(data|stringData):[ \t]{0,8}\r?\n((?:\1[ \t]+[^\n]*\n?)+)")
_LINE = lazy(
    rb"(?<=\n)[ \t]+(?P<key>[\w.-]{1,253}):[ \t]{1,8}[\"']?"
    rb"(?P<value>[^\s\"'|>&*!{#][^\n\"'\\]{0,8000}?)[\"']?[ \t]*(?=\r?\n|\Z)"
)
_OBJECT = lazy(rb"\\{0,8}\"(?:data|stringData)\\{0,8}\"\s{0,8}:\s{0,8}\{([^{}]{1,16000})\}")
_MEMBER = lazy(rb"(?P<key>):\s{0,8}\\{0,8}\"(?P<value>[^\"\\]{1,8000})")
_BORDERS = (b"\n---", b"```")
_SHORTEST = 3
# `stringData` is among the first bytes of its block.
_NAME = 40
# A variable, the field of a template, a switch, a time span, what SOPS has encrypted,
# a certificate in base64.
_NO_SECRET = lazy(
    rb"(?i)[$<]|\{\{|(?:true|false|yes|no|null)\Z|\d{1,6}[smhd]\Z"
    rb"|ENC\[AES256_GCM,|(?-i:LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS)"
)
_WORDS = lazy(rb"[-_.]")
# Keys whose values anyone may know, if they are written plainly.
_PUBLIC = frozenset(
    b"user username host hostname port name namespace type kind apiversion server scheme region "
    b"email database driver provider mode address".split()
)


def find_manifest(data: bytes, at: int) -> tuple[int, list[Span]]:
    """Return the values under `data` and `stringData` of the Secret whose kind is at this place.

    The first item of the result is where the document ends.
    """
    if data[at : at + 6] != b"Secret" or not _KIND.search(data, max(0, at - _KIND_REACH), at):
        return 0, []
    first, last = max(0, at - _REACH), min(len(data), at + _REACH)
    # Several manifests may follow each other in one file, separated by `---`, or in a manual.
    start = max(first, *(data.rfind(border, first, at) for border in _BORDERS))
    ends = (data.find(border, at, last) for border in _BORDERS)
    end = min((end for end in ends if end >= 0), default=last)
    return end, list(_values(data, start, end))


def _values(data: bytes, start: int, end: int) -> Iterator[Span]:
    for outer, inner in ((_BLOCK, _LINE), (_OBJECT, _MEMBER)):
        for block in outer.finditer(data, start, end):
            group = block.lastindex or 0
            is_plain = b"stringData" in block[0][:_NAME]
            for found in inner.finditer(data, *block.span(group)):
                value = found["value"]
                if _may_be_secret(value) and not (is_plain and _is_public(found["key"], value)):
                    yield Span(*found.span("value"), "secret")


def _may_be_secret(value: bytes) -> bool:
    """Return whether a value is not too short, and no variable or field of a template."""
    if len(value) < _SHORTEST or _NO_SECRET.match(value):
        return False
    # Another rule finds the password in an address.
    return b"://" not in value or is_address_with_key(value)


def _is_public(key: bytes, value: bytes) -> bool:
    """Return whether a value is written plainly and anyone may know it, as a user name or host."""
    return _WORDS.split(key.lower())[-1] in _PUBLIC or is_placeholder(value)

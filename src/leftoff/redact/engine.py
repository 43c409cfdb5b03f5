"""Finding all secrets of a text and putting a marker in the place of each."""

import re
from collections.abc import Iterable
from typing import Any, TypeVar, cast

import msgspec

from leftoff.redact.blocks import find_blocks
from leftoff.redact.context import find_placed
from leftoff.redact.keyed import find_keyed, secret_under_key
from leftoff.redact.shapes import Span, find_shapes

_Value = TypeVar("_Value")
# No rule matches anything shorter.
_SHORTEST = 8
_ESCAPES = ((b"\\n", b" \n"), (b"\\r", b" \r"), (b"\\t", b" \t"))
_COLOURS = (
    (b"\x1b[", re.compile(rb"\x1b\[[0-9;]*m")),
    (b"\\u001b[", re.compile(rb"\\u001b\[[0-9;]*m")),
)


def redact(text: str) -> str:
    """Replace each secret by a marker naming its kind, and change nothing else."""
    # A marker can give the text beside it a boundary it did not have, so look until nothing is
    # found; every turn leaves fewer characters outside of markers.
    while len(text) >= _SHORTEST:
        data = text.encode("utf-8", "surrogatepass")
        spans = _find(data)
        if not spans:
            break
        text = _cut(data, spans).decode("utf-8", "surrogatepass")
    return text


def find_secrets(text: str) -> list[tuple[str, str]]:
    """List each secret of a text with its kind, in order."""
    data = text.encode("utf-8", "surrogatepass")
    return [
        (kind, data[start:end].decode("utf-8", "surrogatepass")) for start, end, kind in _find(data)
    ]


def redact_value(value: _Value) -> _Value:
    """Redact every text in a plain value or struct; what holds no secret is returned as it is."""
    return cast("_Value", _redacted(value))


def _marker(kind: str) -> str:
    return f"[redacted: {kind}]"


def _find(data: bytes) -> list[Span]:
    seen = _as_seen(data)
    low = seen.lower()
    # Where two rules see the same secret, the earlier one names it: exact shapes first.
    return _merge(
        [*find_blocks(seen), *find_shapes(seen), *find_placed(seen, low), *find_keyed(seen, low)]
    )


def _as_seen(data: bytes) -> bytes:
    """Blank out escapes and colours byte for byte: after an escaped line end a word begins."""
    if b"\\" in data:
        for escape, blank in _ESCAPES:
            data = data.replace(escape, blank)
    for start, colour in _COLOURS:
        if start in data:
            data = colour.sub(lambda found: b" " * len(found[0]), data)
    return data


def _merge(spans: Iterable[Span]) -> list[Span]:
    merged: list[tuple[int, Span]] = []
    for rank, span in sorted(enumerate(spans), key=lambda item: item[1].start):
        if merged and span.start < merged[-1][1].end:
            above, last = merged[-1]
            kind = last.kind if above < rank else span.kind
            union = Span(last.start, max(last.end, span.end), kind)
            merged[-1] = (min(above, rank), union)
        else:
            merged.append((rank, span))
    return [span for _, span in merged]


def _cut(data: bytes, spans: Iterable[Span]) -> bytes:
    parts: list[bytes] = []
    at = 0
    for start, end, kind in spans:
        parts += (data[at:start], _marker(kind).encode())
        at = end
    return b"".join([*parts, data[at:]])


def _redacted(value: Any) -> Any:
    match value:
        case str():
            return redact(value)
        case dict():
            return _same_if_equal(value, {k: _redacted_under(k, v) for k, v in value.items()})
        case list() | tuple() | set() | frozenset():
            items = [_redacted(item) for item in value]
            return _same_if_equal(value, _rebuilt(value, items))
        case msgspec.Struct():
            return _redacted_struct(value)
    return value


def _redacted_under(key: Any, value: Any) -> Any:
    if isinstance(key, str) and isinstance(value, str):
        clean = redact(value)
        kind = secret_under_key(key, clean)
        return _marker(kind) if kind else clean
    return _redacted(value)


def _redacted_struct(value: msgspec.Struct) -> msgspec.Struct:
    before = {name: getattr(value, name) for name in value.__struct_fields__}
    changes = {name: after for name, old in before.items() if (after := _redacted(old)) is not old}
    return msgspec.structs.replace(value, **changes) if changes else value


def _rebuilt(value: Any, items: list[Any]) -> Any:
    # A named tuple takes its fields one by one.
    return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)


def _same_if_equal(old: Any, new: Any) -> Any:
    return old if old == new else new

"""Find every secret in a text and replace it with a marker.

Redaction terminates on any text, in linear time. Every rule reads a bounded stretch around a hit. A
marker is a border: the texts on either side of it are searched separately, so a marker is never
part of a match. A cut gives the remaining text a new border, so the remainder is searched again. A
part that was searched too often is cut as a whole.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeVar, cast

import msgspec

from leftoff.redact.around import (
    MARKED,
    PRINTED,
    compile_words,
    find_after_words,
    find_placed,
    find_words,
)
from leftoff.redact.blocks import find_blocks
from leftoff.redact.keyed import secret_under_key
from leftoff.redact.markers import marker, split_at_markers
from leftoff.redact.nearby import find_nearby
from leftoff.redact.rule_index import ANCHOR_WORDS
from leftoff.redact.shapes import GUESS, Span, find_long_runs, find_shapes
from leftoff.redact.views import blank_escapes, decode_views

_Value = TypeVar("_Value")
# No rule matches anything shorter.
_SHORTEST = 8
# How many times the size of a text may be searched. Two is normal: once to find the secrets, and
# once to confirm that none is left.
_LOOKS = 4
# Short texts get this many extra bytes, because a few cuts would use up their budget.
_SMALL = 12_000
# How far from a cut the new border can matter. Anything that begins earlier and ends at the cut was
# already judged by its beginning in the first search.
_END = 2000
_NO_WORDS: frozenset[bytes] = frozenset()
# The rank of a kind that no table knows.
_GUESS = 5


# Plain text: no escape, sign, address, option or marker, and no run that is as long as a key. Every
# rule needs one of these or a word that it begins with. An option follows a blank, so a hyphen
# within a word does not start one.
_PLAIN = re.compile(r"(?:\w[\w-]{0,18}+(?![\w-])|[ \n,.;!?()/]++)*+", re.ASCII)
# Longer texts are rarely plain, so a look at them is wasted.
_MOST_PLAIN = 1000


class _Piece(NamedTuple):
    data: bytes
    kind: str | None = None
    is_settled: bool = False
    # For text that remains beside a cut: the sides on which the cut is.
    is_after: bool = False
    is_before: bool = False


def redact(text: str) -> str:
    """Replace each secret with a marker that names its kind, and change nothing else."""
    if len(text) < _SHORTEST or is_harmless(text):
        return text
    data = text.encode("utf-8", "surrogatepass")
    pieces = _pieces(data)
    if len(pieces) == 1 and pieces[0][0] is None:
        return text
    parts = (part if kind is None else marker(kind) for kind, part in pieces)
    return b"".join(parts).decode("utf-8", "surrogatepass")


def is_harmless(text: str) -> bool:
    """Return whether a short text is so plain that no rule applies to it."""
    if len(text) > _MOST_PLAIN or not _PLAIN.fullmatch(text):
        return False
    return not compile_words().hits(text.lower().encode())


def find_secrets(text: str) -> list[tuple[str, str]]:
    """List each secret in a text with its kind, in order."""
    data = text.encode("utf-8", "surrogatepass")
    return [
        (kind, part.decode("utf-8", "surrogatepass"))
        for kind, part in _pieces(data)
        if kind is not None
    ]


def redact_value(value: _Value) -> _Value:
    """Redact every text in a plain value or struct, and return values without secrets unchanged."""
    return cast("_Value", _redact_any(value))


def _pieces(data: bytes) -> list[tuple[str | None, bytes]]:
    """Split a text into its parts in order: secrets with their kinds, other text with None."""
    parts = split_at_markers(data)
    if len(parts) > 1:
        pieces = [_Piece(part, is_settled=at % 2 == 1) for at, part in enumerate(parts)]
        return list(_settle(pieces, _LOOKS * len(data) + _SMALL))
    # Most texts have neither a marker nor a secret.
    spans = _find(data) if len(data) >= _SHORTEST else []
    if not spans:
        return [(None, data)]
    return list(_settle(_cut(data, spans), (_LOOKS - 1) * len(data) + _SMALL))


def _settle(pieces: list[_Piece], looks: int) -> Iterator[tuple[str | None, bytes]]:
    # The stack holds the pieces in reverse order. Each turn settles a piece or shortens it. Once
    # the search budget is used up, each turn settles one piece, so the loop ends.
    waiting = pieces[::-1]
    while waiting:
        piece = waiting.pop()
        part = piece.data
        is_clean = piece.is_settled or len(part) < _SHORTEST or _has_clean_ends(piece)
        spans = [] if is_clean else _find(part)
        if not spans:
            yield piece.kind, part
        elif looks < 0:
            yield spans[0].kind, part
        else:
            # The ends were searched first, unless the part is short.
            looks -= len(part) + (_length_of_ends(piece) if _is_long(piece) else 0)
            waiting += _cut(part, spans)[::-1]


def _cut(data: bytes, spans: Iterable[Span]) -> list[_Piece]:
    parts: list[_Piece] = []
    at = 0
    for start, end, kind in spans:
        rest = _Piece(data[at:start], is_after=at > 0, is_before=True)
        parts += (rest, _Piece(data[start:end], kind, is_settled=True))
        at = end
    return [*parts, _Piece(data[at:], is_after=True)]


def _has_clean_ends(piece: _Piece) -> bool:
    """Return whether a long text beside a cut has no secret at its new ends.

    If a search of the ends finds anything, the whole text is searched, so it does no harm that the
    end of the stretch may split a word.
    """
    if not _is_long(piece):
        return False
    data, _, _, is_after, is_before = piece
    return not (is_after and _find(data[:_END])) and not (is_before and _find(data[-_END:]))


def _is_long(piece: _Piece) -> bool:
    """Return whether searching only the ends of a text beside a cut saves time."""
    return 0 < _length_of_ends(piece) < len(piece.data)


def _length_of_ends(piece: _Piece) -> int:
    return _END * (piece.is_after + piece.is_before)


def _find(data: bytes) -> list[Span]:
    seen, backslashes = blank_escapes(data)
    spans = _rank_spans(seen)
    for view in decode_views(data, backslashes):
        spans += [
            (rank, Span(*view.origin(span.start, span.end), span.kind))
            for rank, span in _rank_spans(view.data)
        ]
    return _merge(data, _without_wide_guesses(spans)) if spans else []


def _rank_spans(seen: bytes) -> list[tuple[int, Span]]:
    # If two rules find the same secret, the lower rank names it: exact shapes come first.
    low = seen.lower()
    hits = find_words(low)
    words = {word for word, _ in hits} if hits else _NO_WORDS
    runs = find_long_runs(seen)
    spans: list[tuple[int, Span]] = []
    for rank, found in (
        (0, find_blocks(seen, runs, may_have_marks=not words.isdisjoint(MARKED))),
        (1, find_shapes(seen, runs, may_be_anchored=not words.isdisjoint(ANCHOR_WORDS))),
        (2, find_placed(seen, may_print=not words.isdisjoint(PRINTED))),
        (4, find_nearby(seen, hits)),
    ):
        # Most texts yield nothing, and building a list of nothing takes longer than this.
        for span in found:
            spans.append((_GUESS if rank == 1 and span.kind == GUESS else rank, span))  # noqa: PERF401
    if hits:
        spans += [
            (3 if is_named else 2, span) for is_named, span in find_after_words(seen, low, hits)
        ]
    return spans


def _without_wide_guesses(spans: list[tuple[int, Span]]) -> list[tuple[int, Span]]:
    """Drop each guess that consists of a known shape and a word beside it.

    Removing a colour or an escape joins them: `token` and `ghp_…` then look like one unknown token.
    """
    known = {span.end: span.start for rank, span in spans if rank <= 1}
    return [
        (rank, span)
        for rank, span in spans
        if rank != _GUESS or known.get(span.end, -1) < span.start
    ]


def _merge(data: bytes, spans: list[tuple[int, Span]]) -> list[Span]:
    merged: list[tuple[int, Span]] = []
    for rank, span in sorted(spans, key=lambda item: item[1].start):
        if merged and span.start < merged[-1][1].end:
            above, last = merged[-1]
            kind = last.kind if above <= rank else span.kind
            union = Span(last.start, max(last.end, span.end), kind)
            merged[-1] = (min(above, rank), union)
        else:
            merged.append((rank, span))
    return [_whole(data, span) for _, span in merged]


def _whole(data: bytes, span: Span) -> Span:
    """Widen a span to whole UTF-8 characters."""
    start, end, kind = span
    while start > 0 and _is_continued(data, start):
        start -= 1
    while _is_continued(data, end):
        end += 1
    return Span(start, end, kind)


def _is_continued(data: bytes, at: int) -> bool:
    return at < len(data) and data[at] & 0xC0 == 0x80


def _redact_any(value: Any) -> Any:
    match value:
        case str():
            return redact(value)
        case dict():
            return _same_if_equal(value, {k: _redact_under_key(k, v) for k, v in value.items()})
        case list() | tuple() | set() | frozenset():
            items = [_redact_any(item) for item in value]
            return _same_if_equal(value, _rebuild(value, items))
        case msgspec.Struct():
            return _redact_struct(value)
    return value


def _redact_under_key(key: Any, value: Any) -> Any:
    if isinstance(key, str) and isinstance(value, str):
        clean = redact(value)
        kind = secret_under_key(key, clean)
        return marker(kind).decode() if kind else clean
    return _redact_any(value)


def _redact_struct(value: msgspec.Struct) -> msgspec.Struct:
    before = {name: getattr(value, name) for name in value.__struct_fields__}
    changes = {
        name: after for name, old in before.items() if (after := _redact_any(old)) is not old
    }
    return msgspec.structs.replace(value, **changes) if changes else value


def _rebuild(value: Any, items: list[Any]) -> Any:
    # A named tuple takes its fields as separate arguments.
    return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)


def _same_if_equal(old: Any, new: Any) -> Any:
    return old if old == new else new

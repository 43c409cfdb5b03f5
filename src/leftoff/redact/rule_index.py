"""Index the rows of the shape tables by their first bytes or by a fixed part in the middle."""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from leftoff.redact.issuers import ROWS, Row
from leftoff.redact.lookup import Lookup
from leftoff.redact.template import find_fixed_part, openings, solid_part, to_pattern

# Shapes that may lack a long run.
ANCHORED: tuple[Row, ...] = (
    ("azure secret", "<3 tilde><1 digit>Q~<31-34 tilde>", "<3 tilde><1 digit>Q~<8 tilde>"),
    (
        "vault unseal key",
        "Unseal Key <1-2 digit>: (<40+ jose>)",
        "Unseal Key <1 digit>: (<8 jose>)",
    ),
    ("azure signature", "sig=(<40+ encoded>)", "sig=(<8 encoded>)"),
    (
        "zapier webhook",
        "hooks.zapier.com/hooks/(catch/<8+ path>)",
        "hooks.zapier.com/hooks/(catch)",
    ),
)
# Only the first of these rows can match a text that has none of these words in lower case.
ANCHOR_WORDS = (b"unseal ", b"sig=", b"zapier")
KEY = 3
_KEY_BYTES = b"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"


class Opening(NamedTuple):
    """A fixed text, and the rows whose shapes begin with it.

    Each row comes with the number of letters and digits that must follow the text, because checking
    a slice is cheaper than matching a pattern. At least `least` must follow for any of the rows.
    """

    text: bytes
    rows: list[tuple[Row, int]]
    least: int


@cache
def by_key() -> dict[bytes, list[Opening]]:
    """Index the rows by the first bytes of their openings, longest opening first."""
    texts: dict[bytes, list[tuple[Row, int]]] = {}
    for row in ROWS:
        solid = solid_part(row[1])
        for text in filter(None, openings(row[1])):
            texts.setdefault(text.encode(), []).append((row, solid))
    index: dict[bytes, list[Opening]] = {}
    for opening in sorted(texts, key=len, reverse=True):
        rows = texts[opening]
        least = min(solid for _, solid in rows)
        # A short opening has thousands of keys, which share one list.
        alone = [Opening(opening, rows, least)]
        for key in _keys(opening, least):
            index[key] = index[key] + alone if key in index else alone
    return index


def _keys(text: bytes, least: int) -> Iterator[bytes]:
    """List the keys of an opening; its next bytes are letters and digits if `least` says so."""
    if len(text) >= KEY:
        yield text[:KEY]
        return
    # An opening that is shorter than a key is listed under every key that begins with it.
    for more in (bytes([byte]) for byte in _KEY_BYTES):
        if more.isalnum() or least <= 0:
            yield from _keys(text + more, least - 1)


@cache
def index_anchored() -> dict[bytes, Row]:
    """Index the rows that need no long run by their fixed texts."""
    return {find_fixed_part(row[1]).encode(): row for row in ANCHORED}


@cache
def anchors(*, has_word: bool) -> Lookup:
    """Return the lookup for these fixed texts, with or without those that contain a word."""
    texts = index_anchored()
    return Lookup(text for text in texts if has_word or not _has_word(text))


def _has_word(text: bytes) -> bool:
    return any(word in text.lower() for word in ANCHOR_WORDS)


@cache
def infixes() -> tuple[tuple[bytes, Row], ...]:
    """List the rows without an opening, each with the fixed text to search for first."""
    fixed = ((find_fixed_part(row[1]).encode(), row) for row in ROWS if row[1].startswith("<"))
    return tuple((literal, row) for literal, row in fixed if len(literal) > 1)


@cache
def any_infix() -> re.Pattern[bytes]:
    """Return one pattern for all of these texts: most runs have none, so one search is enough."""
    return re.compile(b"|".join(re.escape(literal) for literal, _ in infixes()))


@cache
def index_joints() -> dict[bytes, list[Row]]:
    """Index the rows whose only fixed texts are single joints by the joint before the long run."""
    joined: dict[bytes, list[Row]] = {}
    for row in ROWS:
        if row[1].startswith("<") and len(literal := find_fixed_part(row[1]).encode()) == 1:
            joined.setdefault(literal, []).append(row)
    return joined


@cache
def pattern(shape: str) -> re.Pattern[bytes]:
    """Return the compiled pattern of a shape."""
    return re.compile(to_pattern(shape).encode())

"""Index the rows of the shape tables by their first bytes or by a fixed part in the middle."""

import re
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


class OpeningIndex(NamedTuple):
    """The openings of all rows by their first bytes, longest opening first.

    An opening of one letter is in `by_letter`: it would be under thousands of keys. It is under
    those keys, too, that a longer opening has.
    """

    by_key: dict[bytes, list[Opening]]
    by_letter: dict[bytes, list[Opening]]

    def find(self, key: bytes) -> list[Opening]:
        """Return the openings that may match a text which begins with this key."""
        return self.by_key.get(key) or self.by_letter.get(key[:1], [])

    def has_any(self, keys: list[bytes]) -> bool:
        """Return whether an opening may match any of the texts with these keys."""
        is_keyed = not self.by_key.keys().isdisjoint(keys)
        return is_keyed or any(key[:1] in self.by_letter and key.isalnum() for key in keys)


@cache
def index_openings() -> OpeningIndex:
    """Index the openings of all rows."""
    texts: dict[bytes, list[tuple[Row, int]]] = {}
    for row in ROWS:
        solid = solid_part(row[1])
        for begin in filter(None, openings(row[1])):
            texts.setdefault(begin.encode(), []).append((row, solid))
    index = OpeningIndex({}, {})
    for text in sorted(texts, key=len, reverse=True):
        opening = Opening(text, texts[text], min(solid for _, solid in texts[text]))
        if len(text) == 1:
            index.by_letter[text] = [opening]
            for key, others in index.by_key.items():
                if key.startswith(text):
                    others.append(opening)
        for key in _keys(opening):
            index.by_key.setdefault(key, []).append(opening)
    return index


def _keys(opening: Opening) -> list[bytes]:
    """List the keys of an opening of more than one letter; one of two has several."""
    text = opening.text
    if len(text) != KEY - 1:
        return [text[:KEY]] if len(text) >= KEY else []
    ends = (bytes([byte]) for byte in _KEY_BYTES)
    return [text + end for end in ends if end.isalnum() or opening.least <= 0]


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

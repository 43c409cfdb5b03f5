"""Find texts by some of their letters, as people type them into a picker."""

import re
from collections.abc import Sequence

# Letters that are further apart match by accident.
_LOOSEST = 4
_IN_ORDER = 1
_APART = 10


def rank_matches(typed: str, texts: Sequence[str]) -> list[int]:
    """Return the positions of the texts that contain every word, the best match first.

    A word matches if its letters come in the same order and near each other. Equal matches keep
    their order.
    """
    words = typed.casefold().split()
    scores = {number: _score(words, text.casefold()) for number, text in enumerate(texts)}
    found = {number: score for number, score in scores.items() if score is not None}
    return sorted(found, key=lambda number: found[number])


def _score(words: Sequence[str], text: str) -> int | None:
    """Return how far a text is from the words; None if it does not contain them."""
    scores = [_score_word(word, text) for word in words]
    return sum(score for score in scores if score is not None) if None not in scores else None


def _score_word(word: str, text: str) -> int | None:
    at = text.find(word)
    if at >= 0:
        return 0 if at == 0 or not text[at - 1].isalnum() else _IN_ORDER
    pattern = ".*?".join(map(re.escape, word))
    # A match that begins later may be closer together.
    spans = [len(each[1]) for each in re.finditer(f"(?=({pattern}))", text)]
    if not spans or min(spans) > _LOOSEST * len(word):
        return None
    return _APART + min(spans) - len(word)

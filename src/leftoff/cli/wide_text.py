"""Measure and cut text that is not plain Latin: CJK, emoji, combining marks.

wcwidth takes 25 ms to load, so `look.py` comes here only with such text.
"""

from wcwidth import iter_graphemes
from wcwidth import width as count_cells


def measure(text: str) -> int:
    """Return how many columns a text takes up on a screen."""
    return int(count_cells(text, control_codes="ignore"))


def cut_to(text: str, limit: int) -> str:
    """Return the longest beginning of a text that fits; an emoji or accented letter stays whole."""
    kept, places = [], 0
    for character in iter_graphemes(text):
        places += measure(character)
        if places > limit:
            break
        kept.append(character)
    return "".join(kept)

"""Count tokens, and fit sections of text into a budget by the weight of their items.

Items are tried from the heaviest to the lightest, and each one that still fits is kept whole. A
larger budget therefore drops an item only for a heavier one. An item brings along what it needs to
make sense: the heading of its section, and the item that it is a part of.
"""

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

import msgspec

from leftoff.text.fence import Rendered, join, say
from leftoff.text.token_pieces import FIRST, INNER, LAST, MARKS, SCRIPTS, STAND_INS, WHOLE

# The sum of fractions depends slightly on the order in which they are added.
_ROUNDING = 1e-6


class Item(msgspec.Struct, frozen=True):
    """A text that is kept whole or left out; light items are left out first."""

    text: Rendered
    weight: float
    parts: "Sequence[Item]" = ()
    """Items below it that make no sense without it."""
    lead: Rendered = say("")
    """How the text ends if parts follow, such as a colon."""
    short: Rendered = say("")
    """What to show if the text does not fit."""
    count: int = 1
    """How many things it names."""
    mark: str = ""
    """A name by which the caller asks whether it was kept."""
    fill: Callable[[], Rendered] | None = None
    """Makes the whole text, if that is slow. Not called if `text`, its beginning, is too long."""


class Section(msgspec.Struct, frozen=True):
    """Items under a heading, which is shown only with one of them."""

    heading: Rendered
    items: Sequence[Item]
    cut: Callable[[int], Rendered] | None = None
    """Renders a last line that says how many things were left out; None adds no line."""
    keeps_end: bool = False
    """Whether an item makes no sense without those after it, such as all but the last call."""
    beyond: int = 0
    """How many more things there are that are not among the items."""


class Limit(msgspec.Struct, frozen=True):
    """How much of something all lines may use together."""

    most: float
    measure: Callable[[str], float]


def limit_tokens(most: float) -> Limit:
    """Limit the tokens that a text costs."""
    return Limit(most - _ROUNDING, price)


def limit_lines(most: int) -> Limit:
    """Limit the number of lines of a text."""
    return Limit(most, lambda text: text.count("\n"))


def limit_width(most: int) -> Limit:
    """Limit the length of a text as a JSON string, without its quotes."""
    return Limit(most, measure_width)


def measure_width(text: str) -> int:
    """Return the length of a text as a JSON string, without its quotes."""
    return len(msgspec.json.encode(str(text)).decode()) - 2


class Fitted(msgspec.Struct, frozen=True):
    """What is left of some sections."""

    texts: list[Rendered]
    """The part of each section that fits; empty if nothing does."""
    marks: frozenset[str]
    """The marks of the items that were kept."""


def fit(sections: Sequence[Section], limits: Sequence[Limit]) -> list[Rendered]:
    """Return the part of each section that fits; empty if nothing does."""
    return fit_marked(sections, limits).texts


def fit_marked(sections: Sequence[Section], limits: Sequence[Limit]) -> Fitted:
    """Return the part of each section that fits, and which marked items are in it."""
    room = _Room(limits)
    groups = [_SectionGroup(section) for section in sections]
    nodes = [node for group in groups for node in group.nodes]
    # The sort is stable: of equal weights, the first in the text is tried first.
    for node in sorted(nodes, key=lambda each: -each.weight):
        node.try_to_keep(room)
    marks = frozenset(node.item.mark for node in nodes if node.kept and node.item.mark)
    return Fitted([group.render() for group in groups], marks)


def fit_first(lines: Sequence[Rendered], limits: Sequence[Limit]) -> list[Rendered]:
    """Return as many lines as fit, from the first one on and without a gap."""
    room = _Room(limits)
    for number, line in enumerate(lines):
        if not room.take(f"{line}\n"):
            return [*lines[:number]]
    return [*lines]


class _Room:
    """What is left of each limit."""

    def __init__(self, limits: Sequence[Limit]) -> None:
        self._limits = limits
        self._left = [limit.most for limit in limits]

    def take(self, added: str, removed: str = "") -> bool:
        """Use room for lines in place of others; return whether there is enough."""
        left = self._measure_left(added, removed)
        if any(most < 0 for most in left):
            return False
        self._left = left
        return True

    def has(self, added: str, removed: str = "") -> bool:
        """Return whether there is enough room, without using it."""
        return all(most >= 0 for most in self._measure_left(added, removed))

    def _measure_left(self, added: str, removed: str) -> list[float]:
        return [
            most - limit.measure(added) + (limit.measure(removed) if removed else 0)
            for limit, most in zip(self._limits, self._left, strict=True)
        ]


class _Node:
    """An item while its section is being fitted."""

    def __init__(self, item: Item, head: "_Node | None", group: "_SectionGroup") -> None:
        self.item = item
        self.head = head
        self.group = group
        # A part is never tried before its head.
        self.weight: float = item.weight if head is None else min(item.weight, head.weight)
        self.kept = say("")
        self.parts = [_Node(part, self, group) for part in item.parts if part.text]

    @property
    def text(self) -> Rendered:
        """The text of the item itself, as it will be shown."""
        leads = any(part.kept for part in self.parts)
        return join([self.kept, self.item.lead], "") if leads else self.kept

    def try_to_keep(self, room: _Room) -> None:
        """Keep the item if it fits together with everything it needs."""
        if (self.head is not None and not self.head.kept) or self.group.lacks_after(self):
            return
        for text in (self._make_text(room), self.item.short):
            if text and room.take(*self._exchange(f"{text}\n")):
                self.kept = text
                return

    def _make_text(self, room: _Room) -> Rendered:
        item = self.item
        if item.fill is None or not room.has(*self._exchange(f"{item.text}\n")):
            return item.text
        return item.fill()

    def _exchange(self, line: str) -> tuple[str, str]:
        """Return the lines to add, and those to remove, if the item is kept."""
        if self.head is None:
            return self.group.exchange(line)
        head, lead = self.head.kept, self.head.item.lead
        if not lead or self.head.text != head:
            return line, ""
        return f"{head}{lead}\n{line}", f"{head}\n"

    def walk(self) -> "Iterator[_Node]":
        yield self
        for part in self.parts:
            yield from part.walk()


class _SectionGroup:
    """A section while it is being fitted."""

    def __init__(self, section: Section) -> None:
        self._section = section
        self._tops = [_Node(item, None, self) for item in section.items if item.text]
        self.nodes = [node for top in self._tops for node in top.walk()]

    def lacks_after(self, node: _Node) -> bool:
        """Return whether the item that must come after this one was left out."""
        if not self._section.keeps_end or node.head is not None:
            return False
        after = self._tops[self._tops.index(node) + 1 :]
        return bool(after) and not after[0].kept

    def exchange(self, line: str) -> tuple[str, str]:
        """Return the lines to add, and those to remove, if one more item is kept."""
        missing = sum(not top.kept for top in self._tops)
        # While some are missing, there must be room for the line that says how many.
        cut = f"{self._cut(self._tops)}\n" if self._section.cut else ""
        if missing == len(self._tops):
            heading = f"{self._section.heading}\n" if self._section.heading else ""
            return f"{heading}{line}{cut if missing > 1 or self._section.beyond else ''}", ""
        return line, cut if missing == 1 and not self._section.beyond else ""

    def render(self) -> Rendered:
        kept = [node.text for node in self.nodes if node.kept]
        if not kept:
            return say("")
        missing = [top for top in self._tops if not top.kept]
        return join([self._section.heading, *kept, self._cut(missing)])

    def _cut(self, missing: "Sequence[_Node]") -> Rendered:
        count = sum(top.item.count for top in missing) + self._section.beyond
        return self._section.cut(count) if self._section.cut and count else say("")


# --- making sections ---


def make_section(heading: Rendered, items: Iterable[Item]) -> Section:
    """Make a section that does not say how many of its items were left out."""
    return Section(heading, [*items])


def make_list(heading: Rendered, items: Iterable[Item]) -> Section:
    """Make a section that says how many of its items were left out."""
    return Section(heading, [*items], lambda count: say("+{count} more", count=count))


def list_bullets(texts: Iterable[str], weight: float) -> list[Item]:
    """List texts, each a little lighter than the one before: the first ones survive truncation."""
    return [
        Item(say("- {text:lines}", text=text), weight - n / 100) for n, text in enumerate(texts)
    ]


def list_in_lines(texts: list[str], weight: float, most: int) -> list[Item]:
    """List short texts, several in a line."""
    groups = [texts[n : n + most] for n in range(0, len(texts), most)]
    return [
        Item(say("- {text:2000}", text=", ".join(group)), weight - n, count=len(group))
        for n, group in enumerate(groups)
    ]


def cut_words(text: str, chars: int) -> str:
    """Return the first words of a text that fit, with a mark if some are missing."""
    if len(text) <= chars:
        return text
    return (text[: chars - 1].rpartition(" ")[0] or text[: chars - 1]) + " …"


# --- counting tokens ---
#
# Claude 4.7 and later need the most tokens of all models we measured: one for about 2.3 characters
# of a briefing, the others one for 3.0 to 3.7. So the estimate counts as they do: it divides every
# word and every run of marks into pieces that cost one token each. The tables contain the pieces
# that sessions use most. What they do not contain is divided further, at worst into single
# characters, so a missing piece makes the estimate higher, never lower.
#
# Letters of other scripts have only an average price. docs/budget.md lists what was measured, and
# for which texts the estimate is an upper bound.


_LONGEST_PIECE = max(max(map(len, pieces)) for pieces in (FIRST, INNER, LAST))
_LONGEST_MARKS = max(map(len, MARKS))
_LONGEST_BLANKS = 16
# A text that is put between others can cost one token more on each side.
_EDGES = 2

_WORD = re.compile(r"[A-Za-z]+")
# Gemini counts every digit, the others every three.
_DIGIT = re.compile(r"[0-9]")
# With the spaces beside it: the one between two runs belongs to both.
_MARK_RUN = re.compile("( ?[!-/:-@[-`{-~\x80-\x85]+)(?=( ?))")
# A single space costs nothing between words and marks.
_BLANKS = re.compile("\n+|\t+| {2,}|(?<![!-/:-~\x80-\x85]) | (?![!-/:-~\x80-\x85])")
# Between two symbols, it costs one token for each.
_BETWEEN_SYMBOLS = re.compile("(?<=[^\x00-\x85]) (?=[^\x00-\x85])")
# An apostrophe and these letters are one token, not two.
_CONTRACTION = re.compile(r"(?<=[A-Za-z])'(?:s|t|re|ve)(?!\w)")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f]")

_FIRSTS = [first for first, _, _ in SCRIPTS]
# What the bytes of a character cost if no piece contains it.
_DEAREST = 4.0
_RARE = 3.0
# How long the frequent Korean syllables are in EUC-KR, which spells out the others.
_EUC_BYTES = 2


def estimate(text: str) -> int:
    """Estimate from above how many tokens a text costs."""
    return math.ceil(_EDGES + price(text)) if text else 0


def price(text: str) -> float:
    """Return what whole lines add to the estimate of a longer text."""
    text = text if text.isascii() else text.translate(STAND_INS)
    words = Counter(_WORD.findall(text))
    marks = Counter(_MARK_RUN.findall(text))
    total: float = sum(_count_word_pieces(word) * times for word, times in words.items())
    total += sum(_count_mark_pieces(*run) * times for run, times in marks.items())
    total += sum(-(-len(run) // _LONGEST_BLANKS) for run in _BLANKS.findall(text))
    total += len(_CONTROL.findall(text)) - len(_CONTRACTION.findall(text))
    total += len(_DIGIT.findall(text))
    return total if text.isascii() else total + _price_scripts(text)


@lru_cache(maxsize=4096)
def _count_word_pieces(word: str) -> int:
    if word in WHOLE:
        return 1
    lower = word.lower()
    if lower[1:] == word[1:] and lower != word:
        # The capital costs one token more, unless the table has the word with it.
        return 1 + _count_word_pieces(lower)
    # Without a piece for its beginning or end, a word costs one token more there.
    start = _find_longest(FIRST, word, 0, _LONGEST_PIECE)
    pieces = 2
    # A longer slice would make the cost of a very long word grow with its square.
    while start < len(word) and word[start : start + _LONGEST_PIECE + 1] not in LAST:
        start = max(_find_longest(INNER, word, start, _LONGEST_PIECE), start + 1)
        pieces += 1
    return pieces


@lru_cache(maxsize=1024)
def _count_mark_pieces(marks: str, after: str) -> int:
    run = marks + after
    start = pieces = 0
    while start < len(run):
        start = max(_find_longest(MARKS, run, start, _LONGEST_MARKS), start + 1)
        pieces += 1
    return pieces


def _find_longest(pieces: frozenset[str], text: str, start: int, longest: int) -> int:
    """Return where the longest piece that begins here ends, or `start` if there is none."""
    for end in range(min(len(text), start + longest), start, -1):
        if text[start:end] in pieces:
            return end
    return start


def _price_scripts(text: str) -> float:
    counts = Counter(text)
    total = sum(
        _price_character(character) * times
        for character, times in counts.items()
        if character > "\x85"
    )
    return total + len(_BETWEEN_SYMBOLS.findall(text))


def _price_character(character: str) -> float:
    _, last, price = SCRIPTS[bisect_right(_FIRSTS, character) - 1]
    if character > last:
        return _DEAREST
    return _RARE if character >= "\u3400" and _is_rare(character) else price


def _is_rare(character: str) -> bool:
    """Return whether an ideograph or a Korean syllable is not among the frequent ones."""
    if "\uac00" <= character <= "\ud7a3":
        return len(character.encode("euc_kr", "ignore")) != _EUC_BYTES
    if character > "\u9fff":
        return False
    # Both encodings put the frequent characters first: level 1 of GB 2312 and of Big5.
    simplified = character.encode("gb2312", "ignore")[:1]
    traditional = character.encode("big5", "ignore")[:1]
    return not (b"\xb0" <= simplified <= b"\xd7" or b"\xa4" <= traditional <= b"\xc6")

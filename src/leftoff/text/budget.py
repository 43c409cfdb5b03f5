"""Fit sections of text into a budget by the weight of their items.

Items are tried from the heaviest to the lightest, and each one that still fits is kept whole. A
larger budget therefore drops an item only for a heavier one. An item brings along what it needs to
make sense: the heading of its section, and the item that it is a part of.
"""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from leftoff.text.fence import Rendered, join, say
from leftoff.text.tokens import price

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


class Section(msgspec.Struct, frozen=True):
    """Items under a heading, which is shown only with one of them."""

    heading: Rendered
    items: Sequence[Item]
    cut: Callable[[int], Rendered] | None = None
    """Renders a last line that says how many things were left out; None adds no line."""


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


def fit(sections: Sequence[Section], limits: Sequence[Limit]) -> list[Rendered]:
    """Return the part of each section that fits; empty if nothing does."""
    room = _Room(limits)
    groups = [_Group(section) for section in sections]
    nodes = [node for group in groups for node in group.nodes]
    # The sort is stable: of equal weights, the first in the text is tried first.
    for node in sorted(nodes, key=lambda each: -each.weight):
        node.try_to_keep(room)
    return [group.render() for group in groups]


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
        left = [
            most - limit.measure(added) + (limit.measure(removed) if removed else 0)
            for limit, most in zip(self._limits, self._left, strict=True)
        ]
        if any(most < 0 for most in left):
            return False
        self._left = left
        return True


class _Node:
    """An item while its section is being fitted."""

    def __init__(self, item: Item, head: "_Node | None", group: "_Group") -> None:
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
        if self.head is not None and not self.head.kept:
            return
        for text in (self.item.text, self.item.short):
            if text and room.take(*self._exchange(f"{text}\n")):
                self.kept = text
                return

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


class _Group:
    """A section while it is being fitted."""

    def __init__(self, section: Section) -> None:
        self._section = section
        self._tops = [_Node(item, None, self) for item in section.items if item.text]
        self.nodes = [node for top in self._tops for node in top.walk()]

    def exchange(self, line: str) -> tuple[str, str]:
        """Return the lines to add, and those to remove, if one more item is kept."""
        missing = sum(not top.kept for top in self._tops)
        # While some are missing, there must be room for the line that says how many.
        cut = f"{self._cut(self._tops)}\n" if self._section.cut else ""
        if missing == len(self._tops):
            heading = f"{self._section.heading}\n" if self._section.heading else ""
            return f"{heading}{line}{cut if missing > 1 else ''}", ""
        return line, cut if missing == 1 else ""

    def render(self) -> Rendered:
        kept = [node.text for node in self.nodes if node.kept]
        if not kept:
            return say("")
        missing = [top for top in self._tops if not top.kept]
        return join([self._section.heading, *kept, self._cut(missing)])

    def _cut(self, missing: "Sequence[_Node]") -> Rendered:
        if self._section.cut is None or not missing:
            return say("")
        return self._section.cut(sum(top.item.count for top in missing))

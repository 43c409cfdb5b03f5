"""What fits is kept whole, the heaviest first, and never without its heading."""

from collections.abc import Iterator, Sequence

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leftoff.text.budget import (
    Item,
    Limit,
    Section,
    estimate,
    fit,
    fit_first,
    fit_marked,
    limit_lines,
    limit_tokens,
    limit_width,
    measure_width,
)
from leftoff.text.fence import Rendered, join, say

MORE = "more were left out"


def say_more(count: int) -> Rendered:
    return say("{count} more were left out", count=count)


class Draft(msgspec.Struct, frozen=True):
    """An item before it has a text of its own."""

    words: str
    weight: float
    parts: "tuple[Draft, ...]" = ()
    lead: bool = False
    short: bool = False
    count: int = 1


def drafts(depth: int) -> st.SearchStrategy[Draft]:
    parts = st.just(()) if depth == 0 else st.lists(drafts(depth - 1), max_size=3).map(tuple)
    return st.builds(
        Draft,
        words=st.text("abc dé—\n字", max_size=40),
        weight=st.floats(0, 100, allow_nan=False),
        parts=parts,
        lead=st.booleans(),
        short=st.booleans(),
        count=st.integers(1, 1200),
    )


def make_item(draft: Draft, name: str) -> Item:
    """Give every item a first word that no other text contains."""
    words = draft.words.replace("\n", "\n > ")
    return Item(
        say("{text}", text=Rendered(f"<{name}> {words}")),
        draft.weight,
        [make_item(part, f"{name}.{n}") for n, part in enumerate(draft.parts)],
        lead=say(" leads:") if draft.lead else say(""),
        short=say("{text}", text=Rendered(f"<{name}>~")) if draft.short else say(""),
        count=draft.count,
    )


@st.composite
def lists_of_sections(draw: st.DrawFn) -> list[Section]:
    found = draw(st.lists(st.tuples(st.lists(drafts(2), max_size=5), st.booleans(), st.booleans())))
    return [
        Section(
            say("{text}", text=Rendered(f"# heading {number}" if has_heading else "")),
            [make_item(draft, f"{number}.{n}") for n, draft in enumerate(items)],
            say_more if says_more else None,
        )
        for number, (items, has_heading, says_more) in enumerate(found)
    ]


def walk(items: Sequence[Item], head: Item | None = None) -> Iterator[tuple[Item, Item | None]]:
    for item in items:
        yield item, head
        yield from walk(item.parts, item)


def name_of(item: Item) -> str:
    return item.text.split()[0]


def form_in(item: Item, text: str) -> int:
    """Say how an item is shown: 2 whole, 1 short, 0 not at all."""
    if name_of(item) not in text:
        return 0
    return 1 if f"{name_of(item)}~" in text else 2


def forms(sections: Sequence[Section], limits: Sequence[Limit]) -> list[int]:
    """Return how each item is shown, the heaviest first."""
    text = "\n".join(fit(sections, limits))
    weighed: list[tuple[float, Item]] = []

    def weigh(items: Sequence[Item], most: float) -> None:
        for item in items:
            weight = min(item.weight, most)
            weighed.append((weight, item))
            weigh(item.parts, weight)

    for section in sections:
        weigh(section.items, 1000)
    return [form_in(item, text) for _, item in sorted(weighed, key=lambda each: -each[0])]


BUDGETS = st.integers(0, 600)


@pytest.mark.slow("tries many texts")
@settings(deadline=None, max_examples=40)
@given(sections=lists_of_sections(), budget=BUDGETS, lines=st.integers(0, 40), width=BUDGETS)
def test_nothing_is_above_any_limit(
    sections: list[Section], budget: int, lines: int, width: int
) -> None:
    shown = fit(sections, [limit_tokens(budget), limit_lines(lines), limit_width(width)])
    text = join(shown)

    assert not text or estimate(f"{text}\n") <= budget + estimate("a")
    assert not text or text.count("\n") + 1 <= lines
    assert measure_width(text) <= width


@pytest.mark.slow("tries many texts")
@settings(deadline=None, max_examples=40)
@given(sections=lists_of_sections(), budget=BUDGETS)
def test_the_same_budget_gives_the_same_text(sections: list[Section], budget: int) -> None:
    limits = [limit_tokens(budget)]

    assert fit(sections, limits) == fit(sections, limits)


@pytest.mark.slow("tries many texts")
@settings(deadline=None, max_examples=40)
@given(sections=lists_of_sections(), budget=BUDGETS, more=BUDGETS)
def test_a_larger_budget_gives_up_an_item_only_for_a_heavier_one(
    sections: list[Section], budget: int, more: int
) -> None:
    small = forms(sections, [limit_tokens(budget)])
    large = forms(sections, [limit_tokens(budget + more)])

    assert small <= large


@pytest.mark.slow("tries many texts")
@settings(deadline=None, max_examples=40)
@given(sections=lists_of_sections(), budget=BUDGETS)
def test_no_heading_is_without_an_item_and_no_part_without_its_head(
    sections: list[Section], budget: int
) -> None:
    for section, text in zip(sections, fit(sections, [limit_tokens(budget)]), strict=True):
        shown = [item for item in section.items if form_in(item, text)]
        assert bool(text) == bool(shown)
        assert not shown or text.startswith(section.heading)
        for item, head in walk(section.items):
            assert head is None or not form_in(item, text) or form_in(head, text)


@pytest.mark.slow("tries many texts")
@settings(deadline=None, max_examples=40)
@given(sections=lists_of_sections(), budget=BUDGETS)
def test_an_item_leads_on_only_to_parts_that_are_shown(
    sections: list[Section], budget: int
) -> None:
    for section, text in zip(sections, fit(sections, [limit_tokens(budget)]), strict=True):
        lines = text.split("\n")
        for item, _ in walk(section.items):
            has_parts = any(form_in(part, text) for part in item.parts)
            own = [line for line in lines if line.startswith(name_of(item))]
            leads = any(f"{each}{item.lead}" in text for each in (item.text, item.short) if each)
            assert not own or not item.lead or leads == has_parts


@pytest.mark.slow("tries many texts")
@settings(deadline=None, max_examples=40)
@given(sections=lists_of_sections(), budget=BUDGETS)
def test_items_are_whole_and_in_order(sections: list[Section], budget: int) -> None:
    for section, text in zip(sections, fit(sections, [limit_tokens(budget)]), strict=True):
        at = 0
        for item, _ in walk(section.items):
            if form := form_in(item, text):
                at = text.index(item.text if form == 2 else item.short, at)


@pytest.mark.slow("tries many texts")
@settings(deadline=None, max_examples=40)
@given(sections=lists_of_sections(), budget=BUDGETS)
def test_a_section_that_was_cut_says_how_many_are_missing(
    sections: list[Section], budget: int
) -> None:
    for section, text in zip(sections, fit(sections, [limit_tokens(budget)]), strict=True):
        missing = sum(item.count for item in section.items if not form_in(item, text))
        says_more = bool(text and section.cut and missing)
        assert text.endswith(f"\n{missing} {MORE}") == says_more
        assert (MORE in text) == says_more


@pytest.mark.slow("tries many texts")
@settings(deadline=None, max_examples=40)
@given(sections=lists_of_sections())
def test_without_limits_everything_is_shown(sections: list[Section]) -> None:
    assert set(forms(sections, [])) <= {2}


def test_the_last_item_may_use_the_room_of_the_line_that_it_makes_needless() -> None:
    section = Section(say("List:"), [Item(say("one"), 2), Item(say("two"), 1)], say_more)
    cut = f"List:\none\n1 {MORE}"

    assert fit([section], [Limit(len(cut) + 1, len)]) == ["List:\none\ntwo"]
    assert fit([section], [Limit(len(cut), len)]) == [""]


@pytest.mark.parametrize(
    ("room", "shown", "made"),
    [
        (len("name\n"), "name", 0),
        (len("name\n by:\n"), "name", 1),
        (len("name\n by: Ada\n"), "name\n by: Ada", 1),
    ],
)
def test_a_text_that_takes_time_is_made_only_if_its_beginning_fits(
    room: int, shown: str, made: int
) -> None:
    calls: list[str] = []

    def fill() -> Rendered:
        calls.append("filled")
        return say(" by: Ada")

    item = Item(say("name"), 2, [Item(say(" by:"), 1, fill=fill)])

    assert fit([Section(say(""), [item])], [Limit(room, len)]) == [shown]
    assert len(calls) == made


def test_a_text_that_turns_out_empty_is_left_out() -> None:
    item = Item(say("name"), 2, [Item(say(" by:"), 1, fill=lambda: say(""))])

    assert fit([Section(say(""), [item])], []) == ["name"]


@pytest.mark.parametrize(
    ("room", "marks"), [(3, set()), (4, {"new"}), (9, {"old", "new"}), (13, {"old"})]
)
def test_the_marks_of_what_was_kept_are_known(room: int, marks: set[str]) -> None:
    items = [
        Item(say("long text"), 3, short=say("text"), mark="old"),
        Item(say("new"), 2, mark="new"),
    ]

    assert fit_marked([Section(say(""), items)], [Limit(room, len)]).marks == marks


@pytest.mark.parametrize(("room", "kept"), [(0, 0), (3, 0), (4, 1), (8, 2), (9, 2), (100, 3)])
def test_the_first_lines_are_kept_without_a_gap(room: int, kept: int) -> None:
    lines = [say("one"), say("two"), say("three"), say("4")][:3]

    assert fit_first(lines, [Limit(room, len)]) == lines[:kept]
    assert fit_first([say("long line"), say("4")], [Limit(4, len)]) == []

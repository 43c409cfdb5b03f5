from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from leftoff.threads.compare import KeyChange, compare

PLAIN = st.dictionaries(
    st.sampled_from(["summary", "done", "plan", "branch", "new_key"]),
    st.text(max_size=3) | st.lists(st.text(max_size=2), max_size=4) | st.just({"path": "p"}),
)


def test_what_always_differs_is_not_shown() -> None:
    old = {"id": "a", "saved_at": "x", "schema": 1, "name": "n", "summary": "same"}

    assert compare(old, {**old, "id": "b", "saved_at": "y", "name": "m"}) == []


def test_lists_are_compared_entry_by_entry_and_values_whole() -> None:
    changes = compare(
        {"done": ["a", "b"], "summary": "old", "branch": "main"},
        {"done": ["b", "c"], "summary": "new", "plan": {"step": 2}},
    )

    assert changes == [
        KeyChange(key="done", removed=["a"], added=["c"]),
        KeyChange(key="summary", removed=["old"], added=["new"]),
        KeyChange(key="branch", removed=["main"], added=[]),
        KeyChange(key="plan", removed=[], added=[{"step": 2}]),
    ]


@settings(deadline=None)
@given(PLAIN)
def test_nothing_differs_from_itself(plain: dict[str, Any]) -> None:
    assert compare(plain, plain) == []


@settings(deadline=None)
@given(PLAIN, PLAIN)
def test_the_way_back_is_the_way_there_reversed(old: dict[str, Any], new: dict[str, Any]) -> None:
    there = {each.key: (each.removed, each.added) for each in compare(old, new)}
    back = {each.key: (each.added, each.removed) for each in compare(new, old)}

    assert there == back

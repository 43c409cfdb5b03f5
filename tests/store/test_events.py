from hypothesis import given
from hypothesis import strategies as st

from leftoff.store import StoreEvent, layout
from leftoff.store.layout import Action
from stores import NOON


def event(number: int, action: Action, *ids: str, of: int | None = None) -> StoreEvent:
    return StoreEvent(
        id=f"e{number}", at=NOON, action=action, ids=list(ids), of=None if of is None else f"e{of}"
    )


def test_the_last_thing_that_happened_is_the_state() -> None:
    told = [event(1, "saved", "a", "b"), event(2, "resumed", "a"), event(3, "cleared", "a")]

    assert layout.fold_events(told) == {"a": "cleared", "b": "open"}
    assert layout.fold_events([]) == {}


def test_what_was_undone_never_happened() -> None:
    told = [
        event(1, "saved", "a"),
        event(2, "resumed", "a"),
        event(3, "cleared", "a"),
        event(4, "undone", of=3),
    ]

    assert layout.fold_events(told) == {"a": "resumed"}


def test_a_save_that_was_undone_hides_its_revision_until_it_is_restored() -> None:
    told = [event(1, "saved", "a"), event(2, "undone", of=1)]

    assert layout.fold_events(told) == {"a": "undone"}
    assert layout.fold_events([*told, event(3, "restored", "a")]) == {"a": "open"}


def test_undoing_what_nobody_knows_changes_nothing() -> None:
    assert layout.fold_events([event(1, "saved", "a"), event(2, "undone", of=9)]) == {"a": "open"}


ACTIONS = st.sampled_from(["saved", "resumed", "declined", "consumed", "cleared", "restored"])
LOGS = st.lists(st.tuples(ACTIONS, st.sampled_from("abc")), max_size=8)


@given(LOGS, st.data())
def test_the_same_event_told_twice_counts_once(
    steps: list[tuple[Action, str]], data: st.DataObject
) -> None:
    told = [event(number, action, one) for number, (action, one) in enumerate(steps)]
    again = data.draw(st.lists(st.sampled_from(told), max_size=4)) if told else []

    assert layout.fold_events([*told, *again]) == layout.fold_events(told)


def test_only_what_took_something_away_can_be_undone() -> None:
    undoable: list[Action] = ["consumed", "cleared", "declined", "restored"]
    final: list[Action] = ["saved", "resumed", "undone", "purged"]

    assert all(event(1, action).can_be_undone for action in undoable)
    assert not any(event(1, action).can_be_undone for action in final)
    overwrite = StoreEvent(id="e", at=NOON, action="saved", ids=["b"], replaced="a")
    assert overwrite.can_be_undone
    assert overwrite.brings_back == ["a"]

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from leftoff.store import StoreEvent
from leftoff.store.fold_events import fold_events, list_redoable, list_undoable
from leftoff.store.layout import Action
from stores import NOON


def event(number: int, action: Action, *ids: str, of: int | None = None) -> StoreEvent:
    return StoreEvent(
        id=f"e{number}", at=NOON, action=action, ids=list(ids), of=None if of is None else f"e{of}"
    )


def test_the_last_thing_that_happened_is_the_state() -> None:
    events = [event(1, "saved", "a", "b"), event(2, "resumed", "a"), event(3, "cleared", "a")]

    assert fold_events(events) == {"a": "cleared", "b": "open"}
    assert fold_events([]) == {}


def test_what_was_undone_never_happened() -> None:
    events = [
        event(1, "saved", "a"),
        event(2, "resumed", "a"),
        event(3, "cleared", "a"),
        event(4, "undone", of=3),
    ]

    assert fold_events(events) == {"a": "resumed"}


def test_a_save_that_was_undone_hides_its_revision_until_it_is_restored() -> None:
    events = [event(1, "saved", "a"), event(2, "undone", of=1)]

    assert fold_events(events) == {"a": "undone"}
    assert fold_events([*events, event(3, "restored", "a")]) == {"a": "open"}


def test_undoing_what_nobody_knows_changes_nothing() -> None:
    assert fold_events([event(1, "saved", "a"), event(2, "undone", of=9)]) == {"a": "open"}


ACTIONS = st.sampled_from(["saved", "resumed", "declined", "consumed", "cleared", "restored"])
LOGS = st.lists(st.tuples(ACTIONS, st.sampled_from("abc")), max_size=8)


@given(LOGS, st.data())
def test_the_same_event_reported_twice_counts_once(
    steps: list[tuple[Action, str]], data: st.DataObject
) -> None:
    events = [event(number, action, one) for number, (action, one) in enumerate(steps)]
    again = data.draw(st.lists(st.sampled_from(events), max_size=4)) if events else []

    assert fold_events([*events, *again]) == fold_events(events)


def test_every_act_can_be_undone_and_an_autosave_is_not_one() -> None:
    acts: list[Action] = ["resumed", "declined", "consumed", "cleared", "dropped", "restored"]
    others: list[Action] = ["undone", "redone", "purged"]

    assert all(event(1, action).is_act for action in acts)
    assert not any(event(1, action).is_act for action in others)
    saved = StoreEvent(id="e", at=NOON, action="saved", ids=["b"], name="login-form")
    assert saved.is_act
    assert msgspec.structs.replace(saved, trigger="ship").is_act
    for trigger in ("session-end", "precompact", "recovered", "context", "import"):
        assert not msgspec.structs.replace(saved, trigger=trigger).is_act
    # A person edited a native file.
    assert msgspec.structs.replace(saved, trigger="import", replaced="a").is_act


def test_what_was_redone_happened_after_all() -> None:
    events = [event(1, "saved", "a"), event(2, "cleared", "a"), event(3, "undone", of=2)]
    redone = [*events, event(4, "redone", of=3)]

    assert fold_events(redone) == {"a": "cleared"}
    assert fold_events([*redone, event(5, "undone", of=2)]) == {"a": "open"}


def test_a_redone_save_is_shown_again_with_the_autosaves_after_it() -> None:
    hides = msgspec.structs.replace(event(3, "undone", of=1), hides=["a", "b"])
    events = [event(1, "saved", "a"), event(2, "saved", "b"), hides]

    assert fold_events(events) == {"a": "undone", "b": "undone"}
    assert fold_events([*events, event(4, "redone", of=3)]) == {
        "a": "open",
        "b": "open",
    }


STEPS = st.lists(st.sampled_from(["act", "undo", "redo", "autosave"]), max_size=12)


@given(STEPS)
def test_undo_and_redo_walk_along_the_acts(steps: list[str]) -> None:
    """They do what two stacks do, as in every editor."""
    events: list[StoreEvent] = []
    done: list[StoreEvent] = []
    undone: list[StoreEvent] = []
    for number, step in enumerate(steps):
        newest = list(reversed(events))
        if step == "act":
            events.append(event(number, "cleared", "a"))
            done.append(events[-1])
            undone.clear()
        elif step == "autosave":
            events.append(event(number, "saved", "b"))
        elif step == "undo":
            found = next(list_undoable(newest), None)
            assert found == (done[-1] if done else None)
            if found is not None:
                events.append(msgspec.structs.replace(event(number, "undone"), of=found.id))
                undone.append(done.pop())
        else:
            again = next(list_redoable(newest), None)
            assert (again.of if again else None) == (undone[-1].id if undone else None)
            if again is not None:
                events.append(msgspec.structs.replace(event(number, "redone"), of=again.id))
                done.append(undone.pop())
        assert fold_events(events).get("a", "open") == ("cleared" if done else "open")

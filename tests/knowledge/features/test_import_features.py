"""Importing features, fixes and loops from other files."""

from datetime import timedelta

import msgspec

from leftoff.knowledge import features
from leftoff.knowledge.features import AgentResult, Feature, Fix, Loop, Orchestration
from leftoff.store import Store
from stores import NOON

LATER = NOON + timedelta(days=1)
EARLIER = NOON - timedelta(days=1)


def theirs(name: str = "Export orders", **values: object) -> Feature:
    return msgspec.structs.replace(
        Feature(id="feature-001", name=name, created_at=EARLIER), **values
    )


def test_what_is_imported_twice_is_here_once(store: Store) -> None:
    found: list[Feature | Fix] = [
        theirs(),
        Fix(id="fix-feature-001-1", name="A cent", linked_to="feature-001"),
    ]

    assert features.import_items(store, found) == found
    assert features.import_items(store, found) == []
    assert features.load(store).items == found


def test_a_later_change_in_the_file_wins_and_an_earlier_one_does_not(store: Store) -> None:
    features.import_items(store, [theirs(updated_at=NOON)])
    changed = theirs(status="blocked", updated_at=NOON)

    assert features.import_items(store, [changed], written_at=EARLIER) == []
    assert features.import_items(store, [changed], written_at=LATER) == [changed]
    assert features.load(store).features == [changed]


def test_a_file_from_before_it_was_archived_does_not_bring_it_back(store: Store) -> None:
    features.import_items(store, [theirs(status="passing", updated_at=EARLIER)])
    features.archive(store)
    features.import_items(store, [theirs(status="passing", updated_at=EARLIER)], written_at=NOON)

    assert features.load(store).features[0].is_archived


def test_a_number_that_is_taken_becomes_the_next_one(store: Store) -> None:
    features.add(store, features.ItemDraft(name="Our feature"))
    first = features.import_items(store, [theirs("Their feature")])
    again = features.import_items(store, [theirs("Their feature")], written_at=LATER)

    assert [each.id for each in first] == ["feature-002"]
    assert again == []
    assert [each.name for each in features.load(store).features] == [
        "Our feature",
        "Their feature",
    ]


def test_secrets_are_left_out(store: Store) -> None:
    features.import_items(store, [theirs(description="key AKIAIOSFODNN7EXAMPLE here")])

    assert "AKIA" not in features.load(store).features[0].description


def test_a_loop_under_way_here_stays_as_it_is(store: Store) -> None:
    features.import_items(store, [theirs()])
    under_way = features.start(store, "1", session_id="s-1")
    other = Loop(feature="feature-009", status="in_progress", attempt=4)

    assert features.import_loops(store, {"s-1": other}) == []
    assert features.load_loop(store, "s-1") == under_way
    taken = features.import_loops(store, {"s-2": other})
    assert [each.session_id for each in taken] == ["s-2"]
    assert features.import_loops(store, {"s-2": other}) == []


def test_agents_at_work_here_stay_as_they_are(store: Store) -> None:
    ours = Orchestration(session="ours", results=[AgentResult(agent="a", status="completed")])
    features.import_orchestration(store, ours)
    features.import_orchestration(store, Orchestration(session="theirs"))

    assert features.load(store).orchestration == ours


def test_every_change_shows_in_the_places_to_look_at(store: Store) -> None:
    def look() -> list[int]:
        return [path.stat().st_mtime_ns for path in features.list_places(store) if path.exists()]

    features.import_items(store, [theirs()])
    first = look()
    features.start(store, "1", session_id="s-1")
    assert first != look()


def test_another_name_in_leftoffs_own_file_is_a_new_name(store: Store) -> None:
    old = Feature(id="feature-001", name="Export orders")
    features.import_items(store, [old], is_edit=True)
    new = msgspec.structs.replace(old, name="Export all orders")

    assert features.import_items(store, [new], written_at=LATER, is_edit=True) == [new]
    assert features.load(store).features == [new]


def test_a_new_feature_does_not_rename_an_archived_one(store: Store) -> None:
    done = Feature(id="feature-001", name="Export orders", archived_at=EARLIER)
    features.import_items(store, [done])
    new = Feature(id="feature-001", name="Search")

    features.import_items(store, [new], written_at=LATER, is_edit=True)

    assert [(each.id, each.name) for each in features.load(store).features] == [
        ("feature-001", "Export orders"),
        ("feature-002", "Search"),
    ]


def test_links_follow_an_item_whose_number_is_taken(store: Store) -> None:
    features.add(store, features.ItemDraft(name="Our feature"))
    later = Feature(id="feature-002", name="Mail it", dependencies=["feature-001"])
    repair = Fix(id="fix-feature-001-1", name="A cent", linked_to="feature-001")
    features.import_items(store, [later, theirs("Their feature"), repair])
    new_ids = features.list_new_ids(store)
    loop = Loop(feature="fix-feature-001-1", linked_to="feature-001", status="in_progress")
    features.import_loops(store, {"s1": loop}, new_ids=new_ids)

    board = features.load(store)
    assert new_ids == {"feature-001": "feature-003"}
    assert [each.dependencies for each in board.features] == [[], ["feature-003"], []]
    assert board.fixes[0].linked_to == "feature-003"
    assert [each.linked_to for each in features.load_loops(store).values()] == ["feature-003"]

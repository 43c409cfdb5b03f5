import msgspec
import pytest

from leftoff.errors import LeftoffError, UsageError
from leftoff.knowledge import features
from leftoff.knowledge.features import Feature, Fix, ItemDraft, Scenario
from leftoff.store import Store


def names(store: Store) -> list[str]:
    return [each.name for each in features.load(store).items]


def test_a_project_without_features_has_an_empty_board(store: Store) -> None:
    board = features.load(store)

    assert board.items == []
    assert board.active_feature is None
    assert not (store.project.store / "features.json").exists()


def test_features_are_numbered_in_the_order_they_come(store: Store) -> None:
    ids = [features.add(store, ItemDraft(name=f"Feature {number}")).id for number in range(3)]

    assert ids == ["feature-001", "feature-002", "feature-003"]
    assert names(store) == ["Feature 0", "Feature 1", "Feature 2"]


def test_no_number_is_given_twice_even_if_the_highest_was_archived(store: Store) -> None:
    first = features.add(store, ItemDraft(name="Export"))
    features.pass_(store, first.id)
    features.archive(store)

    assert features.add(store, ItemDraft(name="Import")).id == "feature-002"


def test_more_than_999_features_have_numbers(store: Store) -> None:
    features.put(store, [Feature(id="feature-999", name="Old")])

    assert features.add(store, ItemDraft(name="New")).id == "feature-1000"
    assert features.find(features.load(store), "1000").name == "New"


def test_everything_stated_about_a_feature_is_kept(store: Store) -> None:
    scenario = Scenario(scenario="No orders", given="no orders", when="exported", then="a header")
    draft = ItemDraft(
        name=" Export orders ",
        description="CSV for admins",
        priority=2,
        scenarios=[scenario],
        related_files=["src/export.py", "src/export.py"],
        labels=["csv"],
        issue=12,
        branch="feature/export",
    )

    added = features.add(store, draft)

    assert features.load(store).features == [added]
    assert added == Feature(
        id="feature-001",
        name="Export orders",
        description="CSV for admins",
        priority=2,
        scenarios=[scenario],
        related_files=["src/export.py"],
        labels=["csv"],
        issue=12,
        branch="feature/export",
        created_at=added.created_at,
        updated_at=added.created_at,
    )


def test_a_name_is_one_line(store: Store) -> None:
    assert features.add(store, ItemDraft(name=" Export\n orders\t")).name == "Export orders"


def test_a_feature_without_a_name_is_refused(store: Store) -> None:
    with pytest.raises(UsageError, match="needs a name"):
        features.add(store, ItemDraft(name="  "))


def test_secrets_are_not_kept(store: Store) -> None:
    secret = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    features.add(store, ItemDraft(name="Login", description=f"Use {secret}", labels=[secret]))
    features.start(store, "1")
    features.attempt(store, features.Try(approach=f"Sent {secret}", errors=[secret]))

    for path in store.project.store.rglob("*"):
        assert path.is_dir() or secret.encode() not in path.read_bytes(), path


def test_a_fix_is_numbered_after_its_feature(store: Store) -> None:
    features.add(store, ItemDraft(name="Export"))
    features.add(store, ItemDraft(name="Import"))

    fixes = [features.add_fix(store, "2", ItemDraft(name="Fix it")) for _ in range(2)]

    assert [fix.id for fix in fixes] == ["fix-feature-002-1", "fix-feature-002-2"]
    assert fixes[0].linked_to == "feature-002"
    assert isinstance(features.find(features.load(store), "fix-feature-002-1"), Fix)


def test_a_fix_of_a_fix_is_refused_with_the_feature_to_link_to(store: Store) -> None:
    features.add(store, ItemDraft(name="Export"))
    fix = features.add_fix(store, "1", ItemDraft(name="Fix it"))

    with pytest.raises(UsageError) as refused:
        features.add_fix(store, fix.id, ItemDraft(name="Again"))

    assert "feature-001" in refused.value.hint


def test_dependencies_are_ids_of_features_that_exist(store: Store) -> None:
    features.add(store, ItemDraft(name="Export"))

    added = features.add(store, ItemDraft(name="Mail it", dependencies=["1"]))

    assert isinstance(added, Feature)
    assert added.dependencies == ["feature-001"]
    assert features.waits_for(features.load(store), added) == ["feature-001"]
    with pytest.raises(LeftoffError, match="no feature or fix feature-009"):
        features.add(store, ItemDraft(name="More", dependencies=["9"]))
    features.pass_(store, "1")
    assert features.waits_for(features.load(store), added) == []


@pytest.mark.parametrize("key", ["7", "007", "feature-7", "feature-007", " Feature-007 "])
def test_a_feature_is_found_however_its_number_is_typed(store: Store, key: str) -> None:
    features.put(store, [Feature(id="feature-007", name="Export")])

    assert features.find(features.load(store), key).name == "Export"


def test_a_mistyped_feature_is_reported_with_the_nearest_one(store: Store) -> None:
    features.put(store, [Feature(id="feature-007", name="Export orders")])

    with pytest.raises(LeftoffError) as missing:
        features.find(features.load(store), "export order")

    assert "Did you mean feature-007?" in missing.value.hint


def test_the_active_feature_is_the_first_unfinished_one(store: Store) -> None:
    for name in ("Export", "Import", "Print"):
        features.add(store, ItemDraft(name=name))
    features.pass_(store, "1")

    active = features.load(store).active_feature

    assert active is not None
    assert active.id == "feature-002"


@pytest.mark.accept(148)
def test_what_passes_is_archived_with_a_time_and_never_moves_twice(store: Store) -> None:
    for name in ("Export", "Import", "Print"):
        features.add(store, ItemDraft(name=name))
    features.put(store, [Feature(id="feature-009", name="Legacy", extra={"passes": True})])
    features.add_fix(store, "1", ItemDraft(name="Fix it"))
    features.add_fix(store, "1", ItemDraft(name="Fix it more"))
    features.pass_(store, "1")
    features.pass_(store, "fix-feature-001-1")

    moved = features.archive(store)

    assert [each.id for each in moved.features] == ["feature-001", "feature-009"]
    assert [each.id for each in moved.fixes] == ["fix-feature-001-1"]
    assert moved.messages == ["Archived 2 completed features", "Archived 1 completed fixes"]
    board = features.load(store)
    assert all(each.archived_at for each in board.archive)
    assert [each.id for each in board.open_items] == [
        "feature-002", "feature-003", "fix-feature-001-2",
    ]  # fmt: skip
    assert features.archive(store).messages == []
    assert features.load(store) == board


def test_what_passes_when_others_are_archived_already_joins_them(store: Store) -> None:
    for name in ("Export", "Import"):
        features.add(store, ItemDraft(name=name))
    features.pass_(store, "1")
    first = features.archive(store).features[0]
    features.pass_(store, "2")

    assert [each.id for each in features.archive(store).features] == ["feature-002"]
    assert features.load(store).features[0] == first


def test_what_was_archived_comes_back_as_something_to_be_done(store: Store) -> None:
    features.add(store, ItemDraft(name="Export"))
    features.put(store, [Feature(id="feature-002", name="Old", extra={"passes": True, "x": 1})])
    features.pass_(store, "1")
    features.archive(store)

    for number in ("1", "2"):
        back = features.restore(store, number)
        assert (back.is_archived, back.status, back.is_complete) == (False, "pending", False)

    assert features.archive(store).messages == []
    assert features.find(features.load(store), "2").extra == {"x": 1}
    with pytest.raises(LeftoffError, match="feature-001 is not archived"):
        features.restore(store, "1")


def test_keys_of_a_feature_are_changed_and_its_change_is_dated(store: Store) -> None:
    added = features.add(store, ItemDraft(name="Export"))

    changed = features.update(store, "1", pr=45, branch="feature/export")

    assert changed.pr == 45
    assert changed == msgspec.structs.replace(
        added, pr=45, branch="feature/export", updated_at=changed.updated_at
    )
    assert changed.updated_at != added.updated_at
    assert features.update(store, "1", pr=45) == changed


def test_features_that_have_a_number_are_imported_as_they_are(store: Store) -> None:
    there = Feature(id="feature-003", name="Export", status="blocked", extra={"points": 5})

    features.put(store, [there, Fix(id="fix-feature-003-1", name="Fix", linked_to="feature-003")])
    features.put(store, [msgspec.structs.replace(there, name="Export all")])

    board = features.load(store)
    assert [(each.id, each.name, each.extra) for each in board.features] == [
        ("feature-003", "Export all", {"points": 5})
    ]
    assert len(board.fixes) == 1

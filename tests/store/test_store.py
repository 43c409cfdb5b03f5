import os
import stat
from pathlib import Path

import msgspec
import pytest

from leftoff.checkpoint import decode, encode
from leftoff.errors import ChoiceNeeded, NoSuchCheckpoint
from leftoff.projects.project import Project
from leftoff.store import Action, Query, Store
from stores import Clock, contents, draft, fresh_view, names_listed, view


def test_a_saved_checkpoint_is_found_by_name_and_by_id(store: Store) -> None:
    saved = store.save(draft("login-form"))

    assert store.load(store.find("login-form")) == saved.checkpoint
    assert store.load(store.find(saved.checkpoint.id)) == saved.checkpoint
    assert store.load(store.find(saved.checkpoint.id[-8:])) == saved.checkpoint
    assert saved.path.read_bytes() == encode(saved.checkpoint)
    assert (saved.notice, saved.replaced) == (None, None)


def test_an_empty_store_answers_that_there_is_nothing(store: Store) -> None:
    assert view(store) == []
    assert store.search(Query(words="anything")) == []
    assert store.undo() is None
    with pytest.raises(NoSuchCheckpoint):
        store.find("login-form")


def test_reading_does_not_make_the_store(store: Store, project: Project) -> None:
    assert view(store) == []

    assert not project.store.exists()


def test_a_name_in_use_is_not_taken_and_nothing_changes(store: Store, project: Project) -> None:
    store.save(draft("login-form", left_off="in the middle"))
    before = contents(project.store / "checkpoints")

    with pytest.raises(ChoiceNeeded) as refusal:
        store.save(draft("login-form", "other"))

    assert contents(project.store / "checkpoints") == before
    choices = refusal.value.choices
    assert [each["choice"] for each in choices] == ["overwrite", "rename"]
    assert choices[0]["left_off"] == "in the middle"


def test_overwriting_makes_a_new_revision_and_keeps_the_old_one(store: Store) -> None:
    first = store.save(draft("login-form", "first"))

    second = store.save(draft("login-form", "second"), overwrite=True)

    assert second.replaced == first.checkpoint.id
    revisions = store.index().revisions(first.checkpoint.id)
    assert [(each.task, each.is_head) for each in revisions] == [("second", True), ("first", False)]
    assert first.path.read_bytes() == encode(first.checkpoint)


@pytest.mark.parametrize("action", ["cleared", "consumed"])
def test_the_name_of_what_was_cleared_is_free_again(store: Store, action: Action) -> None:
    old = store.save(draft("login-form", "old"))
    store.record(action, [old.checkpoint.id])

    new = store.save(draft("login-form", "new"))

    assert new.replaced is None
    assert store.find("login-form").task == "new"


@pytest.mark.accept(60)
def test_two_saves_in_the_same_millisecond_are_two_files(project: Project) -> None:
    moment = Clock().now
    store = Store(project, now=lambda: moment)

    first, second = store.save(draft(None, "one")), store.save(draft(None, "two"))

    assert first.path != second.path
    assert decode(first.path.read_bytes()).summary == "one"
    assert decode(second.path.read_bytes()).summary == "two"
    store.close()


@pytest.mark.slow("runs every command")
@pytest.mark.accept(61)
def test_no_command_but_purge_changes_or_removes_a_file(store: Store, project: Project) -> None:
    folder = project.store / "checkpoints"
    seen: dict[str, str] = {}
    for number in range(200):
        saved = store.save(draft(f"name-{number % 7}", f"task {number}"), overwrite=True)
        if number % 3 == 0:
            store.record("consumed", [saved.checkpoint.id])
        if number % 5 == 0:
            store.undo()
        now = contents(folder)
        assert seen.items() <= now.items()
        seen = now
    assert len(seen) == 200


@pytest.mark.parametrize("name", ["login-form", None])
def test_a_clock_set_back_does_not_let_an_older_revision_win(
    store: Store, clock: Clock, name: str | None
) -> None:
    view(store)
    store.save(draft("other-thing", session_id="s2"))
    view(store)
    store.save(draft(name, "first", session_id="s1"))
    clock.move(days=-40)

    store.save(draft(name, "second", session_id="s1"), overwrite=True)

    assert [row[1] for row in view(store) if row[3] and row[0] == name] == ["second"]
    assert fresh_view(store.project) == view(store)


def test_what_is_restored_does_not_win_over_what_was_saved_after_it(
    store: Store, clock: Clock
) -> None:
    store.save(draft("login-form", "first"))
    second = store.save(draft("login-form", "second"), overwrite=True)
    store.undo()
    clock.move(days=-1)
    store.save(draft("login-form", "third"), overwrite=True)

    store.record("restored", [second.checkpoint.id])

    assert store.find("login-form").task == "third"


def test_a_save_knows_what_was_undone_restored_or_purged_just_before(store: Store) -> None:
    first = store.save(draft("login-form", "first"))
    second = store.save(draft("login-form", "second"), overwrite=True)
    store.undo()
    third = store.save(draft("login-form", "third"), overwrite=True)
    assert third.replaced == first.checkpoint.id

    store.undo()
    store.record("restored", [second.checkpoint.id])
    fourth = store.save(draft("login-form", "fourth"), overwrite=True)
    assert fourth.replaced == second.checkpoint.id

    store.purge([store.find("login-form")])
    fifth = store.save(draft("login-form", "fifth"), overwrite=True)
    assert fifth.replaced == second.checkpoint.id


# --- undo ---


@pytest.mark.accept(166)
@pytest.mark.parametrize("action", ["consumed", "cleared", "declined"])
def test_undo_brings_back_what_was_taken_away(store: Store, action: Action) -> None:
    saved = store.save(draft("login-form"))
    store.record("resumed", [saved.checkpoint.id])
    event = store.record(action, [saved.checkpoint.id])

    assert store.undo() == event
    assert store.find("login-form").state == "resumed"
    assert store.load(store.find("login-form")) == saved.checkpoint


def test_undo_goes_back_one_event_each_time_until_nothing_is_left(store: Store) -> None:
    one, two = store.save(draft("one-thing")), store.save(draft("two-things"))
    store.record("cleared", [one.checkpoint.id])
    store.record("cleared", [two.checkpoint.id])

    assert names_listed(store) == []
    store.undo()
    assert names_listed(store) == ["two-things"]
    store.undo()
    assert names_listed(store) == ["two-things", "one-thing"]
    store.undo()
    assert names_listed(store) == ["one-thing"]
    store.undo()
    assert store.undo() is None


def test_redo_goes_forward_again_until_a_new_act(store: Store) -> None:
    one, two = store.save(draft("one-thing")), store.save(draft("two-things"))
    store.record("resumed", [one.checkpoint.id])
    store.record("dropped", [two.checkpoint.id])
    for _ in range(4):
        store.undo()
    assert names_listed(store) == []

    assert [store.redo() is not None for _ in range(5)] == [True] * 4 + [False]
    assert [store.find(name).state for name in ("one-thing", "two-things")] == [
        "resumed",
        "dropped",
    ]
    store.undo()
    store.record("cleared", [one.checkpoint.id])
    assert store.redo() is None


def test_undoing_a_save_also_hides_the_autosaves_that_continue_it(store: Store) -> None:
    first = store.save(draft("one-thing", "first"))
    store.save(draft("one-thing", "second"), overwrite=True)
    later = msgspec.structs.replace(draft("one-thing", "second, later"), trigger="session-end")
    store.save(later, overwrite=True)

    store.undo()

    assert store.find("one-thing").id == first.checkpoint.id
    store.redo()
    assert store.find("one-thing").task == "second, later"


def test_undoing_a_clear_of_many_brings_back_all(store: Store) -> None:
    ids = [store.save(draft(f"name-{n}")).checkpoint.id for n in range(5)]
    store.record("cleared", ids)

    store.undo()

    assert len(names_listed(store)) == 5


def test_undoing_an_overwrite_shows_the_former_revision_and_keeps_the_newer_in_the_trash(
    store: Store,
) -> None:
    store.save(draft("login-form", "first"))
    store.save(draft("login-form", "second"), overwrite=True)

    store.undo()

    assert store.find("login-form").task == "first"
    assert [each.task for each in store.index().list_trashed(10)] == ["second"]


def test_undo_passes_over_what_was_purged(store: Store) -> None:
    kept = store.save(draft("kept-one"))
    store.record("cleared", [kept.checkpoint.id])
    gone = store.save(draft("gone-one"))
    store.record("cleared", [gone.checkpoint.id])
    store.purge([store.find("gone-one")])

    store.undo()

    assert names_listed(store) == ["kept-one"]


def test_undo_does_not_hide_the_only_revision_left_by_a_purge(store: Store) -> None:
    first = store.save(draft("login-form", "first"))
    store.save(draft("login-form", "second"), overwrite=True)
    store.purge([entry for entry in [store.index().get(first.checkpoint.id)] if entry])

    assert store.undo() is None
    assert store.find("login-form").task == "second"


# --- purge, finding ---


def test_purge_removes_the_file_for_good_and_undo_does_not_bring_it_back(store: Store) -> None:
    saved = store.save(draft("login-form"))

    store.purge([store.find("login-form")])
    store.undo()

    assert not saved.path.exists()
    assert view(store) == []


def test_purge_by_age_takes_what_is_out_of_sight_and_spares_what_is_listed(
    store: Store, clock: Clock
) -> None:
    store.save(draft("login-form", "first"))
    store.save(draft("login-form", "second"), overwrite=True)
    cleared = store.save(draft("old-idea"))
    store.record("cleared", [cleared.checkpoint.id])
    clock.move(days=100)
    store.save(draft("new-idea"))

    old = store.index().before(clock.now, with_heads=False)

    assert sorted(str(each.task) for each in old) == ["Summary of old-idea", "first"]


@pytest.mark.parametrize("key", ["%%%%", "____", "~~~~", "login-for_", "\udcff\udcff\udcff\udcff"])
def test_odd_keys_find_nothing(store: Store, key: str) -> None:
    store.save(draft("login-form"))

    with pytest.raises(NoSuchCheckpoint, match="No checkpoint named"):
        store.find(key)


def test_a_near_miss_is_named(store: Store) -> None:
    store.save(draft("login-form"))

    with pytest.raises(NoSuchCheckpoint) as refusal:
        store.find("login-from")

    assert "login-form" in refusal.value.hint


def test_an_id_that_fits_several_is_not_guessed(store: Store) -> None:
    store.save(draft("one-thing"))
    store.save(draft("two-things"))

    with pytest.raises(NoSuchCheckpoint, match="Several"):
        store.find("2026")


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_files_are_private_whatever_the_umask(store: Store, project: Project, umask: int) -> None:
    former = os.umask(umask)
    try:
        store.save(draft("login-form"))
        view(store)
    finally:
        os.umask(former)

    modes = {
        path.relative_to(project.store): stat.S_IMODE(path.stat().st_mode)
        for path in [project.store, *project.store.rglob("*")]
    }
    for path, mode in modes.items():
        assert mode == (0o700 if (project.store / path).is_dir() else 0o600), path
    assert len(modes) >= 8


def test_a_second_reader_sees_at_once_what_the_first_one_did(
    store: Store, project: Project, clock: Clock
) -> None:
    other = Store(project, now=clock)
    for number in range(5):
        saved = store.save(draft(f"name-{number}"))
        assert names_listed(other)[0] == f"name-{number}"
        other.record("cleared", [saved.checkpoint.id])
        assert names_listed(store) == []
    other.close()


def test_texts_that_are_not_utf8_are_saved_with_the_odd_bytes_replaced(store: Store) -> None:
    """Names of files may hold any bytes, and a save never fails for one."""
    name = os.fsdecode(b"caf\xe9.txt")

    saved = store.save(draft("login-form", dirty=[name]))

    assert decode(saved.path.read_bytes()).dirty == ["caf\ufffd.txt"]
    assert saved.checkpoint == decode(saved.path.read_bytes())


def test_a_store_moved_elsewhere_is_the_same_store(
    store: Store, project: Project, tmp_path: Path
) -> None:
    saved = store.save(draft("login-form"))
    store.record("cleared", [saved.checkpoint.id])
    seen = view(store)
    store.close()
    moved = msgspec.structs.replace(project, store=tmp_path / "moved")

    project.store.rename(moved.store)

    assert fresh_view(moved) == seen

"""Approving, editing, rejecting and superseding; finding an entry by its id."""

import pytest

from knowledge.memory.remembering import log_of, remember, texts
from leftoff.errors import UsageError
from leftoff.knowledge import memory
from leftoff.knowledge.memory import EntryDraft, NoSuchEntry
from leftoff.store import Store


def test_a_rejected_entry_never_comes_back(store: Store) -> None:
    [entry] = memory.add(store, [EntryDraft(kind="rule", text="No globals")], status="queued")
    memory.change(store, entry.id, status="rejected")

    assert memory.add(store, [EntryDraft(kind="rule", text="no globals", sources=["again"])]) == []
    assert memory.entries(store, statuses=["active", "queued"]) == []
    assert memory.find(store, entry.id).status == "rejected"


def test_a_queued_entry_becomes_active_when_it_is_said_for_sure(store: Store) -> None:
    memory.add(store, [EntryDraft(kind="rule", text="No globals")], status="queued")

    [entry] = memory.add(store, [EntryDraft(kind="rule", text="No globals")])

    assert entry.status == "active"
    assert memory.entries(store) == [entry]


def test_an_active_entry_is_not_queued_again(store: Store) -> None:
    remember(store, "No globals", kind="rule")

    assert memory.add(store, [EntryDraft(kind="rule", text="No globals")], status="queued") == []
    assert texts(store, "rule") == ["No globals"]


def test_an_edited_entry_is_known_by_its_old_words_and_its_new_ones(store: Store) -> None:
    [entry] = remember(store, "Use SQLite")
    memory.change(store, entry.id, text="Use SQLite 3.45 or later")

    assert remember(store, "Use SQLite") == []
    assert remember(store, "use sqlite 3.45 or later") == []
    assert texts(store) == ["Use SQLite 3.45 or later"]


def test_an_entry_is_not_edited_into_what_another_says(store: Store) -> None:
    one, other = remember(store, "Use SQLite", "Use Postgres")

    with pytest.raises(UsageError, match="says the same") as refused:
        memory.change(store, one.id, text="use postgres")

    assert f"supersede {one.id} {other.id}" in refused.value.hint


def test_superseding_names_the_successor_and_approving_brings_back(store: Store) -> None:
    old, new = remember(store, "Use SQLite", "Use Postgres")

    gone = memory.change(store, old.id, status="superseded", by=new.id[:6])

    assert (gone.status, gone.superseded_by) == ("superseded", new.id)
    assert texts(store) == ["Use Postgres"]
    assert remember(store, "Use SQLite") == []
    back = memory.change(store, old.id, status="active")
    assert (back.status, back.superseded_by) == ("active", None)


def test_superseding_must_lead_somewhere(store: Store) -> None:
    old, new = remember(store, "Use SQLite", "Use Postgres")

    with pytest.raises(UsageError, match="Name the entry"):
        memory.change(store, old.id, status="superseded")
    with pytest.raises(UsageError, match="replace itself"):
        memory.change(store, old.id, status="superseded", by=old.id)
    memory.change(store, old.id, status="superseded", by=new.id)
    with pytest.raises(UsageError, match="superseded by this one"):
        memory.change(store, new.id, status="superseded", by=old.id)


def test_a_change_that_changes_nothing_writes_nothing(store: Store) -> None:
    [entry] = remember(store, "Use SQLite")
    size = log_of(store).stat().st_size

    assert memory.change(store, entry.id, status="active", text="Use SQLite") == entry
    assert log_of(store).stat().st_size == size


def test_nothing_is_edited_in_the_log(store: Store) -> None:
    [entry] = remember(store, "Use SQLite")
    before = log_of(store).read_bytes()

    memory.change(store, entry.id, text="Use Postgres", why="Many writers")
    memory.change(store, entry.id, status="rejected")

    assert log_of(store).read_bytes().startswith(before)


def test_an_entry_is_found_by_the_beginning_of_its_id(store: Store) -> None:
    [entry] = remember(store, "Use SQLite")

    assert memory.find(store, entry.id[:4].upper()) == entry
    for wrong in ("", "zzzz"):
        with pytest.raises(NoSuchEntry, match="no entry"):
            memory.find(store, wrong)
    with pytest.raises(NoSuchEntry, match="too short"):
        memory.find(store, entry.id[:3])


def test_an_id_that_begins_several_entries_is_refused_with_their_ids(store: Store) -> None:
    entries = remember(store, *(f"Decision {number}" for number in range(2000)))
    heads = [entry.id[:4] for entry in entries]
    shared = next(head for head in heads if heads.count(head) > 1)

    with pytest.raises(NoSuchEntry, match="Several entries begin"):
        memory.find(store, shared)

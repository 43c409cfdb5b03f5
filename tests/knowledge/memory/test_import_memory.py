"""Importing the memory files of other systems."""

from leftoff.knowledge import memory
from leftoff.knowledge.memory import EntryDraft, MemoryEntry
from leftoff.store import Store


def said(text: str, former: str = "rule-001") -> EntryDraft:
    return EntryDraft(kind="rule", text=text, extra={"former_id": former})


def texts(store: Store) -> list[str]:
    return [entry.text for entry in memory.entries(store, kinds=("rule",))]


def lines(store: Store) -> int:
    return len(store.read_log("memory", bytes))


def test_what_is_imported_twice_is_remembered_once(store: Store) -> None:
    assert len(memory.import_entries(store, [said("Indent by tabs")])) == 1
    before = lines(store)

    assert memory.import_entries(store, [said("Indent by tabs")]) == []
    assert lines(store) == before


def test_new_words_under_a_known_id_reword_the_entry(store: Store) -> None:
    memory.import_entries(store, [said("Indent by tabs")])
    memory.import_entries(store, [said("Indent by four blanks")])
    memory.import_entries(store, [said("Indent by four blanks")])

    assert texts(store) == ["Indent by four blanks"]


def test_an_entry_of_leftoff_is_known_by_its_id(store: Store) -> None:
    (mine,) = memory.add(store, [EntryDraft(kind="rule", text="Indent by tabs")])
    before = lines(store)
    memory.import_entries(store, [said("Indent by tabs", mine.id)])
    assert lines(store) == before

    memory.import_entries(store, [said("Indent by blanks", mine.id)])
    assert [entry.id for entry in memory.entries(store)] == [mine.id]
    assert texts(store) == ["Indent by blanks"]


def test_the_same_id_in_another_kind_is_another_entry(store: Store) -> None:
    memory.import_entries(store, [said("Indent by tabs", "001")])
    other = EntryDraft(kind="decision", text="Stream it", extra={"former_id": "001"})
    memory.import_entries(store, [other])

    assert texts(store) == ["Indent by tabs"]
    assert [entry.kind for entry in memory.entries(store, kinds=("decision",))] == ["decision"]


def test_what_was_rejected_here_does_not_come_back(store: Store) -> None:
    (entry,) = memory.import_entries(store, [said("Indent by tabs")])
    memory.change(store, entry.id, status="rejected")
    memory.import_entries(store, [said("Indent by tabs")])

    assert texts(store) == []


def test_what_says_nothing_is_passed_over(store: Store) -> None:
    found: list[MemoryEntry] = memory.import_entries(store, [said("  "), said("Indent by tabs")])

    assert [entry.text for entry in found] == ["Indent by tabs"]


def test_what_waits_for_approval_is_queued(store: Store) -> None:
    memory.import_entries(store, [said("Indent by tabs")], status="queued")

    assert texts(store) == []
    queued = memory.entries(store, kinds=("rule",), statuses=("queued",))
    assert [entry.text for entry in queued] == ["Indent by tabs"]

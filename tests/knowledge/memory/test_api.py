"""Adding and querying memory through its API."""

import os
import tracemalloc
from datetime import UTC, datetime

import pytest

from knowledge.memory.remembering import log_of, remember, texts
from leftoff.checkpoint import Decision, Failure
from leftoff.errors import UsageError
from leftoff.knowledge import memory
from leftoff.knowledge.memory import EntryDraft
from leftoff.store import Store
from stores import draft


def test_what_is_added_is_found_again_newest_first(store: Store) -> None:
    remember(store, "Stream the CSV", "Keep tokens in the database")
    remember(store, "Name routes by resource")

    assert texts(store) == [
        "Name routes by resource",
        "Keep tokens in the database",
        "Stream the CSV",
    ]


def test_every_key_of_an_entry_survives_and_unknown_ones_too(store: Store) -> None:
    whole = EntryDraft(
        kind="decision",
        text="Stream the CSV",
        why="Tenants have a million rows",
        feature="feature-007",
        alternatives=["temp file"],
        impact="src/export.ts",
        confidence="high",
        sources=["session-1"],
        files=["src/export.ts"],
        extra={"reviewers": ["ana"]},
    )

    memory.add(store, [whole])

    [entry] = memory.entries(store)
    kept = {name: getattr(entry, name) for name in EntryDraft.__struct_fields__ if name != "at"}
    assert kept == {name: getattr(whole, name) for name in kept}
    assert memory.plain(entry)["reviewers"] == ["ana"]


def test_what_was_said_at_another_time_keeps_that_time(store: Store) -> None:
    then = datetime(2025, 1, 2, 3, 4, tzinfo=UTC)

    memory.add(store, [EntryDraft(kind="decision", text="Stream the CSV", at=then)])

    assert memory.entries(store)[0].at == then


@pytest.mark.parametrize(
    "again", ["use sqlite", "Use `SQLite`.", "  USE   sqlite!", "“Use” ‘SQLite’…"]
)
def test_the_same_thing_said_twice_is_one_entry_with_two_sources(store: Store, again: str) -> None:
    memory.add(store, [EntryDraft(kind="decision", text="Use SQLite", sources=["first"])])

    new = memory.add(store, [EntryDraft(kind="decision", text=again, sources=["second"])])

    assert new == []
    [entry] = memory.entries(store)
    assert (entry.text, entry.sources) == ("Use SQLite", ["first", "second"])


@pytest.mark.parametrize(
    ("one", "other"), [("Use C", "Use C++"), ("Run make", "Run make -j"), ("用缓存", "用数据库")]
)
def test_things_that_differ_in_a_sign_are_two(store: Store, one: str, other: str) -> None:
    remember(store, one, other)

    assert len(texts(store)) == 2


def test_the_same_words_of_another_kind_are_another_entry(store: Store) -> None:
    remember(store, "Use SQLite")
    remember(store, "Use SQLite", kind="failure")

    assert len(memory.entries(store)) == 2


def test_saying_it_again_adds_what_was_missing_and_replaces_nothing(store: Store) -> None:
    memory.add(store, [EntryDraft(kind="failure", text="Raise the timeout", files=["a.py"])])
    memory.add(
        store, [EntryDraft(kind="failure", text="Raise the timeout", why="It is a deadlock")]
    )
    memory.add(
        store, [EntryDraft(kind="failure", text="Raise the timeout", why="Other", files=["b.py"])]
    )

    [entry] = memory.entries(store)
    assert (entry.why, entry.files) == ("It is a deadlock", ["a.py", "b.py"])


def test_saying_it_again_with_nothing_new_writes_nothing(store: Store) -> None:
    memory.add(store, [EntryDraft(kind="rule", text="No globals", sources=["s"])])
    size = log_of(store).stat().st_size

    memory.add(store, [EntryDraft(kind="rule", text="no globals.", sources=["s"])] * 3)

    assert log_of(store).stat().st_size == size


def test_search_finds_all_words_in_text_and_reason(store: Store) -> None:
    memory.add(store, [EntryDraft(kind="decision", text="Use SQLite", why="one writer is enough")])
    remember(store, "Use Postgres", "缓存放在内存里")

    assert [entry.text for entry in memory.search(store, "writ enough")] == []
    assert [entry.text for entry in memory.search(store, "enough writ")] == ["Use SQLite"]
    assert [entry.text for entry in memory.search(store, "内存")] == ["缓存放在内存里"]
    assert memory.search(store, 'use "OR kind : rule') == []
    assert memory.search(store, "use", kinds=["rule"]) == []
    assert len(memory.search(store, "use", limit=1)) == 1


@pytest.mark.accept(133)
def test_of_52_decisions_the_newest_50_are_in_view_and_none_is_lost(store: Store) -> None:
    remember(store, *(f"Decision {number}" for number in range(49)))
    drafts = [
        EntryDraft(
            kind="decision",
            text=f"Late decision {number}",
            why="because",
            feature="feature-007",
            alternatives=["other"],
            impact="src/a.py",
        )
        for number in range(3)
    ]

    new = memory.add(store, drafts)

    assert len(new) == 3
    live = memory.entries(store, kinds=["decision"], limit=memory.MOST_DECISIONS)[::-1]
    assert [entry.text for entry in live] == [
        *(f"Decision {number}" for number in range(2, 49)),
        *(f"Late decision {number}" for number in range(3)),
    ]
    last = live[-1]
    assert all(
        [last.id, last.at, last.feature, last.text, last.why, last.alternatives, last.impact]
    )
    assert len(memory.entries(store, kinds=["decision"])) == 52


@pytest.mark.accept(134)
def test_entities_and_structure_are_remembered_once_with_every_key(store: Store) -> None:
    drafts = [
        EntryDraft(
            kind="entity",
            text="Order",
            files=["src/order.py"],
            extra={"type": "model", "relationships": ["Customer"], "future": {"deep": [1]}},
        ),
        EntryDraft(kind="structure", text="Routes register through createRoute()"),
    ]

    memory.add(store, drafts)
    memory.add(store, drafts)

    structure, entity = memory.entries(store, kinds=["entity", "structure"])
    assert structure.text == "Routes register through createRoute()"
    assert entity.extra == drafts[0].extra
    memory.change(store, entity.id, why="The heart of the shop")
    (store.project.store / "memory.sqlite").unlink()
    assert memory.find(store, entity.id).extra == drafts[0].extra


@pytest.mark.accept(135)
def test_a_known_pattern_changes_nothing_and_a_new_one_is_added(store: Store) -> None:
    remember(store, "Errors carry a hint", kind="pattern")
    before = log_of(store).read_bytes()

    assert remember(store, "errors carry a hint.", kind="pattern") == []
    assert log_of(store).read_bytes() == before
    assert len(remember(store, "errors carry a hint", "Values are frozen", kind="pattern")) == 1
    assert texts(store, "pattern") == ["Values are frozen", "Errors carry a hint"]


def test_entries_can_be_asked_for_by_feature(store: Store) -> None:
    memory.add(store, [EntryDraft(kind="decision", text="One", feature="feature-001")])
    memory.add(store, [EntryDraft(kind="rule", text="Two", feature="feature-002")])

    assert [each.text for each in memory.entries(store, feature="feature-002")] == ["Two"]


def test_an_entry_needs_words(store: Store) -> None:
    with pytest.raises(UsageError, match="text is empty"):
        remember(store, "  \n")
    [entry] = remember(store, "Use SQLite")
    with pytest.raises(UsageError, match="text is empty"):
        memory.change(store, entry.id, text=" ")


def test_a_saved_checkpoint_teaches_its_decisions_and_failed_approaches(store: Store) -> None:
    saved = store.save(
        draft(
            "login-form",
            decisions=[Decision(what="Use cookies", why="CSRF", alternatives=["tokens"])],
            failed=[
                Failure(what="Raise the timeout", why="It is a deadlock"),
                Failure(what=" "),
                # A failing test is not an approach to avoid.
                Failure(what="pytest tests", why="1 failed", origin="observed"),
            ],
            files_modified=["auth.py"],
            feature="feature-001",
        )
    ).checkpoint

    memory.learn(store, saved)

    failure, decision = memory.entries(store)
    assert (decision.kind, decision.text, decision.why) == ("decision", "Use cookies", "CSRF")
    assert (decision.alternatives, decision.feature) == (["tokens"], "feature-001")
    assert (failure.kind, failure.files) == ("failure", ["auth.py"])
    assert failure.sources == decision.sources == [saved.id]


def test_a_session_that_saves_many_times_is_one_source(store: Store) -> None:
    for _ in range(3):
        saved = store.save(
            draft(None, decisions=[Decision(what="Use cookies")], session_id="s1", agent="claude")
        )
        memory.learn(store, saved.checkpoint)

    assert [entry.sources for entry in memory.entries(store)] == [["s1"]]


def test_a_checkpoint_without_either_leaves_no_trace(store: Store) -> None:
    saved = store.save(draft("login-form")).checkpoint

    assert memory.learn(store, saved) == []
    assert memory.is_empty(store)
    assert not list(store.project.store.glob("memory*"))


@pytest.mark.slow("writes a large log")
def test_a_log_that_grew_without_bounds_is_read_within_bounds(store: Store) -> None:
    remember(store, "Stream the CSV")
    log = log_of(store)
    os.truncate(log, 1 << 30)

    tracemalloc.start()
    try:
        assert texts(store) == ["Stream the CSV"]
        assert memory.count_unreadable(store).count == 0
        assert tracemalloc.get_traced_memory()[1] < 200_000_000
    finally:
        tracemalloc.stop()


def test_a_line_that_is_too_long_is_named_and_the_next_is_read(store: Store) -> None:
    remember(store, "Stream the CSV")
    with log_of(store).open("ab") as log:
        log.truncate(100_000_000)
        log.seek(0, os.SEEK_END)
        log.write(b"\n")
    remember(store, "Name routes by resource")

    assert texts(store) == ["Name routes by resource", "Stream the CSV"]
    skipped = memory.count_unreadable(store)
    assert (skipped.count, skipped.first) == (1, [2])

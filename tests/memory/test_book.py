"""Adding, asking and changing, as others call it."""

import contextlib
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from leftoff import memory
from leftoff.checkpoint import Decision, Failure
from leftoff.errors import Usage
from leftoff.memory import Draft, Entry, Kind, NoSuchEntry
from leftoff.paths import Project
from leftoff.store import Store
from stores import NOON, draft

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def remember(store: Store, *texts: str, kind: Kind = "decision") -> list[Entry]:
    return memory.add(store, [Draft(kind=kind, text=text) for text in texts])


def texts(store: Store, kind: Kind = "decision") -> list[str]:
    return [entry.text for entry in memory.entries(store, kinds=[kind])]


def test_what_is_added_is_found_again_newest_first(store: Store) -> None:
    remember(store, "Stream the CSV", "Keep tokens in the database")
    remember(store, "Name routes by resource")

    assert texts(store) == [
        "Name routes by resource",
        "Keep tokens in the database",
        "Stream the CSV",
    ]


def test_every_key_of_an_entry_survives_and_unknown_ones_too(store: Store) -> None:
    whole = Draft(
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
    kept = {name: getattr(entry, name) for name in Draft.__struct_fields__ if name != "at"}
    assert kept == {name: getattr(whole, name) for name in kept}
    assert memory.plain(entry)["reviewers"] == ["ana"]


def test_what_was_said_at_another_time_keeps_that_time(store: Store) -> None:
    then = datetime(2025, 1, 2, 3, 4, tzinfo=UTC)

    memory.add(store, [Draft(kind="decision", text="Stream the CSV", at=then)])

    assert memory.entries(store)[0].at == then


@pytest.mark.parametrize(
    "again", ["use sqlite", "Use `SQLite`.", "  USE   sqlite!", "“Use” ‘SQLite’…"]
)
def test_the_same_thing_said_twice_is_one_entry_with_two_sources(store: Store, again: str) -> None:
    memory.add(store, [Draft(kind="decision", text="Use SQLite", sources=["first"])])

    new = memory.add(store, [Draft(kind="decision", text=again, sources=["second"])])

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
    memory.add(store, [Draft(kind="failure", text="Raise the timeout", files=["a.py"])])
    memory.add(store, [Draft(kind="failure", text="Raise the timeout", why="It is a deadlock")])
    memory.add(
        store, [Draft(kind="failure", text="Raise the timeout", why="Other", files=["b.py"])]
    )

    [entry] = memory.entries(store)
    assert (entry.why, entry.files) == ("It is a deadlock", ["a.py", "b.py"])


def test_saying_it_again_with_nothing_new_writes_nothing(store: Store) -> None:
    memory.add(store, [Draft(kind="rule", text="No globals", sources=["s"])])
    size = log_of(store).stat().st_size

    memory.add(store, [Draft(kind="rule", text="no globals.", sources=["s"])] * 3)

    assert log_of(store).stat().st_size == size


def test_a_rejected_entry_never_comes_back(store: Store) -> None:
    [entry] = memory.add(store, [Draft(kind="rule", text="No globals")], status="queued")
    memory.change(store, entry.id, status="rejected")

    assert memory.add(store, [Draft(kind="rule", text="no globals", sources=["again"])]) == []
    assert memory.entries(store, statuses=["active", "queued"]) == []
    assert memory.find(store, entry.id).status == "rejected"


def test_a_queued_entry_becomes_active_when_it_is_said_for_sure(store: Store) -> None:
    memory.add(store, [Draft(kind="rule", text="No globals")], status="queued")

    [entry] = memory.add(store, [Draft(kind="rule", text="No globals")])

    assert entry.status == "active"
    assert memory.entries(store) == [entry]


def test_an_active_entry_is_not_queued_again(store: Store) -> None:
    remember(store, "No globals", kind="rule")

    assert memory.add(store, [Draft(kind="rule", text="No globals")], status="queued") == []
    assert texts(store, "rule") == ["No globals"]


def test_an_edited_entry_is_known_by_its_old_words_and_its_new_ones(store: Store) -> None:
    [entry] = remember(store, "Use SQLite")
    memory.change(store, entry.id, text="Use SQLite 3.45 or later")

    assert remember(store, "Use SQLite") == []
    assert remember(store, "use sqlite 3.45 or later") == []
    assert texts(store) == ["Use SQLite 3.45 or later"]


def test_an_entry_is_not_edited_into_what_another_says(store: Store) -> None:
    one, other = remember(store, "Use SQLite", "Use Postgres")

    with pytest.raises(Usage, match="says the same") as refused:
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

    with pytest.raises(Usage, match="which entry"):
        memory.change(store, old.id, status="superseded")
    with pytest.raises(Usage, match="own place"):
        memory.change(store, old.id, status="superseded", by=old.id)
    memory.change(store, old.id, status="superseded", by=new.id)
    with pytest.raises(Usage, match="superseded by this one"):
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
    for wrong in ("", "zzzz", entry.id[:3]):
        with pytest.raises(NoSuchEntry, match="no entry"):
            memory.find(store, wrong)


def test_an_id_that_begins_several_entries_is_refused_with_their_ids(store: Store) -> None:
    entries = remember(store, *(f"Decision {number}" for number in range(2000)))
    heads = [entry.id[:4] for entry in entries]
    shared = next(head for head in heads if heads.count(head) > 1)

    with pytest.raises(NoSuchEntry, match="Several entries begin"):
        memory.find(store, shared)


def test_search_finds_all_words_in_text_and_reason(store: Store) -> None:
    memory.add(store, [Draft(kind="decision", text="Use SQLite", why="one writer is enough")])
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
    told = [
        Draft(
            kind="decision",
            text=f"Late decision {number}",
            why="because",
            feature="feature-007",
            alternatives=["other"],
            impact="src/a.py",
        )
        for number in range(3)
    ]

    new = memory.add(store, told)

    assert len(new) == 3
    live = memory.live(store, "decision")
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
    told = [
        Draft(
            kind="entity",
            text="Order",
            files=["src/order.py"],
            extra={"type": "model", "relationships": ["Customer"], "future": {"deep": [1]}},
        ),
        Draft(kind="structure", text="Routes register through createRoute()"),
    ]

    memory.add(store, told)
    memory.add(store, told)

    structure, entity = memory.entries(store, kinds=["entity", "structure"])
    assert structure.text == "Routes register through createRoute()"
    assert entity.extra == told[0].extra
    memory.change(store, entity.id, why="The heart of the shop")
    (store.project.store / "memory.sqlite").unlink()
    assert memory.find(store, entity.id).extra == told[0].extra


@pytest.mark.accept(135)
def test_a_known_pattern_changes_nothing_and_a_new_one_is_added(store: Store) -> None:
    remember(store, "Errors carry a hint", kind="pattern")
    before = log_of(store).read_bytes()

    assert remember(store, "errors carry a hint.", kind="pattern") == []
    assert log_of(store).read_bytes() == before
    assert len(remember(store, "errors carry a hint", "Values are frozen", kind="pattern")) == 1
    assert texts(store, "pattern") == ["Values are frozen", "Errors carry a hint"]


def test_entries_can_be_asked_for_by_feature(store: Store) -> None:
    memory.add(store, [Draft(kind="decision", text="One", feature="feature-001")])
    memory.add(store, [Draft(kind="rule", text="Two", feature="feature-002")])

    assert [each.text for each in memory.entries(store, feature="feature-002")] == ["Two"]


def test_no_secret_enters_in_any_field(store: Store) -> None:
    said = f"Use the token {SECRET}"
    memory.add(
        store,
        [
            Draft(
                kind="decision",
                text=said,
                why=said,
                feature=said,
                alternatives=[said],
                impact=said,
                sources=[said],
                files=[said],
                extra={"note": said},
            )
        ],
    )
    [entry] = memory.entries(store)
    memory.change(store, entry.id, text=f"{said} now", why=said)

    assert all(SECRET.encode() not in path.read_bytes() for path in files_of(store.project))


def test_an_entry_needs_words(store: Store) -> None:
    with pytest.raises(Usage, match="nothing to remember"):
        remember(store, "  \n")
    [entry] = remember(store, "Use SQLite")
    with pytest.raises(Usage, match="no words"):
        memory.change(store, entry.id, text=" ")


def test_texts_and_lists_are_bounded_and_odd_bytes_are_marked(store: Store) -> None:
    odd = "x" * 5_000 + "\ud800"
    memory.add(store, [Draft(kind="decision", text="\udc80 " + odd, sources=["s"] * 3)])
    memory.add(
        store,
        [Draft(kind="rule", text="Many", sources=[f"s{number}" for number in range(500)])],
    )

    assert len(texts(store)[0]) == 1_000
    [rule] = memory.entries(store, kinds=["rule"])
    assert len(rule.sources) == 50
    assert memory.add(store, [Draft(kind="rule", text="Many", sources=["one more"])]) == []


@pytest.mark.accept(155)
def test_a_saved_checkpoint_teaches_its_decisions_and_failed_approaches(store: Store) -> None:
    saved = store.save(
        draft(
            "login-form",
            decisions=[Decision(what="Use cookies", why="CSRF", alternatives=["tokens"])],
            failed=[Failure(what="Raise the timeout", why="It is a deadlock"), Failure(what=" ")],
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


def test_asking_a_memory_that_is_empty_writes_nothing(project: Project) -> None:
    store = Store(project)

    assert memory.entries(store) == memory.search(store, "words") == []
    with pytest.raises(NoSuchEntry):
        memory.find(store, "abcdef")
    assert not project.store.exists()


def test_lines_that_cannot_be_read_are_passed_over(store: Store) -> None:
    remember(store, "Use SQLite")
    odd = [
        b"not json",
        b"[1, 2]",
        b'{"action": "dreamt", "id": "x"}',
        b'{"action": "said", "id": "x", "at": "2026-11-15T12:00:00Z", "kind": "hunch", "text": ""}',
        b'{"action": "changed", "id": "unknown", "at": "2026-11-15T12:00:00Z"}',
        b"\xff\xfe",
        b"[" * 100_000,
    ]
    for line in odd:
        store.append_line("memory", line)
    remember(store, "Use Postgres")

    assert texts(store) == ["Use Postgres", "Use SQLite"]


def test_a_torn_last_line_waits_and_is_closed_off_by_the_next(store: Store) -> None:
    remember(store, "Use SQLite")
    with log_of(store).open("ab") as log:
        log.write(b'{"action": "said", "id": "to')

    assert texts(store) == ["Use SQLite"]
    remember(store, "Use Postgres")
    assert texts(store) == ["Use Postgres", "Use SQLite"]


def test_the_index_may_go_at_any_moment(store: Store) -> None:
    remember(store, "Use SQLite")
    assert texts(store) == ["Use SQLite"]
    for damage in (Path.unlink, lambda path: os.truncate(path, 3000), _garble):
        damage(store.project.store / "memory.sqlite")
        assert texts(store) == ["Use SQLite"]


def _garble(path: Path) -> None:
    path.write_bytes(b"\xff" * path.stat().st_size)


def test_another_log_in_place_of_the_known_one_is_read_anew(store: Store) -> None:
    remember(store, "Use SQLite")
    assert texts(store) == ["Use SQLite"]
    line = log_of(store).read_bytes().replace(b"Use SQLite", b"Use Postgres")
    log_of(store).unlink()
    assert memory.entries(store) == []

    log_of(store).write_bytes(line)

    assert texts(store) == ["Use Postgres"]
    assert memory.add(store, [Draft(kind="decision", text="Use SQLite 4")]) != []


def test_a_memory_in_the_fallback_is_seen_and_taken_in(project: Project) -> None:
    store = Store(project)
    remember(store, "Before")
    with _blocked(project):
        [entry] = remember(store, "Meanwhile")
        remember(store, "Before")
        assert texts(store)[-1] == "Meanwhile"
        memory.change(store, entry.id, why="The disk was read-only")
    assert "Meanwhile" in texts(store)

    remember(store, "After")

    assert sorted(texts(store)) == ["After", "Before", "Meanwhile"]
    assert memory.find(store, entry.id).why == "The disk was read-only"
    assert b"Meanwhile" in log_of(store).read_bytes()


@contextlib.contextmanager
def _blocked(project: Project) -> Iterator[None]:
    aside = project.store.with_name("aside")
    project.store.rename(aside)
    project.store.write_text("in the way", encoding="utf-8")
    yield
    project.store.unlink()
    aside.rename(project.store)


def log_of(store: Store) -> Path:
    return store.project.store / "memory.jsonl"


def files_of(project: Project) -> list[Path]:
    return [path for path in project.store.rglob("*") if path.is_file()]


def test_the_time_of_an_entry_is_the_stores_clock(store: Store) -> None:
    [entry] = remember(store, "Use SQLite")

    assert abs((entry.at - NOON).total_seconds()) < 60
    assert msgspec.json.decode(log_of(store).read_bytes())["action"] == "said"

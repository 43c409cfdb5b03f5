"""Any sequence of adding and changing gives the same result as a simple model."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from leftoff.errors import UsageError
from leftoff.knowledge import memory
from leftoff.knowledge.memory import EntryDraft, Kind, MemoryEntry, Status, id_of
from leftoff.knowledge.memory.entry import EntryChange
from leftoff.knowledge.memory.memory_log import Overlay, decode_line, line_of
from leftoff.store import Store
from stores import MEMORY, NOON, Clock, project_at

pytestmark = pytest.mark.slow("plays long stories")

KINDS: list[Kind] = ["decision", "failure", "rule"]
WORDS = ["Use SQLite", "use sqlite.", "Use Postgres", "No globals", "内存", 'Rule 😀 \\ "q"\nline']
Row = tuple[str, str, str, str, tuple[str, ...], str | None]


class Remembered:
    """An entry in the model, under its first words."""

    def __init__(self, kind: Kind, words: str) -> None:
        self.kind, self.text, self.why = kind, words, ""
        self.status: Status = "active"
        self.sources: list[str] = []
        self.by: str | None = None
        self.first = id_of(kind, words)
        self.known_as = {self.first}

    def row(self) -> Row:
        return self.kind, self.text, self.why, self.status, tuple(self.sources), self.by


class Operations(RuleBasedStateMachine):
    """Both are given the same operations; two processes' worth of readers look at one log."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(dir=MEMORY))
        self.project = project_at(self.folder)
        self.stores = [Store(self.project, now=Clock()) for _ in range(2)]
        self.model: list[Remembered] = []

    def teardown(self) -> None:
        self.index.unlink(missing_ok=True)
        self.look(0)
        shutil.rmtree(self.folder)

    @property
    def index(self) -> Path:
        return self.project.store / "memory.sqlite"

    def find(self, kind: Kind, words: str) -> Remembered | None:
        key = id_of(kind, words)
        return next((each for each in self.model if key in each.known_as), None)

    @rule(
        who=st.integers(0, 1),
        kind=st.sampled_from(KINDS),
        words=st.sampled_from(WORDS),
        why=st.sampled_from(["", "Because", "Other"]),
        source=st.sampled_from(["s1", "s2", "s3"]),
        status=st.sampled_from(["active", "queued"]),
    )
    def add(
        self, who: int, *, kind: Kind, words: str, why: str, source: str, status: Status
    ) -> None:
        found = EntryDraft(kind=kind, text=words, why=why, sources=[source])
        new = memory.add(self.stores[who], [found], status=status)
        known = self.find(kind, words)
        if known is None:
            known = Remembered(kind, words)
            known.why, known.sources, known.status = why, [source], status
            self.model.append(known)
            assert [entry.id for entry in new] == [known.first]
            return
        promoted = known.status == "queued" and status == "active"
        assert [entry.id for entry in new] == ([known.first] if promoted else [])
        if known.status in {"active", "queued"}:
            known.why = known.why or why
            known.status = "active" if promoted else known.status
            known.sources = [*dict.fromkeys([*known.sources, source])]

    @precondition(lambda self: self.model)
    @rule(
        who=st.integers(0, 1),
        which=st.integers(0, 100),
        status=st.sampled_from(["active", "queued", "rejected"]),
    )
    def judge(self, who: int, which: int, status: Status) -> None:
        known = self.model[which % len(self.model)]
        memory.change(self.stores[who], known.first, status=status)
        known.status, known.by = status, None

    @precondition(lambda self: self.model)
    @rule(who=st.integers(0, 1), which=st.integers(0, 100), words=st.sampled_from(WORDS))
    def edit(self, who: int, which: int, words: str) -> None:
        known = self.model[which % len(self.model)]
        other = self.find(known.kind, words)
        try:
            memory.change(self.stores[who], known.first, text=words)
        except UsageError:
            assert other is not None
            assert other is not known
            return
        assert other in {known, None}
        known.text = words
        known.known_as.add(id_of(known.kind, words))

    @precondition(lambda self: len(self.model) > 1)
    @rule(who=st.integers(0, 1), one=st.integers(0, 100), other=st.integers(0, 100))
    def supersede(self, who: int, one: int, other: int) -> None:
        old, new = self.model[one % len(self.model)], self.model[other % len(self.model)]
        try:
            memory.change(self.stores[who], old.first, status="superseded", by=new.first)
        except UsageError:
            assert old is new or new.by == old.first
            return
        old.status, old.by = "superseded", new.first

    @rule()
    def delete_the_index(self) -> None:
        self.index.unlink(missing_ok=True)

    @precondition(lambda self: self.index.exists())
    @rule(part=st.sampled_from([0, 1, 2, 3]))
    def cut_the_index(self, part: int) -> None:
        os.truncate(self.index, self.index.stat().st_size * part // 4)

    @rule()
    def tear_the_log(self) -> None:
        if self.project.store.exists():
            with (self.project.store / "memory.jsonl").open("ab") as log:
                log.write(b'{"action": "said", "id": "torn')

    @rule(who=st.integers(0, 1))
    def look(self, who: int) -> None:
        found = memory.entries(self.stores[who], statuses=memory.STATUSES)
        assert [row_of(entry) for entry in reversed(found)] == [each.row() for each in self.model]


def row_of(entry: MemoryEntry) -> Row:
    return (
        entry.kind,
        entry.text,
        entry.why,
        entry.status,
        tuple(entry.sources),
        entry.superseded_by,
    )


Operations.TestCase.settings = settings(
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestOperations = Operations.TestCase


texts = st.text(min_size=1, max_size=40).filter(lambda text: bool(text.strip()))
drafts = st.builds(
    EntryDraft,
    kind=st.sampled_from(memory.KINDS),
    text=texts,
    why=st.text(max_size=20),
    feature=st.none() | texts,
    alternatives=st.lists(texts, max_size=2),
    impact=st.text(max_size=10),
    confidence=st.none() | st.sampled_from(memory.CONFIDENCES),
    sources=st.lists(texts, max_size=3),
    files=st.lists(texts, max_size=3),
)


@given(st.lists(drafts, max_size=8))
def test_adding_the_same_twice_is_adding_it_once(found: list[EntryDraft]) -> None:
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        store = Store(project_at(Path(folder)), now=Clock())
        new = memory.add(store, found)
        once = memory.entries(store)
        log = Path(folder) / "state" / "store" / "memory.jsonl"
        size = log.stat().st_size if log.exists() else 0

        assert memory.add(store, found) == []
        assert memory.entries(store) == once
        assert {entry.id for entry in new} == {entry.id for entry in once}
        assert (log.stat().st_size if log.exists() else 0) == size


entries = st.builds(
    MemoryEntry,
    id=st.sampled_from(["a", "b", "c"]),
    at=st.just(NOON),
    kind=st.sampled_from(memory.KINDS),
    text=texts,
    why=st.text(max_size=20),
    sources=st.lists(texts, max_size=3, unique=True),
    status=st.sampled_from(memory.STATUSES),
    extra=st.dictionaries(st.sampled_from(["x", "y"]), st.integers()),
)
changes = st.builds(
    EntryChange,
    id=st.sampled_from(["a", "b", "c"]),
    at=st.just(NOON),
    status=st.none() | st.sampled_from(memory.STATUSES),
    text=st.none() | texts,
    why=st.none() | st.text(max_size=20),
    by=st.none() | st.just("b"),
)


def folded(records: list[MemoryEntry | EntryChange]) -> dict[str, MemoryEntry]:
    shelf = Overlay(lambda _: None)
    shelf.fold(records)
    return shelf.entries


@given(st.lists(entries | changes, max_size=12))
def test_a_line_reads_back_as_what_was_written(records: list[MemoryEntry | EntryChange]) -> None:
    assert [decode_line(line_of(record)) for record in records] == records


@given(st.lists(entries | changes, max_size=12), st.integers(0, 12))
def test_lines_shown_twice_in_a_row_say_nothing_new(
    records: list[MemoryEntry | EntryChange], at: int
) -> None:
    twice = [*records[:at], *records[at : at + 1], *records[at:]]

    assert folded(twice) == folded(records)


@given(st.lists(entries | changes, max_size=12), st.integers(0, 12))
def test_reading_on_from_anywhere_is_reading_it_all(
    records: list[MemoryEntry | EntryChange], at: int
) -> None:
    below = Overlay(lambda _: None)
    below.fold(records[:at])
    above = Overlay(below.get)
    above.fold(records[at:])

    assert {**below.entries, **above.entries} == folded(records)


@given(st.lists(entries, max_size=60), st.integers(0, 60))
@settings(max_examples=30)
def test_a_view_is_the_newest_of_all_and_never_more_than_its_cap(
    records: list[MemoryEntry], cap: int
) -> None:
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        store = Store(project_at(Path(folder)), now=Clock())
        memory.add(store, [EntryDraft(kind="decision", text=each.text) for each in records])

        everything = memory.entries(store, kinds=["decision"])
        assert memory.entries(store, kinds=["decision"], limit=cap) == everything[:cap]

"""harness: whatever a native file looks like, it is imported, shown and exported without loss."""

import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leftoff import profiles
from leftoff.checkpoint import Decision, to_plain
from leftoff.knowledge import features, memory
from leftoff.knowledge.memory import KINDS, STATUSES, EntryDraft
from leftoff.profiles import import_native
from leftoff.profiles.harness.loose_json import parse
from leftoff.profiles.harness.spellings import list_words
from leftoff.profiles.mirror import open_mirrors
from leftoff.profiles.mirror.export_changes import export_all
from leftoff.store import Store
from leftoff.text import times
from profiles.harness_corpus import AGENTS, CASES, CONTEXT, LOOP, PROGRESS, Case
from stores import MEMORY, Clock, draft, project_at

# Words of the layout that leftoff spells in the usual way, and what they become.
RESPELLED = {"success": "completed", "title": "decision", "decisions": "entries"}


def leaves(value: object) -> Iterator[str]:
    """Yield every word, number and key of a document that says something."""
    if isinstance(value, dict):
        for key, each in value.items():
            if each not in (None, "", [], {}):
                yield key
            yield from leaves(each)
    elif isinstance(value, list):
        for each in value:
            yield from leaves(each)
    elif value is not None and value != "":
        yield value if isinstance(value, str) else json.dumps(value)


def spell(text: str) -> str:
    """Return a word without what its spelling may change: case, dashes, the form of a time."""
    moment = times.parse(text) if text[:2] in {"19", "20"} else None
    if moment is not None:
        return moment.isoformat()
    return re.sub(r"[\W_]+", "", RESPELLED.get(text, text).casefold()) or text


def missing(before: object, after: object) -> list[str]:
    """Return what a document no longer says."""
    text = json.dumps(after, ensure_ascii=False)
    shown = {spell(each) for each in leaves(after)}
    said = [each for each in leaves(before) if json_text(each) not in text]
    # A text may have become the items of a list.
    parts = {each: [part for part in list_words(each) if part != each] for each in said}
    return [
        each
        for each in said
        if spell(each) not in shown
        and not (parts[each] and all(spell(part) in shown for part in parts[each]))
    ]


def json_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def read_store(store: Store) -> str:
    """Return everything that leftoff can show."""
    found = [to_plain(store.load(each)) for each in store.index().newest(50)]
    entries = memory.entries(store, kinds=KINDS, statuses=STATUSES)
    board = to_plain(features.load(store))
    loops = {key: to_plain(each) for key, each in features.load_loops(store).items()}
    return json.dumps([found, [*map(to_plain, entries)], board, loops], ensure_ascii=False)


def put(folder: Path, path: str, text: str) -> Path:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    return file


def pass_on(folder: Path, one: Path, out: Path) -> str:
    """Import a folder, export it elsewhere, and return what leftoff shows in between."""
    store = Store(project_at(one), now=Clock())
    report = import_native.import_all(store, "harness", profiles.load("harness"), folder)
    export_all(store, "harness", out)
    shown = read_store(store)
    store.close()
    assert report.problems == []
    return shown


def check_round_trip(case: Case, root: Path) -> None:
    before = parse(put(root / "in", case.path, case.text).read_bytes())
    shown = pass_on(root / "in", root / "one", root / "out")
    for words in case.shown:
        assert json_text(words) in shown
    path = case.path
    if path == LOOP:
        found = next((root / "out").glob("sessions/*/loop-state.json"))
        path = str(found.relative_to(root / "out"))
    once = parse((root / "out" / path).read_bytes())
    assert missing(before, once) == []
    again = pass_on(root / "out", root / "two", root / "out2")
    for words in case.shown:
        assert json_text(words) in again
    if case.path != LOOP:
        twice = parse((root / "out2" / path).read_bytes())
        assert missing(before, twice) == []


FOLDERS = sorted((Path(__file__).parent / "corpus" / "harness").iterdir())
# What leftoff spells in the usual way, or sets itself.
RENAMED = {"TODO", "lastUpdated", "last_updated", "entity", "summary", "reason", "lesson", "why"}
RENAMED |= {"consequences", "description", "done ✅", "2026-11-15T18:40:00Z", "date"}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_file_of_the_corpus_passes_through_without_loss(folder: Path, tmp_path: Path) -> None:
    files = [each for each in folder.rglob("*") if each.is_file()]
    pass_on(folder, tmp_path / "one", tmp_path / "out")
    pass_on(tmp_path / "out", tmp_path / "two", tmp_path / "out2")
    for file in files:
        path, before = file.relative_to(folder), parse(file.read_bytes())
        for out in (tmp_path / "out", tmp_path / "out2"):
            lost = missing(before, parse((out / path).read_bytes()))
            assert [each for each in lost if each not in RENAMED] == []


@pytest.mark.parametrize("name", CASES)
def test_a_native_file_passes_through_without_loss(name: str, tmp_path: Path) -> None:
    check_round_trip(CASES[name], tmp_path)


def test_the_corpus_is_large_enough() -> None:
    assert len(CASES) >= 40


def work(store: Store) -> None:
    """Change everything that the layout shows."""
    kinds: tuple[memory.Kind, ...] = ("decision", "failure", "success", "rule", "pattern")
    drafts = [EntryDraft(kind=kind, text=f"A new {kind}", why="why not") for kind in kinds]
    memory.add(store, [*drafts, EntryDraft(kind="entity", text="Basket", why="model")])
    memory.add(store, [EntryDraft(kind="structure", text="src/new.py")])
    features.add(store, features.ItemDraft(name="A new feature"))
    features.add_result(
        store, "orc-1", features.AgentResult(agent="new", status="failed", summary="Not yet")
    )
    decided = [Decision(what="Decide again")]
    store.save(draft("new-work", session_id="s-1", left_off="New words", decisions=decided))


@pytest.mark.parametrize("name", CASES)
def test_work_in_the_project_keeps_what_a_native_file_says(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    project = project_at(tmp_path / "shop")
    home = project.root / ".claude-harness"
    file = put(home, case.path, case.text)
    before = parse(file.read_bytes())
    store = Store(project, now=Clock())
    mirrors = open_mirrors(["harness"])
    assert mirrors.import_edits(store).problems == []
    assert mirrors.export_changes(store).problems == []
    work(store)

    exported = mirrors.export_changes(store)

    shown = read_store(store)
    store.close()
    assert exported.problems == []
    after = parse(file.read_bytes())
    # What the new session says replaces what the last one said; leftoff still shows that.
    replaced = case.path in {PROGRESS, CONTEXT, LOOP, AGENTS}
    known = [
        each
        for each in missing(before, after)
        if not (replaced and (json_text(each) in shown or times.parse(each)))
    ]
    assert known == []


# Variants


WORDS = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=12)
VALUES: st.SearchStrategy[Any] = st.recursive(
    WORDS | st.integers(0, 99) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def variants(draw: st.DrawFn) -> Case:
    """Change a file of the corpus as a language model might: keys and values of its own."""
    case = CASES[draw(st.sampled_from(sorted(CASES)))]
    document = parse(case.text)
    if isinstance(document, dict):
        members = [*document.items(), *draw(st.dictionaries(WORDS, VALUES, max_size=3)).items()]
        document = dict(draw(st.permutations(members)))
        for key in draw(st.lists(st.sampled_from([*document]), max_size=1)):
            if draw(st.booleans()) and isinstance(document[key], list):
                document[key] = [*document[key], draw(VALUES)]
    text = json.dumps(
        document, ensure_ascii=draw(st.booleans()), indent=draw(st.none() | st.just(4))
    )
    return Case(case.path, text, ())


@pytest.mark.slow("tries many files")
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(case=variants())
def test_a_variant_passes_through_without_loss(case: Case) -> None:
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        check_round_trip(case, Path(name))

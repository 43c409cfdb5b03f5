"""sail files as agents spell them: imported, shown, exported and imported again, nothing lost."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.runs import Cli
from gitrepo import Repo
from leftoff import context
from leftoff.checkpoint import Checkpoint, from_plain, to_plain
from leftoff.profiles import sail, sail_format
from leftoff.profiles.loose_words import says_nothing
from leftoff.store import Store
from stores import draft

CORPUS = Path(__file__).parent / "corpus" / "sail"
FILES = sorted(CORPUS.rglob("*.json"))
_OURS = {"timestamp", "summary", "decisions", "next_action", "blockers", "context", "active_plan"}
_OURS |= {"active_plan_stage", "active_tdd_phase", "files_in_progress", "what", "why"}
_OURS |= {"decision", "rationale", "reason", "epistemic", "compaction_context", "session_id"}


def words_of(value: object) -> Iterator[str]:
    """Yield the words that a reader of a file would miss, keys of its own included."""
    if isinstance(value, dict):
        for key, each in value.items():
            if key != "timestamp":
                yield from () if key in _OURS else re.findall(r"\w+", key)
                yield from words_of(each)
    elif isinstance(value, list):
        said = [each for each in value if each not in (None, "", [], {})]
        # A list with nothing but a word such as "none" is an empty list.
        is_empty = len(said) == 1 and isinstance(said[0], str) and says_nothing(said[0])
        for each in () if is_empty else value:
            yield from words_of(each)
    elif value is not None:
        yield from re.findall(r"\w+", str(value))


def loaded() -> dict[str, Checkpoint]:
    """Return every checkpoint in the store by the name of the file that it came from."""
    store = Store(context.find_project())
    found = [store.load(entry) for entry in store.index().newest(1000)]
    store.close()
    return {Path(each.source.path).name: each for each in found if each.source}


def content(checkpoint: Checkpoint) -> dict[str, Any]:
    """Return what a checkpoint says, without what belongs to this import."""
    ours = {"id", "act", "source", "project", "worktree", "thread", "files"}
    return {key: value for key, value in to_plain(checkpoint).items() if key not in ours}


def test_the_corpus_is_large() -> None:
    assert len(FILES) >= 40


@pytest.mark.slow("runs several commands for each file")
@pytest.mark.promise("sail", 33)
def test_nothing_in_a_file_is_lost_on_its_way_in_and_out(
    cli: Cli, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del repo
    report = cli.json("import", "--from", "sail", str(CORPUS))
    assert (report["imported"], report["problems"]) == (len(FILES), [])

    first = loaded()
    lost: dict[str, list[str]] = {}
    for path in FILES:
        shown = cli.ok("show", first[path.name].id).out
        native = json.loads(path.read_text("utf-8-sig"))
        missing = {word for word in words_of(native) if word not in shown}
        lost |= {native.get("summary", path.name): sorted(missing)} if missing else {}
    assert lost == {}

    for path in FILES:
        # Each file alone: an export has only the newest of each plan.
        other = Repo.begun(tmp_path / path.stem)
        monkeypatch.chdir(other.folder)
        native = path.relative_to(CORPUS)
        (tmp_path / path.stem / "in" / native).parent.mkdir(parents=True)
        (tmp_path / path.stem / "in" / native).write_bytes(path.read_bytes())
        cli.ok("import", "--from", "sail", str(tmp_path / path.stem / "in"))
        cli.ok("export", "--to", "sail", str(tmp_path / path.stem / "out"))
        (written,) = (tmp_path / path.stem / "out").rglob("*.json")
        assert lost_words(path, json.loads(written.read_bytes())) == set(), path
        again = Repo.begun(tmp_path / f"again-{path.stem}")
        monkeypatch.chdir(again.folder)
        cli.ok("import", "--from", "sail", str(tmp_path / path.stem / "out"))
        assert content(loaded()[written.name]) == content(first[path.name]), path


def lost_words(path: Path, written: object) -> set[str]:
    """Return the words of a file that another one lacks."""
    return {*words_of(json.loads(path.read_text("utf-8-sig")))} - {*words_of(written)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.stem))
def test_what_is_written_anew_says_the_same(path: Path) -> None:
    native = sail.read(path, path.read_bytes())
    written = sail_format.render(as_checkpoint(native.fields))
    again = sail_format.parse(written.encode(), stem=path.stem, plan=None)

    assert lost_words(path, json.loads(written)) == set()
    assert {key: each for key, each in again.fields.items() if each} == {
        key: each for key, each in native.fields.items() if each
    }


def as_checkpoint(fields: dict[str, Any]) -> Checkpoint:
    """Make a checkpoint of what was read."""
    plain = {key: value for key, value in fields.items() if value not in (None, [], {}, "")}
    base = to_plain(draft("some-work"))
    for key in ("summary", "next_action", "intent"):
        base.pop(key, None)
    return from_plain({**base, **plain}, Checkpoint)


# Generated variants

SCALAR = st.none() | st.booleans() | st.integers(-9, 10**20) | st.text(max_size=20)
VALUE = st.recursive(
    SCALAR,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)
TEXT = st.text(max_size=30)
NATIVE = st.fixed_dictionaries(
    {"summary": TEXT},
    optional={
        "decisions": st.lists(TEXT | VALUE, max_size=4) | VALUE,
        "next_action": TEXT | VALUE,
        "blockers": st.lists(TEXT | VALUE, max_size=3) | VALUE,
        "context": st.dictionaries(
            st.sampled_from(["active_plan", "active_plan_stage", "files_in_progress", "mine"]),
            TEXT | VALUE,
        )
        | VALUE,
        "mine": VALUE,
    },
)


@given(NATIVE)
def test_every_word_of_a_generated_file_is_kept(native: dict[str, Any]) -> None:
    native = {"timestamp": "2026-11-15T18:40:12Z", **native}
    read = sail_format.parse(json.dumps(native).encode(), stem="20261115T184012Z", plan=None)
    written = json.loads(sail_format.render(as_checkpoint(read.fields)))

    assert {*words_of(native)} - {*words_of(written)} == set()

"""harness: checkpoints, memory and features are written to .claude-harness and read back."""

import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cli.runs import Cli
from gitrepo import Repo
from leftoff import profiles
from leftoff.checkpoint import (
    Checkpoint,
    Decision,
    Failure,
    Plan,
    Todo,
    to_plain,
)
from leftoff.knowledge import memory
from leftoff.knowledge.features import Attempt, Feature, Fix, Loop, Scenario
from leftoff.knowledge.features.work_context import WORKING_LINES
from leftoff.profiles import harness, import_native
from leftoff.profiles.harness import feature_files, layers, loop_files
from leftoff.profiles.mirror.export_changes import export_all
from leftoff.store import Store
from stores import MEMORY, Clock, contents, draft, project_at

LINE = st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=30).filter(str.strip)
ODD = st.sampled_from(["# a", "- x", "```", '"quoted" \\ text', "a\r\nb", "two\nlines", "🧾 約束"])
TEXT = LINE | ODD
MANY = st.lists(TEXT, max_size=60)


@pytest.fixture
def mirrored(cli: Cli, repo: Repo) -> Path:
    """Follow harness; return its folder."""
    cli.ok("config", "set", "profile", "harness", "--project")
    cli.ok("config", "set", "mirror", "harness", "--project")
    return repo.folder / ".claude-harness"


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def context(folder: Path) -> Any:
    return read(next(folder.glob("sessions/*/working-context.json")))


# Nothing is lost


@st.composite
def checkpoints(draw: st.DrawFn) -> Checkpoint:
    """Make a checkpoint with anything in it that the layout must keep."""
    maybe = st.none() | TEXT
    return draft(
        draw(st.sampled_from(["some-work", "feature-007"])),
        summary=draw(TEXT),
        intent=draw(maybe),
        left_off=draw(maybe),
        done=draw(MANY),
        blockers=draw(MANY),
        questions=draw(st.lists(TEXT, max_size=2)),
        notes=draw(st.lists(TEXT, max_size=2)),
        decisions=[
            Decision(what=what, why=why, alternatives=others)
            for what, why, others in draw(
                st.lists(st.tuples(TEXT, TEXT, st.lists(TEXT, max_size=2)), max_size=8)
            )
        ],
        failed=[
            Failure(what=what, why=why)
            for what, why in draw(st.lists(st.tuples(TEXT, TEXT), max_size=3))
        ],
        files_modified=draw(st.lists(LINE, max_size=50, unique=True)),
        artifacts=draw(st.dictionaries(LINE, LINE, max_size=2)),
        todos=[
            Todo(text=text, status=status)
            for text, status in draw(
                st.lists(
                    st.tuples(TEXT, st.sampled_from(["pending", "in_progress", "completed"])),
                    max_size=8,
                )
            )
        ],
        plan=draw(st.none() | st.builds(Plan, path=LINE, step=st.integers(1, 9))),
        tdd_phase=draw(st.none() | st.sampled_from(["RED", "GREEN"])),
        feature=draw(st.none() | st.just("feature-007")),
        session_id=draw(st.none() | st.sampled_from(["s-1", "odd/session id", "../up"])),
        agent=draw(st.none() | st.just("claude")),
        branch=draw(st.none() | LINE),
        dirty=draw(st.lists(LINE, max_size=5, unique=True)),
    )


@pytest.mark.slow("tries many checkpoints")
@pytest.mark.accept(162)
@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(checkpoint=checkpoints())
def test_what_is_exported_is_imported_again(checkpoint: Checkpoint) -> None:
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        one, other, out = (Path(name) / each for each in ("one", "other", "out"))
        here, there = Store(project_at(one), now=Clock()), Store(project_at(other), now=Clock())
        saved = here.save(checkpoint).checkpoint
        export_all(here, "harness", out)
        before = contents(out)
        context = next(out.glob("sessions/*/working-context.json"))
        shown = len(context.read_bytes().splitlines())
        report = import_native.import_all(there, "harness", profiles.load("harness"), out)
        export_all(here, "harness", out)

        found = [to_plain(there.load(each)) for each in there.index().newest(10)]
        here.close()
        there.close()
        assert report.problems == []
        # Two files show it. The second is the same checkpoint unless it says less or more.
        assert 1 <= len(found) <= 2
        assert shown <= WORKING_LINES
        for plain in found:
            for key in harness.HOLDS:
                assert plain.get(key) == to_plain(saved).get(key), key
            assert plain["saved_at"] == to_plain(saved)["saved_at"]
        assert contents(out) == before


MOMENT = st.datetimes(
    datetime(2020, 1, 1),  # noqa: DTZ001 - hypothesis adds the zone
    datetime(2030, 1, 1),  # noqa: DTZ001 - same
    timezones=st.just(UTC),
)
SCENARIO = st.builds(Scenario, scenario=TEXT, given=TEXT, when=TEXT, then=TEXT)
COMMON: dict[str, st.SearchStrategy[Any]] = {
    "name": LINE,
    "description": TEXT,
    "status": st.sampled_from(["pending", "in_progress", "passing", "blocked"]),
    "phase": st.none() | LINE,
    "verification": st.dictionaries(LINE, TEXT, max_size=2),
    "attempts": st.integers(0, 20),
    "max_attempts": st.integers(1, 20),
    "scenarios": st.lists(SCENARIO, max_size=2),
    "related_files": st.lists(LINE, max_size=3),
    "issue": st.none() | st.integers(1, 999),
    "pr": st.none() | st.integers(1, 999),
    "branch": st.none() | LINE,
    "labels": st.lists(LINE, max_size=2),
    "created_at": MOMENT,
    "updated_at": st.none() | MOMENT,
    "archived_at": st.none() | MOMENT,
}
FEATURES = st.builds(
    Feature,
    id=st.just("feature-007"),
    priority=st.none() | st.integers(0, 9) | LINE,
    dependencies=st.lists(LINE, max_size=2),
    **COMMON,
)
FIXES = st.builds(Fix, id=st.just("fix-feature-007-1"), linked_to=st.just("feature-007"), **COMMON)


@given(item=FEATURES | FIXES)
def test_a_feature_is_read_back_as_it_was(item: Feature | Fix) -> None:
    plain = json.loads(json.dumps(feature_files.write_item(item, {})))
    found = (
        feature_files.read_features([plain])
        if isinstance(item, Feature)
        else feature_files.read_fixes([plain])
    )

    assert found == [item]
    assert feature_files.write_item(item, plain) is plain


LOOPS = st.builds(
    Loop,
    feature=st.just("feature-007"),
    name=LINE,
    status=st.sampled_from(["pending", "in_progress", "completed", "escalated", "needs_review"]),
    phase=st.none() | LINE,
    attempt=st.integers(0, 15),
    started_at=MOMENT,
    last_attempt_at=st.none() | MOMENT,
    verification=st.dictionaries(LINE, TEXT, max_size=2),
    history=st.lists(
        st.builds(
            Attempt,
            attempt=st.integers(1, 15),
            approach=TEXT,
            result=st.sampled_from(["failed", "passed"]),
            errors=st.lists(TEXT, max_size=2),
            root_cause=TEXT,
        ),
        max_size=3,
    ),
    last_checkpoint=st.none() | st.just("4f2a9c1"),
)


@given(loop=LOOPS)
def test_a_loop_is_read_back_as_it_was(loop: Loop) -> None:
    plain = json.loads(json.dumps(loop_files.show_loop(loop, {})))

    assert loop_files.read_loop(plain) == loop
    assert loop_files.show_loop(loop, plain) is plain


@given(
    layer=st.sampled_from(layers.LAYERS),
    text=TEXT,
    why=st.just("") | TEXT,
    impact=st.just("") | TEXT,
    feature=st.none() | LINE,
    files=st.lists(LINE, max_size=3, unique=True),
    alternatives=st.lists(LINE, max_size=3, unique=True),
    confidence=st.sampled_from([None, "high", "medium", "low"]),
    at=MOMENT,
)
def test_an_entry_of_the_memory_is_read_back_as_it_was(
    layer: layers.Layer, at: datetime, **said: Any
) -> None:
    entry = memory.MemoryEntry(id="abc", kind=layer.kind, at=at, **said)
    plain = json.loads(json.dumps(layers.write_entry(layer, entry, {}, [])))
    found = layers.draft_of(layer, plain)

    assert found is not None
    for key, value in said.items():
        assert getattr(found.draft, key) == value, key
    assert found.draft.at == at


# Files that others keep


def test_an_idle_loop_is_the_idle_record() -> None:
    assert loop_files.show_loop(Loop(last_checkpoint="4f2a9c1"), {}) == {
        "version": 9,
        "feature": None,
        "featureName": None,
        "type": "feature",
        "linkedTo": None,
        "status": "idle",
        "attempt": 0,
        "maxAttempts": 15,
        "startedAt": None,
        "lastAttemptAt": None,
        "verification": {},
        "history": [],
        "tasks": {"enabled": False, "chain": [], "current": None, "completed": []},
        "lastCheckpoint": "4f2a9c1",
        "escalationRequested": False,
    }

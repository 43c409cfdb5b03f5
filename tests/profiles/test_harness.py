"""harness: files in .claude-harness of any version are read and left unchanged."""

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cli.runs import Cli
from leftoff import profiles
from leftoff.context import find_project
from leftoff.knowledge import features, memory
from leftoff.profiles import harness, import_native
from leftoff.profiles.mirror.export_changes import export_all
from leftoff.profiles.profile import Profile  # noqa: TC001 - the annotation is the test
from leftoff.store import Store
from stores import MEMORY, Clock, contents, project_at

GOLDEN = Path(__file__).parent / "golden" / "harness"


def texts(kind: str, status: str = "active") -> list[str]:
    with_store = Store(find_project())
    try:
        found = memory.entries(with_store, kinds=(kind,), statuses=(status,))  # type: ignore[arg-type]
        return sorted(entry.text for entry in found)
    finally:
        with_store.close()


def board() -> features.Board:
    store = Store(find_project())
    try:
        return features.load(store)
    finally:
        store.close()


def test_the_module_is_a_profile() -> None:
    profile: Profile = harness

    assert profiles.load("harness") is profile


@pytest.mark.accept(162)
def test_progress_and_working_context_become_checkpoints(cli: Cli) -> None:
    report = cli.json("import", "--from", "harness", str(GOLDEN / "plain"))
    progress = cli.json("show", "csv-export-streams-rows")
    context = cli.json("show", "feature-007")

    assert report["problems"] == []
    assert report["imported"] == 2
    assert progress["saved_at"] == "2026-11-15T18:40:00Z"
    assert progress["done"] == ["Wrote src/export.ts", "Added the route in src/routes.ts"]
    assert progress["blockers"] == ["The staging bucket answers 403"]
    assert progress["next_action"]["text"] == "Add a test for 0 orders"
    assert progress["next_steps"] == ["Measure a tenant with 1M rows"]
    assert context["session_id"] == "0f3b9a52-1111-4222-8333-444455556666"
    assert context["feature"] == "feature-007"
    assert context["files_modified"] == ["src/export.ts", "src/routes.ts"]
    assert context["files"][0]["role"] == "new - streaming writer"
    assert context["decisions"] == [{"what": "Stream rows; never buffer the file"}]
    assert context["left_off"] == "routing: routes register through createRoute()"


@pytest.mark.accept(162)
def test_every_layer_of_memory_is_remembered(cli: Cli) -> None:
    cli.ok("import", "--from", "harness", str(GOLDEN / "plain"))
    found = {entry["text"]: entry for entry in cli.json("memory", "list", "--limit", "100")}

    assert texts("decision") == ["Stream rows; never buffer the file", "Stream the CSV"]
    assert found["Stream the CSV"]["why"] == "Tenants with a million rows"
    assert found["Stream the CSV"]["alternatives"] == ["a temp file"]
    assert found["Stream the CSV"]["impact"] == "src/export.ts"
    assert texts("failure") == ["JSON.stringify the whole list"]
    assert found["JSON.stringify the whole list"]["why"] == "The array has no bound"
    assert found["JSON.stringify the whole list"]["impact"] == "Stream"
    assert texts("success") == ["Pipe a cursor into the response"]
    assert texts("pattern") == [
        "Handlers return a stream",
        "Money is in cents",
        "routes: plural nouns",
    ]
    assert texts("entity") == ["Order"]
    assert found["Order"]["files"] == ["src/models/order.ts"]
    assert "src/server.ts" in texts("structure")
    assert "language: TypeScript" in texts("structure")
    assert texts("rule") == [
        "A worker has 512 MB",
        "Import through @/ and never by a relative path",
    ]
    assert texts("rule", "queued") == ["Keep a test below 20 lines"]


@pytest.mark.accept(162)
def test_features_fixes_loops_and_agents_are_imported(cli: Cli) -> None:
    cli.ok("import", "--from", "harness", str(GOLDEN / "plain"))
    found = {item.id: item for item in board().items}
    feature = found["feature-007"]

    assert [*found] == ["feature-007", "feature-003", "fix-feature-003-1"]
    assert (feature.issue, feature.branch, feature.attempts) == (41, "feature/feature-007", 2)
    assert feature.scenarios[0].then == "it holds the header alone"
    assert feature.related_files == ["src/export.ts", "src/routes.ts"]
    assert found["feature-003"].is_archived
    assert isinstance(fix := found["fix-feature-003-1"], features.Fix)
    assert fix.linked_to == "feature-003"
    assert board().orchestration.results[0].agent == "reviewer"
    store = Store(find_project())
    loop = features.load_loops(store)["session-0f3b9a52-1111-4222-8333-444455556666"]
    store.close()
    assert (loop.status, loop.attempt, loop.phase) == ("in_progress", 3, "implement")
    assert loop.history[0].root_cause == "The array has no bound"


KINDS = ["plain", "crlf", "missing", "unknown", "okf", "legacy/.claude-harness"]


@pytest.mark.accept(162)
@pytest.mark.accept(161)
@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_is_imported_once_and_left_as_it_was(cli: Cli, kind: str) -> None:
    before = contents(GOLDEN)
    first = cli.json("import", "--from", "harness", str(GOLDEN / kind))
    second = cli.json("import", "--from", "harness", str(GOLDEN / kind))

    assert first["imported"] + first["memories"] + first["features"] > 0
    assert first["problems"] == []
    assert (second["imported"], second["memories"], second["features"]) == (0, 0, 0)
    assert second["known"] == first["imported"]
    assert contents(GOLDEN) == before


def test_any_language_and_line_end_is_read(cli: Cli) -> None:
    cli.ok("import", "--from", "harness", str(GOLDEN / "crlf"))
    shown = cli.json("show", cli.json("list")[0]["name"])

    assert shown["summary"] == "注文を CSV に書き出す 🧾"
    assert shown["blockers"] == ['「403」\\ と "引用"']
    assert shown["saved_at"] == "2026-11-15T18:40:00+09:00"
    assert texts("decision") == ["Zeilen strömen — nie puffern"]
    assert board().features[0].name == "輸出 🚢"


def test_what_is_missing_is_not_trouble(cli: Cli) -> None:
    cli.ok("import", "--from", "harness", str(GOLDEN / "missing"))

    assert {each["summary"] for each in cli.json("list")} == {
        "Only a summary",
        "A context without more",
    }
    assert board().features[0].name == "feature-001"
    assert texts("failure") == ["Without an id"]


@pytest.mark.accept(161)
def test_files_of_older_versions_are_read(cli: Cli) -> None:
    cli.ok("import", "--from", "harness", str(GOLDEN / "legacy" / ".claude-harness"))
    found = {item.id: item for item in board().items}

    assert found["feature-001"].is_complete
    assert found["feature-001"].issue == 3
    assert not found["feature-002"].is_complete
    assert board().orchestration.session == "old-1"
    assert board().orchestration.patterns == ["Clocks are passed in"]
    assert {each["summary"] for each in cli.json("list")} == {"Login works", "Logout"}
    store = Store(find_project())
    loop = features.load_loop(store)
    store.close()
    assert loop is not None
    assert (loop.feature, loop.attempt, loop.max_attempts) == ("feature-002", 2, 10)


@pytest.mark.accept(161)
def test_memory_in_markdown_is_read(cli: Cli) -> None:
    cli.ok("import", "--from", "harness", str(GOLDEN / "okf"))
    found = {entry["text"]: entry for entry in cli.json("memory", "list", "--limit", "100")}

    assert found["Stream the CSV"]["why"] == "Tenants with a million rows"
    assert found["Stream the CSV"]["alternatives"] == ["a temp file", "a queue"]
    assert found["Stream the CSV"]["at"] == "2026-07-02T10:00:00Z"
    assert found["JSON.stringify the whole list"]["why"] == "The array has no bound"
    assert found["JSON.stringify the whole list"]["files"] == ["src/export.ts"]
    assert texts("success") == ["Pipe a cursor into the response"]
    assert texts("pattern") == ["Handlers return a stream"]
    assert texts("rule") == ["Import through @/"]
    assert texts("rule", "queued") == ["Keep a test below 20 lines"]


def test_what_only_the_layout_knows_survives_an_export(cli: Cli, tmp_path: Path) -> None:
    cli.ok("import", "--from", "harness", str(GOLDEN / "plain"))
    cli.ok("export", "--to", "harness", str(tmp_path / "out"))
    rules = {each["id"]: each for each in layer(tmp_path / "out", "learned/rules.json")["rules"]}

    assert rules["rule-001"]["examples"] == {"correct": "@/x", "incorrect": "../x"}
    assert rules["rule-001"]["title"] == "Absolute imports"
    assert rules["rule-002"]["active"] is False
    failure = layer(tmp_path / "out", "procedural/failures.json")["entries"][0]
    assert failure["id"] == "fail-20261115-001"
    assert failure["errors"] == ["heap out of memory"]
    entity = layer(tmp_path / "out", "semantic/entities.json")["entities"][0]
    assert entity["relationships"] == ["has many LineItem"]
    original = layer(GOLDEN / "plain", "semantic/architecture.json")
    written = layer(tmp_path / "out", "semantic/architecture.json")
    assert written["techStack"] == original["techStack"]
    assert written["structure"] == original["structure"]
    assert written["patterns"]["naming"] == original["patterns"]["naming"]


def test_keys_that_nobody_knows_survive_an_export(cli: Cli, tmp_path: Path) -> None:
    cli.ok("import", "--from", "harness", str(GOLDEN / "unknown"))
    cli.ok("export", "--to", "harness", str(tmp_path / "out"))
    feature = read(tmp_path / "out" / "features" / "active.json")["features"][0]
    rule = layer(tmp_path / "out", "learned/rules.json")["rules"][0]
    progress = read(tmp_path / "out" / "claude-progress.json")
    context = read(tmp_path / "out" / "sessions" / "s-9" / "working-context.json")

    assert feature["estimate"] == {"days": 3}
    assert feature["status"] == "someday"
    assert feature["verification"] == ["npm test"]
    assert feature["createdAt"] == "yesterday"
    assert feature["github"] == {"issueNumber": 41, "milestone": "m1", "prNumber": None} | {
        "branch": None
    }
    assert (rule["votes"], rule["confidence"]) == (7, "certain")
    assert context["colour"] == "blue"
    assert progress["dashboards"] == {"a": [1, 2]}
    assert progress["lastSession"]["mood"] == "calm"


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def layer(folder: Path, path: str) -> Any:
    return read(folder / "memory" / path)


def test_an_import_exported_and_imported_elsewhere_is_the_same(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.ok("import", "--from", "harness", str(GOLDEN / "plain"))
    cli.ok("export", "--to", "harness", str(tmp_path / "out"))
    here = (board(), {kind: texts(kind) for kind in memory.KINDS})
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    cli.ok("import", "--from", "harness", str(tmp_path / "out"))

    assert {kind: texts(kind) for kind in memory.KINDS} == here[1]
    assert board().items == here[0].items
    assert board().orchestration == here[0].orchestration


@pytest.mark.slow("takes many files")
def test_five_hundred_of_each_are_imported(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    many: dict[str, Any] = {
        "features/active.json": {
            "features": [{"id": f"feature-{n:03d}", "name": f"Part {n}"} for n in range(500)]
        },
        "memory/episodic/decisions.json": {
            "entries": [{"id": f"d{n}", "decision": f"Choose way {n}"} for n in range(500)]
        },
        "memory/procedural/failures.json": {
            "entries": [{"id": f"f{n}", "approach": f"Try way {n}"} for n in range(500)]
        },
    }
    for n in range(500):
        wanted = {"lastUpdated": "2026-11-15T18:40:00Z", "summary": f"Session {n} of many"}
        many[f"sessions/s-{n}/working-context.json"] = wanted
    for path, value in many.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(json.dumps(value), encoding="utf-8")

    report = cli.json("import", "--from", "harness", str(folder))
    assert (report["imported"], report["memories"], report["features"]) == (500, 1000, 500)
    cli.ok("export", "--to", "harness", str(tmp_path / "out"))
    assert len(layer(tmp_path / "out", "episodic/decisions.json")["entries"]) == 50
    assert len(layer(tmp_path / "out", "procedural/failures.json")["entries"]) == 500
    assert len(read(tmp_path / "out" / "features" / "active.json")["features"]) == 500


def test_a_broken_file_is_reported_and_the_rest_imported(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    shutil.copytree(GOLDEN / "plain", folder)
    for name in ("features/active.json", "memory/learned/rules.json"):
        (folder / name).write_bytes(b'{"rules": [{"id": \xff')
    (folder / "claude-progress.json").write_bytes(b"[]")
    result = cli.ok("import", "--from", "harness", str(folder))

    assert "active.json was skipped" in result.err
    assert "rules.json was skipped" in result.err
    assert "claude-progress.json: " in result.err
    assert "Stream the CSV" in texts("decision")
    assert [item.id for item in board().items] == ["feature-003"]


FILES = sorted(path for path in GOLDEN.rglob("*") if path.is_file())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_files_never_raise_and_are_left_as_they_are(
    data: st.DataObject, tmp_path: Path
) -> None:
    victim = data.draw(st.sampled_from(FILES))
    kind = victim.relative_to(GOLDEN).parts[0]
    folder = tmp_path / "damaged"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(GOLDEN / kind, folder)
    whole = victim.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    at = data.draw(st.integers(0, cut))
    damaged = folder / victim.relative_to(GOLDEN / kind)
    damaged.write_bytes(whole[:at] + data.draw(st.binary(max_size=8)) + whole[at:cut])
    place = folder / ".claude-harness" if kind == "legacy" else folder
    before = contents(folder)

    harness.read_more(place)
    for path in harness.list_natives(place):
        native = harness.read(path, path.read_bytes())
        assert native.problem is None or native.fields == {}
    assert contents(folder) == before


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([2**70, -(2**70), 1e300, 0.1, "2026-11-15T18:40:00", "9999-12-31", "\x00"])
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


def changed_somewhere(data: st.DataObject, value: Any) -> Any:
    """Put any value in the place of another, anywhere in a document."""
    holder = value
    for _ in range(data.draw(st.integers(0, 4))):
        inner = [
            each
            for each in (holder.values() if isinstance(holder, dict) else holder)
            if isinstance(each, dict | list) and each
        ]
        if not inner:
            break
        holder = data.draw(st.sampled_from(inner))
    key = data.draw(st.sampled_from([*holder] if isinstance(holder, dict) else range(len(holder))))
    holder[key] = data.draw(VALUES)
    return value


@pytest.mark.slow("tries many values")
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_values_of_any_kind_are_imported_or_reported_and_never_twice(data: st.DataObject) -> None:
    plain = sorted(path for path in (GOLDEN / "plain").rglob("*.json"))
    victims = data.draw(st.lists(st.sampled_from(plain), min_size=1, max_size=4, unique=True))
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        folder = Path(name) / "odd"
        for path in victims:
            target = folder / path.relative_to(GOLDEN / "plain")
            target.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps(changed_somewhere(data, read(path)), ensure_ascii=False)
            target.write_bytes(text.encode("utf-8", "surrogatepass"))
        before = contents(folder)
        store = Store(project_at(Path(name)), now=Clock())
        first = import_native.import_all(store, "harness", harness, folder)
        second = import_native.import_all(store, "harness", harness, folder)
        export_all(store, "harness", Path(name) / "out")
        store.close()

        assert (second.imported, second.memories, second.features) == (0, 0, 0)
        assert second.known == first.imported
        assert contents(folder) == before

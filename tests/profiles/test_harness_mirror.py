"""harness: its files follow the store, and the store follows edits of its files."""

import json
import shutil
from pathlib import Path

import pytest

from cli.runs import Cli
from gitrepo import Repo
from leftoff.knowledge import features, memory
from leftoff.knowledge.features import AgentResult, Orchestration
from leftoff.store import Store
from profiles.harnessing import edit, home, read, store
from stores import contents, set_orchestration

__all__ = ["home", "store"]


# Progress and working context


@pytest.mark.accept(131)
def test_a_ship_shows_the_progress(cli: Cli, home: Path, repo: Repo) -> None:
    cli.ok("save", "csv-export", "--summary", "Export as CSV", "--next", "Add a test")
    before = read(home / "claude-progress.json")
    edit(home / "claude-progress.json", knownIssues=["Dates ignore the zone"])
    repo.write("export.py")
    arguments = ["--summary", "Export as CSV, streamed", "--blocker", "Bucket says 403"]
    cli.ok("save", "csv-export", *arguments, "--next", "Measure it", "--overwrite")
    cli.ok("ship", "--message", "Stream the export", "--no-push", "--no-pr")
    after = read(home / "claude-progress.json")

    assert after["lastSession"]["summary"] == "Export as CSV, streamed"
    assert after["lastSession"]["blockers"] == ["Bucket says 403"]
    assert after["lastSession"]["nextSteps"] == ["Measure it"]
    assert after["lastUpdated"] > before["lastUpdated"]
    assert after["knownIssues"] == ["Dates ignore the zone"]


@pytest.mark.accept(132)
def test_the_working_context_fits_forty_lines(
    cli: Cli, home: Path, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-1")
    cli.ok("feature", "add", "Cart totals")
    cli.ok("feature", "pass", "1")
    cli.ok("feature", "add", "Export orders", "--file", "src/export.ts", "--file", "app.py")
    repo.write("app.py", "changed\n")
    for number in range(60):
        repo.write(f"new-{number}.py")
    decisions = [word for n in range(9) for word in ("--decision", f"Choice {n} :: why")]
    arguments = ["--left-off", "Routes go through createRoute()", "--next", "Add a test"]
    cli.ok("save", "csv-export", "--summary", "Export", *decisions, *arguments)
    cli.ok("ship", "--message", "Export", "--no-push", "--no-pr")
    path = home / "sessions" / "s-1" / "working-context.json"
    found = read(path)

    assert len(path.read_text(encoding="utf-8").splitlines()) <= 40
    assert (found["activeFeature"], found["summary"]) == ("feature-002", "Export orders")
    assert found["workingFiles"]["app.py"] == "modified - part of feature-002"
    assert found["workingFiles"]["new-0.py"] == "new"
    assert all(found["workingFiles"].values())
    assert "Choice 8" in found["decisions"]
    assert found["codebaseUnderstanding"] == {"leftOff": "Routes go through createRoute()"}
    assert found["nextSteps"] == ["Add a test"]


def test_a_change_by_hand_becomes_the_newest_state(cli: Cli, home: Path) -> None:
    cli.ok("save", "csv-export", "--summary", "Export as CSV", "--next", "Add a test")
    path = home / "claude-progress.json"
    last = {**read(path)["lastSession"], "summary": "Export as XML", "nextSteps": ["Ask Ada"]}
    edit(path, lastSession=last)
    edited = path.read_bytes()
    shown = cli.json("show", "csv-export")

    assert shown["summary"] == "Export as XML"
    assert shown["next_action"]["text"] == "Ask Ada"
    assert path.read_bytes() == edited
    assert read(home / "sessions" / "csv-export" / "working-context.json")["nextSteps"] == [
        "Ask Ada"
    ]


@pytest.mark.accept(166)
def test_undo_brings_the_former_state_back_into_the_files(cli: Cli, home: Path) -> None:
    cli.ok("save", "csv-export", "--summary", "Export as CSV", "--next", "Add a test")
    cli.ok("save", "csv-export", "--summary", "Export as XML", "--overwrite")
    cli.ok("undo")
    record = read(home / "sessions" / "csv-export" / "checkpoint.json")

    assert record["summary"] == "Export as CSV"
    assert read(home / "claude-progress.json")["lastSession"]["summary"] == "Export as CSV"
    assert cli.json("show", "csv-export")["summary"] == "Export as CSV"
    assert len(cli.json("list")) == 1


def test_two_changes_by_hand_are_both_taken(cli: Cli, home: Path) -> None:
    cli.ok("save", "csv-export", "--summary", "Export as CSV", "--next", "Add a test")
    path = home / "claude-progress.json"
    for words in ("Export as XML", "Export as JSON"):
        edit(path, lastSession={**read(path)["lastSession"], "summary": words})
        assert cli.json("show", "csv-export")["summary"] == words
    assert len(cli.json("log", "csv-export")["revisions"]) == 3


def test_a_record_that_somebody_changed_is_imported_before_it_is_replaced(
    cli: Cli, home: Path
) -> None:
    cli.ok("save", "csv-export", "--summary", "Export as CSV", "--next", "Add a test")
    edit(home / "sessions" / "csv-export" / "checkpoint.json", blockers=["Ask Ada first"])
    cli.ok("save", "csv-export", "--summary", "Export as XML", "--overwrite")

    revisions = [each["id"] for each in cli.json("log", "csv-export")["revisions"]]
    shown = [cli.json("show", each) for each in revisions]
    assert [each.get("blockers", []) for each in shown].count(["Ask Ada first"]) == 1
    assert cli.json("show", "csv-export")["summary"] == "Export as XML"


def test_a_progress_that_git_brings_is_a_state_of_its_own_time(
    cli: Cli, home: Path, repo: Repo
) -> None:
    cli.ok("save", "csv-export", "--summary", "Export as CSV")
    repo.git("add", "--force", ".claude-harness/claude-progress.json")
    repo.git("commit", "--quiet", "--message", "Keep the progress")
    cli.ok("save", "csv-export", "--summary", "Export as XML", "--overwrite")
    repo.git("checkout", "--quiet", "HEAD", "--", ".claude-harness/claude-progress.json")

    assert cli.json("show", "csv-export")["summary"] == "Export as XML"
    theirs = {**read(home / "claude-progress.json"), "lastUpdated": "2026-11-01T10:00:00Z"}
    theirs["lastSession"] = {"summary": "What a teammate did", "nextSteps": ["Ask Bo"]}
    (home / "claude-progress.json").write_text(json.dumps(theirs), encoding="utf-8")
    shown = cli.json("show", "what-a-teammate-did")
    assert shown["saved_at"] == "2026-11-01T10:00:00Z"
    assert cli.json("show", "csv-export")["summary"] == "Export as XML"


def test_a_file_that_cannot_be_read_is_reported_and_the_others_written(
    cli: Cli, home: Path
) -> None:
    cli.ok("feature", "add", "Export orders")
    (home / "features" / "active.json").write_text("{ not json", encoding="utf-8")
    result = cli.ok("save", "csv-export", "--summary", "Export", "--decision", "Stream :: big")

    assert "features/active.json was left unchanged" in result.err
    assert (home / "features" / "active.json").read_text(encoding="utf-8") == "{ not json"
    assert read(home / "memory/episodic/decisions.json")["entries"][0]["decision"] == "Stream"


@pytest.mark.accept(150)
def test_a_save_is_confirmed_in_a_panel_that_says_where_things_are(cli: Cli, home: Path) -> None:
    words = ["save", "csv-export", "--summary", "Export as CSV", "--next", "Add a test"]
    output = cli.ok(*words).out
    cli.ok("config", "set", "advise_clear", "false", "--project")
    plain = cli.ok(*words, "--overwrite").out

    assert output.startswith("CHECKPOINT COMPLETE\n  Saved    csv-export: Export as CSV\n")
    assert "  Next     Add a test\n  Kept in  " in output
    assert str(home / "claude-progress.json") in output
    assert "clear the agent's context" in output
    assert "clear" not in plain


def test_a_folder_that_leads_out_is_reported_and_the_others_are_written(
    cli: Cli, home: Path
) -> None:
    home.mkdir()
    (home / "sessions").symlink_to(home.parent.parent)
    result = cli.ok("save", "csv-export", "--summary", "Export", "--decision", "Stream :: big")

    assert "points outside" in result.err
    assert not (home.parent.parent / "csv-export").exists()
    assert read(home / "memory/episodic/decisions.json")["entries"][0]["decision"] == "Stream"


def test_files_that_were_removed_are_written_again(cli: Cli, home: Path) -> None:
    cli.ok("feature", "add", "Export orders")
    cli.ok("save", "csv-export", "--summary", "Export", "--decision", "Stream :: big")
    shutil.rmtree(home)
    cli.ok("save", "csv-import", "--summary", "Import")

    assert read(home / "features/active.json")["features"][0]["name"] == "Export orders"
    assert read(home / "memory/episodic/decisions.json")["entries"][0]["decision"] == "Stream"


# Features and memory


@pytest.mark.accept(148)
def test_features_and_fixes_move_to_the_archive_file(cli: Cli, home: Path) -> None:
    cli.ok("feature", "add", "Cart totals")
    cli.ok("feature", "add", "Export orders")
    cli.ok("feature", "pass", "1")
    cli.ok("feature", "archive")
    active, archive = (read(home / "features" / f"{name}.json") for name in ("active", "archive"))

    assert [each["id"] for each in active["features"]] == ["feature-002"]
    assert [each["id"] for each in archive["archived"]] == ["feature-001"]
    assert archive["archived"][0]["archivedAt"]
    before = contents(home)
    cli.ok("feature", "archive")
    assert contents(home) == before


def test_a_feature_that_another_program_notes_or_changes_is_imported(
    cli: Cli, home: Path, store: Store
) -> None:
    cli.ok("feature", "add", "Export orders")
    path = home / "features" / "active.json"
    mine = {**read(path)["features"][0], "status": "blocked", "estimate": "3 days"}
    edit(path, features=[mine, {"id": "feature-002", "name": "Import orders"}], owner="ada")
    cli.ok("feature", "list")
    cli.ok("feature", "add", "Delete orders")
    board = features.load(store)
    found = read(path)

    assert [each.name for each in board.features] == [
        "Export orders",
        "Import orders",
        "Delete orders",
    ]
    assert board.features[0].status == "blocked"
    assert found["owner"] == "ada"
    assert found["features"][0] == mine
    assert [each["id"] for each in found["features"]] == [
        "feature-001",
        "feature-002",
        "feature-003",
    ]


def test_a_secret_that_somebody_wrote_stays_in_the_file_and_out_of_the_store(
    cli: Cli, home: Path, stored: Path
) -> None:
    cli.ok("feature", "add", "Export orders")
    path = home / "features" / "active.json"
    secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
    edit(path, features=[{**read(path)["features"][0], "description": f"Use {secret}"}])
    cli.ok("feature", "start", "1")

    assert read(path)["features"][0]["status"] == "in_progress"
    assert read(path)["features"][0]["description"] == f"Use {secret}"
    assert not [
        each
        for each in stored.rglob("*")
        if each.is_file() and secret.encode() in each.read_bytes()
    ]


def test_a_number_that_both_sides_gave_is_kept_by_none_at_the_others_cost(
    cli: Cli, home: Path, store: Store
) -> None:
    cli.ok("config", "set", "mirror", "none", "--project")
    (home / "features").mkdir(parents=True)
    theirs = {"id": "feature-001", "name": "Their feature", "createdAt": "2026-01-01T00:00:00Z"}
    (home / "features" / "active.json").write_text(json.dumps({"features": [theirs]}))
    cli.ok("feature", "add", "Our feature")
    cli.ok("config", "set", "mirror", "harness", "--project")
    cli.ok("save", "some-work", "--summary", "Some work")
    found = read(home / "features" / "active.json")["features"]

    names = {"feature-001": "Our feature", "feature-002": "Their feature"}
    assert {each.id: each.name for each in features.load(store).features} == names
    assert {each["id"]: each["name"] for each in found} == names


@pytest.mark.accept(133)
def test_the_oldest_decisions_leave_the_live_layer_and_not_the_memory(
    cli: Cli, home: Path, store: Store
) -> None:
    drafts = [memory.EntryDraft(kind="decision", text=f"Choice {n}", why="why") for n in range(49)]
    memory.add(store, drafts)
    words = [word for n in range(49, 52) for word in ("--decision", f"Choice {n} :: why")]
    cli.ok("save", "csv-export", "--summary", "Export", *words)
    found = read(home / "memory/episodic/decisions.json")
    keys = {"id", "timestamp", "feature", "decision", "rationale", "alternatives", "impact"}

    assert found["maxEntries"] == 50
    assert [each["decision"] for each in found["entries"]] == [f"Choice {n}" for n in range(2, 52)]
    assert all(keys <= {*each} for each in found["entries"])
    assert len(memory.entries(store, kinds=("decision",))) == 52


def test_a_decision_that_the_store_does_not_know_is_never_dropped(
    cli: Cli, home: Path, store: Store
) -> None:
    path = home / "memory" / "episodic" / "decisions.json"
    path.parent.mkdir(parents=True)
    entries = [{"id": f"d{n}", "decision": f"Choice {n}"} for n in range(50)]
    path.write_text(json.dumps({"maxEntries": 50, "entries": entries}), encoding="utf-8")
    cli.ok("save", "csv-export", "--summary", "Export", "--decision", "One more :: why")

    texts = {entry.text for entry in memory.entries(store, kinds=("decision",))}
    assert texts == {"One more", *(f"Choice {n}" for n in range(50))}
    assert len(read(path)["entries"]) == 50


@pytest.mark.accept(134)
@pytest.mark.accept(135)
def test_facts_and_entities_are_added_once_and_unknown_keys_stay(
    cli: Cli, home: Path, store: Store
) -> None:
    path = home / "memory" / "semantic" / "architecture.json"
    path.parent.mkdir(parents=True)
    known = {"structure": {"components": ["src/a.ts"]}, "lastUpdated": "2020", "team": "blue"}
    path.write_text(json.dumps(known), encoding="utf-8")
    new = [
        memory.EntryDraft(kind="structure", text="src/b.ts", files=["src/b.ts"]),
        memory.EntryDraft(kind="structure", text="src/a.ts", files=["src/a.ts"]),
        memory.EntryDraft(kind="entity", text="Order", why="model", files=["src/order.ts"]),
        memory.EntryDraft(kind="pattern", text="Handlers return a stream"),
    ]
    memory.add(store, new)
    cli.ok("save", "csv-export", "--summary", "Export")
    first = contents(home / "memory")
    memory.add(store, new)
    cli.ok("save", "csv-export", "--summary", "Export again", "--overwrite")

    found = read(path)
    assert found["structure"]["components"] == ["src/a.ts", "src/b.ts"]
    assert found["team"] == "blue"
    assert found["lastUpdated"] > "2026"
    entity = read(home / "memory/semantic/entities.json")["entities"][0]
    assert (entity["name"], entity["type"], entity["location"]) == (
        "Order",
        "model",
        "src/order.ts",
    )
    assert entity["relationships"] == []
    patterns = read(home / "memory/procedural/patterns.json")["patterns"]
    assert patterns["codePatterns"] == ["Handlers return a stream"]
    assert contents(home / "memory") == first


def test_a_rule_that_another_program_rewords_is_reworded(
    cli: Cli, home: Path, store: Store
) -> None:
    cli.ok("memory", "add", "rule", "Indent by tabs")
    path = home / "memory" / "learned" / "rules.json"
    rule = read(path)["rules"][0]
    edit(path, rules=[{**rule, "description": "Indent by four blanks"}])
    cli.ok("memory", "list")

    assert rule["id"] == "rule-001"
    assert [each.text for each in memory.entries(store, kinds=("rule",))] == [
        "Indent by four blanks"
    ]
    assert [each["description"] for each in read(path)["rules"]] == ["Indent by four blanks"]


def test_a_rule_that_waits_for_review_is_not_in_the_file(
    cli: Cli, home: Path, store: Store
) -> None:
    """D23: what waits for review is kept in the store's queue, and nothing takes it for a rule."""
    queued = memory.add(
        store, [memory.EntryDraft(kind="rule", text="Short tests")], status="queued"
    )
    cli.ok("memory", "add", "rule", "Indent by tabs")
    path = home / "memory" / "learned" / "rules.json"

    assert {each["description"]: each["active"] for each in read(path)["rules"]} == {
        "Indent by tabs": True,
    }
    assert "Short tests" in cli("reflect", "--review").out
    cli.ok("memory", "approve", queued[0].id)
    tabs = memory.entries(store, kinds=("rule",), statuses=("active",))
    cli.ok("memory", "reject", next(each.id for each in tabs if "tabs" in each.text))
    assert {each["description"]: each["active"] for each in read(path)["rules"]} == {
        "Short tests": True,
        "Indent by tabs": False,
    }
    assert read(path)["metadata"]["totalRules"] == 2


@pytest.mark.accept(149)
def test_what_agents_found_together_is_cleared_from_their_file(
    cli: Cli, home: Path, store: Store
) -> None:
    done = AgentResult(agent="reviewer", status="completed", summary="The route needs a limit")
    failed = AgentResult(
        agent="tester", status="failed", summary="Mocked the clock", errors=["drift"]
    )
    set_orchestration(
        store, Orchestration(session="orc-1", results=[done, failed], patterns=["Pass clocks in"])
    )
    cli.ok("save", "csv-export", "--summary", "Export")
    path = home / "agents" / "context.json"
    assert [each["agent"] for each in read(path)["agentResults"]] == ["reviewer", "tester"]
    features.fold_orchestration(store)
    cli.ok("save", "csv-export", "--summary", "Export again", "--overwrite")

    found = read(path)
    assert (found["currentSession"], found["agentResults"], found["teamState"]) == (None, [], None)
    procedural = home / "memory" / "procedural"
    assert read(procedural / "successes.json")["entries"][0]["approach"] == done.summary
    assert read(procedural / "failures.json")["entries"][0]["rootCause"] == "drift"
    assert "Pass clocks in" in (procedural / "patterns.json").read_text(encoding="utf-8")


def test_features_that_were_there_before_are_known_at_once(cli: Cli, home: Path) -> None:
    (home / "features").mkdir(parents=True)
    theirs = {"id": "feature-004", "name": "Their feature", "status": "pending"}
    (home / "features" / "active.json").write_text(json.dumps({"features": [theirs]}))

    assert [each["id"] for each in cli.json("feature", "list")] == ["feature-004"]


def test_an_import_after_that_still_shows_what_it_imported(cli: Cli, home: Path) -> None:
    (home / "features").mkdir(parents=True)
    theirs = {"id": "feature-004", "name": "Their feature", "status": "pending"}
    (home / "features" / "active.json").write_text(json.dumps({"features": [theirs]}))

    assert cli.json("import", "--from", "harness")["features"] == 1


@pytest.mark.accept(134)
def test_facts_given_by_command_go_where_they_belong(cli: Cli, home: Path) -> None:
    facts = {
        "src/export.py": ("structure", "components"),
        "tests/test_export.py": ("structure", "tests"),
        "The entry point is main.py": ("structure", "entryPoints"),
        "Names of files are in kebab-case": ("patterns", "naming"),
        "Each feature lives in a folder of its own": ("patterns", "fileOrganization"),
        "Prefer early returns": ("patterns", "codeStyle"),
    }
    for fact in facts:
        cli.ok("memory", "add", "structure", fact)
    words = ["--why", "model", "--file", "src/order.py", "--impact", "has many items"]
    cli.ok("memory", "add", "entity", "Order", *words)

    found = read(home / "memory/semantic/architecture.json")
    assert {found[part][key][0]: (part, key) for part, key in facts.values()} == facts
    entity = read(home / "memory/semantic/entities.json")["entities"][0]
    assert [entity[key] for key in ("name", "type", "location", "relationships")] == [
        "Order",
        "model",
        "src/order.py",
        ["has many items"],
    ]

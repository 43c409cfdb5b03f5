"""claude-harness's checkpoint, played phase by phase as its text says."""

import re
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cli.runs import Cli
from gitrepo import Repo
from knowledge.reflect.talks import corrected_talk
from ship.harness_project import SESSION, adopt, feature, fix, loop, plan, read, save, write
from ship.hub import Hub
from ship.shop import Shop, step
from talk import Talk

pytestmark = pytest.mark.slow("ships many times")


@pytest.fixture
def home(shop: Shop, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Follow harness in the session of an agent; return its folder."""
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    return adopt(shop, cli)


@pytest.mark.promise("harness", 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 61, 64, 69, 71, 117, 118, 119, 120)
def test_one_command_does_it_all(shop: Shop, cli: Cli, home: Path, hub: Hub) -> None:
    plan(home, feature(1, "Export orders"))
    write(home / "sessions" / SESSION / "loop-state.json", loop("feature-001"))
    save(cli)
    shop.write("app.py", "print('csv')\n")
    shop.write(".env", "TOKEN=abc\n")
    before = datetime.now(UTC)

    told = cli.ok("ship", "-m", "Stream orders as CSV").out

    progress = read(home / "claude-progress.json")
    last = progress["lastSession"]
    assert last["summary"] == "Stream the CSV export"
    assert last["completedTasks"] == ["Streamed the rows in app.py", "Added the route"]
    assert last["blockers"] == ["The staging database is down"]
    assert last["nextSteps"] == ["Test an export of 0 orders", "Document the route"]
    assert abs((datetime.fromisoformat(progress["lastUpdated"]) - before).total_seconds()) < 600
    assert shop.subjects()[:2] == [
        "chore(leftoff): keep the state of what was shipped",
        "feat(feature-001): Stream orders as CSV",
    ]
    assert (shop.remote_head(), shop.status) == (shop.head(), "?? .env")
    assert [each["title"] for each in hub.pulls] == ["feat: Stream orders as CSV"]
    assert (home / "sessions" / SESSION / "working-context.json").is_file()
    assert (home / "memory/episodic/decisions.json").is_file()
    panel = told.partition("CHECKPOINT COMPLETE\n")[2]
    commit = shop.git("rev-parse", "--short=12", "HEAD~1")
    assert panel.startswith("  Progress saved to memory layers\n")
    assert f"Commit        {commit}" in panel
    assert "#12 https://github.com/ada/shop/pull/12" in panel
    assert "  RECOMMENDED: Run /clear to reset context\n  Your progress is preserved in:\n" in panel
    for kept in (
        "claude-progress.json (session summary)",
        f"sessions/{SESSION}/working-context.json (session working state)",
        "memory/episodic/decisions.json (decisions)",
        "session-briefing.md (auto-injected at next start)",
    ):
        assert f"  - {kept}\n" in panel
    assert "Context auto-loads on next session (no /start needed)." in panel


@pytest.mark.promise("harness", 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23)
def test_the_working_context_of_the_session(shop: Shop, cli: Cli, home: Path) -> None:
    done = feature(1, "Login", passes=True, status="passing")
    related = ["app.py", "src/routes.py"]
    plan(home, done, feature(2, "Export orders", relatedFiles=related), feature(3, "Later"))
    shop.write("app.py", "print('csv')\n")
    shop.write("src/new.py", "pass\n")
    save(cli, files=[{"path": "src/new.py", "role": "new - writes one row"}])

    cli.ok("ship", "--no-pr", "--no-push")

    path = home / "sessions" / SESSION / "working-context.json"
    found = read(path)
    assert [*found] == [
        *("version", "lastUpdated", "activeFeature", "summary", "workingFiles", "decisions"),
        *("codebaseUnderstanding", "nextSteps"),
    ]
    assert (found["version"], found["activeFeature"]) == (1, "feature-002")
    assert found["summary"] == "Export orders"
    assert found["workingFiles"] == {
        "app.py": "modified - part of feature-002",
        "src/routes.py": "related - part of feature-002",
        "src/new.py": "new - writes one row",
    }
    assert found["decisions"] == ["Stream rows; never buffer the file"]
    assert found["codebaseUnderstanding"] == {
        "leftOff": "The writer works.",
        "routing": "routes register through createRoute()",
    }
    assert found["nextSteps"] == ["Test an export of 0 orders", "Document the route"]
    assert datetime.fromisoformat(found["lastUpdated"]).tzinfo is not None
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 40


@pytest.mark.promise("harness", 23)
def test_a_working_context_with_hundreds_of_files_has_40_lines(
    shop: Shop, cli: Cli, home: Path
) -> None:
    for number in range(200):
        shop.write(f"src/file{number}.py", "pass\n")
    save(cli, decisions=[{"what": f"Choice {n}"} for n in range(30)])

    lines = (home / f"sessions/{SESSION}/working-context.json").read_text().splitlines()
    assert 25 <= len(lines) <= 40


@pytest.mark.promise("harness", 26, 27, 28, 29, 30)
def test_decisions_go_to_episodic_memory_first_in_first_out(
    shop: Shop, cli: Cli, home: Path
) -> None:
    write(home / "config.json", {"version": 3, "memory": {"episodicMaxEntries": 3}})
    entries = [
        {"id": str(uuid.uuid4()), "timestamp": f"2026-10-0{n}T10:00:00Z", "decision": f"Old {n}"}
        for n in range(1, 4)
    ]
    write(home / "memory/episodic/decisions.json", {"version": 3, "entries": entries})
    plan(home, feature(1, "Export orders"))
    cli.ok("feature", "start", "1")
    save(cli)
    shop.write("app.py", "print('csv')\n")

    told = cli.ok("ship", "--no-pr", "--no-push").out

    found = read(home / "memory/episodic/decisions.json")
    assert "Recorded 1 decisions to episodic memory" in told
    assert [each["decision"] for each in found["entries"]] == [
        *("Old 2", "Old 3", "Stream rows; never buffer the file"),
    ]
    new = found["entries"][-1]
    keys = {"id", "timestamp", "feature", "decision", "rationale", "alternatives", "impact"}
    assert keys <= {*new}
    assert str(uuid.UUID(new["id"])) == new["id"]
    assert datetime.fromisoformat(new["timestamp"]).tzinfo is not None
    assert (new["feature"], new["rationale"]) == ("feature-001", "tenants with a million rows")
    assert (new["alternatives"], new["impact"]) == (["temporary file"], "app.py")
    # The file shows three; the memory has them all.
    assert "Old 1" in cli.ok("memory", "search", "Old").out


@pytest.mark.promise("harness", 31, 32, 33, 34, 35, 36, 37, 38, 39)
def test_what_the_session_discovered_goes_to_semantic_and_procedural_memory(
    shop: Shop, cli: Cli, home: Path
) -> None:
    structure = {"entryPoints": ["app.py"], "components": [], "api": [], "tests": []}
    patterns: dict[str, Any] = {"naming": {}, "fileOrganization": {}, "codeStyle": {}}
    old = {"version": 3, "structure": structure, "patterns": patterns, "owner": "ada"}
    write(home / "memory/semantic/architecture.json", {**old, "lastUpdated": "2026-01-01"})
    rules = {"codePatterns": ["Pass clocks in"], "namingConventions": {"tests": "test_*.py"}}
    known = {"version": 3, "patterns": {**rules, "projectSpecificRules": ["Never log tokens"]}}
    write(home / "memory/procedural/patterns.json", known)
    for text in (
        *("src/export.py", "tests/test_export.py", "The entry point is app.py"),
        *("Modules are named in snake_case", "Handlers live in src/handlers"),
        "Functions have type annotations",
    ):
        cli.ok("memory", "add", "structure", text)
    cli.ok("memory", "add", "entity", "Invoice", "--why", "model", "--file", "src/invoice.py")
    cli.ok("memory", "add", "pattern", "Pass clocks in")
    cli.ok("memory", "add", "pattern", "Stream rows")
    shop.write("app.py", "print('csv')\n")

    told = cli.ok("ship", "--no-pr", "--no-push").out

    found = read(home / "memory/semantic/architecture.json")
    assert found["structure"]["components"] == ["src/export.py"]
    assert found["structure"]["tests"] == ["tests/test_export.py"]
    assert found["structure"]["entryPoints"] == ["app.py", "The entry point is app.py"]
    assert [*found["patterns"]["naming"]] == ["Modules are named in snake_case"]
    assert [*found["patterns"]["fileOrganization"]] == ["Handlers live in src/handlers"]
    assert [*found["patterns"]["codeStyle"]] == ["Functions have type annotations"]
    assert (found["owner"], found["lastUpdated"] > "2026-11") == ("ada", True)
    entity = read(home / "memory/semantic/entities.json")["entities"][0]
    assert {key: entity[key] for key in ("name", "type", "location", "relationships")} == {
        "name": "Invoice",
        "type": "model",
        "location": "src/invoice.py",
        "relationships": [],
    }
    shown = read(home / "memory/procedural/patterns.json")["patterns"]
    assert shown["codePatterns"] == ["Pass clocks in", "Stream rows"]
    assert shown["namingConventions"] == {"tests": "test_*.py"}
    assert shown["projectSpecificRules"] == ["Never log tokens"]
    assert "Updated procedural patterns" in told
    before = (home / "memory/semantic/architecture.json").read_bytes()
    shop.write("app.py", "print('again')\n")
    assert "Updated procedural patterns" not in cli.ok("ship", "--no-pr", "--no-push").out
    assert (home / "memory/semantic/architecture.json").read_bytes() == before


@pytest.mark.promise("harness", 24, 40, 41, 42, 43, 44, 45, 46, 47, 49, 50, 73)
def test_the_briefing_is_compiled_from_native_files_and_injected(
    shop: Shop, cli: Cli, home: Path
) -> None:
    shop.git("config", "remote.origin.pushurl", shop.git("config", "remote.origin.url"))
    shop.git("config", "remote.origin.url", "git@github.com:ada/shop.git")
    scenario = {"scenario": "No orders", "given": "none", "when": "exported", "then": "a header"}
    about = {"description": "CSV download for admins", "acceptanceCriteria": [scenario] * 3}
    plan(home, feature(7, "Export orders", **about, relatedFiles=["src/export.ts"]))
    decision = {"id": "d-1", "timestamp": "2026-11-15T18:40:00Z", "feature": "feature-007"}
    write(
        home / "memory/episodic/decisions.json",
        {"version": 3, "entries": [{**decision, "decision": "Stream CSV", "rationale": "size"}]},
    )
    failure = {"id": "fail-20261115-001", "approach": "JSON.stringify", "feature": "feature-007"}
    write(
        home / "memory/procedural/failures.json",
        {"version": 3, "entries": [{**failure, "rootCause": "unbounded array"}]},
    )
    rule = {"id": "rule-001", "title": "Absolute imports", "description": "use @/ for src"}
    write(home / "memory/learned/rules.json", {"version": 3, "rules": [{**rule, "active": True}]})
    save(cli)
    shop.write("app.py", "print('csv')\n")

    cli.ok("ship", "--no-pr", "--no-push", "-m", "feat(feature-007): stream CSV export")

    text = (home / "session-briefing.md").read_text(encoding="utf-8")
    assert re.match(r"# Session Briefing\nLast updated: \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n", text)
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        *("## Active Features", "## Recent Decisions (last 5)", "## Approaches to AVOID"),
        *("## Learned Rules", "## Current Status"),
    ]
    assert "- feature-007: Export orders [in_progress]\n  About: CSV download for admins\n" in text
    assert "  Acceptance: 3 scenarios | Files: src/export.ts\n" in text
    assert "- Stream CSV (feature-007, 2026-11-15)" in text
    assert "- JSON.stringify -> unbounded array (feature-007)\n" in text
    assert "- Absolute imports: use @/ for src\n" in text
    assert "Last checkpoint: feat(feature-007): stream CSV export\nBranch: feature/csv\n" in text
    assert "Next steps: Test an export of 0 orders; Document the route\n" in text
    assert ".claude-harness/session-briefing.md" in shop.git("ls-files").splitlines()
    assert shop.status == ""
    injected = Talk(shop.folder, "next-session").start()
    for line in filter(None, text.splitlines()[2:]):
        assert line.strip().replace('"', '\\"') in injected
    assert "ada/shop" in injected
    # A second session, as after /clear or a reboot, gets the same and changes nothing.
    assert "Absolute imports: use @/ for src" in Talk(shop.folder, "third").start("clear")
    assert shop.status == ""


@pytest.mark.promise("harness", 51, 52, 53, 54, 55, 56)
def test_corrections_become_rules_without_a_question(
    shop: Shop, cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = corrected_talk(shop.folder)
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", talk.session_id)
    shop.write("app.py", "print('csv')\n")

    told = cli.ok("ship", "--no-pr", "--no-push").out

    block = told.partition("AUTO-REFLECTION\n")[2]
    lines = [line.strip() for line in block.splitlines()[:4]]
    assert lines[:3] == [
        "High-confidence rules auto-saved: 1",
        "- No, use pnpm instead of npm.",
        "Lower-confidence (manual review needed): 1",
    ]
    assert lines[3].startswith("(Low-confidence rules queued for next checkpoint review")
    rules = read(home / "memory/learned/rules.json")["rules"]
    assert [each["description"] for each in rules] == ["No, use pnpm instead of npm."]
    assert (rules[0]["id"], rules[0]["active"], rules[0]["confidence"]) == (
        *("rule-001", True, "high"),
    )
    assert cli("reflect", "--review").code == 3


@pytest.mark.promise("harness", 54)
def test_the_bar_of_the_config_decides_which_corrections_are_saved(
    shop: Shop, cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reflection = {"enabled": True, "minConfidenceForAuto": "medium"}
    write(home / "config.json", {"version": 3, "reflection": reflection})
    talk = corrected_talk(shop.folder)
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", talk.session_id)
    shop.write("app.py", "print('csv')\n")

    told = cli.ok("ship", "--no-pr", "--no-push").out

    assert "High-confidence rules auto-saved: 2" in told
    assert len(read(home / "memory/learned/rules.json")["rules"]) == 2
    write(home / "config.json", {"reflection": {"enabled": False}})
    assert "Reflection is disabled in config.json" in cli("reflect").err


@pytest.mark.promise("harness", 57, 62, 63, 91, 93)
def test_without_corrections_nothing_is_said_and_session_files_stay_out(
    shop: Shop, cli: Cli, home: Path
) -> None:
    plan(home, feature(1, "Export orders"))
    write(home / "working" / "scratch.json", {"a": 1})
    write(home / "memory" / "working" / "scratch.json", {"a": 1})
    save(cli)
    shop.write("app.py", "print('csv')\n")

    told = cli.ok("ship", "--no-pr").out

    assert "AUTO-REFLECTION" not in told
    assert f"done  commit        {shop.head()[:12]}" in told
    assert "Pushed to origin/feature/csv" in told
    assert "Remains       Blocked: The staging database is down" in told
    assert "Next: Test an export of 0 orders" in told
    assert "feature-001 Export orders [in_progress]" in told
    files = shop.git("ls-files", ".claude-harness").splitlines()
    assert ".claude-harness/claude-progress.json" in files
    assert not any("/sessions/" in each or "/working/" in each for each in files)
    assert shop.git("status", "--porcelain") == ""


@pytest.mark.promise("harness", 58, 59, 60, 90)
def test_the_commands_of_the_config_run_and_failures_are_reported(
    shop: Shop, cli: Cli, home: Path
) -> None:
    checks = {"build": "echo built", "tests": "echo '2 failed: test_csv'; exit 1", "lint": ""}
    write(home / "config.json", {"version": 3, "verification": checks})
    shop.write("app.py", "print('csv')\n")
    refused = cli("ship", "--no-pr", "--no-push")
    assert (refused.code, "config allow verify" in refused.err) == (1, True)
    cli.ok("config", "allow", "verify")

    told = cli("ship", "--no-pr", "--no-push")

    assert told.code == 1
    assert "passed  echo built" in told.out
    assert "FAILED  echo '2 failed: test_csv'; exit 1" in told.out
    assert "1 of 2 checks failed; your work is saved." in told.out
    assert "2 failed: test_csv" in told.out
    assert shop.subjects()[0] == "Update app.py"
    write(home / "config.json", {"version": 3, "verification": {"build": "", "tests": ""}})
    assert "No checks are set." in cli.ok("ship", "--no-pr", "--no-push").out


@pytest.mark.promise("harness", 65, 66, 67, 68, 70)
@pytest.mark.parametrize("place", [f"sessions/{SESSION}/loop-state.json", "loops/state.json"])
def test_the_loop_decides_the_prefix(place: str, shop: Shop, cli: Cli, home: Path) -> None:
    repair = fix(1, "Quote commas", github={"issueNumber": 9})
    plan(home, feature(1, "Export orders", github={"issueNumber": 3}), fixes=(repair,))
    state = loop("feature-001")
    del state["type"]
    write(home / place, state)
    shop.write("app.py", "print('csv')\n")
    cli.ok("ship", "--no-pr", "--no-push")
    assert shop.message("HEAD").startswith("feat(feature-001): Export orders")

    link = {"featureId": "feature-001", "featureName": "Export orders"}
    write(home / place, loop("fix-feature-001-1", type="fix", linkedTo=link))
    shop.write("app.py", "print('commas')\n")
    cli.ok("ship", "--no-pr", "--no-push")

    message = shop.message("HEAD")
    assert message.startswith("fix(feature-001): Quote commas")
    assert message.endswith("Fixes #9\nRelated to #3")


@pytest.mark.promise("harness", 14)
def test_without_a_loop_the_first_feature_that_does_not_pass_gives_the_prefix(
    shop: Shop, cli: Cli, home: Path
) -> None:
    plan(home, feature(1, "Login", passes=True), feature(2, "Export orders", status="pending"))
    shop.write("app.py", "print('csv')\n")

    cli.ok("ship", "--no-pr", "--no-push", "-m", "Stream rows")

    assert shop.subjects()[0] == "feat(feature-002): Stream rows"


@pytest.mark.promise("harness", 72, 74, 76, 78, 79, 80, 81, 83, 84, 85, 86, 87, 89, 92)
def test_the_pull_request_of_a_feature(shop: Shop, cli: Cli, home: Path, hub: Hub) -> None:
    hub.know(issues={"3": ["area:export"]})
    plan(home, feature(1, "Export orders", github={"issueNumber": 3}))
    write(home / "sessions" / SESSION / "loop-state.json", loop("feature-001"))
    save(cli)
    shop.write("app.py", "print('csv')\n")
    cli.ok("ship")
    body = hub.pulls[0]["body"]
    assert hub.pulls[0]["title"] == "feat: Export orders"
    assert "Closes #3" in body
    assert "## Summary\n- Streamed the rows in app.py\n- Added the route\n" in body
    assert "- Stream rows; never buffer the file — tenants with a million rows" in body
    assert "## How to test\n- [ ] " in body
    assert hub.labels() == {"area:export", "status:ready-for-review"}

    save(cli, summary="Quote fields", done=["Quoted commas"], decisions=[], left_off="")
    shop.write("app.py", "print('commas')\n")
    message = "Quote fields\n\n- Quoted commas\n\nBREAKING CHANGE: columns are quoted now"
    told = cli.ok("ship", "-m", message).out

    pull = hub.pulls[0]
    assert "- Streamed the rows in app.py\n- Added the route\n- Quoted commas" in pull["body"]
    assert "- Stream rows; never buffer the file — tenants" in pull["body"]
    assert "## Breaking changes\n- columns are quoted now" in pull["body"]
    assert [each["body"].splitlines()[2:] for each in pull["comments"]] == [["- Quoted commas"]]
    assert "Updated #12 https://github.com/ada/shop/pull/12" in told
    assert "checks pass, review required, no conflicts" in told
    assert read(home / "features/active.json")["features"][0]["github"]["prNumber"] == 12
    assert shop.status == ""
    # Later pushes may come from a rewritten branch; what was listed stays.
    shop.git("reset", "--quiet", "--soft", "origin/main")
    shop.git("commit", "--quiet", "--message", "Squashed")
    shop.git("push", "--quiet", "--force", "origin", "HEAD")
    cli.ok("ship")
    assert (
        "- Streamed the rows in app.py\n- Added the route\n- Quoted commas"
        in (hub.pulls[0]["body"])
    )


@pytest.mark.promise("harness", 77, 82, 88)
def test_the_pull_request_of_a_fix(shop: Shop, cli: Cli, home: Path, hub: Hub) -> None:
    repair = fix(1, "Quote commas", github={"issueNumber": 9})
    plan(home, feature(1, "Export orders", github={"issueNumber": 3}), fixes=(repair,))
    link = {"featureId": "feature-001", "featureName": "Export orders"}
    state = loop("fix-feature-001-1", type="fix", linkedTo=link)
    write(home / "sessions" / SESSION / "loop-state.json", state)
    hub.know(issues={"9": []})
    shop.write("app.py", "print('csv')\n")

    cli.ok("ship")

    assert hub.pulls[0]["title"] == "fix: Quote commas"
    assert "Fixes #9\nRelated to #3" in hub.pulls[0]["body"]
    assert hub.labels() == {"bugfix", "linked-to:feature-001", "status:ready-for-review"}
    assert read(home / "features/active.json")["fixes"][0]["github"]["prNumber"] == 12


@pytest.mark.promise("harness", 75)
@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("kind", ["refactor", "docs", "test", "chore"])
def test_a_title_has_the_kind_of_the_message(kind: str, shop: Shop, cli: Cli, hub: Hub) -> None:
    shop.write("app.py", "print('csv')\n")

    cli.ok("ship", "-m", f"{kind}: Move the writer")

    assert hub.pulls[0]["title"] == f"{kind}: Move the writer"


@pytest.mark.promise("harness", 4, 94, 95, 96, 97, 100, 101, 102, 103, 104, 105, 106)
@pytest.mark.parametrize("place", [f"sessions/{SESSION}/loop-state.json", "loops/state.json"])
def test_what_is_complete_is_reset_and_archived(
    place: str, shop: Shop, cli: Cli, home: Path
) -> None:
    passing = feature(1, "Export orders", status="passing", owner="ada")
    del passing["passes"]
    plan(
        home,
        passing,
        feature(2, "Login", passes=True),
        feature(3, "Later", status="pending"),
        fixes=(fix(1, "Quote commas", status="passing"), fix(2, "Tabs")),
    )
    tasks = {"enabled": True, "chain": ["1", "2", "3", "4", "5"], "current": "5", "completed": []}
    write(home / place, loop("feature-001", status="completed", tasks=tasks))
    shop.write("app.py", "print('csv')\n")

    told = cli.ok("ship", "--no-pr").out

    for line in (
        *("Archived 2 completed features", "Archived 1 completed fixes"),
        *("All 5 tasks completed", "Loop completed and reset"),
    ):
        assert line in told
    work = shop.git("log", "-1", "--format=%H", "--invert-grep", "--grep=chore(leftoff)")
    assert read(home / place) == {
        "version": 9, "feature": None, "featureName": None, "type": "feature", "linkedTo": None,
        "status": "idle", "attempt": 0, "maxAttempts": 15, "startedAt": None,
        "lastAttemptAt": None, "verification": {}, "history": [],
        "tasks": {"enabled": False, "chain": [], "current": None, "completed": []},
        "lastCheckpoint": work, "escalationRequested": False,
    }  # fmt: skip
    archive, active = (read(home / "features" / f"{name}.json") for name in ("archive", "active"))
    assert [*archive] == ["version", "archived", "archivedFixes"]
    assert archive["version"] == 3
    assert [each["id"] for each in archive["archived"]] == ["feature-001", "feature-002"]
    assert archive["archived"][0]["owner"] == "ada"
    assert [each["id"] for each in archive["archivedFixes"]] == ["fix-feature-001-1"]
    for each in (*archive["archived"], *archive["archivedFixes"]):
        assert datetime.fromisoformat(each["archivedAt"]).tzinfo is not None
    assert [each["id"] for each in active["features"]] == ["feature-003"]
    assert [each["id"] for each in active["fixes"]] == ["fix-feature-001-2"]
    assert shop.status == ""
    assert "Archived" not in cli.ok("ship", "--no-pr").out


@pytest.mark.promise("harness", 98, 99)
@pytest.mark.parametrize("place", [f"sessions/{SESSION}/loop-state.json", "loops/state.json"])
def test_a_loop_in_progress_is_preserved_and_a_session_folder_may_go(
    place: str, shop: Shop, cli: Cli, home: Path
) -> None:
    plan(home, feature(1, "Export orders"))
    write(home / place, loop("feature-001", extra={"kept": True}))
    before = (home / place).read_bytes()
    save(cli)
    shop.write("app.py", "print('csv')\n")

    cli.ok("ship", "--no-pr", "--no-push")

    assert (home / place).read_bytes() == before
    for path in sorted((home / "sessions").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    assert "Stream the CSV export" in cli.ok("resume", "csv").out
    assert "feature-001" in cli.ok("feature", "list").out


@pytest.mark.promise("harness", 109, 110, 111, 112, 113, 114, 115, 116)
@pytest.mark.parametrize("place", ["agents/context.json", "agent-context.json"])
def test_what_agents_found_together_goes_to_memory(
    place: str, shop: Shop, cli: Cli, home: Path
) -> None:
    done: dict[str, Any] = {
        "agent": "coder",
        "role": "backend",
        "feature": "feature-001",
        "status": "completed",
    }
    done |= {"summary": "Streamed the rows", "files": ["app.py"], "minutes": 12}
    lost: dict[str, Any] = {
        "agent": "tester",
        "feature": "feature-001",
        "status": "failed",
        "errors": ["drift"],
    }
    lost |= {"summary": "Mocked the clock", "rootCause": "two clocks", "prevention": "pass one"}
    stamp = "2026-11-14T10:00:00Z"
    mate = {"name": "reviewer", "status": "completed", "summary": "Read the diff"}
    busy = {"name": "writer", "status": "working", "task": "docs"}
    document = {
        "version": 3,
        "lastUpdated": "2026-01-01T00:00:00Z",
        "currentSession": {"id": "orc-1", "startedAt": stamp},
        "agentResults": [{**done, "timestamp": stamp}, {**lost, "timestamp": stamp}],
        "teamState": {"teamName": "export-team", "leadMode": True, "teammates": [mate, busy]},
        "architecturalDecisions": [{"decision": "One clock", "rationale": "drift"}],
        "sharedState": {"discoveredPatterns": {"clocks": "pass them in"}, "fileIndex": {"a": []}},
        "pendingHandoffs": ["none"],
    }
    write(home / place, document)
    shop.write("app.py", "print('csv')\n")

    told = cli.ok("ship", "--no-pr", "--no-push").out

    assert "Cleaned up team state for export-team" in told
    assert "Persisted 3 agent results to procedural memory" in told
    successes = read(home / "memory/procedural/successes.json")["entries"]
    assert [each["approach"] for each in successes] == ["Streamed the rows", "Read the diff"]
    assert {key: successes[0][key] for key in ("agent", "role", "minutes", "type", "files")} == {
        "agent": "coder", "role": "backend", "minutes": 12, "type": "orchestration",
        "files": ["app.py"],
    }  # fmt: skip
    failure = read(home / "memory/procedural/failures.json")["entries"][0]
    assert (failure["approach"], failure["rootCause"]) == ("Mocked the clock", "two clocks")
    assert (failure["agent"], failure["errors"]) == ("tester", ["drift"])
    assert failure["prevention"] == "pass one"
    assert failure["timestamp"].startswith("2026-11-14T10:00:00")
    patterns = read(home / "memory/procedural/patterns.json")["patterns"]
    assert patterns["codePatterns"] == ["clocks: pass them in"]
    decisions = read(home / "memory/episodic/decisions.json")["entries"]
    assert [each["decision"] for each in decisions] == ["One clock"]
    found = read(home / place)
    assert (found["currentSession"], found["teamState"]) == (None, None)
    # Somebody who did not finish is not dropped with the team.
    assert found["agentResults"] == [busy]
    assert found["lastUpdated"] > "2026-11"
    assert found["sharedState"] == {"discoveredPatterns": {}, "fileIndex": {"a": []}}
    assert found["pendingHandoffs"] == ["none"]


@pytest.mark.promise("harness", 108)
@pytest.mark.parametrize("change", [{"currentSession": None}, {"agentResults": []}])
def test_without_a_session_or_results_the_agents_file_stays(
    change: dict[str, object], shop: Shop, cli: Cli, home: Path
) -> None:
    result = {"agent": "coder", "status": "completed", "summary": "Streamed the rows"}
    path = home / "agents/context.json"
    write(path, {"version": 3, "currentSession": "orc-1", "agentResults": [result], **change})
    before = path.read_bytes()
    shop.write("app.py", "print('csv')\n")

    told = cli.ok("ship", "--no-pr", "--no-push").out

    assert "agent results" not in told
    assert path.read_bytes() == before


@pytest.mark.promise("harness", 25, 107)
def test_a_worktree_uses_the_features_and_memory_of_the_main_one(
    shop: Shop, cli: Cli, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan(home, feature(1, "Export orders", passes=True), feature(2, "Login"))
    shop.git("worktree", "add", "--quiet", "-b", "feature/login", str(tmp_path / "login"))
    monkeypatch.chdir(tmp_path / "login")
    save(cli)
    Repo(tmp_path / "login", init=False).write("login.py", "pass\n")

    told = cli.ok("ship", "--no-pr", "--no-push").out

    assert "Archived 1 completed features" in told
    assert [each["id"] for each in read(home / "features/archive.json")["archived"]] == [
        "feature-001"
    ]
    assert read(home / "memory/episodic/decisions.json")["entries"]
    local = tmp_path / "login" / ".claude-harness"
    context = read(local / "sessions" / SESSION / "working-context.json")
    assert (context["activeFeature"], context["summary"]) == ("feature-002", "Login")
    assert not (local / "features").exists()


@pytest.mark.promise("harness", 61)
@pytest.mark.usefixtures("home")
def test_nothing_new_makes_no_empty_commit(shop: Shop, cli: Cli) -> None:
    shop.write("app.py", "print('csv')\n")
    cli.ok("ship", "--no-pr")
    head = shop.head()

    told = cli.ok("ship", "--no-pr").out

    assert "Nothing changed since the last commit." in told
    assert (shop.head(), shop.status) == (head, "")


@pytest.mark.promise("harness", 121)
def test_a_sub_agent_gets_a_fresh_page_about_its_feature(cli: Cli, home: Path) -> None:
    plan(home, feature(1, "Export orders"))
    cli.ok("feature", "start", "1")
    cli.ok("feature", "attempt", "Buffer the file", "--root-cause", "unbounded")

    told = cli.ok("feature", "show", "--for-helper").out

    assert "Feature feature-001: Export orders (attempt 2/15)" in told
    assert "Avoid: 1. Buffer the file -> unbounded" in told


@pytest.mark.usefixtures("home")
def test_a_day_of_shipped_work_leaves_no_open_thread(shop: Shop, cli: Cli) -> None:
    for number in range(2):
        cli.ok("save", f"piece-{number}", "--summary", f"Piece {number}", "--done", "Wrote it")
        shop.write("app.py", f"print({number})\n")
        cli.ok("ship", "--no-pr")

    assert cli.json("list") == []
    assert step(cli.json("ship", "--no-pr", "--dry-run"), "commit")["text"] == "Nothing to commit."


def test_a_dry_run_sees_what_was_edited_and_changes_nothing(
    shop: Shop, cli: Cli, home: Path
) -> None:
    save(cli)
    shop.write("app.py", "print('csv')\n")
    plan(home, feature(1, "Export orders", passes=True), feature(2, "Login"))
    write(home / "sessions" / SESSION / "loop-state.json", loop("feature-002"))
    stored = shop.folder / ".git/leftoff"
    before = {path: path.read_bytes() for path in stored.rglob("*") if path.is_file()}

    answer = cli.json("ship", "--no-pr", "--dry-run")

    assert step(answer, "archive")["text"] == "Would archive feature-001"
    assert step(answer, "commit")["text"] == "Would commit: feat(feature-002): Login"
    after = {path: path.read_bytes() for path in stored.rglob("*") if path.is_file()}
    assert after == before


def test_a_commit_says_what_is_new(shop: Shop, cli: Cli, home: Path) -> None:
    plan(home, feature(1, "Export orders"))
    write(home / "sessions" / SESSION / "loop-state.json", loop("feature-001"))
    save(cli)
    for text in ("one", "two"):
        shop.write("app.py", f"print('{text}')\n")
        cli.ok("ship", "--no-pr", "--no-push")
    save(cli, summary="Export orders", done=["Streamed the rows in app.py", "Quoted commas"])
    shop.write("app.py", "print('three')\n")
    cli.ok("ship", "--no-pr", "--no-push")

    messages = [shop.message(each) for each in shop.git("rev-list", "HEAD").splitlines()]
    work = [each for each in messages if each.startswith("feat(")]
    assert [each.partition("\n")[0] for each in work] == [
        "feat(feature-001): Quoted commas",
        "feat(feature-001): Update app.py",
        "feat(feature-001): Export orders",
    ]
    assert "Streamed" not in work[0]

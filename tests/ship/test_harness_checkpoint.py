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


@pytest.mark.promise("harness", 1, 2, 3, 5, 6, 7, 8, 9, 11, 61, 64, 71, 117, 118, 119, 120, 139)
def test_one_command_does_it_all(shop: Shop, cli: Cli, home: Path, hub: Hub) -> None:
    plan(home, feature(1, "Export orders"))
    write(home / "sessions" / SESSION / "loop-state.json", loop("feature-001"))
    save(cli)
    shop.write("app.py", "print('csv')\n")
    shop.write(".env", "TOKEN=abc\n")
    before = datetime.now(UTC)

    output = cli.ok("ship", "-m", "Stream orders as CSV").out

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
    panel = output.partition("CHECKPOINT COMPLETE\n")[2]
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
    assert '  Why clear context?\n  - Prevents "context rot" from accumulated' in panel


@pytest.mark.promise("harness", 10, 21)
def test_every_next_step_is_kept_until_it_is_stated_anew(shop: Shop, cli: Cli, home: Path) -> None:
    steps = ["Test an export of 0 orders", "Document the route", "Mail the file"]
    options = [word for step in steps for word in ("--next", step)]
    cli.ok("save", "csv", "--summary", "Stream the CSV export", *options)
    shop.write("app.py", "print('csv')\n")

    output = cli.ok("ship", "--no-pr", "--no-push").out

    context = home / "sessions" / SESSION / "working-context.json"
    assert read(home / "claude-progress.json")["lastSession"]["nextSteps"] == steps
    assert read(context)["nextSteps"] == steps
    assert f"Next steps: {'; '.join(steps)}" in (home / "session-briefing.md").read_text()
    assert "Next: Test an export of 0 orders" in output
    assert "Then: Mail the file" in output
    assert "Then: Document the route\n" in cli.ok("resume", "csv").out
    # Somebody edits the list, and nothing of it is lost either.
    write(context, {**read(context), "nextSteps": ["Mail the file", "Ask Ada", "Ask Bob"]})
    saved = cli.json("show", "csv")
    assert saved["next_action"]["text"] == "Mail the file"
    assert saved["next_steps"] == ["Ask Ada", "Ask Bob"]
    cli.ok("save", "csv", "--next", "Close the issue")
    assert read(context)["nextSteps"] == ["Close the issue"]


@pytest.mark.promise("harness", 14, 15)
@pytest.mark.parametrize("link", [{"featureId": "feature-001"}, "feature-001", None])
def test_the_loop_of_a_fix_names_the_fix_and_no_other_feature(
    link: object, shop: Shop, cli: Cli, home: Path
) -> None:
    plan(home, feature(2, "Login"), fixes=(fix(1, "Quote commas"),))
    done = {"version": 3, "archived": [feature(1, "Export orders", passes=True)]}
    write(home / "features" / "archive.json", done)
    state = loop("fix-feature-001-1", type="fix", linkedTo=link)
    write(home / "sessions" / SESSION / "loop-state.json", state)
    shop.write("app.py", "print('csv')\n")
    save(cli)

    cli.ok("ship", "--no-pr", "--no-push")

    context = read(home / "sessions" / SESSION / "working-context.json")
    assert (context["activeFeature"], context["summary"]) == ("fix-feature-001-1", "Quote commas")
    entry = read(home / "memory/episodic/decisions.json")["entries"][0]
    assert entry["feature"] == "fix-feature-001-1"
    assert shop.subjects()[0] == "fix(feature-001): Stream the CSV export"


@pytest.mark.promise("harness", 12, 13, 14, 15, 16, 17, 18, 19, 20, 22, 23)
def test_the_working_context_of_the_session(shop: Shop, cli: Cli, home: Path) -> None:
    done = feature(1, "Login", passes=True, status="passing")
    related = ["app.py", "src/routes.py"]
    plan(home, done, feature(2, "Export orders", relatedFiles=related), feature(3, "Later"))
    shop.write("app.py", "print('csv')\n")
    shop.write("src/new.py", "pass\n")
    shop.write("src/other.py", "pass\n")
    named = {"path": "README.md"}
    save(cli, files=[{"path": "src/new.py", "role": "new - writes one row"}, named])
    roles = read(home / "sessions" / SESSION / "working-context.json")["workingFiles"]
    assert roles["src/other.py"] == "new"
    cli.ok("memory", "add", "decision", "One file for each export", "--why", "easy to resend")

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
        "src/other.py": "new",
        "README.md": "named in the checkpoint",
    }
    decided = ["Stream rows; never buffer the file", "One file for each export"]
    assert found["decisions"] == decided
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

    output = cli.ok("ship", "--no-pr", "--no-push").out

    found = read(home / "memory/episodic/decisions.json")
    assert "Recorded 1 decisions to episodic memory" in output
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


@pytest.mark.promise("harness", 26, 30)
def test_every_decision_since_the_last_ship_is_counted_and_has_its_feature(
    shop: Shop, cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID")
    plan(home, feature(1, "Login", passes=True), feature(2, "Export orders"))
    old = [{"decision": "Old one", "rationale": "ages ago"}, "Another old one"]
    write(home / "memory/episodic/decisions.json", {"version": 3, "entries": old})
    cli.ok("save", "csv", "--summary", "Stream rows", "--decision", "Stream rows :: size")
    cli.ok("save", "csv", "--overwrite", "--summary", "Stream rows", "--decision", "Quote all")
    cli.ok("memory", "add", "decision", "Use semicolons", "--why", "Excel")
    shop.write("app.py", "print('csv')\n")

    output = cli.ok("ship", "--no-pr", "--no-push").out

    entries = read(home / "memory/episodic/decisions.json")["entries"]
    assert "Recorded 3 decisions to episodic memory" in output
    assert entries[:2] == old
    assert [(each["decision"], each["feature"]) for each in entries[2:]] == [
        *(("Stream rows", "feature-002"), ("Quote all", "feature-002")),
        ("Use semicolons", "feature-002"),
    ]
    shop.write("app.py", "print('more')\n")
    assert "decisions to episodic memory" not in cli.ok("ship", "--no-pr", "--no-push").out
    cli.ok("save", "csv", "--overwrite", "--summary", "Stream rows", "--decision", "Gzip it")
    shop.write("app.py", "print('gzip')\n")
    output = cli.ok("ship", "--no-pr", "--no-push").out
    assert "Recorded 1 decisions to episodic memory" in output


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
    related = ("--relation=belongs to Customer", "--relation=has many LineItem")
    facts = ("--why=model", "--file=src/invoice.py", *related)
    cli.ok("memory", "add", "entity", "Invoice", *facts)
    cli.ok("memory", "add", "pattern", "Pass clocks in")
    cli.ok("memory", "add", "pattern", "Stream rows")
    shop.write("app.py", "print('csv')\n")

    output = cli.ok("ship", "--no-pr", "--no-push").out

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
        "relationships": ["belongs to Customer", "has many LineItem"],
    }
    (known_entity,) = cli.json("memory", "list", "--kind=entity")
    assert known_entity["relations"] == ["belongs to Customer", "has many LineItem"]
    shown_entity = cli.ok("memory", "show", known_entity["id"]).out
    assert "  Relations   belongs to Customer; has many LineItem\n" in shown_entity
    shown = read(home / "memory/procedural/patterns.json")["patterns"]
    assert shown["codePatterns"] == ["Pass clocks in", "Stream rows"]
    assert shown["namingConventions"] == {"tests": "test_*.py"}
    assert shown["projectSpecificRules"] == ["Never log tokens"]
    assert "Updated procedural patterns" in output
    before = (home / "memory/semantic/architecture.json").read_bytes()
    shop.write("app.py", "print('again')\n")
    assert "Updated procedural patterns" not in cli.ok("ship", "--no-pr", "--no-push").out
    assert (home / "memory/semantic/architecture.json").read_bytes() == before


@pytest.mark.promise("harness", 31)
def test_new_files_become_part_of_the_architecture(shop: Shop, cli: Cli, home: Path) -> None:
    new = ("src/main.py", "src/export.py", "src/routes/orders.py", "tests/test_export.py")
    for path in (*new, "data/rows.csv", "poetry.lock", ".github/x.py"):
        shop.write(path, "pass\n")
    shop.write("app.py", "print('csv')\n")

    cli.ok("ship", "--no-pr", "--no-push")

    found = read(home / "memory/semantic/architecture.json")
    assert found["structure"] == {
        "entryPoints": ["src/main.py"],
        "components": ["src/export.py"],
        "api": ["src/routes/orders.py"],
        "tests": ["tests/test_export.py"],
    }
    assert datetime.fromisoformat(found["lastUpdated"]).tzinfo is not None
    assert shop.status == ""


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
    assert "- feature-007: Export orders [in_progress]\n  CSV download for admins\n" in text
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


@pytest.mark.promise("harness", 44, 45, 46, 49, 125)
def test_sources_in_other_words_are_read_and_no_date_is_invented(
    shop: Shop, cli: Cli, home: Path
) -> None:
    decisions = [
        {"id": "d1", "date": "2026-10-01", "featureId": "feature-001", "decision": "Use csv",
         "reason": "stdlib", "alternatives": [{"option": "pandas"}], "impact": ["a.py", "b.py"]},
        {"id": "d2", "decided_at": "Nov 3, 2026", "title": "Titles only", "reasoning": "short"},
        {"decision": "No date at all", "why": "because"},
        "Only a sentence",
    ]  # fmt: skip
    write(home / "memory/episodic/decisions.json", {"decisions": decisions})
    failures = [{"approach": "Buffer", "cause": "memory", "date": "2026/10/02"}]
    write(home / "memory/procedural/failures.json", failures)
    write(home / "memory/learned/rules.json", {"rules": [{"rule": "No print", "why": "noise"}]})
    archived = {"version": 3, "archived": [{"id": "feature-000", "name": "Setup"}]}
    write(home / "features/archive.json", archived)
    files = (
        "memory/procedural/failures.json",
        "memory/learned/rules.json",
        "features/archive.json",
    )
    before = [(home / each).read_bytes() for each in files]
    save(cli)
    shop.write("app.py", "print('csv')\n")

    cli.ok("ship", "--no-pr", "--no-push")

    text = (home / "session-briefing.md").read_text(encoding="utf-8")
    assert "- Use csv (feature-001, 2026-10-01): stdlib\n" in text
    assert "- Titles only (2026-11-03): short\n" in text
    assert "- No date at all: because\n- " in text or "- No date at all: because\n\n" in text
    assert "\n- Only a sentence\n" in text
    assert "- Buffer -> memory\n" in text
    assert "- No print: noise\n" in text
    assert read(home / "memory/episodic/decisions.json")["decisions"][:4] == decisions
    assert [(home / each).read_bytes() for each in files] == before


@pytest.mark.promise("harness", 51, 52, 53, 54, 55, 56, 124)
def test_corrections_become_rules_without_a_question(
    shop: Shop, cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = corrected_talk(shop.folder)
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", talk.session_id)
    shop.write("app.py", "print('csv')\n")

    output = cli.ok("ship", "--no-pr", "--no-push").out

    block = output.partition("AUTO-REFLECTION\n")[2]
    lines = [line.strip() for line in block.splitlines()[:4]]
    assert lines[:3] == [
        "High-confidence rules auto-saved: 1",
        "- Use pnpm instead of npm.",
        "Lower-confidence (manual review needed): 1",
    ]
    assert lines[3].startswith("(Low-confidence rules queued for next checkpoint review")
    rules = read(home / "memory/learned/rules.json")["rules"]
    assert [each["description"] for each in rules] == ["Use pnpm instead of npm."]
    assert (rules[0]["id"], rules[0]["active"], rules[0]["confidence"]) == (
        *("rule-001", True, "high"),
    )
    assert cli("reflect", "--review").code == 3
    # The next checkpoint brings up what waits for review.
    shop.write("app.py", "print('more')\n")
    output = cli.ok("ship", "--no-pr", "--no-push").out
    assert "AUTO-REFLECTION" not in output
    assert "1 rule to review: `leftoff reflect --review`" in output


@pytest.mark.promise("harness", 54, 144)
def test_the_bar_of_the_config_decides_which_corrections_are_saved(
    shop: Shop, cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reflection: dict[str, Any] = {"enabled": True, "minConfidenceForAuto": "medium"}
    manual = {**reflection, "autoApproveHighConfidence": False}
    write(home / "config.json", {"version": 3, "reflection": manual})
    talk = corrected_talk(shop.folder)
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", talk.session_id)
    assert "2 rules would be queued" in cli.ok("reflect", "--dry-run").out
    write(home / "config.json", {"version": 3, "reflection": reflection})
    shop.write("app.py", "print('csv')\n")

    output = cli.ok("ship", "--no-pr", "--no-push").out

    assert "High-confidence rules auto-saved: 2" in output
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

    output = cli.ok("ship", "--no-pr").out

    assert "AUTO-REFLECTION" not in output
    assert f"done  commit        {shop.head()[:12]}" in output
    assert "Pushed to origin/feature/csv" in output
    assert "Remains       Blocked: The staging database is down" in output
    assert "Next: Test an export of 0 orders" in output
    assert "feature-001 Export orders [in_progress]" in output
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

    result = cli("ship", "--no-pr", "--no-push")

    assert result.code == 1
    assert "passed  echo built" in result.out
    assert "FAILED  echo '2 failed: test_csv'; exit 1" in result.out
    assert "1 of 2 checks failed; your work is saved." in result.out
    assert "2 failed: test_csv" in result.out
    assert shop.subjects()[0] == "Update app.py"
    write(home / "config.json", {"version": 3, "verification": {"build": "", "tests": ""}})
    assert "No checks are set." in cli.ok("ship", "--no-pr", "--no-push").out


@pytest.mark.promise("harness", 65, 66, 67, 68, 70, 141)
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

    # A loop may name the feature itself: its type decides, whether the fix is listed or not.
    write(home / place, loop("feature-001", type="fix", linkedTo=link))
    for status, end in ("failing", "Fixes #9\nRelated to #3"), ("passing", "\n\nRelated to #3"):
        listed = {**repair, "status": status}
        plan(home, feature(1, "Export orders", github={"issueNumber": 3}), fixes=(listed,))
        shop.write("app.py", f"print('{status}')\n")
        cli.ok("ship", "--no-pr", "--no-push")
        assert shop.message("HEAD").startswith("fix(feature-001): ")
        assert shop.message("HEAD").endswith(end)


@pytest.mark.promise("harness", 68)
def test_a_commit_of_native_files_alone_has_the_prefix_of_the_work(
    shop: Shop, cli: Cli, home: Path
) -> None:
    plan(home, feature(1, "Export orders"))
    write(home / "sessions" / SESSION / "loop-state.json", loop("feature-001"))
    save(cli, summary="Plan the CSV export", done=["Listed the columns"])

    cli.ok("ship", "--no-pr", "--no-push")
    assert shop.message() == ("feat(feature-001): Plan the CSV export\n\n- Listed the columns")
    assert shop.status == ""
    page = (home / "session-briefing.md").read_text()
    assert "Last checkpoint: feat(feature-001): Plan the CSV export\n" in page
    config = {"memory": {"episodicMaxEntries": 20}}
    write(home / "config.json", config)
    cli.ok("ship", "--no-pr", "--no-push")
    assert shop.subjects()[0] == "feat(feature-001): Record the progress"
    assert shop.status == ""


@pytest.mark.promise("harness", 69)
def test_the_message_says_what_was_stated(shop: Shop, cli: Cli, home: Path) -> None:
    plan(home, feature(1, "Export orders"))
    write(home / "sessions" / SESSION / "loop-state.json", loop("feature-001"))
    save(cli)
    shop.write("app.py", "print('csv')\n")
    planned = step(cli.json("ship", "--no-pr", "--no-push", "--dry-run"), "commit")["text"]

    cli.ok("ship", "--no-pr", "--no-push")

    assert planned == "Would commit: feat(feature-001): Stream the CSV export"
    assert shop.message() == (
        "feat(feature-001): Stream the CSV export\n\n"
        "- Streamed the rows in app.py\n- Added the route"
    )


@pytest.mark.promise("harness", 14)
def test_without_a_loop_the_first_feature_that_does_not_pass_gives_the_prefix(
    shop: Shop, cli: Cli, home: Path
) -> None:
    plan(home, feature(1, "Login", passes=True), feature(2, "Export orders", status="pending"))
    shop.write("app.py", "print('csv')\n")

    cli.ok("ship", "--no-pr", "--no-push", "-m", "Stream rows")

    assert shop.subjects()[0] == "feat(feature-002): Stream rows"


@pytest.mark.promise("harness", 72, 74, 76, 78, 79, 80, 81, 83, 84, 85, 86, 87, 89, 92, 143)
def test_the_pull_request_of_a_feature(shop: Shop, cli: Cli, home: Path, hub: Hub) -> None:
    hub.know(issues={"3": ["area:export"]})
    plan(home, feature(1, "Export orders", github={"issueNumber": 3}))
    write(home / "sessions" / SESSION / "loop-state.json", loop("feature-001"))
    save(cli)
    shop.write("app.py", "print('csv')\n")
    cli.ok("ship")
    body = hub.pulls[0]["body"]
    assert hub.pulls[0]["title"] == "feat: Stream the CSV export"
    assert "Closes #3" in body
    summary = "- Stream the CSV export\n- Streamed the rows in app.py\n- Added the route\n"
    assert f"## Summary\n{summary}" in body
    assert "- Stream rows; never buffer the file — tenants with a million rows" in body
    assert "## How to test\n- [ ] " in body
    assert hub.labels() == {"area:export", "status:ready-for-review"}

    save(cli, summary="Quote fields", done=["Quoted commas"], decisions=[], left_off="")
    shop.write("app.py", "print('commas')\n")
    message = "Quote fields\n\n- Quoted commas\n\nBREAKING CHANGE: columns are quoted now"
    output = cli.ok("ship", "-m", message).out

    pull = hub.pulls[0]
    assert f"{summary}- Quote fields\n- Quoted commas" in pull["body"]
    assert "- Stream rows; never buffer the file — tenants" in pull["body"]
    assert "## Breaking changes\n- columns are quoted now" in pull["body"]
    said = ["- Quoted commas", "- Breaking change: columns are quoted now"]
    assert [each["body"].splitlines()[2:] for each in pull["comments"]] == [said]
    assert "Updated #12 https://github.com/ada/shop/pull/12" in output
    assert "checks pass, review required, no conflicts" in output
    assert read(home / "features/active.json")["features"][0]["github"]["prNumber"] == 12
    assert shop.status == ""
    # Later pushes may come from a rewritten branch; what was listed stays.
    shop.git("reset", "--quiet", "--soft", "origin/main")
    shop.git("commit", "--quiet", "--message", "Squashed")
    shop.git("push", "--quiet", "--force", "origin", "HEAD")
    cli.ok("ship")
    for line in [*summary.splitlines(), "- Quote fields", "- Quoted commas"]:
        assert f"{line}\n" in hub.pulls[0]["body"]


@pytest.mark.promise("harness", 78, 80, 83)
def test_a_pull_request_has_all_that_was_said_on_the_branch(
    shop: Shop, cli: Cli, home: Path, hub: Hub
) -> None:
    plan(home, feature(1, "Export orders"))
    save(cli, notes=["Breaking change: the route is /orders.csv now"])
    cli.ok("memory", "add", "decision", "Use semicolons", "--why", "Excel")
    together = {
        "currentSession": "orc-1",
        "agentResults": [{"agent": "coder", "status": "completed", "summary": "Streamed"}],
        "architecturalDecisions": [{"decision": "One clock", "rationale": "drift"}],
    }
    write(home / "agents/context.json", together)
    shop.write("app.py", "print('csv')\n")
    message = (
        "Stream orders\n\nRows go out\none by one.\n\n1. Wrote the writer,\n   with a header\n"
        "2. Added the route\n\nBREAKING CHANGE: columns are quoted,\nall of them\n\n"
        "Reviewed-by: Bob"
    )

    cli.ok("ship", "-m", message)

    body = hub.pulls[0]["body"]
    for line in (
        *("Stream orders", "Rows go out one by one.", "Wrote the writer, with a header"),
        *("Added the route", "Stream the CSV export", "Streamed the rows in app.py"),
        *("Use semicolons — Excel", "One clock — drift", "columns are quoted, all of them"),
        "the route is /orders.csv now",
    ):
        assert f"\n- {line}\n" in body
    assert "Reviewed-by" not in body
    assert body.count("- Added the route\n") == 1
    # A branch may be published only after several commits.
    for text in ("one", "two"):
        shop.write("app.py", f"print('{text}')\n")
        cli.ok("ship", "--no-pr", "-m", f"Step {text}\n\nbecause of {text}")
    shop.write("app.py", "print('three')\n")
    cli.ok("ship", "-m", "Step three")
    for line in ("Step one", "because of one", "Step two", "because of two", "Step three"):
        assert f"- {line}\n" in hub.pulls[0]["body"]
    assert "- columns are quoted, all of them\n" in hub.pulls[0]["body"]


@pytest.mark.promise("harness", 81, 82)
def test_labels_are_set_even_if_the_issue_cannot_be_read(
    shop: Shop, cli: Cli, home: Path, hub: Hub
) -> None:
    plan(home, feature(1, "Export orders", github={"issueNumber": 3}))
    shop.write("app.py", "print('csv')\n")

    output = cli.ok("ship").out

    assert "Could not read the labels of #3" in output
    assert hub.labels() == {"status:ready-for-review"}


@pytest.mark.promise("harness", 77, 82, 88)
def test_the_pull_request_of_a_fix(shop: Shop, cli: Cli, home: Path, hub: Hub) -> None:
    repair = fix(1, "Quote commas", github={"issueNumber": 9})
    plan(home, feature(1, "Export orders", github={"issueNumber": 3}), fixes=(repair,))
    link = {"featureId": "feature-001", "featureName": "Export orders"}
    state = loop("fix-feature-001-1", type="fix", linkedTo=link)
    write(home / "sessions" / SESSION / "loop-state.json", state)
    hub.know(issues={"9": ["bug"]}, labels=["bug"])
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
    passing = feature(1, "Export orders", status="passing", owner="ada", issueNumber=7)
    del passing["passes"]
    quoted = fix(1, "Quote commas", status="passing", issueNumber=9)
    del quoted["type"]
    plan(
        home,
        passing,
        feature(2, "Login", passes=True),
        feature(3, "Later", status="pending"),
        fixes=(quoted, fix(2, "Tabs")),
    )
    tasks = {"enabled": True, "chain": ["1", "2", "3", "4", "5"], "current": "5", "completed": []}
    write(home / place, loop("feature-001", status="completed", tasks=tasks))
    shop.write("app.py", "print('csv')\n")

    output = cli.ok("ship", "--no-pr").out

    for line in (
        *("Archived 2 completed features", "Archived 1 completed fixes"),
        *("All 5 tasks completed", "Loop completed and reset"),
    ):
        assert line in output
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
        assert datetime.fromisoformat(each.pop("archivedAt")).tzinfo is not None
    assert (archive["archived"][0], archive["archivedFixes"]) == (passing, [quoted])
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
    terse = {"agent": "painter", "status": "failed", "task": "Test in a browser", "error": "none"}
    stamp = "2026-11-14T10:00:00Z"
    mate = {"name": "reviewer", "status": "completed", "summary": "Read the diff"}
    busy = {"name": "writer", "status": "working", "task": "docs"}
    document = {
        "version": 3,
        "lastUpdated": "2026-01-01T00:00:00Z",
        "currentSession": {"id": "orc-1", "startedAt": stamp},
        "agentResults": [{**done, "timestamp": stamp}, {**lost, "timestamp": stamp}, terse],
        "teamState": {"teamName": "export-team", "leadMode": True, "teammates": [mate, busy]},
        "architecturalDecisions": [{"decision": "One clock", "rationale": "drift"}],
        "sharedState": {"discoveredPatterns": {"clocks": "pass them in"}, "fileIndex": {"a": []}},
        "pendingHandoffs": ["none"],
    }
    write(home / place, document)
    shop.write("app.py", "print('csv')\n")

    output = cli.ok("ship", "--no-pr", "--no-push").out

    assert "Cleaned up team state for export-team" in output
    assert "Persisted 4 agent results to procedural memory" in output
    assert "Recorded 2 failed approaches" in output
    successes = read(home / "memory/procedural/successes.json")["entries"]
    assert [each["approach"] for each in successes] == ["Streamed the rows", "Read the diff"]
    assert {key: successes[0][key] for key in ("agent", "role", "minutes", "type", "files")} == {
        "agent": "coder", "role": "backend", "minutes": 12, "type": "orchestration",
        "files": ["app.py"],
    }  # fmt: skip
    failure = read(home / "memory/procedural/failures.json")["entries"][0]
    assert (failure["approach"], failure["rootCause"]) == ("Mocked the clock", "two clocks")
    second = read(home / "memory/procedural/failures.json")["entries"][1]
    assert second["approach"] == "painter: Test in a browser"
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

    output = cli.ok("ship", "--no-pr", "--no-push").out

    assert "agent results" not in output
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

    output = cli.ok("ship", "--no-pr", "--no-push").out

    assert "Archived 1 completed features" in output
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

    output = cli.ok("ship", "--no-pr").out

    assert "Nothing changed since the last commit." in output
    assert "native file" not in output
    assert (shop.head(), shop.status) == (head, "")


@pytest.mark.promise("harness", 121)
def test_a_sub_agent_gets_a_fresh_page_about_its_feature(cli: Cli, home: Path) -> None:
    plan(home, feature(1, "Export orders"))
    cli.ok("feature", "start", "1")
    cli.ok("feature", "attempt", "Buffer the file", "--root-cause", "unbounded")

    output = cli.ok("feature", "show", "--for-helper").out

    assert "Feature feature-001: Export orders (attempt 2/15)" in output
    assert "Avoid: 1. Buffer the file -> unbounded" in output


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
    assert (
        step(answer, "commit")["text"] == "Would commit: feat(feature-002): Stream the CSV export"
    )
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
        "feat(feature-001): Export orders",
        "feat(feature-001): Update app.py",
        "feat(feature-001): Stream the CSV export",
    ]
    assert "Streamed" not in work[0]


@pytest.mark.promise("harness", 8, 9, 10, 18, 19, 20, 21, 69)
def test_what_an_agent_wrote_into_the_files_itself_is_shipped_and_stays(
    shop: Shop, cli: Cli, home: Path, hub: Hub
) -> None:
    plan(home, feature(1, "Export orders"))
    last = {
        "summary": "Added the CSV export",
        "completedTasks": ["Streamed rows", {"task": "Wrote the header"}],
        "blockers": ["Staging is down"],
        "nextSteps": ["Handle errors"],
    }
    write(home / "claude-progress.json", {"lastUpdated": "2026-11-15T16:00:00Z", **last})
    context = {
        "version": 1,
        "lastUpdated": "2026-11-15T16:00:00.000Z",
        "activeFeature": "feature-001",
        "summary": "Export orders",
        "workingFiles": {"src/new.ts": "new - streaming writer", "app.py": "modified - route"},
        "decisions": ["Stream rows", {"decision": "No cookies", "rationale": "size"}],
        "codebaseUnderstanding": {"routing": "Uses createRoute()", "db": "prisma"},
        "nextSteps": ["Handle errors", "Test the callback"],
    }
    path = home / "sessions" / SESSION / "working-context.json"
    write(path, context)
    shop.write("app.py", "print('csv')\n")
    shop.write("src/new.ts", "x\n")

    output = cli.ok("ship").out

    assert "Recorded 2 decisions to episodic memory" in output
    after = read(path)
    for key in ("activeFeature", "summary", "codebaseUnderstanding", "nextSteps", "decisions"):
        assert after[key] == context[key]
    assert after["workingFiles"] == context["workingFiles"]
    progress = read(home / "claude-progress.json")
    shown = progress["lastSession"]
    assert shown["summary"] == "Added the CSV export"
    assert shown["completedTasks"] == last["completedTasks"]
    assert shown["blockers"] == ["Staging is down"]
    assert shown["nextSteps"] == ["Handle errors", "Test the callback"]
    assert shop.message("HEAD~1") == (
        "feat(feature-001): Added the CSV export\n\n- Streamed rows\n- Wrote the header"
    )
    for line in ("Added the CSV export", "Streamed rows", "Stream rows", "No cookies — size"):
        assert f"- {line}\n" in hub.pulls[0]["body"]
    assert shop.status == ""


@pytest.mark.promise("harness", 103)
def test_an_archived_feature_keeps_its_form(shop: Shop, cli: Cli, home: Path) -> None:
    done = feature(1, "Export orders", status="passing", owner="ada", github={"issueNumber": 3})
    plan(home, done, feature(2, "Login"))
    shop.write("app.py", "print('csv')\n")

    cli.ok("ship", "--no-pr", "--no-push")

    [archived] = read(home / "features/archive.json")["archived"]
    assert datetime.fromisoformat(archived.pop("archivedAt")).tzinfo is not None
    assert archived == done


@pytest.mark.promise("harness", 129)
def test_a_secret_that_stays_out_is_not_a_reason_for_another_commit(
    shop: Shop, cli: Cli, home: Path
) -> None:
    plan(home, feature(1, "Export orders"))
    write(home / "sessions" / SESSION / "loop-state.json", loop("feature-001"))
    save(cli)
    shop.write("app.py", "print('csv')\n")
    shop.write(".env", "TOKEN=abc\n")
    cli.ok("ship", "--no-pr")
    head = shop.head()

    planned = cli.json("ship", "--no-pr", "--dry-run")
    cli.ok("ship", "--no-pr")

    assert step(planned, "briefing")["text"] == "Native files are up to date."
    assert step(planned, "commit")["text"] == "Nothing to commit."
    assert (shop.head(), shop.status) == (head, "?? .env")


@pytest.mark.promise("harness", 130)
def test_what_agents_found_and_tried_arrives_whole(shop: Shop, cli: Cli, home: Path) -> None:
    del shop
    lost = {"agent": "qa", "status": "failed", "approach": "Drive a browser", "error": "timeout"}
    guard = {"name": "Guard", "description": "Guards wrap routes"}
    found = {"currentSession": "orc-1", "agentResults": [lost], "version": 3}
    write(home / "agents/context.json", {**found, "sharedState": {"discoveredPatterns": [guard]}})

    cli.ok("ship", "--no-pr", "--no-push")

    assert "Drive a browser" in str(read(home / "memory/procedural/failures.json"))
    assert "Guard: Guards wrap routes" in str(read(home / "memory/procedural/patterns.json"))


@pytest.mark.promise("harness", 132)
def test_a_loop_knows_what_a_fix_repairs(shop: Shop, cli: Cli, home: Path) -> None:
    repaired = {**feature(3, "Login"), "issueNumber": 12}
    bare = {"id": "fix-002", "name": "Refuse old tokens", "status": "in_progress"}
    write(home / "features/active.json", {"version": 3, "features": [repaired], "fixes": [bare]})
    link = {"type": "fix", "linkedTo": {"featureId": "feature-003"}}
    write(home / "loops/state.json", {**loop("fix-002"), **link})
    shop.write("app.py", "print('tokens')\n")

    cli.ok("ship", "--no-pr", "--no-push", "-m", "Refuse old tokens")

    assert "fix(feature-003): Refuse old tokens" in shop.subjects()

"""harness: what its users rely on between two checkpoints."""

import re
from pathlib import Path

import pytest

from cli.runs import Cli
from gitrepo import Repo
from knowledge.reflect.talks import corrected_talk
from leftoff.knowledge import features, memory
from leftoff.store import Store
from leftoff.text.budget import estimate
from profiles.harnessing import edit, home, read, store
from ship.harness_project import feature, loop, plan, write
from talk import Talk

__all__ = ["home", "store"]

SECTIONS = ["Active Features", "Recent Decisions", "Approaches to AVOID", "Learned Rules"]


@pytest.mark.promise("harness", 48)
def test_a_full_briefing_has_every_section_and_reaches_the_session_whole(
    cli: Cli, home: Path, store: Store, repo: Repo
) -> None:
    kinds: tuple[memory.Kind, ...] = ("decision", "failure", "rule")
    for number in range(60):
        text = f"Number {number} of the things that somebody wrote at some length"
        memory.add(store, [memory.EntryDraft(kind=kind, text=text, why=text) for kind in kinds])
        features.add(store, features.ItemDraft(name=text, description=text))
    cli.ok("save", "csv", "--summary", "Export", "--next", "Test an export of 0 orders")

    page = (home / "session-briefing.md").read_text(encoding="utf-8")
    reply = Talk(repo.folder, "next").start()

    assert len(page.splitlines()) <= 120
    assert estimate(page) <= 1500
    for section in SECTIONS:
        body = page.partition(f"## {section}")[2].partition("\n## ")[0]
        assert body.count("\n- ") >= 2
        assert section in reply
    shown = re.findall(r"^- feature-\d+", page, re.MULTILINE)
    assert f"\n- and {60 - len(shown)} more\n" in page
    # Rules and failures beyond the limit are not counted, so no number is claimed.
    assert page.count("\n- and more\n") == 2
    assert "Next steps: Test an export of 0 orders" in page
    assert "Next steps: Test an export of 0 orders" in reply


def test_somebodys_long_page_loses_the_end_of_each_section(home: Path, repo: Repo) -> None:
    parts = [f"## Part {n}\n" + "\n".join(f"- {n}.{k} some words" for k in range(90))
             for n in range(4)]  # fmt: skip
    write(home / "claude-progress.json", {"lastSession": {"summary": "Export"}})
    (home / "session-briefing.md").write_text("Read this first.\n" + "\n".join(parts))

    reply = Talk(repo.folder, "next").start()

    for number in range(4):
        assert f"## Part {number}" in reply
        assert f"- {number}.5 some words" in reply
        assert f"- {number}.89 some words" not in reply


def test_an_autosave_never_replaces_what_somebody_said(cli: Cli, home: Path, repo: Repo) -> None:
    said = ("--summary", "Export orders as CSV", "--next", "Test 0 orders", "--done", "Wrote it")
    cli.ok("save", "csv", *said)
    before = read(home / "claude-progress.json")
    talk = Talk(repo.folder, "other-session")
    talk.start()
    talk.ask("Please look into the flaky login test")
    talk.edit("login.py")
    talk.say("I will look at the clock next.")
    talk.fire("Stop")
    talk.fire("PreCompact", trigger="auto")
    talk.fire("SessionEnd", reason="other")

    assert len(cli.json("list")) == 2
    counted = {"compactionCount", "lastCompaction"}
    after = read(home / "claude-progress.json")
    assert before["lastSession"]["nextSteps"] == ["Test 0 orders"]
    assert {key: each for key, each in after.items() if key not in counted} == before


@pytest.mark.promise("harness", 8)
def test_the_progress_is_about_the_session_that_ships(
    cli: Cli, home: Path, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = ("--summary", "Export orders as CSV", "--next", "Test 0 orders", "--done", "Wrote it")
    cli.ok("save", "csv", *said)
    talk = Talk(repo.folder, "other-session")
    talk.start()
    talk.ask("Please look into the flaky login test")
    talk.edit("login.py")
    talk.say("I will look at the clock next.")
    talk.fire("Stop")
    talk.fire("PreCompact", trigger="auto")
    repo.write("login.py", "clock = 1\n")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "other-session")
    cli.ok("ship", "--no-push", "--no-pr")

    last = read(home / "claude-progress.json")["lastSession"]
    assert last["summary"] == "Please look into the flaky login test"
    assert last["completedTasks"] == []
    assert last["nextSteps"] != ["Test 0 orders"]
    assert last["sessionId"] == "other-session"


def test_the_page_of_the_installer_is_not_work(cli: Cli, home: Path) -> None:
    steps = ["Review CLAUDE.md and customize", "Add features to feature-list.json"]
    last = {"summary": "Initial harness setup (v3.0)", "completedTasks": [], "blockers": []}
    write(
        home / "claude-progress.json",
        {"currentProject": "shop", "lastSession": {**last, "nextSteps": steps}, "knownIssues": []},
    )
    write(home / "memory/working/context.json", {"version": 3, "computedAt": "x", "sessionId": 0})

    assert cli.json("list") == []
    assert "warning" not in cli("list").err
    done = cli.ok("save", "csv", "--summary", "Export", "--next", "Test", "--done", "Wrote it")

    assert "could not be read" not in done.err
    assert [each["name"] for each in cli.json("list")] == ["csv"]
    progress = read(home / "claude-progress.json")
    assert (progress["lastSession"]["summary"], progress["knownIssues"]) == ("Export", [])


def test_tracked_files_change_only_with_their_content(cli: Cli, home: Path, repo: Repo) -> None:
    plan(home, feature(1, "Export orders"))
    cli.ok("save", "csv", "--summary", "Export", "--next", "Test", "--decision", "Stream :: size")
    cli.ok("memory", "add", "rule", "Use pnpm")
    repo.git("add", "--all")
    repo.git("commit", "--quiet", "--message", "State")
    for session in ("one", "two"):
        talk = Talk(repo.folder, session)
        talk.start()
        talk.fire("SessionEnd", reason="other")
    cli.ok("resume", "csv")
    cli.ok("briefing")
    cli.ok("list")

    assert repo.git("status", "--porcelain") == ""


def test_areas_that_a_session_learnt_stay_when_it_saves_again(cli: Cli, home: Path) -> None:
    cli.ok("save", "csv", "--summary", "Export", "--left-off", "The writer works.")
    path = next(home.glob("sessions/*/working-context.json"))
    areas = {"auth": {"registry": "providers.ts", "guards": ["withAuth()"]}, "db": "Prisma"}
    edit(path, codebaseUnderstanding=areas)
    cli.ok("list")
    cli.ok("save", "csv", "--summary", "Export", "--left-off", "Halfway.", "--overwrite")

    found = read(path)["codebaseUnderstanding"]
    assert found == {"leftOff": "Halfway.", **areas}


def test_a_loop_that_the_harness_moves_on_is_followed(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-1")
    plan(home, feature(1, "Export orders"))
    path = home / "sessions/s-1/loop-state.json"
    write(path, loop("feature-001"))
    assert "attempt 2 of 15" in cli.ok("feature", "list").out
    cli.ok("feature", "attempt", "Buffer the file", "--error", "OOM")
    edit(path, attempt=7, mood="tired")

    assert "attempt 7 of 15" in cli.ok("feature", "list").out
    cli.ok("feature", "attempt", "Stream it", "--error", "EPIPE", "--root-cause", "closed")

    found = read(path)
    assert (found["attempt"], found["mood"]) == (8, "tired")
    assert [each["approach"] for each in found["history"]] == ["Buffer the file", "Stream it"]
    errors = [each["errors"] for each in read(home / "memory/procedural/failures.json")["entries"]]
    assert errors == [["OOM"], ["EPIPE"]]


@pytest.mark.promise("harness", 122)
def test_a_feature_renamed_in_its_file_keeps_its_number(cli: Cli, home: Path) -> None:
    later = feature(2, "Mail it", dependencies=["feature-001"])
    plan(home, feature(1, "Export orders"), later)
    cli.ok("feature", "start", "1")
    cli.ok("memory", "add", "decision", "Stream rows")
    shown = read(home / "features/active.json")
    shown["features"][0]["name"] = "Sell books"
    write(home / "features/active.json", shown)

    listed = cli.json("feature", "list")

    assert [(each["id"], each["name"]) for each in listed] == [
        ("feature-001", "Sell books"),
        ("feature-002", "Mail it"),
    ]
    cli.ok("save", "csv", "--summary", "Export", "--next", "Test 0 orders")
    found = read(home / "features/active.json")["features"]
    assert [each["name"] for each in found] == ["Sell books", "Mail it"]
    assert found[1]["dependencies"] == ["feature-001"]
    assert "feature-001 Sell books" in cli.ok("feature").out


@pytest.mark.promise("harness", 122)
def test_a_number_that_is_written_twice_becomes_free_again(cli: Cli, home: Path) -> None:
    plan(home, feature(1, "Export orders"), feature(2, "Login"))
    cli.ok("feature", "list")
    plan(home, feature(1, "Export orders"), feature(2, "Login"), feature(2, "Search"))

    cli.ok("save", "csv", "--summary", "Export", "--next", "Test 0 orders")

    names = {each["id"]: each["name"] for each in read(home / "features/active.json")["features"]}
    assert names == {
        "feature-001": "Export orders",
        "feature-002": "Login",
        "feature-003": "Search",
    }
    assert cli.json("feature", "show", "3")["name"] == "Search"


@pytest.mark.promise("harness", 123)
def test_links_name_the_same_feature_whatever_its_number_is(
    cli: Cli, home: Path, store: Store
) -> None:
    features.add(store, features.ItemDraft(name="Our own feature"))
    loose = [
        {"id": 1, "name": "Export orders", "status": "done"},
        {"id": 2, "name": "Mail it", "dependencies": [1]},
    ]
    repair = {"name": "Quote commas", "linkedTo": {"featureId": 1}, "status": "open"}
    write(home / "features/active.json", {"features": loose, "fixes": [repair]})
    decision = {"decision": "Stream rows", "feature": 1, "rationale": "size"}
    write(home / "memory/episodic/decisions.json", {"entries": [decision]})
    write(home / "sessions/s1/loop-state.json", loop("", feature=2, type="feature"))

    cli.ok("feature", "list")

    board = features.load(store)
    named = {each.name: each.id for each in board.items}
    export = named["Export orders"]
    assert export != "feature-001"
    assert [each.dependencies for each in board.features if each.name == "Mail it"] == [[export]]
    assert [(each.name, each.linked_to) for each in board.fixes] == [("Quote commas", export)]
    assert [each.feature for each in memory.entries(store)] == [export]
    assert [each.feature for each in features.load_loops(store).values()] == [named["Mail it"]]


@pytest.mark.promise("harness", 142)
def test_keys_of_a_feature_are_read_as_models_spell_them(
    cli: Cli, home: Path, store: Store
) -> None:
    path = home / "features/active.json"
    other = {"files": ["a.py"], "acceptance_criteria": ["Prints a header"], "issue": "#9", "pr": 4}
    write(path, {"features": [{"id": "feature-001", "title": "Export", **other}]})
    before = path.read_bytes()
    cli.ok("feature", "list")

    (found,) = features.load(store).features
    assert (found.related_files, found.issue, found.pr) == (["a.py"], 9, 4)
    assert [each.scenario for each in found.scenarios] == ["Prints a header"]
    assert path.read_bytes() == before
    cli.ok("feature", "add", "Import")
    cli.ok("feature", "start", "feature-001")
    shown = read(path)["features"][0]
    assert {key: shown[key] for key in other} == other


@pytest.mark.promise("harness", 126)
def test_details_that_somebody_adds_to_a_decision_stay(cli: Cli, home: Path) -> None:
    path = home / "memory/episodic/decisions.json"
    cli.ok("save", "csv", "--summary", "Export", "--decision", "Stream rows :: size")
    found = read(path)
    details = {"rationale": "memory", "alternatives": ["temporary file"], "impact": "app.py"}
    found["entries"][0] |= details
    write(path, found)

    cli.ok("save", "more", "--summary", "Quote fields", "--decision", "Quote all :: commas")
    cli.ok("memory", "add", "decision", "Quote all", "--alternative", "tabs", "--impact", "csv.py")
    cli.ok("save", "last", "--summary", "Mail it")

    first, second = read(path)["entries"]
    assert first == {**found["entries"][0], **details}
    assert (second["alternatives"], second["impact"]) == (["tabs"], "csv.py")
    [entry] = [each for each in cli.json("memory", "list") if each["text"] == "Stream rows"]
    assert (entry["why"], entry["alternatives"]) == ("memory", ["temporary file"])


@pytest.mark.promise("harness", 131)
def test_the_last_words_of_an_agent_are_not_an_insight_about_the_code(
    cli: Cli, home: Path, repo: Repo
) -> None:
    talk = Talk(repo.folder, "next")
    talk.start()
    talk.ask("Export the orders as CSV")
    talk.edit("app.py")
    talk.say("Ok, fetch.")
    talk.fire("Stop")
    talk.fire("SessionEnd", reason="other")
    [context] = home.glob("sessions/*/working-context.json")
    assert read(context)["codebaseUnderstanding"] == {}

    cli.ok("save", "orders", "--left-off", "api: routes are registered in app.py")

    found = [read(each)["codebaseUnderstanding"] for each in home.glob("sessions/*/working-*.json")]
    assert {"api": "routes are registered in app.py"} in found


@pytest.mark.promise("harness", 133)
def test_a_section_of_your_own_in_the_briefing_is_not_lost(
    cli: Cli, home: Path, repo: Repo
) -> None:
    cli.ok("save", "--summary", "Export orders", "--done", "Wrote a.py")
    page = home / "session-briefing.md"
    page.write_text(f"{page.read_text('utf-8')}\n## Team notes\n- Priya is away\n", "utf-8")
    quoted = Talk(repo.folder, "reader").start()
    result = cli.ok("save", "--summary", "Export invoices", "--done", "Wrote b.py")

    assert "Priya is away" in quoted
    assert "session-briefing.md was changed" in result.err
    copy = next((repo.folder / ".git/leftoff/trash").rglob("session-briefing*"))
    assert "Priya is away" in copy.read_text("utf-8")
    assert "Export invoices" in page.read_text("utf-8")


@pytest.mark.promise("harness", 134)
def test_what_the_files_say_beyond_our_fields_is_shown(cli: Cli, home: Path) -> None:
    write(
        home / "memory/procedural/failures.json",
        {"entries": [{"id": "fail-1", "approach": "Buffer", "rootCause": "size", "agent": "bob",
                      "errors": ["heap OOM", {"message": "SIGKILL", "line": 44}]}]},
    )  # fmt: skip
    write(
        home / "features/active.json",
        {"features": [{"id": "feature-001", "name": "Export", "phase": "build", "estimate": "3d",
                       "verification": {"custom": ["npm run size"], "inherited": True}}]},
    )  # fmt: skip
    cli.ok("list")
    entry = cli.json("memory", "list", "--kind", "failure")[0]["id"]

    shown = cli.ok("memory", "show", entry).out
    assert "errors      heap OOM; message: SIGKILL, line: 44" in shown
    assert "agent       bob" in shown
    shown = cli.ok("feature", "show", "feature-001").out
    assert "custom npm run size, inherited yes" in shown
    assert "estimate     3d" in shown
    assert "phase        build" in shown


@pytest.mark.promise("harness", 135)
def test_the_role_of_a_changed_file_begins_with_what_happened_to_it(
    cli: Cli, home: Path, repo: Repo
) -> None:
    repo.commit("Add old.py", {"old.py": "old\n"})
    (repo.folder / "old.py").write_text("changed\n", "utf-8")
    (repo.folder / "new.py").write_text("new\n", "utf-8")
    roles = ("new.py :: streaming writer", "old.py :: modified - route", "gone.md :: notes")
    files = [word for role in roles for word in ("--file", role)]
    cli.ok("save", "--summary", "Export orders", "--done", "Wrote new.py", *files)

    (context,) = home.glob("sessions/*/working-context.json")
    assert read(context)["workingFiles"] == {
        "new.py": "new - streaming writer",
        "old.py": "modified - route",
        "gone.md": "notes",
    }


@pytest.mark.promise("harness", 136)
def test_reflect_prints_the_block_of_the_harness(cli: Cli, home: Path, repo: Repo) -> None:
    del home
    corrected_talk(repo.folder)

    assert cli.ok("reflect").out.splitlines() == [
        "AUTO-REFLECTION",
        "High-confidence rules auto-saved: 1",
        "- Use pnpm instead of npm.",
        "Lower-confidence (manual review needed): 1",
        "(Low-confidence rules queued for next checkpoint review: `leftoff reflect --review`)",
    ]


@pytest.mark.promise("harness", 137)
def test_a_rule_keeps_when_it_was_made_and_changed(cli: Cli, home: Path, tmp_path: Path) -> None:
    rule = {"id": "rule-001", "title": "Imports", "description": "use absolute imports",
            "createdAt": "2026-11-09T08:00:00Z", "updatedAt": "2026-11-12T00:00:00Z"}  # fmt: skip
    write(home / "memory/learned/rules.json", {"version": 3, "rules": [rule]})
    cli.ok("list")
    cli.ok("export", "--to", "harness", str(tmp_path / "out"))

    (written,) = read(tmp_path / "out/memory/learned/rules.json")["rules"]
    assert [written[key][:19] for key in ("createdAt", "updatedAt")] == [
        *("2026-11-09T08:00:00", "2026-11-12T00:00:00"),
    ]


@pytest.mark.promise("harness", 126)
def test_alternatives_and_impact_of_a_decision_are_shown(cli: Cli, home: Path) -> None:
    write(
        home / "sessions/s-1/working-context.json",
        {"summary": "Export", "decisions": [{"decision": "Stream", "rationale": "memory",
                                             "alternatives": ["queue"], "impact": "a.py"}]},
    )  # fmt: skip
    for command in ("show", "resume"):
        assert "Stream — memory (instead of: queue; impact: a.py)" in cli.ok(command).out


@pytest.mark.promise("harness", 140)
def test_files_written_at_the_same_time_stay_as_they_are(cli: Cli, home: Path) -> None:
    moment = {"lastUpdated": "2026-11-15T18:40:00Z"}
    write(home / "claude-progress.json", {**moment, "lastSession": {"summary": "Added coupons"}})
    write(
        home / "sessions/s-1/working-context.json",
        {**moment, "activeFeature": "feature-007", "summary": "Export", "nextSteps": ["Test"]},
    )
    files = [home / "claude-progress.json", home / "sessions/s-1/working-context.json"]
    before = [each.read_bytes() for each in files]
    cli.ok("list")
    cli.ok("list")

    assert [each.read_bytes() for each in files] == before

"""harness: what its users rely on between two checkpoints."""

from pathlib import Path

import pytest

from cli.runs import Cli
from gitrepo import Repo
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
    told = Talk(repo.folder, "next").start()

    assert len(page.splitlines()) <= 120
    assert estimate(page) <= 1500
    for section in SECTIONS:
        body = page.partition(f"## {section}")[2].partition("\n## ")[0]
        assert body.count("\n- ") >= 2
        assert section in told
    assert "Next steps: Test an export of 0 orders" in page
    assert "Next steps: Test an export of 0 orders" in told


def test_somebodys_long_page_loses_the_end_of_each_section(home: Path, repo: Repo) -> None:
    parts = [f"## Part {n}\n" + "\n".join(f"- {n}.{k} some words" for k in range(90))
             for n in range(4)]  # fmt: skip
    write(home / "claude-progress.json", {"lastSession": {"summary": "Export"}})
    (home / "session-briefing.md").write_text("Read this first.\n" + "\n".join(parts))

    told = Talk(repo.folder, "next").start()

    for number in range(4):
        assert f"## Part {number}" in told
        assert f"- {number}.5 some words" in told
        assert f"- {number}.89 some words" not in told


def test_an_autosave_never_replaces_what_somebody_said(cli: Cli, home: Path, repo: Repo) -> None:
    said = ("--summary", "Export orders as CSV", "--next", "Test 0 orders", "--done", "Wrote it")
    cli.ok("save", "csv", *said)
    before = (home / "claude-progress.json").read_bytes()
    page = (home / "session-briefing.md").read_bytes()
    talk = Talk(repo.folder, "other-session")
    talk.start()
    talk.ask("Please look into the flaky login test")
    talk.edit("login.py")
    talk.say("I will look at the clock next.")
    talk.fire("Stop")
    talk.fire("PreCompact", trigger="auto")
    talk.fire("SessionEnd", reason="other")

    assert len(cli.json("list")) == 2
    progress = read(home / "claude-progress.json")
    assert progress["lastSession"]["summary"] == "Export orders as CSV"
    assert progress["lastSession"]["nextSteps"] == ["Test 0 orders"]
    assert {**progress, "compactionCount": 0, "lastCompaction": 0}.keys() == progress.keys()
    assert (before, page) != (b"", b"")


def test_the_page_of_the_installer_is_no_work(cli: Cli, home: Path) -> None:
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

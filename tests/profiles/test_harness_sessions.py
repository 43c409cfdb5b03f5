"""harness: what sessions write to its files, in every worktree, and the briefing."""

import subprocess
import sys
from pathlib import Path

import pytest

from cli.runs import Cli
from gitrepo import Repo
from leftoff.knowledge import features, memory
from leftoff.knowledge.features import Try
from leftoff.store import Store
from profiles.harnessing import edit, home, read, store
from programs import run_side_by_side
from stores import contents
from talk import Talk

__all__ = ["home", "store"]


def work_on(talk: Talk, intent: str = "Export the orders as CSV") -> None:
    """Have a session in which something was done."""
    talk.start()
    talk.ask(intent)
    talk.edit("app.py")
    talk.say("The writer is in place. Next: add a test for no orders.")
    talk.fire("Stop")


# The briefing


@pytest.mark.accept(136)
def test_the_briefing_is_kept_as_a_file(cli: Cli, home: Path, store: Store) -> None:
    drafts = [
        draft
        for number in range(500)
        for draft in (
            memory.EntryDraft(kind="decision", text=f"Choice {number}", feature="feature-001"),
            memory.EntryDraft(kind="failure", text=f"Approach {number}", why=f"Cause {number}"),
        )
    ]
    memory.add(store, drafts)
    cli.ok("feature", "add", "Export orders")
    cli.ok("memory", "add", "rule", "Indent by tabs")
    cli.ok("save", "csv-export", "--summary", "Export", "--next", "Add a test")
    text = (home / "session-briefing.md").read_text(encoding="utf-8")

    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings == [
        "# Session Briefing",
        "## Active Features",
        "## Recent Decisions (last 5)",
        "## Approaches to AVOID",
        "## Learned Rules",
        "## Current Status",
    ]
    assert len(text.splitlines()) <= 120
    assert text.count("- Choice ") == 5
    assert "Approach 499 -> Cause 499" in text
    assert "Next steps: Add a test" in text


@pytest.mark.accept(137)
def test_a_briefing_file_of_any_content_reaches_the_session(home: Path, repo: Repo) -> None:
    """D18: a backslash in the file must not cost the session its briefing."""
    home.mkdir()
    words = 'C:\\temp\\new "quoted" 🧾\n\ttab'
    (home / "session-briefing.md").write_text(f"# Session Briefing\n{words}\n", encoding="utf-8")
    reply = Talk(repo.folder).start()
    resumed = Talk(repo.folder, "session-2").start("resume")

    assert 'C:\\temp\\new "quoted" 🧾' in reply
    assert resumed == ""


def test_a_briefing_that_somebody_wrote_is_kept_when_a_save_writes_a_new_one(
    cli: Cli, home: Path, stored: Path
) -> None:
    cli.ok("save", "csv-export", "--summary", "Export")
    path = home / "session-briefing.md"
    path.write_text("My own page\n", encoding="utf-8")
    cli.ok("save", "csv-import", "--summary", "Import")

    assert path.read_text(encoding="utf-8").startswith("# Session Briefing\n")
    kept = [each.read_text(encoding="utf-8") for each in (stored / "trash").rglob("*.md")]
    assert kept == ["My own page\n"]


# Sessions


@pytest.mark.accept(151)
def test_before_a_compaction_the_state_is_copied(home: Path, repo: Repo, store: Store) -> None:
    """D20: loop, working context and progress are there, not null."""
    talk = Talk(repo.folder, "s-1")
    feature = features.add(store, features.ItemDraft(name="Export orders"))
    features.start(store, feature.id, session_id="s-1")
    work_on(talk)
    for number in range(7):
        talk.say(f"Step {number}")
        talk.fire("PreCompact", trigger="auto", custom_instructions=str(number))
        _back_in_time(home, number)
    backups = sorted((home / "memory" / "compaction-backups").glob("pre-compact-*.json"))
    found = read(backups[-1])

    assert len(backups) == 5
    assert found["git"]["branch"] == "main"
    assert found["git"]["lastCommit"].endswith("Begin")
    assert found["git"]["uncommittedCount"] >= 1
    assert found["loopState"]["feature"] == "feature-001"
    assert found["workingContext"]["activeFeature"] == "feature-001"
    assert found["progress"]["lastSession"]["summary"]
    assert read(home / "claude-progress.json")["compactionCount"] == 7
    assert not [each for each in store.index().newest(100) if each.trigger == "import"]
    assert read(home / "claude-progress.json")["lastCompaction"] == found["timestamp"]


@pytest.mark.accept(151)
def test_what_was_begun_and_saved_outside_of_sessions_is_copied_too(
    cli: Cli, home: Path, repo: Repo
) -> None:
    cli.ok("feature", "add", "Export orders", "--start")
    cli.ok("save", "csv", "--summary", "Export", "--next", "Run pytest tests/csv.py")
    talk = Talk(repo.folder, "s-1")
    talk.start()
    talk.fire("PreCompact", trigger="auto", custom_instructions="")

    found = read(next((home / "memory" / "compaction-backups").glob("*.json")))
    assert found["loopState"]["feature"] == "feature-001"
    assert found["workingContext"]["nextSteps"] == ["Run pytest tests/csv.py"]


def _back_in_time(home: Path, number: int) -> None:
    """Let the newest backup be of another second: compactions are minutes apart."""
    folder = home / "memory" / "compaction-backups"
    newest = max(folder.glob("pre-compact-*.json"), key=lambda path: path.stat().st_mtime_ns)
    if number < 6:
        newest.rename(folder / f"pre-compact-20200101-00000{number}.json")


@pytest.mark.accept(152)
def test_work_of_a_dead_session_is_shown_and_a_live_one_left_alone(
    home: Path, repo: Repo, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D19: a session is alive as long as its agent is, no matter what runs the hook."""
    dead, alive = Talk(repo.folder, "dead-1"), Talk(repo.folder, "alive-1")
    died = subprocess.Popen([sys.executable, "-c", ""])
    died.wait()
    for talk, pid, name in ((dead, died.pid, "Export orders"), (alive, 1, "Import orders")):
        monkeypatch.setenv("CLAUDE_PID", str(pid))
        work_on(talk, f"{name} as CSV")
        feature = features.add(store, features.ItemDraft(name=name))
        features.start(store, feature.id, session_id=talk.session_id)
        features.attempt(store, Try(approach="Buffer all"), session_id=talk.session_id)
        talk.fire("Stop")
    before = contents(home / "sessions" / "alive-1")
    monkeypatch.delenv("CLAUDE_PID")
    reply = Talk(repo.folder, "next-1").start()
    recovery = home / "sessions" / ".recovery"
    found = read(recovery / "interrupted.json")

    assert (found["staleSessionId"], found["feature"]) == ("dead-1", "feature-001")
    assert (found["attemptAtInterrupt"], found["reason"]) == (2, "crashed")
    assert read(recovery / "loop-state.json")["history"][0]["approach"] == "Buffer all"
    assert "INTERRUPTED: feature-001" in reply
    assert "feature-002" not in reply.partition("INTERRUPTED")[2].partition("\n")[0]
    assert contents(home / "sessions" / "alive-1") == before


@pytest.mark.accept(153)
def test_only_an_end_in_the_middle_leaves_a_mark(home: Path, repo: Repo, store: Store) -> None:
    """D21: the end of a turn is not the end of a session."""
    talk = Talk(repo.folder, "s-1")
    feature = features.add(store, features.ItemDraft(name="Export orders"))
    features.start(store, feature.id, session_id="s-1")
    work_on(talk)
    talk.fire("Stop")
    mark = home / "sessions" / ".recovery" / "interrupted.json"
    assert (home / "sessions" / "s-1" / "loop-state.json").exists()
    assert not mark.exists()

    talk.fire("SessionEnd", reason="prompt_input_exit")
    assert read(mark)["feature"] == "feature-001"

    other = Talk(repo.folder, "s-2")
    other.start()
    features.start(store, feature.id, session_id="s-2", again="retry")
    features.pass_(store, session_id="s-2")
    other.fire("Stop")
    assert not mark.exists()


@pytest.mark.slow("lets processes race")
@pytest.mark.accept(155)
def test_sessions_side_by_side_lose_nothing(cli: Cli, home: Path, repo: Repo) -> None:
    del cli
    program = """
        import os, sys
        who = sys.argv[1]
        os.environ["CLAUDE_CODE_SESSION_ID"] = who
        from leftoff.cli import run
        for n in range(15):
            words = ["--summary", f"{who} work {n}", "--decision", f"{who} choice {n} :: why"]
            assert run(["save", f"{who}-{n}", *words]) == 0
            assert run(["feature", "add", f"{who} feature {n}"]) == 0
    """
    run_side_by_side(program, repo.folder, "left", "right")

    both = [(who, n) for who in ("left", "right") for n in range(15)]
    decisions = read(home / "memory/episodic/decisions.json")["entries"]
    listed = read(home / "features/active.json")["features"]
    assert {each["decision"] for each in decisions} == {f"{who} choice {n}" for who, n in both}
    assert {each["name"] for each in listed} == {f"{who} feature {n}" for who, n in both}
    assert len({each["id"] for each in listed}) == 30
    for who in ("left", "right"):
        found = read(home / "sessions" / who / "checkpoint.json")
        assert found["summary"] == f"{who} work 14"


@pytest.mark.accept(156)
def test_a_linked_worktree_keeps_its_sessions_and_shares_the_rest(
    cli: Cli, home: Path, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    linked = repo.worktree(tmp_path / "linked", "feature/x")
    monkeypatch.chdir(linked.folder)
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-1")
    cli.ok("feature", "add", "Export orders")
    cli.ok("feature", "start", "1")
    cli.ok("save", "csv-export", "--summary", "Export", "--decision", "Stream :: big")
    local = linked.folder / ".claude-harness"

    assert read(home / "features/active.json")["features"][0]["name"] == "Export orders"
    assert read(home / "memory/episodic/decisions.json")["entries"][0]["decision"] == "Stream"
    assert not (local / "features").exists()
    assert not (local / "memory").exists()
    assert read(local / "sessions/s-1/working-context.json")["activeFeature"] == "feature-001"
    assert read(local / "sessions/s-1/loop-state.json")["feature"] == "feature-001"
    assert read(local / "claude-progress.json")["lastSession"]["summary"] == "Export"
    assert not (home / "sessions").exists()
    assert not (home / "claude-progress.json").exists()


@pytest.mark.accept(156)
def test_a_ship_in_a_linked_worktree_leaves_that_one_clean(
    cli: Cli, home: Path, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    linked = repo.worktree(tmp_path / "linked", "feature/x")
    monkeypatch.chdir(linked.folder)
    cli.ok("feature", "add", "Export orders")
    cli.ok("feature", "pass", "1")
    linked.write("export.py")
    cli.ok("save", "csv-export", "--summary", "Export", "--next", "Add a test")
    cli.ok("ship", "--message", "Export", "--no-push", "--no-pr")
    local = linked.folder / ".claude-harness"

    assert linked.git("status", "--short") == ""
    assert read(home / "features/archive.json")["archived"][0]["id"] == "feature-001"
    assert read(local / "claude-progress.json")["lastSession"]["nextSteps"] == ["Add a test"]
    assert "sessions" not in linked.git("ls-files")


@pytest.mark.promise("harness", 127)
def test_progress_that_git_brings_to_a_new_worktree_reopens_nothing(
    cli: Cli, home: Path, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-1")
    cli.ok("save", "csv-export", "--summary", "Export", "--done", "Wrote it", "--next", "Test it")
    cli.ok("ship", "--message", "Export", "--no-push", "--no-pr")
    cli.ok("done", "csv-export")
    linked = repo.worktree(tmp_path / "linked", "feature/x")
    monkeypatch.chdir(linked.folder)
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-2")
    cli.ok("save", "login", "--summary", "Log in", "--next", "Add a test")
    local = linked.folder / ".claude-harness"

    assert (home / "sessions/s-1").is_dir()
    assert [each["name"] for each in cli.json("list")] == ["login"]
    assert [each.name for each in (local / "sessions").iterdir()] == ["s-2"]
    assert read(local / "claude-progress.json")["lastSession"]["summary"] == "Log in"


def test_progress_that_somebody_edited_in_a_new_worktree_is_imported(
    cli: Cli, home: Path, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.ok("save", "csv-export", "--summary", "Export", "--done", "Wrote it", "--next", "Test it")
    cli.ok("ship", "--message", "Export", "--no-push", "--no-pr")
    cli.ok("done", "csv-export")
    linked = repo.worktree(tmp_path / "linked", "feature/x")
    local = linked.folder / ".claude-harness"
    last = read(local / "claude-progress.json")["lastSession"]
    edit(local / "claude-progress.json", lastSession={**last, "blockers": ["CI is red"]})
    monkeypatch.chdir(linked.folder)
    cli.ok("save", "login", "--summary", "Log in", "--next", "Add a test")

    assert read(home / "claude-progress.json")["lastSession"]["blockers"] == []
    assert [each["name"] for each in cli.json("list")] == ["login", "export"]
    assert "CI is red" in cli.ok("show", "export").out


@pytest.mark.accept(141)
def test_what_belongs_to_sessions_is_kept_out_of_commits(cli: Cli, home: Path, repo: Repo) -> None:
    home.mkdir()
    (home / ".gitignore").write_text("*.log", encoding="utf-8")
    for name in ("memory/working/context.json", "memory/compaction-backups/pre-compact-1.json"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text('{"summary": "Old"}', encoding="utf-8")
    repo.write(".env", "TOKEN=abc\n")
    cli.ok("feature", "add", "Export orders")
    cli.ok("save", "csv-export", "--summary", "Export")
    cli.ok("ship", "--message", "Export", "--no-push", "--no-pr")
    committed = repo.git("ls-files").splitlines()

    assert (home / ".gitignore").read_text(encoding="utf-8").splitlines() == [
        "*.log",
        "sessions/",
        "memory/compaction-backups/",
        "working/",
    ]
    assert (home / "sessions").is_dir()
    assert ".claude-harness/claude-progress.json" in committed
    assert ".claude-harness/features/active.json" in committed
    assert not any("sessions/" in each or "/working/" in each for each in committed)
    assert not any("compaction-backups" in each or each == ".env" for each in committed)


@pytest.mark.accept(146)
def test_a_ship_ends_with_a_clean_tree(cli: Cli, home: Path, repo: Repo, tmp_path: Path) -> None:
    """D25: what a ship notes after its commit is committed, too."""
    remote = Repo(tmp_path / "remote.git", bare=True)
    repo.git("remote", "add", "origin", str(remote.folder))
    repo.git("switch", "--quiet", "--create", "feature/x")
    cli.ok("feature", "add", "Export orders")
    cli.ok("feature", "start", "1")
    repo.write("export.py")
    cli.ok("save", "csv-export", "--summary", "Export", "--decision", "Stream :: big")
    cli.ok("feature", "pass")
    cli.ok("ship", "--message", "Export", "--no-pr")

    assert repo.git("status", "--short") == ""
    assert read(home / "features/archive.json")["archived"][0]["name"] == "Export orders"
    cli.ok("list")
    cli.ok("briefing", "--write")
    assert repo.git("status", "--short") == ""
    assert repo.git("rev-parse", "HEAD") == repo.git("rev-parse", "origin/feature/x")


def test_what_was_archived_is_not_brought_back_by_its_old_file(
    cli: Cli, home: Path, store: Store
) -> None:
    cli.ok("feature", "add", "Export orders")
    cli.ok("feature", "pass", "1")
    features.archive(store)
    path = home / "features" / "active.json"
    edit(path, owner="ada")
    cli.ok("feature", "list")

    assert read(path)["owner"] == "ada"
    assert [each["id"] for each in read(home / "features/archive.json")["archived"]] == [
        "feature-001"
    ]


@pytest.mark.accept(160)
def test_a_project_without_anything_is_left_alone(home: Path, repo: Repo) -> None:
    reply = Talk(repo.folder).start()

    assert len(reply.splitlines()) <= 1
    assert not home.exists()
    assert repo.git("status", "--short") == ""

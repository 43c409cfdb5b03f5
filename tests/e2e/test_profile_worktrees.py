"""Two sessions at once in two worktrees keep the files of all five systems up to date."""

import json
from pathlib import Path

from e2e.claude import Bench
from e2e.model import Model
from e2e.turns import Turn, bash, say, write
from e2e.user import User
from e2e.waiting import until

ALL = ("guardz", "openclaw", "sail", "quoin", "harness")
EDITS = ("--allowedTools", "Write,Bash")
LOGIN, EXPORT = "Build the login page", "Build the CSV export"


def _save(name: str, task: str, at: Path) -> Turn:
    arguments = f"--left-off 'Half of {name}' --decision 'Decided {name} :: it is simpler'"
    return bash(f"leftoff save {name} --summary '{task}' {arguments}", at=at)


def _both_killed(bench: Bench, left: Path, right: Path) -> None:
    bench.model.will(
        _save("login-page", LOGIN, at=left),
        _save("csv-export", EXPORT, at=right),
        write(left / "login.py", "one\n", at=left),
        write(right / "export.py", "two\n", at=right),
        say("Half done.", stall=True, at=left),
        say("Half done.", stall=True, at=right),
    )
    runs = [
        bench.start(LOGIN, *EDITS, cwd=left),
        bench.start(EXPORT, *EDITS, cwd=right),
    ]
    until(lambda: not bench.model.turns_left, "the last turns")
    for run in runs:
        run.kill()


def _read_start_while_it_runs(bench: Bench, model: Model, words: str, folder: Path) -> str:
    """Start a session that falls silent, and return what leftoff gives its model.

    Claude Code itself shows it MEMORY.md, which all worktrees share.
    """
    model.will(say("slow", stall=True))
    bench.start(words, cwd=folder)
    text = model.wait_for(words).news.partition("SessionStart hook additional context")[2]
    return text.partition("# Environment")[0]


def _texts(folder: Path) -> dict[str, str]:
    """Return every native file below a worktree; none is half written or broken."""
    kept = (".claude", ".claude-harness", ".workflow_artifacts")
    paths = [path for name in kept for path in (folder / name).rglob("*") if path.is_file()]
    texts = {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in paths}
    for name, text in texts.items():
        if name.endswith(".json"):
            json.loads(text)
    return texts


def test_with_all_mirrors_each_worktree_has_its_own_work_and_none_of_the_others(
    bench: Bench, model: Model, newcomer: User
) -> None:
    left, right = bench.worktree("login").folder, bench.worktree("export").folder
    newcomer.follows(*ALL)

    _both_killed(bench, left, right)
    seen_left = _read_start_while_it_runs(bench, model, "hello left", left)
    seen_right = _read_start_while_it_runs(bench, model, "hello right", right)

    for seen, own, foreign in ((seen_left, LOGIN, EXPORT), (seen_right, EXPORT, LOGIN)):
        assert own in seen
        named = [line for line in seen.splitlines() if foreign in line]
        assert [line for line in named if ", in worktree " not in line] == []
    for folder, own, foreign in ((left, LOGIN, EXPORT), (right, EXPORT, LOGIN)):
        texts = _texts(folder)
        assert any(name.startswith(".claude/checkpoints/") for name in texts)
        assert any("/pending-restore-" in name for name in texts)
        assert own in texts[".claude-harness/session-briefing.md"]
        assert own in texts[".claude-harness/claude-progress.json"]
        assert [name for name, text in texts.items() if foreign in text] == []


def test_with_all_mirrors_what_is_shared_holds_the_work_of_both(
    bench: Bench, newcomer: User
) -> None:
    left, right = bench.worktree("login").folder, bench.worktree("export").folder
    newcomer.follows(*ALL)

    _both_killed(bench, left, right)
    newcomer.settled()

    index = (bench.memory() / "MEMORY.md").read_text(encoding="utf-8")
    assert "- **login-page** (login, " in index
    assert "- **csv-export** (export, " in index
    workspace = bench.home / ".openclaw" / "workspace" / "memory" / "checkpoints"
    names = {path.stem for path in workspace.glob("*.md")}
    assert {"login-page", "csv-export"} <= names
    layer = bench.repo.folder / ".claude-harness" / "memory" / "episodic" / "decisions.json"
    decided = {each["decision"] for each in json.loads(layer.read_bytes())["entries"]}
    assert decided == {"Decided login-page", "Decided csv-export"}


def test_files_that_mirrors_write_are_not_taken_for_work(bench: Bench, newcomer: User) -> None:
    newcomer.follows(*ALL)
    made = bench.repo.folder / "retry.py"

    newcomer.works(LOGIN, write(made, "one\n"), bash("leftoff save login-page"), say("Done."))
    newcomer.works(EXPORT, bash("echo two > export.py"), say("Done."))

    assert {one["intent"]: one["files_modified"] for one in newcomer.saved()} == {
        LOGIN: ["retry.py"],
        EXPORT: ["export.py"],
    }

"""The real program keeps another system's files up to date, even after kill -9."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from e2e.bench import Run
from e2e.claude import Bench
from e2e.model import Model
from e2e.turns import Turn, bash, call, say, write
from e2e.user import TASK, User
from e2e.waiting import until

# Claude Code asks before it edits below `.claude`, and nobody is there to say yes.
EDITS = ("--permission-mode", "bypassPermissions")


def _until_silent(bench: Bench, *turns: Turn) -> Run:
    """Let a session work until the model falls silent."""
    bench.model.will(*turns, say("slow", stall=True))
    run = bench.start(TASK, *EDITS, IS_SANDBOX="1")
    until(lambda: not bench.model.turns_left, "the last turn")
    return run


def _killed(bench: Bench, *turns: Turn) -> None:
    """Let a session work until the model falls silent, and kill it there."""
    _until_silent(bench, *turns).kill()


def _texts(folder: Path, pattern: str) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted(folder.glob(pattern))]


def _json(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_bytes())
    return found


# --- every one of them ---


def _sail_shows(bench: Bench) -> str:
    (text,) = _texts(bench.repo.folder / ".claude" / "checkpoints", "*.json")
    return text


def _quoin_shows(bench: Bench) -> str:
    folder = bench.repo.folder / ".workflow_artifacts" / "memory" / "checkpoints"
    (text,) = _texts(folder, "*-auto.md")
    return text


def _openclaw_shows(bench: Bench) -> str:
    folder = bench.home / ".openclaw" / "workspace" / "memory" / "checkpoints"
    (log,) = _texts(folder, "autosave-log.md")
    assert "recovered" in log
    (text,) = _texts(folder, "autosave.md")
    return text


def _harness_shows(bench: Bench) -> str:
    folder = bench.repo.folder / ".claude-harness"
    assert TASK in (folder / "session-briefing.md").read_text(encoding="utf-8")
    return (folder / "claude-progress.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("profile", "shown"),
    [
        pytest.param("sail", _sail_shows, id="sail"),
        pytest.param("quoin", _quoin_shows, id="quoin"),
        pytest.param("openclaw", _openclaw_shows, id="openclaw"),
        pytest.param("harness", _harness_shows, id="harness"),
    ],
)
def test_work_that_was_killed_is_reported_and_shown_in_the_native_files(
    bench: Bench, model: Model, newcomer: User, profile: str, shown: Callable[[Bench], str]
) -> None:
    newcomer.follows(profile)
    _killed(bench, write(bench.repo.folder / "retry.py", "RETRIES = 3\n"))

    # While it runs it has saved nothing of its own.
    model.will(say("slow", stall=True))
    bench.start("hello")

    assert TASK in model.wait_for("hello").news
    text = shown(bench)
    assert TASK in text


# --- guardz ---

NOTES = """\
# Notes of the agent

- Tests run with `make test`, never `pytest` alone.\t\\o/

## Conventions
Wörter 🚀 — "quoted"
"""
SAVE = (
    "leftoff save retry-client --summary 'Retry the HTTP client' --left-off 'The tests are next' "
    "--next 'Write tests/test_retry.py' --failed 'sleep in the loop :: the tests time out'"
)


@pytest.mark.accept(10)
def test_guardz_shares_the_memory_file_with_claude_code_and_touches_only_its_section(
    bench: Bench, newcomer: User
) -> None:
    newcomer.follows("guardz")
    path = bench.memory() / "MEMORY.md"
    old, new = "never `pytest` alone", "never by hand"
    change = {"file_path": str(path), "old_string": old, "new_string": new}
    _killed(
        bench,
        write(path, NOTES),
        bash(SAVE),
        call("Read", given={"file_path": str(path)}),
        call("Edit", given=change),
        bash("leftoff save second-thing --summary 'Something else'"),
    )
    bench.run("hello")

    text = path.read_text(encoding="utf-8")
    section = text[text.index("## Active Checkpoints") : text.index("Resume any:")]
    listed = [line.split("**")[1] for line in section.splitlines() if line.startswith("- **")]
    assert listed == ["retry-client", "second-thing"]
    head, rest = NOTES.replace(old, new).split("\n", 1)
    assert text.startswith(f"{head}\n\n## Active Checkpoints\n")
    assert text.endswith(rest)


@pytest.mark.parametrize("tree", ["main", "worktree"])
def test_the_next_session_is_told_and_has_the_list_of_guardz_among_its_memories(
    bench: Bench, model: Model, newcomer: User, tree: str
) -> None:
    folder = bench.repo.folder if tree == "main" else bench.worktree("login").folder
    newcomer.follows("guardz", cwd=folder)
    newcomer.works(TASK, bash(SAVE), say("Saved."), cwd=folder)

    bench.run("hello", cwd=folder)

    seen = model.seen_text()
    assert "- **retry-client** (" in seen
    assert "Next action: Write tests/test_retry.py" in model.requests()[-1].news
    assert "Interrupted during" not in seen


# --- sail ---


def test_sail_follows_the_plan_that_the_agent_edits_and_saves_beside_it(
    bench: Bench, model: Model, newcomer: User
) -> None:
    newcomer.follows("sail")
    plan = bench.repo.folder / ".claude" / "plans" / "retry-plan"
    state, index = plan / "state.json", bench.repo.folder / ".claude" / "state-index.json"
    before, after = (f'"current_stage": {number}' for number in (2, 3))
    change = {"file_path": str(state), "old_string": before, "new_string": after}
    run = _until_silent(
        bench,
        write(state, f'{{"name": "retry-plan", {before}, "status": "active"}}\n'),
        call("Read", given={"file_path": str(state)}),
        call("Edit", given=change),
    )
    newcomer.settled()
    assert _json(index)["active_plan"] == "retry-plan"
    assert _json(index)["active_plan_stage"] == 3
    assert _json(index)["last_checkpoint"] is None
    run.kill()

    model.will(say("slow", stall=True))
    bench.start("hello")

    assert TASK in model.wait_for("hello").news
    (checkpoint,) = (plan / "checkpoints").glob("*.json")
    assert TASK in checkpoint.read_text(encoding="utf-8")
    assert _json(index)["last_checkpoint"]
    assert _json(index)["active_plan"] == "retry-plan"


# --- quoin ---


def test_quoin_shows_the_next_session_what_its_mark_waits_for(
    bench: Bench, model: Model, newcomer: User
) -> None:
    newcomer.follows("quoin")
    _killed(bench, write(bench.repo.folder / "retry.py", "RETRIES = 3\n"), bash(SAVE))
    (mark,) = (bench.repo.folder / ".workflow_artifacts" / "memory").glob("pending-restore-*.txt")

    bench.run("hello")

    news = model.requests()[-1].news
    assert news.count("Pending restore detected.") == 1
    assert mark.read_text(encoding="utf-8").strip() in news


# --- harness ---


def test_harness_keeps_its_briefing_and_a_new_session_gets_it(
    bench: Bench, model: Model, newcomer: User
) -> None:
    newcomer.follows("harness")
    decided = f"{SAVE} --decision 'Retry three times :: more hides outages'"
    _killed(bench, bash(decided), write(bench.repo.folder / "retry.py", "RETRIES = 3\n"))
    folder = bench.repo.folder / ".claude-harness"

    bench.run("hello")

    news = model.requests()[-1].news
    assert news.count("## Approaches to AVOID") == 1
    assert "Retry three times" in news
    assert "Retry three times" in (folder / "session-briefing.md").read_text(encoding="utf-8")
    decisions = _json(folder / "memory" / "episodic" / "decisions.json")["entries"]
    assert [each["decision"] for each in decisions] == ["Retry three times"]
    failures = _json(folder / "memory" / "procedural" / "failures.json")["entries"]
    assert [each["rootCause"] for each in failures] == ["the tests time out"]

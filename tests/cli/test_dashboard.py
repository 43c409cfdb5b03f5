"""`leftoff dashboard` shows all work in progress and touches no file."""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cli.runs import Cli
from gitrepo import Repo
from leftoff import config
from leftoff.context import find_project
from leftoff.knowledge import features
from leftoff.store import Store
from stores import contents, draft

STAGES = ("describe", "specify", "challenge", "edge-cases", "review", "test", "execute")


def ago(**amount: float) -> str:
    return f"{datetime.now(UTC) - timedelta(**amount):%Y-%m-%dT%H:%M:%SZ}"


class Work:
    """The files beside the code that show what is under way."""

    def __init__(self, repo: Repo) -> None:
        self.repo = repo

    def put(self, path: str, value: object) -> Path:
        return self.repo.write(f".claude/{path}", json.dumps(value))

    def plan(self, name: str, stage: object, *, done: str = "pending", **updated: float) -> None:
        stages = {each: {"status": "pending"} for each in STAGES} | {"execute": {"status": done}}
        state = {"name": name, "current_stage": stage, "stages": stages}
        self.put(f"plans/{name}/state.json", {**state, "updated": ago(**updated)})

    def index(self, **members: object) -> None:
        self.put("state-index.json", {"active_plan": None, "active_tdd": None, **members})

    def tdd(self, phase: str) -> None:
        session = {"id": "tdd-1", "phase": phase, "target": "sliding window", "mode": "strict"}
        self.put("tdd-sessions/active.json", session)

    def checkpoint(self, name: str, summary: str, **saved: float) -> Path:
        return self.put(f"checkpoints/{name}.json", {"timestamp": ago(**saved), "summary": summary})


@pytest.fixture
def work(repo: Repo) -> Work:
    """Make a repository whose user chose to keep such files."""
    config.set_for(find_project(repo.folder), "profile", "sail")
    return Work(repo)


def seen(folder: Path) -> dict[str, Any]:
    """Tell every file below a folder with its content and when it was changed, and every folder."""
    stats = {str(each): each.lstat() for each in [folder, *folder.rglob("*")]}
    return {
        "contents": contents(folder),
        "changed": {path: (stat.st_mtime_ns, stat.st_mode) for path, stat in stats.items()},
    }


@pytest.mark.promise("sail", 38)
@pytest.mark.accept(70)
def test_an_active_plan_and_its_tests_are_shown_and_json_says_the_same(
    cli: Cli, work: Work
) -> None:
    work.plan("rate-limits", 4, minutes=20)
    work.tdd("red")
    work.index(active_plan="rate-limits", active_plan_stage=4, last_checkpoint=ago(minutes=30))

    text = cli.ok("dashboard").out
    result = cli.json("dashboard")

    assert "Plan:     rate-limits  Stage 4/7  20m ago" in text
    assert "TDD:      sliding window  RED" in text
    assert "Last checkpoint: 30m ago" in text
    assert "Tips:" in text
    assert result["layout"] == "active"
    assert (result["plan"]["name"], result["plan"]["number"], result["plan"]["total"]) == (
        "rate-limits",
        4,
        7,
    )
    assert (result["tdd"]["target"], result["tdd"]["phase"]) == ("sliding window", "red")
    assert all(f"- {each}" in text for each in result["suggestions"])


@pytest.mark.accept(70)
@pytest.mark.parametrize("has_store", [True, False])
def test_nothing_is_changed_by_looking(
    cli: Cli, work: Work, *, has_store: bool, tmp_path: Path
) -> None:
    if has_store:
        cli.ok("config", "set", "mirror", "sail", "--project")
        cli.ok("save", "login-form", "--summary=Validate the form")
        cli.ok("list")
        # What the index and the mirror do not know yet.
        store = Store(find_project(work.repo.folder))
        store.save(draft("billing", "Round the totals"))
        store.close()
    work.plan("rate-limits", 4)
    work.checkpoint("20261115T120000Z", "By another program")
    before = seen(tmp_path)

    result = cli.json("dashboard")
    assert cli.ok("dashboard").out

    assert seen(tmp_path) == before
    summaries = {each["summary"] for each in result["checkpoints"]}
    assert summaries >= {"By another program"} | ({"Round the totals"} if has_store else set())


@pytest.mark.accept(71)
def test_without_active_work_the_recent_plans_are_shown(cli: Cli, work: Work) -> None:
    work.plan("finished", 7, done="complete", days=2)
    work.plan("resting", 3, days=1)
    work.index()

    text = cli.ok("dashboard").out

    assert "No active work detected." in text
    assert f"finished  Stage 7/7  complete {ago(days=2)[:10]}" in text
    assert f"resting  Stage 3/7  paused {ago(days=1)[:10]}" in text
    assert cli.json("dashboard")["layout"] == "none"


def test_a_project_without_anything_says_so(cli: Cli) -> None:
    assert "No active work detected." in cli.ok("dashboard").out


@pytest.mark.accept(72)
def test_without_an_index_plans_tests_and_checkpoints_are_looked_for(cli: Cli, work: Work) -> None:
    work.plan("archived", 7, done="archived")
    work.plan("open-one", "challenge", hours=2)
    work.tdd("green")
    for n in range(5):
        path = work.checkpoint(f"2026111{n}T120000Z", f"Checkpoint {n}", hours=50 - 10 * n)
        os.utime(path, (1_000_000 + n, 1_000_000 + n))

    result = cli.json("dashboard")

    assert (result["plan"]["name"], result["plan"]["number"]) == ("open-one", 3)
    assert result["tdd"]["phase"] == "green"
    assert [each["summary"] for each in result["checkpoints"]] == [
        "Checkpoint 4",
        "Checkpoint 3",
        "Checkpoint 2",
    ]
    assert "Stage 3/7 (challenge)" in cli.ok("dashboard").out


@pytest.mark.accept(69)
def test_a_plan_that_is_over_is_not_active_though_the_index_says_so(cli: Cli, work: Work) -> None:
    work.plan("a-done", 7, done="complete")
    work.plan("b-halted", 7, done="halted")
    work.plan("c-open", 2)
    work.index(active_plan="a-done", active_plan_stage=7)

    assert cli.json("dashboard")["plan"]["name"] == "c-open"


@pytest.mark.accept(73)
def test_suggestions_fit_the_moment(cli: Cli, work: Work) -> None:
    def suggestions() -> str:
        return "\n".join(cli.json("dashboard")["suggestions"])

    work.plan("rate-limits", 4)
    work.index(active_plan="rate-limits", last_checkpoint=ago(minutes=59))
    assert suggestions() == ""

    work.index(active_plan="rate-limits", last_checkpoint=ago(minutes=61))
    assert "over an hour old" in suggestions()

    work.tdd("RED")
    assert "write failing tests for sliding window" in suggestions()

    work.tdd("green")
    assert "least code that makes the tests" in suggestions()

    work.plan("rate-limits", "execute")
    assert "rate-limits is at its final stage" in suggestions()

    work.plan("old-one", 2, days=8)
    assert "rested" not in suggestions()

    work.plan("older-one", 2, days=30)
    assert "2 plans have been idle for more than 7 days" in suggestions()
    assert "old-one, older-one" in suggestions()


@pytest.mark.accept(74)
def test_helpers_are_shown_with_what_each_does(cli: Cli, work: Work) -> None:
    tasks = [
        {"description": "Write the parser", "status": "in_progress", "agent": "builder"},
        {"description": "Write the docs", "status": "complete"},
    ]
    work.index(delegate_running=True, delegation={"tasks": tasks})

    text = cli.ok("dashboard").out

    assert "Delegate: 1 agent running" in text
    assert "Task 1: Write the parser (in progress)  builder\n" in text
    assert "Task 2: Write the docs (complete)\n" in text
    assert cli.json("dashboard")["layout"] == "delegation"


@pytest.mark.accept(74)
def test_tasks_may_be_given_by_name_or_not_at_all(cli: Cli, work: Work) -> None:
    work.index(delegate_running=True, delegation={"tasks": {"parser": "running", "docs": "done"}})
    named = cli.ok("dashboard").out
    work.index(delegate_running=True)
    unknown = cli.ok("dashboard").out

    assert "Task 1: parser (running)" in named
    assert "Task 2: docs (done)" in named
    assert "Delegate: 1 agent running" in unknown
    assert "No active work" not in unknown


@pytest.mark.accept(74)
def test_helpers_that_only_their_worktrees_show_are_named_after_them(cli: Cli, work: Work) -> None:
    work.put("worktrees/parser/note.json", {})
    work.index(delegate_running=True)

    assert "Task 1: parser (in progress)" in cli.ok("dashboard").out


def test_worktrees_that_helpers_left_are_reported_and_stay(cli: Cli, work: Work) -> None:
    work.put("worktrees/parser/note.json", {})
    work.index()

    assert "Helpers left worktrees" in cli.ok("dashboard").out
    assert (work.repo.folder / ".claude" / "worktrees" / "parser").is_dir()


def test_own_plan_todos_and_features_are_work_too(cli: Cli, work: Work) -> None:
    work.repo.write("plan.md", "# Big plan\n\n- [x] One\n- [ ] Two\n- [ ] Three\n")
    fields = {
        "summary": "Build it",
        "plan": {"path": "plan.md"},
        "todos": [{"text": "Write two", "status": "in_progress"}, {"text": "x", "status": "done"}],
    }
    cli.ok("save", "big-work", "--from-json=-", stdin=json.dumps(fields))
    store = Store(find_project(work.repo.folder))
    feature = features.add(store, features.ItemDraft(name="Export orders"))
    features.start(store, feature.id)
    store.close()

    text = cli.ok("dashboard").out

    assert "Plan:     Big plan  Stage 2/3" in text
    assert "Todo:     Write two (in progress)" in text
    assert "Feature:  feature-001 Export orders" in text
    assert "big-work: Build it" in text


@pytest.mark.parametrize("data", ["", "{", "[]", '"x"', "null", '{"active_plan": 7}', "\0"])
def test_broken_files_are_passed_over(cli: Cli, work: Work, data: str) -> None:
    for path in (
        ".claude/state-index.json",
        ".claude/plans/p/state.json",
        ".claude/tdd-sessions/active.json",
        ".claude/checkpoints/20261115T000000Z.json",
    ):
        work.repo.write(path, data)

    cli.ok("dashboard")
    cli.json("dashboard")


@pytest.mark.promise("sail", 46)
def test_a_phase_and_a_stage_in_words_need_no_other_file(cli: Cli, work: Work) -> None:
    work.index(active_plan="rate-limits", active_plan_stage="challenge", active_tdd_phase="red")
    text = cli.ok("dashboard").out

    assert "  Plan:     rate-limits  Stage challenge\n" in text
    assert "  TDD:      RED\n" in text
    assert "  - RED: write failing tests for the next behavior." in text
    work.tdd("complete")
    assert "TDD:" not in cli.ok("dashboard").out
    work.index(active_plan="rate-limits", active_plan_stage="3")
    assert "  Plan:     rate-limits  Stage 3/7\n" in cli.ok("dashboard").out


def test_a_plan_without_a_stage_is_named(cli: Cli, work: Work) -> None:
    work.index(active_plan="rate-limits", active_plan_stage=None)

    assert "  Plan:     rate-limits  Stage -\n" in cli.ok("dashboard").out


@pytest.mark.usefixtures("work")
def test_the_plan_of_the_last_checkpoint_may_have_a_stage_in_words(cli: Cli) -> None:
    cli.ok(
        "save",
        "limits",
        "--from-json=-",
        stdin='{"summary": "Add rates", "plan": {"title": "rates", "stage": "review"}}',
    )

    assert "  Plan:     rates  Stage review" in cli.ok("dashboard").out

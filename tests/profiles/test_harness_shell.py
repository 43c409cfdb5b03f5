"""harness: the shell lines of claude-harness and its users work on the files we write."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli.runs import Cli
from gitrepo import Repo
from profiles.harnessing import home, read, store
from ship.harness_project import feature, loop, plan, save, write

__all__ = ["home", "store"]


_INSTALLER = Path(__file__).resolve().parents[2] / "scripts" / "agents.py"


@pytest.fixture(scope="session")
def jq() -> Path:
    """Return jq; where it cannot be had, fail in CI and skip elsewhere."""
    done = subprocess.run(
        (sys.executable, _INSTALLER, "jq"), capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return Path(done.stdout.strip())
    if os.environ.get("CI") == "true":
        pytest.fail(done.stderr.strip(), pytrace=False)
    pytest.skip(done.stderr.strip())


def shell(script: str, folder: Path, jq: Path) -> str:
    ran = subprocess.run(
        ("bash", "-euo", "pipefail", "-c", script),
        cwd=folder,
        env={"PATH": f"{jq.parent}:/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout.strip()


@pytest.mark.slow("may install jq")
def test_the_lines_of_the_hooks_read_our_files(
    cli: Cli, home: Path, repo: Repo, jq: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-1")
    plan(home, feature(1, "Export orders"), feature(2, "Login", passes=True, status="passing"))
    write(home / "sessions/s-1/loop-state.json", loop("feature-001"))
    save(cli)
    cli.ok("memory", "add", "rule", "Use pnpm")
    cli.ok("feature", "attempt", "Buffer it", "--root-cause", "unbounded")
    h = ".claude-harness"
    lines = {
        f"jq -r '.lastSession.summary' {h}/claude-progress.json": "Stream the CSV export",
        f"jq -r '.lastSession.nextSteps[0]' {h}/claude-progress.json": "Test an export of 0 orders",
        f"jq -r '[.features[] | select(.passes == false)][0].id' {h}/features/active.json":
            "feature-001",
        f"jq '[.features[] | select(.status != \"passing\")] | length' {h}/features/active.json":
            "1",
        f"jq -r '.entries | length' {h}/memory/episodic/decisions.json": "1",
        f"jq -r '.entries[-5:][] | .decision' {h}/memory/episodic/decisions.json":
            "Stream rows; never buffer the file",
        f"jq -r '.entries[] | \"\\(.approach) -> \\(.rootCause)\"' "
        f"{h}/memory/procedural/failures.json": "Buffer it -> unbounded",
        f"jq -r '[.rules[] | select(.active == true)] | length' {h}/memory/learned/rules.json":
            "1",
        f"jq -r '.metadata.totalRules' {h}/memory/learned/rules.json": "1",
        f"jq -r '.status // \"idle\"' {h}/sessions/s-1/loop-state.json": "in_progress",
        f"jq -r '.activeFeature // empty' {h}/sessions/s-1/working-context.json": "feature-001",
        f"head -120 {h}/session-briefing.md | head -1": "# Session Briefing",
        f"grep -c '^## ' {h}/session-briefing.md": "5",
        f"ls -t {h}/sessions | head -1": "s-1",
        f'for f in {h}/sessions/*/loop-state.json; do basename "$(dirname "$f")"; done': "s-1",
        f"git check-ignore {h}/sessions/s-1/loop-state.json": (
            f"{h}/sessions/s-1/loop-state.json"
        ),
    }  # fmt: skip
    for line, answer in lines.items():
        assert shell(line, repo.folder, jq) == answer, line


@pytest.mark.slow("may install jq")
def test_what_jq_and_mv_change_is_imported(cli: Cli, home: Path, repo: Repo, jq: Path) -> None:
    plan(home, feature(1, "Export orders"))
    save(cli)
    cli.ok("memory", "add", "rule", "Use pnpm")
    h = ".claude-harness"
    entry = json.dumps({"id": "x-1", "timestamp": "2026-11-15T10:00:00Z", "decision": "Use CSV"})
    decisions = f"{h}/memory/episodic/decisions.json"
    shell(
        f"jq '.entries += [{entry}] | .entries |= .[-50:]' {decisions} > t && mv t {decisions}; "
        f"jq '.features[0].status = \"passing\"' {h}/features/active.json > t"
        f" && mv t {h}/features/active.json; "
        f"jq '.rules[0].active = false' {h}/memory/learned/rules.json > t"
        f" && mv t {h}/memory/learned/rules.json; "
        f"jq '.lastSession.nextSteps = [\"Ship it\"]' {h}/claude-progress.json > t"
        f" && mv t {h}/claude-progress.json",
        repo.folder,
        jq,
    )

    assert "Use CSV" in cli.ok("memory", "list").out
    assert "passing" in cli.ok("feature", "list").out
    assert "Use pnpm" not in cli.ok("memory", "list").out
    assert "Ship it" in cli.ok("resume").out
    assert len(read(home / "memory/episodic/decisions.json")["entries"]) == 2


@pytest.mark.slow("may install jq")
def test_removed_sessions_and_files_come_back_from_the_store(
    cli: Cli, home: Path, repo: Repo, jq: Path
) -> None:
    save(cli)
    h = ".claude-harness"
    shell(f"rm -rf {h}/sessions/*; rm -f {h}/session-briefing.md", repo.folder, jq)
    shell(f"mv {h}/memory/episodic/decisions.json {h}/old.json", repo.folder, jq)

    cli.ok("memory", "add", "decision", "Quote commas")

    shown = [each["decision"] for each in read(home / "memory/episodic/decisions.json")["entries"]]
    assert shown == ["Stream rows; never buffer the file", "Quote commas"]
    assert (home / "session-briefing.md").is_file()
    assert "Stream the CSV export" in cli.ok("resume", "csv").out

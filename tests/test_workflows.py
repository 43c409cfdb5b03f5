"""GitHub's workflows are valid, run what CI runs, and use actions that cannot change."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
AGENTS = ROOT / "scripts" / "agents.py"


def _lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run actionlint; where it cannot be installed, fail in CI and skip elsewhere."""
    found = subprocess.run(
        [sys.executable, AGENTS, "actionlint"], capture_output=True, text=True, check=False
    )
    node = shutil.which("node")
    if found.returncode or node is None:
        if os.environ.get("CI"):
            pytest.fail(found.stderr or "node is not on the PATH")
        pytest.skip(found.stderr.strip())
    program = found.stdout.strip()
    return subprocess.run(
        [node, program], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.slow("starts node")
def test_actionlint_finds_nothing_in_them_and_something_in_a_broken_one(tmp_path: Path) -> None:
    folder = tmp_path / ".github" / "workflows"
    folder.mkdir(parents=True)
    for each in WORKFLOWS:
        shutil.copy(each, folder)

    assert (_lint(tmp_path).returncode, len(WORKFLOWS)) == (0, 2)

    release = folder / "release.yml"
    text = release.read_text(encoding="utf-8").replace("needs: build", "needs: nothing")
    release.write_text(text, encoding="utf-8")
    broken = _lint(tmp_path)
    assert broken.returncode != 0
    assert 'needs job "nothing" which does not exist' in broken.stdout + broken.stderr


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_every_action_is_pinned_to_a_commit_and_names_its_full_version(workflow: Path) -> None:
    uses = re.findall(r"uses: (.*)", workflow.read_text(encoding="utf-8"))

    assert uses
    for each in uses:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each), each


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_do_only_what_each_job_says(workflow: Path) -> None:
    text = workflow.read_text(encoding="utf-8")

    assert "\npermissions: {}\n" in text
    assert set(re.findall(r"^ +([a-z-]+): write\b", text, re.MULTILINE)) <= {"id-token"}
    assert "secrets." not in text


def test_the_tests_run_on_the_pythons_that_the_metadata_name() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [each.rpartition(" ")[2] for each in project["classifiers"] if ":: 3." in each]
    text = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")

    assert f"python: {json.dumps(named)}" in text
    assert "- run: .ci/run\n" in text


def test_the_release_publishes_the_package_that_was_tested() -> None:
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")

    assert "environment: pypi\n" in text
    assert text.index("run: make distcheck") < text.index("upload-artifact")
    assert "needs: build" in text

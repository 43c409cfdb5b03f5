"""The fake `gh` accepts what the real one accepts, and fails as it fails."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gitrepo import Repo
from leftoff.git import github
from ship import fake_gh

_INSTALLER = Path(__file__).resolve().parents[2] / "scripts" / "agents.py"


@pytest.fixture(scope="session")
def real_gh() -> Path:
    """Return the real program; where it cannot be had, fail in CI and skip elsewhere."""
    done = subprocess.run(
        (sys.executable, _INSTALLER, "gh"), capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return Path(done.stdout.strip())
    if os.environ.get("CI") == "true":
        pytest.fail(done.stderr.strip(), pytrace=False)
    pytest.skip(done.stderr.strip())


def run(program: Path, folder: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    # With these it speaks to a machine, in other words.
    person = {key: each for key, each in os.environ.items() if key not in {"CI", "GITHUB_ACTIONS"}}
    return subprocess.run(
        (program, *words),
        cwd=folder,
        env={**person, "GH_PROMPT_DISABLED": "1", **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize("command", fake_gh.FLAGS)
def test_every_flag_is_one_of_the_real_program(real_gh: Path, tmp_path: Path, command: str) -> None:
    output = run(real_gh, tmp_path, *command.split(), "--help").stdout

    assert set(re.findall(r"--[a-z-]+", output)) >= fake_gh.FLAGS[command]
    assert f"gh {command}" in output


@pytest.mark.parametrize("command", fake_gh.FIELDS)
def test_every_field_is_one_of_the_real_program(
    real_gh: Path, tmp_path: Path, command: str
) -> None:
    arguments = ["7"] if command == "issue view" else []
    output = run(real_gh, tmp_path, *command.split(), *arguments, "--json", GH_TOKEN="x").stderr

    assert set(output.split()) >= fake_gh.FIELDS[command]


def test_what_is_read_on_standard_input_is_so_in_the_real_program(
    real_gh: Path, tmp_path: Path
) -> None:
    for command in ("pr create", "pr edit", "pr comment"):
        output = run(real_gh, tmp_path, *command.split(), "--help").stdout
        assert 'use "-" to read from standard input' in output


def test_without_a_login_both_end_with_the_same_words(real_gh: Path, tmp_path: Path) -> None:
    repo = Repo(tmp_path / "shop")
    repo.git("remote", "add", "origin", "https://github.com/ada/shop")

    done = run(real_gh, repo.folder, "pr", "list", "--head", "x", "--json", "number")

    assert (done.returncode, done.stderr.strip()) == (4, fake_gh.LOGIN)


def test_the_real_program_says_that_a_folder_is_not_on_github(
    real_gh: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "gh").symlink_to(real_gh)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    repo = Repo(tmp_path / "shop")

    with pytest.raises(github.GhRefused, match="not logged in"):
        github.GitHub(repo.folder).open_pull("x")
    monkeypatch.setenv("GH_TOKEN", "x")
    with pytest.raises(github.NotOnGitHub):
        github.GitHub(repo.folder).open_pull("x")
    repo.git("remote", "add", "origin", str(tmp_path / "bare"))
    with pytest.raises(github.NotOnGitHub):
        github.GitHub(repo.folder).open_pull("x")


def test_an_unknown_flag_is_refused_by_both(real_gh: Path, tmp_path: Path) -> None:
    real = run(real_gh, tmp_path, "pr", "create", "--nope")
    fake = run(
        Path(sys.executable),
        tmp_path,
        fake_gh.__file__,
        "pr",
        "create",
        "--nope",
        FAKE_GH=str(tmp_path),
    )

    assert real.stderr.splitlines()[0] == fake.stderr.splitlines()[0] == "unknown flag: --nope"
    assert real.returncode == fake.returncode == 1

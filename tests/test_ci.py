"""CI finds what is on a machine, and the metadata lists what was tried."""

import os
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """Make a folder for the PATH, in which there is nothing but what the script needs."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in ("grep", "sort"):
        found = shutil.which(tool)
        assert found is not None
        (folder / tool).symlink_to(found)
    _program(folder / "python3", "echo 3.11")
    return folder


def _program(place: Path, script: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    place.chmod(0o755)


def _found(machine: Path) -> list[str]:
    bash = shutil.which("bash")
    assert bash is not None
    done = subprocess.run(
        [bash, str(ROOT / ".ci" / "pythons")],
        env={"PATH": str(machine)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_other_pythons_are_found_by_name_and_the_default_one_is_left_out(machine: Path) -> None:
    _program(machine / "python3.11", "echo 3.11")
    _program(machine / "python3.13", "echo 3.13")
    _program(machine / "python3.10", "exit 1")
    _program(machine / "python3.13-config", "echo 3.99")

    assert _found(machine) == ["python3.13"]


def test_a_name_that_does_not_run_counts_as_absent(machine: Path) -> None:
    _program(machine / "python3.12", "echo not found >&2; exit 127")
    (machine / "python3.13").symlink_to("nowhere")

    assert _found(machine) == []


def test_the_pythons_that_pyenv_keeps_are_found_once(machine: Path, tmp_path: Path) -> None:
    _program(
        machine / "pyenv",
        f"""case $1 in
          versions) echo 3.9.1; echo 3.12.1; echo 3.13.0; echo 3.13.7 ;;
          prefix) echo {tmp_path}/$2 ;;
        esac""",
    )
    _program(machine / "python3.12", "exit 127")
    _program(tmp_path / "3.9.1" / "bin" / "python3", "exit 1")
    _program(tmp_path / "3.12.1" / "bin" / "python3", "echo 3.12")
    _program(tmp_path / "3.13.0" / "bin" / "python3", "echo 3.13")
    _program(tmp_path / "3.13.7" / "bin" / "python3", "echo 3.13")

    assert _found(machine) == [f"{tmp_path}/{name}/bin/python3" for name in ("3.12.1", "3.13.0")]


def test_make_gives_each_python_an_environment_of_its_own(tmp_path: Path) -> None:
    """A dry run names the folder without making it."""
    _program(tmp_path / "python3.98", "echo 3.98 /usr")
    assert ".venv-3.98/bin/python -m pytest" in _planned(f"PYTHON={tmp_path}/python3.98")
    assert ".venv/bin/python -m pytest" in _planned()


def test_a_python_that_does_not_run_is_refused_by_name(tmp_path: Path) -> None:
    _program(tmp_path / "python3.98", "exit 127")
    done = _make("setup", f"PYTHON={tmp_path}/python3.98")

    assert done.returncode != 0
    assert f"{tmp_path}/python3.98 is missing or does not run" in done.stdout


def _planned(*words: str) -> str:
    done = _make("--dry-run", "test", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _make(*words: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(
        ["make", *words],
        cwd=ROOT,
        env={name: value for name, value in kept.items() if name != "PYTHON"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_the_metadata_name_the_pythons_that_contributing_says_are_tested() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    start = "Programming Language :: Python :: "
    named = [
        line.removeprefix(start)
        for line in settings["project"]["classifiers"]
        if line.startswith(start)
    ]

    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert f"on Python {', '.join(named[:-1])} and {named[-1]}" in text
    assert settings["project"]["requires-python"] == f">={named[0]}"

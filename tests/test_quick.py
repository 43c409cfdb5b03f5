"""`make quick` and the slow tests together are all tests, and `make quick` runs no slow one."""

import ast
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
# Options by which tests could be left out.
SELECTING = re.compile(r"-m|-k|--ignore|--ignore-glob|--deselect|--collect|--lf|--sw|tests/.*")
SLOW_FOLDERS = ("e2e", "fuzz", "torture")
# Modules with these imports kill at every step or let every call fail.
SWEEPS = re.compile(r"(?m)^(import faulting|from deaths import|from profiles import sail_kills)")


def pytest_lines(target: str) -> list[list[str]]:
    """Return the words that a target of the Makefile gives pytest, for each time it runs it."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = re.search(rf"(?m)^{target}:.*\n((?:\t.*\n)+)", text)
    assert recipe is not None
    lines = re.findall(r"-m pytest (.*)", recipe[1])
    return [[word for word in shlex.split(line) if word != "$(ARGS)"] for line in lines]


def selecting(words: list[str]) -> list[str]:
    return [word for word in words if SELECTING.fullmatch(word.partition("=")[0])]


def collected(*words: str) -> set[str]:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *words], cwd=ROOT, capture_output=True, text=True, check=False, timeout=1800
    )
    # 5: nothing was collected.
    assert done.returncode in {0, 5}, done.stdout + done.stderr
    return {line for line in done.stdout.splitlines() if "::" in line}


def test_make_test_leaves_nothing_out() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

    measured, others = pytest_lines("test")
    assert selecting(measured) == ["-m"]
    assert measured[-3:] == ["-m", "measured", "$(MEASURED)"]
    # What is measured runs first, and nothing else is left out of the rest.
    assert selecting(others) == ["-m"]
    assert others[-3:] == ["-m", "not measured", "tests"]
    assert selecting(settings["tool"]["pytest"]["ini_options"]["addopts"]) == []
    assert settings["tool"]["pytest"]["ini_options"]["testpaths"] == ["tests"]


def test_everything_marked_as_measured_lies_where_make_test_looks_for_it() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    listed = re.search(r"(?m)^MEASURED := ((?:.*\\\n)*.*)", text)
    marking = ast.parse((TESTS / "conftest.py").read_text(encoding="utf-8"))
    (marked,) = (
        ast.literal_eval(node.value)
        for node in marking.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_MEASURED"
    )

    assert listed is not None
    assert listed[1].replace("\\\n", " ").split() == [f"tests/{part}" for part in marked]
    assert all((TESTS / part).exists() for part in marked)


def test_make_quick_leaves_out_what_is_slow_and_nothing_else() -> None:
    (words,) = pytest_lines("quick")

    assert selecting(words) == ["-m"]
    assert words[words.index("-m") + 1] == "not slow"


@pytest.mark.slow("starts pytest")
def test_what_is_quick_and_what_is_slow_is_everything() -> None:
    some = [
        str(TESTS / name)
        for name in ("knowledge/memory", "store/test_kill.py", "hooks/test_settle.py")
    ]
    quick, slow = collected(*some, "-m", "not slow"), collected(*some, "-m", "slow")

    assert quick
    assert slow
    assert not quick & slow
    assert quick | slow == collected(*some)


def test_no_file_of_tests_is_overlooked() -> None:
    """Only files named test_* are collected, so tests may be nowhere else."""
    others = [path for path in TESTS.rglob("*.py") if not path.name.startswith("test_")]
    found = [path for path in others if re.search(r"(?m)^def test_", path.read_text("utf-8"))]

    assert found == []


@pytest.mark.slow("starts pytest")
def test_slow_folders_are_not_in_make_quick() -> None:
    folders = [str(TESTS / folder) for folder in SLOW_FOLDERS]
    assert collected(*folders, "-m", "not slow") == set()


def test_sweeps_are_marked_as_slow() -> None:
    texts = {path: path.read_text("utf-8") for path in TESTS.rglob("test_*.py")}
    sweeps = {path: text for path, text in texts.items() if SWEEPS.search(text)}

    assert len(sweeps) >= 9
    assert [path for path, text in sweeps.items() if "mark.slow(" not in text] == []

"""`make shape` measures what it says."""

import ast
import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "scripts" / "shape.py"
# How many files of the package each operation may pass.
MOST_FILES = {"save": 30, "resume": 22, "settling a prompt": 45, "session start": 22}
SHAPE = runpy.run_path(str(SCRIPT))


@pytest.mark.slow("measures all of the code")
def test_it_measures_the_source_and_the_ways_of_the_data() -> None:
    # A long name in the path would be looked at as a possible key.
    plain = {**os.environ, "TMPDIR": "/tmp"}
    done = subprocess.run(
        [sys.executable, SCRIPT, "--json"], capture_output=True, text=True, check=True, env=plain
    )

    rows = json.loads(done.stdout)
    assert {"files / lines", "names that are participles", "imports inside functions"} <= set(rows)
    assert rows["module names used twice or more"] == "0"
    assert rows["class names used twice or more"] == "0"
    assert int(rows["imports inside functions"]) <= 30
    for what, most in MOST_FILES.items():
        files, crossings = map(int, rows[f"files passed by {what} / crossings"].split(" / "))
        assert 5 < files < crossings
        assert files <= most, what


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("saved", True), ("_written", True), ("with_banner", False), ("is_saved", False),
        ("save", False), ("read_lines", False), ("need", False), ("__init__", False),
    ],
)  # fmt: skip
def test_participles_are_recognised(name: str, is_one: bool) -> None:  # noqa: FBT001 - a table
    assert SHAPE["is_participle"](name) is is_one


def test_class_names_that_are_defined_twice_are_listed() -> None:
    texts = {"a": "class One: ...", "b": "class Two:\n    class One: ..."}
    trees = {Path(name): ast.parse(text) for name, text in texts.items()}
    assert SHAPE["shared_classes"](trees) == ["One"]


def test_imports_inside_functions_are_counted_once() -> None:
    tree = ast.parse("import a\ndef f():\n    import b\n    def g():\n        import c\n")
    assert SHAPE["inner_imports"](tree) == 2

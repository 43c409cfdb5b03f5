"""The wheel works alone, in an environment without the source tree."""

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

import leftoff

ROOT = Path(__file__).parent.parent
SOURCE = Path(leftoff.__file__).parent


def run(*words: str | Path, cwd: Path) -> str:
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    # hatchling is among the tools for development, so nothing is fetched to build.
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    run(*build, "--directory", str(tmp_path / "dist"), cwd=ROOT)
    (made,) = (tmp_path / "dist").glob("*.whl")
    return made


def test_the_wheel_holds_every_module_and_the_type_marker(wheel: Path) -> None:
    names = [name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name]
    shipped = {name for name in names if ".data/" not in name}
    manual = {name.rpartition("/")[2] for name in names if ".data/data/share/man/man1/" in name}
    written = {
        f"leftoff/{path.relative_to(SOURCE).as_posix()}"
        for path in SOURCE.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }

    assert shipped == written
    assert "leftoff/py.typed" in shipped
    assert manual == {path.name for path in (ROOT / "man" / "man1").iterdir()}


@pytest.mark.slow("builds and installs")
def test_the_wheel_alone_saves_and_resumes_in_a_fresh_environment(
    wheel: Path, tmp_path: Path
) -> None:
    place = tmp_path / "environment"
    venv.create(place, with_pip=False)
    python = place / "bin" / "python"
    # Our own pip, into the other environment: one that is made with pip takes seconds longer.
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    run(*pip, "--constraint", str(ROOT / "constraints.txt"), str(wheel), cwd=tmp_path)
    project = tmp_path / "project"
    project.mkdir()
    program = place / "bin" / "leftoff"

    assert run(program, "--version", cwd=project) == (
        f"leftoff {leftoff.__version__} (leftoff-agents)\n"
    )
    run(program, "save", "first-steps", "--next", "Run pytest tests/first", cwd=project)
    result = json.loads(run(program, "resume", "--json", cwd=project))

    assert result["checkpoint"]["next_action"]["text"] == "Run pytest tests/first"
    where = run(python, "-c", "import leftoff; print(leftoff.__file__)", cwd=project)
    assert where.startswith(os.fspath(place))

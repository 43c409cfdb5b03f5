"""Create a clean environment with only what a user has, installed from the wheel.

The development environment has path files and an editable install that slow down every start, so
nothing is timed there.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from bench.harness import CACHE, ROOT

_VENV = CACHE / "venv"
_WHEELS = CACHE / "wheels"
_MARK = _VENV / "holds"


@cache
def python() -> Path:
    """Return the Python of the environment, rebuilt if the sources changed."""
    path = _VENV / "bin" / "python"
    holds = _digest()
    if not _MARK.is_file() or _MARK.read_text(encoding="ascii") != holds:
        _make(path)
        _MARK.write_text(holds, encoding="ascii")
    return path


def leftoff() -> Path:
    """Return the installed command."""
    return python().with_name("leftoff")


def environment(home: Path) -> dict[str, str]:
    """Return the environment variables of a user who has this home folder and nothing else."""
    return {
        "HOME": str(home),
        "PATH": f"{os.environ['PATH']}",
        "LANG": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "A",
        "GIT_COMMITTER_EMAIL": "a@example.org",
    }


def _make(path: Path) -> None:
    shutil.rmtree(_WHEELS, ignore_errors=True)
    pip = [sys.executable, "-m", "pip"]
    quiet = ["-qq", "--disable-pip-version-check"]
    _run([*pip, "wheel", *quiet, "--no-deps", "--no-build-isolation", "-w", str(_WHEELS), "."])
    if not path.exists():
        _run([sys.executable, "-m", "venv", "--without-pip", str(_VENV)])
    (wheel,) = _WHEELS.glob("leftoff_agents-*.whl")
    into = [*pip, "--python", str(path), "install", *quiet, "-c", "constraints.txt"]
    _run([*into, str(wheel)])
    _run([*into, "--force-reinstall", "--no-deps", str(wheel)])


def _run(arguments: list[str]) -> None:
    subprocess.run(arguments, cwd=ROOT, check=True)


def _digest() -> str:
    """Return a hash of everything that goes into the environment."""
    digest = hashlib.blake2b(str(_VENV).encode())
    sources = sorted(path for path in (ROOT / "src").rglob("*") if path.suffix in {".py", ".sh"})
    for path in (ROOT / "pyproject.toml", ROOT / "constraints.txt", *sources):
        digest.update(path.read_bytes())
    return digest.hexdigest()

"""Build the sdist and the wheel, and check them.

    python scripts/dist.py build               build both into dist/
    python scripts/dist.py check PYTHON ...    test the wheel with each of these Pythons

`build` builds twice, the second time from the unpacked sdist, and requires identical bytes. It also
checks the metadata and renders the README as PyPI does. `check` installs the wheel in a new
environment and runs some tests in a folder that has no source code of leftoff.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from email.parser import BytesParser
from pathlib import Path

from packaging.metadata import Metadata
from readme_renderer import markdown

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
# A hook and a command, with all that is below them. `make compat` runs more.
_TESTS = ("tests/hooks/test_start.py", "tests/cli/test_resume.py")
_TOOLS = ("hypothesis", "pexpect", "pytest", "pytest-xdist")
_SECONDS = 600


class DistError(Exception):
    """A build or a check failed; the message says how."""


# --- build ---


def build() -> list[Path]:
    """Build into dist/, check the result, and return its files."""
    shutil.rmtree(DIST, ignore_errors=True)
    _build_in(ROOT, DIST)
    with tempfile.TemporaryDirectory() as scratch:
        _compare_with_second_build(Path(scratch))
    check_metadata(_wheel())
    return sorted(DIST.iterdir())


def _build_in(folder: Path, target: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(target)]
    _run(command, folder=folder, SOURCE_DATE_EPOCH=_find_epoch())


def _find_epoch() -> str:
    """Return the time that archives give to files: that of the commit, so it is always the same."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return given
    return _run(["git", "log", "-1", "--format=%ct"], folder=ROOT).strip()


def _compare_with_second_build(scratch: Path) -> None:
    (sdist,) = DIST.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        # Python 3.11 has filters only from 3.11.4 on; the archive is our own.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(scratch)  # noqa: S202 - filtered above
    (unpacked,) = scratch.iterdir()
    _build_in(unpacked, scratch / "again")
    for first in sorted(DIST.iterdir()):
        if first.read_bytes() != (scratch / "again" / first.name).read_bytes():
            raise DistError(f"A second build of {first.name} differs from the first.")


def check_metadata(wheel: Path) -> None:
    """Check the metadata against the standard, and that PyPI can render the README."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        data = archive.read(name)
    Metadata.from_email(data, validate=True)
    message = BytesParser().parsebytes(data)
    if message["Description-Content-Type"] != "text/markdown":
        raise DistError(f"The README has the type {message['Description-Content-Type']}.")
    if not markdown.render(data.decode().partition("\n\n")[2]):
        raise DistError("PyPI could not render the README.")


# --- check ---


def check(pythons: list[str]) -> list[str]:
    """Test the wheel with each Python, two at a time, and return one line for each."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        return list(pool.map(_check_with, pythons))


def _check_with(python: str) -> str:
    with tempfile.TemporaryDirectory(prefix="leftoff-dist-") as scratch:
        place = Path(scratch)
        inside = _install(python, place / "environment")
        shutil.copytree(
            ROOT / "tests", place / "tests", ignore=shutil.ignore_patterns("__pycache__")
        )
        shutil.copy(ROOT / "pyproject.toml", place)
        where = "import leftoff; print(leftoff.__file__)"
        found = _run([str(inside), "-c", where], folder=place).strip()
        if not Path(found).is_relative_to(place / "environment"):
            raise DistError(f"{python} imports leftoff from {found}")
        quick = ("-p", "no:cacheprovider", "--hypothesis-profile=quick", "-m", "not slow")
        output = _run([str(inside), "-m", "pytest", "-q", *quick, *_TESTS], folder=place)
        version = _run([str(inside), "--version"], folder=place).strip()
        return f"{version}: {output.strip().splitlines()[-1]}"


def _install(python: str, environment: Path) -> Path:
    """Install the wheel and the tools of the tests, with our own pip: `venv` installs it slowly."""
    _run([python, "-m", "venv", "--without-pip", str(environment)], folder=ROOT)
    inside = environment / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(inside), "install", "--quiet"]
    # Compiling everything takes longer than the tests, which need a part of it.
    pip.append("--no-compile")
    constraints = ["--constraint", str(ROOT / "constraints.txt")]
    _run([*pip, *constraints, str(_wheel()), *_TOOLS], folder=ROOT)
    return inside


def _wheel() -> Path:
    (wheel,) = DIST.glob("*.whl")
    return wheel


def _run(command: list[str], *, folder: Path, **variables: str) -> str:
    kept = {name: each for name, each in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        command,
        cwd=folder,
        env={**kept, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
    )
    if done.returncode != 0:
        raise DistError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def main() -> int:
    """Build or check, as the arguments say."""
    try:
        if sys.argv[1:2] == ["check"]:
            lines = check(sys.argv[2:])
        else:
            lines = [f"{path.relative_to(ROOT)}, {path.stat().st_size:,} bytes" for path in build()]
    except DistError as error:
        print(error, file=sys.stderr)
        return 1
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The man pages say what the help says, and are up to date."""

import shutil
import subprocess
from pathlib import Path

import pytest

from leftoff.cli.catalog import COMMANDS
from leftoff.cli.man_pages import write_pages

FOLDER = Path(__file__).resolve().parents[2] / "man" / "man1"


def test_the_pages_in_the_repository_are_those_of_the_commands() -> None:
    kept = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*")}

    assert kept == write_pages(), "Run `make man`."


def test_every_command_has_a_page_with_its_options() -> None:
    pages = write_pages()

    assert set(pages) == {"leftoff.1", *(f"leftoff-{name}.1" for name in COMMANDS)}
    assert r"\fB\-\-everywhere\fR" in pages["leftoff-list.1"]
    assert r"leftoff\-save \- save where the work left off" in pages["leftoff-save.1"]
    assert ".SS memory add" in pages["leftoff-memory.1"]


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_groff_has_nothing_to_say_about_them() -> None:
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-z", *sorted(map(str, FOLDER.glob("*.1")))],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")

"""The README's pictures show what the program prints."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.slow("runs a dozen commands on a terminal")
def test_the_pictures_are_what_commands_show_byte_for_byte(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "picture.py", "--check"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_every_picture_of_the_readme_is_drawn_and_loads_nothing() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"docs/images/(\w+\.svg)", readme)
    drawn = {path.name for path in (ROOT / "docs" / "images").glob("*.svg")}

    assert {"resume.svg", "picker.svg", "ship.svg"} <= {*shown} <= drawn
    for name in shown:
        text = (ROOT / "docs" / "images" / name).read_text(encoding="utf-8")
        assert "@font-face" not in text
        assert "url(http" not in text

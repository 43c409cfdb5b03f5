"""One command sets the version everywhere and dates the changelog, or changes nothing."""

import datetime as dt
import runpy
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
RELEASE = runpy.run_path(str(ROOT / "scripts" / "release.py"))
DAY = dt.date(2026, 11, 18)
CHANGELOG = """# Changelog

## [Unreleased] 9.8

### Added

- A thing

## [9.8.6] - 2026-11-01

- Another thing
"""
FILES = ("src/leftoff/__init__.py", "plugin/.claude-plugin/plugin.json", "CHANGELOG.md")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    # Not our own: right after a release it has no changes.
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG, encoding="utf-8")
    return tmp_path


def _read(root: Path) -> list[str]:
    return [(root / name).read_text(encoding="utf-8") for name in FILES]


def test_the_version_is_everywhere_and_the_changes_get_a_date(root: Path) -> None:
    changed = RELEASE["prepare"](root, "9.8.7", DAY)

    package, manifest, changelog = _read(root)
    assert [path.relative_to(root).as_posix() for path in changed] == [*FILES]
    assert '\n__version__ = "9.8.7"\n' in package
    assert '"version": "9.8.7"' in manifest
    new = "## [Unreleased]\n\n## [9.8.7] - 2026-11-18\n"
    assert changelog == CHANGELOG.replace("## [Unreleased] 9.8\n", new)


@pytest.mark.parametrize(
    ("version", "why"),
    [
        ("", "Invalid version ''"),
        ("v1.0.0", "Invalid version 'v1.0.0'"),
        ("1.0", "Invalid version '1.0'"),
        ("1.0.0; rm", "Invalid version"),
    ],
)
def test_a_version_that_nobody_could_install_is_refused(root: Path, version: str, why: str) -> None:
    before = _read(root)

    with pytest.raises(Exception, match=why):
        RELEASE["prepare"](root, version, DAY)

    assert _read(root) == before


def test_without_changes_or_with_a_version_that_is_there_nothing_is_written(root: Path) -> None:
    RELEASE["prepare"](root, "9.8.7", DAY)
    before = _read(root)

    with pytest.raises(Exception, match="no unreleased changes"):
        RELEASE["prepare"](root, "9.8.8", DAY)
    text = before[2].replace("## [Unreleased]\n", "## [Unreleased]\n\n- A fix\n")
    (root / "CHANGELOG.md").write_text(text, encoding="utf-8")
    with pytest.raises(Exception, match=r"already has a section for 9\.8\.7"):
        RELEASE["prepare"](root, "9.8.7", DAY)
    for lower in ("9.8.5", "9.7.10", "9.8.7rc1"):
        with pytest.raises(Exception, match=f"{lower} is lower than the last release, 9.8.7"):
            RELEASE["prepare"](root, lower, DAY)

    assert _read(root) == [*before[:2], text]

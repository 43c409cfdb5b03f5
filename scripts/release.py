"""Prepare a release: set the version everywhere, and date its section of the changelog.

    python scripts/release.py VERSION

It edits files and commits nothing. Then it prints the commands that publish the release.
"""

import datetime as dt
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:(a|b|rc)(\d+))?")
_RELEASED = re.compile(rf"^## \[({_VERSION.pattern})\] - ", re.MULTILINE)
_UNRELEASED = re.compile(r"^## \[Unreleased\][^\n]*\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


class CannotReleaseError(Exception):
    """The release cannot be prepared; the message says why."""


def prepare(root: Path, version: str, today: dt.date) -> list[Path]:
    """Write the version and the date, and return the changed files; nothing if it is refused."""
    if not _VERSION.fullmatch(version):
        raise CannotReleaseError(f"Invalid version {version!r}: expected a version such as 0.2.0.")
    edits: dict[Path, Callable[[str], str]] = {
        root / "src/leftoff/__init__.py": _set_version(r'^__version__ = "(.*)"$', version),
        root / "plugin/.claude-plugin/plugin.json": _set_version(r'"version": "(.*)"', version),
        root / "CHANGELOG.md": partial(date_section, version=version, today=today),
    }
    texts = {path: path.read_text(encoding="utf-8") for path in edits}
    changed = {path: edit(texts[path]) for path, edit in edits.items()}
    for path, text in changed.items():
        path.write_text(text, encoding="utf-8")
    return [path for path in changed if changed[path] != texts[path]]


def _set_version(pattern: str, version: str) -> Callable[[str], str]:
    def edit(text: str) -> str:
        found = re.search(pattern, text, re.MULTILINE)
        if not found:
            raise CannotReleaseError(f"Found no version that matches {pattern}")
        return f"{text[: found.start(1)]}{version}{text[found.end(1) :]}"

    return edit


def date_section(changelog: str, version: str, today: dt.date) -> str:
    """Turn the section of unreleased changes into that of the version, and begin a new one."""
    found = _UNRELEASED.search(changelog)
    if not found or not found[1].strip():
        raise CannotReleaseError("CHANGELOG.md has no unreleased changes.")
    if re.search(rf"^## \[{re.escape(version)}\]", changelog, re.MULTILINE):
        raise CannotReleaseError(f"CHANGELOG.md already has a section for {version}.")
    newest = max((each[1] for each in _RELEASED.finditer(changelog)), key=_rank, default="")
    if newest and _rank(version) < _rank(newest):
        raise CannotReleaseError(f"Version {version} is lower than the last release, {newest}.")
    heading = f"## [Unreleased]\n\n## [{version}] - {today.isoformat()}\n"
    return f"{changelog[: found.start()]}{heading}{found[1]}{changelog[found.end() :]}"


def _rank(version: str) -> tuple[object, ...]:
    """Order versions; the candidates of a version come before it."""
    *numbers, stage, number = re.fullmatch(_VERSION, version).groups()  # type: ignore[union-attr]
    return *map(int, numbers), stage or "z", int(number or 0)


def main() -> int:
    """Prepare the release that the arguments name."""
    if len(sys.argv) != 2 or not sys.argv[1]:
        print("Name a version: make release VERSION=0.2.0", file=sys.stderr)
        return 2
    version = sys.argv[1]
    try:
        changed = prepare(ROOT, version, dt.datetime.now(dt.UTC).date())
    except CannotReleaseError as error:
        print(error, file=sys.stderr)
        return 1
    for path in changed:
        print(f"Updated {path.relative_to(ROOT)}")
    print("Check the changes, then commit them and push the tag:\n")
    print(f'  git commit --all --message "Release {version}"')
    print(f"  git tag v{version}")
    print(f"  git push origin HEAD v{version}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

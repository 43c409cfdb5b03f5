"""Let days pass without waiting: set back every time that the programs have written.

Only whole days pass, so only dates change and every file keeps its length. How far a transcript was
read therefore stays true.
"""

import os
import re
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

from e2e.bench import AgentBench

_DAY_SECONDS = 86_400
_DATE = re.compile(rb"\b(20\d\d-\d\d-\d\d)(?=T\d\d:\d\d)")
# The date in the id of a checkpoint or event.
_ID_DATE = re.compile(rb"\b(20\d{6})(?=T\d{9}Z-[0-9a-f]{8})")
# The seconds in a Unix time, which may go on with milliseconds or finer.
_SECONDS = re.compile(rb"\b(1[78]\d{8})(?=(?:\d{3}){0,3}(?:\.\d+)?\b)")
_TEXTS = {".json", ".jsonl", ".use"}
# leftoff rebuilds its indexes.
_DERIVED = {".sqlite", ".sqlite-wal", ".sqlite-shm"}


def set_back(bench: AgentBench, days: int) -> None:
    """Make everything that has happened so far happen some days earlier."""
    git = bench.repo.folder / ".git"
    for path in _files(git / "leftoff", bench.state, bench.home / ".claude" / "projects"):
        if path.suffix in _DERIVED:
            path.unlink()
            continue
        if path.suffix in _TEXTS:
            _rewrite(path, days)
        _touch_earlier(path, days)
        _rename(path, days)
    for path in _files(git / "logs", *git.glob("worktrees/*/logs")):
        _rewrite(path, days)
    for tree in _worktrees(bench):
        for path in _files(tree):
            if ".git" not in path.relative_to(tree).parts:
                _touch_earlier(path, days)
    bench.repo.refresh()


def _files(*folders: Path) -> Iterator[Path]:
    found = [path for folder in folders for path in folder.rglob("*")]
    return (path for path in found if path.is_file() and not path.is_symlink())


def _worktrees(bench: AgentBench) -> list[Path]:
    listed = bench.repo.git("worktree", "list", "--porcelain").splitlines()
    named = [line.removeprefix("worktree ") for line in listed if line.startswith("worktree ")]
    return [path for path in map(Path, named) if path.is_dir()]


def _rewrite(path: Path, days: int) -> None:
    data = path.read_bytes()
    earlier = _earlier(data, days)
    assert len(earlier) == len(data)
    if earlier != data:
        found = path.stat()
        path.write_bytes(earlier)
        # When a transcript was last written decides whether it is saved.
        os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def _earlier(data: bytes, days: int) -> bytes:
    def day(found: re.Match[bytes]) -> bytes:
        text = found[1].decode()
        shown = date.fromisoformat(text) - timedelta(days=days)
        return shown.strftime("%Y-%m-%d" if "-" in text else "%Y%m%d").encode()

    def seconds(found: re.Match[bytes]) -> bytes:
        return b"%d" % (int(found[1]) - days * _DAY_SECONDS)

    return _SECONDS.sub(seconds, _ID_DATE.sub(day, _DATE.sub(day, data)))


def _touch_earlier(path: Path, days: int) -> None:
    found = path.stat()
    back = days * _DAY_SECONDS * 10**9
    os.utime(path, ns=(found.st_atime_ns - back, found.st_mtime_ns - back))


def _rename(path: Path, days: int) -> None:
    """Name a checkpoint's file by its new id, in the folder of its new month."""
    name = _earlier(path.name.encode(), days).decode()
    if name == path.name:
        return
    folder = path.parent
    if re.fullmatch(r"20\d\d-\d\d", folder.name):
        folder = folder.with_name(f"{name[:4]}-{name[4:6]}")
        folder.mkdir(mode=0o700, exist_ok=True)
    path.rename(folder / name)

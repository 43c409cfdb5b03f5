"""Read and write quoin's files that show which skill runs, in which process, since when."""

import re
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path

from leftoff.profiles.profile import AtWork
from leftoff.profiles.quoin.skill_notes import SESSIONS
from leftoff.profiles.regular_files import read_regular

_LINE = re.compile(r"^(skill|pid|timestamp|began)=(.*?)\s*$", re.MULTILINE)


def path_of(folder: Path, work: AtWork) -> Path:
    """Return the path of a process's file."""
    return folder / SESSIONS / f"{work.what}-{work.pid}.pidfile.lock"


def text_of(work: AtWork) -> str:
    """Write the process and its start time, because process numbers are reused."""
    since = f"{work.since.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if work.since else ""
    return f"skill={work.what}\npid={work.pid}\ntimestamp={since}\nbegan={work.began:.0f}\n"


def find_all(folder: Path) -> Iterator[tuple[Path, AtWork]]:
    """Yield each file with the process it names, running or not."""
    for path in sorted((folder / SESSIONS).glob("*.pidfile.lock")):
        read = read_regular(path)
        fields = dict(_LINE.findall(read[0].decode("utf-8", "replace"))) if read else {}
        pid, began = fields.get("pid", ""), fields.get("began", "")
        yield (
            path,
            AtWork(
                what=fields.get("skill", ""),
                pid=int(pid) if pid.isdecimal() else 0,
                began=float(began) if began.isdecimal() else 0.0,
            ),
        )

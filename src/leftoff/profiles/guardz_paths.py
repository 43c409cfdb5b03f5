"""Read the modified files of a guardz checkpoint, however an agent listed them."""

import re
from collections.abc import Sequence

from leftoff.profiles.loose_markdown import is_blank, is_bullet, list_rows, read_items

_PATHS = re.compile(r"[^\s,]*[./][^\s,]*(?:,[ \t]+[^\s,]*[./][^\s,]*)+")


def read_files(lines: Sequence[str]) -> list[str]:
    """Return a line for each file, whether they are bullets, pasted, or in one line."""
    # `- --` could be a ruler; as a bullet it is the odd name of a file.
    rows = [line if is_bullet(line) or not is_blank(line) else "" for line in list_rows(lines)]
    plain = [line for line in rows if not line.lstrip().startswith(("```", "~~~"))]
    marked = [
        line if line[:2] in {"", "  ", "\t"} or not line.strip() or is_bullet(line) else f"- {line}"
        for line in plain
    ]
    items = read_items(marked)
    return [
        each
        for item in items
        for each in (re.split(r",[ \t]+", item) if _PATHS.fullmatch(item) else [item])
    ]


_STATUS = re.compile(
    r"^[ ]?(?:[MADRCTU?!]{1,2}|[Nn]ew|[Mm]odified|[Dd]eleted|[Rr]enamed):?[ \t]+(?=\S)"
)
_RENAMED = re.compile(r"^[ ]?R[ MD]?[ \t]+\S+ -> (\S+)$")
_BOX = re.compile(r"\[[ xX\u2713\u2714]\][ \t]+")
# [money.py](src/money.py#L10), <src/money.py>
_LINKED = re.compile(r"\[[^\]\n]*\]\(([^()\s#]+)(?:#[^()\s]*)?\)|<([^<>\s]+)>")
# src/money.py | 12 ++++--
_STAT = re.compile(r"[ \t]+\|[ \t]+(?:\d+|Bin)\b.*")
_REMARK = re.compile(r"[ \t]+(?:[-\u2013\u2014:(\u2192]|#[ \t]).*|:[ \t]+.*|\n.*", re.DOTALL)


def read_path(item: str) -> tuple[str, bool]:
    """Return the path in a line about a file, and whether the line has nothing else."""
    if quoted := re.fullmatch(r"`` (.+) ``|`([^`\n]+)`", item, re.DOTALL):
        return quoted[1] or quoted[2], True
    if renamed := _RENAMED.match(item):
        return renamed[1], False
    item = _BOX.sub("", item, count=1)
    if linked := _LINKED.match(item):
        return linked[1] or linked[2], linked.end() == len(item) and linked[1] is None
    plain = _STATUS.sub("", _STAT.sub("", item), count=1)
    quoted = re.search(r"`([^`\n]+)`", plain)
    path = quoted[1] if quoted else _REMARK.sub("", plain).strip("*_ ") or item
    return path, path == item

"""Show for a shell prompt what is open in the current project, on one line.

A shell runs it before every prompt, so it loads nothing but this. What it shows was written to a
small file by the last run that found something new; that file also names the logs it depends on. As
long as these logs have the same size and time, the line is right.
"""

import os

from leftoff.text.plural import age
from leftoff.user_state import state_folder

_FOLDER = "segments"
_VERSION = "1"
_LARGEST = 16 * 1024
_LONGEST_NAME = 40
_LINES = 8
# What a shell could take for a command, a variable or an escape in its prompt.
_ACTIVE = frozenset("%$`\\\"'!{}()<>|&;")


def show(*, now: float) -> str | None:
    """Return the line, empty if there is nothing to show; None if it must be rebuilt."""
    try:
        return _show(state_folder(), os.getcwd(), now)  # noqa: PTH109 - pathlib is slow to load
    except (OSError, ValueError):
        return ""


def _show(state: str, folder: str, now: float) -> str | None:
    while True:
        inode = _name(folder)
        kept = _read(f"{state}/{_FOLDER}/{inode}")
        if kept and kept[1] == folder:
            return _render_kept(kept, now)
        if _may_be_project(state, folder, inode):
            return None
        above = folder.rpartition("/")[0] or "/"
        if above == folder or os.path.lexists(f"{folder}/.git"):
            return ""
        folder = above


def _may_be_project(state: str, folder: str, inode: str) -> bool:
    """Return whether a folder is a project that may have a store."""
    git = f"{folder}/.git"
    is_stored = os.path.isdir(f"{git}/leftoff") or os.path.isfile(git)  # noqa: PTH112, PTH113
    is_apart = os.path.isdir(git) and os.path.isdir(f"{state}/projects")  # noqa: PTH112
    return is_stored or is_apart or os.path.isfile(f"{state}/folders/{inode}.json")  # noqa: PTH113


def _render_kept(kept: list[str], now: float) -> str | None:
    _, _, store, stamps, name, as_of, count, prompts = kept
    if take_stamps(store) != stamps:
        return None
    if not name or os.path.isfile(f"{store}/off"):  # noqa: PTH113 - see above
        return ""
    return render(name, now - float(as_of), int(count), int(prompts))


def render(name: str, seconds: float, count: int, prompts: int) -> str:
    """Format the line: the newest thread, its age, how many more are open, and waiting prompts."""
    parts = [name, age(seconds)]
    if count > 1:
        parts.append(f"+{count - 1}")
    if prompts:
        parts.append(f"{prompts} prompt" if prompts == 1 else f"{prompts} prompts")
    return " · ".join(parts)


def take_stamps(store: str) -> str:
    """Return the sizes and times of the logs that the line depends on."""
    return " ".join(_stamp(f"{store}/{name}.jsonl") for name in ("events", "prompts"))


def keep(folder: str, store: str, shown: tuple[str, float, int, int], stamps: str) -> None:
    """Store what to show in a folder; `stamps` were taken before the store was read."""
    name, as_of, count, prompts = shown
    lines = [_VERSION, folder, store, stamps, clean(name), repr(as_of), str(count), str(prompts)]
    if any("\n" in line for line in lines):
        return
    state = state_folder()
    path = f"{state}/{_FOLDER}/{_name(folder)}"
    for each in (state, f"{state}/{_FOLDER}"):
        os.makedirs(each, mode=0o700, exist_ok=True)  # noqa: PTH103 - see above
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    descriptor = os.open(f"{path}.{os.getpid()}", flags, 0o600)
    try:
        os.write(descriptor, os.fsencode("\n".join([*lines, ""])))
    finally:
        os.close(descriptor)
    os.replace(f"{path}.{os.getpid()}", path)  # noqa: PTH105 - see above


def clean(name: str) -> str:
    """Return a name without what could steer a terminal or a shell."""
    shown = "".join(each for each in name if each.isprintable() and each not in _ACTIVE)
    shown = " ".join(shown.split())
    return shown if len(shown) <= _LONGEST_NAME else f"{shown[: _LONGEST_NAME - 1]}…"


def _read(path: str) -> list[str]:
    try:
        # A FIFO in its place must not block us.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return []
    try:
        lines = os.fsdecode(os.read(descriptor, _LARGEST)).split("\n")
    finally:
        os.close(descriptor)
    is_whole = len(lines) == _LINES + 1 and lines[0] == _VERSION
    return lines[:_LINES] if is_whole else []


def _name(folder: str) -> str:
    found = os.stat(folder)  # noqa: PTH116 - see above
    return f"{found.st_dev}-{found.st_ino}"


def _stamp(path: str) -> str:
    try:
        found = os.stat(path)  # noqa: PTH116 - see above
    except OSError:
        return "-"
    return f"{found.st_size}.{found.st_mtime_ns}.{found.st_ino}"

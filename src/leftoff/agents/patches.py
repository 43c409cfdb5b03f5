"""Find the files named in an `apply_patch` envelope."""

import re

_BEGIN, _END = "*** Begin Patch", "*** End Patch"
# In a patch inside a program's string, line ends are escaped.
_FILE = re.compile(r"\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)\s*(?=\\n|[\r\n]|$)")
# A file that is moved is named before its new place.
_REMOVED = re.compile(
    r"\*\*\* (?:Delete File: (?P<deleted>.+?)\s*(?=\\n|[\r\n]|$)"
    r"|Update File: (?P<moved>.+?)\s*(?:\\n|[\r\n]+)\*\*\* Move to: )"
)
_MOVED_INTO = re.compile(
    r"""^\s*cd\s+(?P<quote>['"]?)(?P<folder>[^'"&;|\n]+?)(?P=quote)\s*(?:&&|;|\n)\s*apply_?patch\b"""
)


def list_patched_paths(patch: str) -> tuple[str, ...]:
    """List the files that a patch adds, updates, deletes or moves to, without duplicates."""
    if _BEGIN not in patch:
        return ()
    return tuple(dict.fromkeys(_FILE.findall(patch)))


def list_removed_paths(patch: str) -> tuple[str, ...]:
    """List the files that a patch deletes or moves away."""
    if _BEGIN not in patch:
        return ()
    return tuple(each["deleted"] or each["moved"] for each in _REMOVED.finditer(patch))


def count_patched_lines(patch: str) -> tuple[int, int] | None:
    """Return how many lines a patch adds and drops; None if it is not a patch."""
    _, begin, body = patch.partition(_BEGIN)
    if not begin:
        return None
    lines = body.partition(_END)[0].splitlines()
    return sum(line[:1] == "+" for line in lines), sum(line[:1] == "-" for line in lines)


def command_paths(command: str, folder: str = "") -> tuple[str, ...]:
    """List the files that a shell command patches, relative to the session's directory."""
    if _BEGIN not in command or "patch" not in command.partition(_BEGIN)[0]:
        return ()
    if moved := _MOVED_INTO.match(command):
        folder = join_path(folder, moved["folder"])
    return tuple(join_path(folder, path) for path in list_patched_paths(command))


def join_path(folder: str, path: str) -> str:
    """Join a relative path to a folder, with POSIX or Windows separators."""
    if not folder or path.startswith(("/", "~", "\\")) or path[1:2] == ":":
        return path
    separator = "\\" if "\\" in folder and "/" not in folder else "/"
    return folder.rstrip("/\\") + separator + path

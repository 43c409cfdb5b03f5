"""Paths as agents write them: made absolute, anchored at the session's roots, found in text.

Everything here is text work: the session may come from another machine or system, so the
file system of this one is never asked.
"""

import posixpath
import re
from collections.abc import Iterable, Sequence

_DRIVE = re.compile(r"^[A-Za-z]:[\\/]")
_GIT_BASH_DRIVE = re.compile(r"^/([A-Za-z])/")
_WITH_SLASH = r"(?:[A-Za-z]:|~|\.{1,2})?(?:/?[\w@+.-]+)?(?:/[\w@+.()\[\]-]+)+"
_BARE_NAME = r"[\w@+-][\w@+.-]*\.[A-Za-z][A-Za-z0-9]{0,7}"
_PATH = re.compile(rf"(?<![\w/.:@-])(?:{_WITH_SLASH}|{_BARE_NAME})")
_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://\S+")
_NOT_A_PATH = re.compile(r"^[\d./:-]+$|^\.+$|^//|\[\d|\[[^\]]*$")
# grep and compilers put a line number behind the name: a.ts-12-, a.ts(12,3).
_POSITION = re.compile(r"(\.[A-Za-z][A-Za-z0-9]{0,7})[-(]\d+.*$")
_DIFF_SIDE = re.compile(r"(?<![\w/.]) ?[ab]/(?=\S)")
_TEMPORARY = re.compile(r"(?:/private)?(?:/tmp|/var/tmp)$")
# Temporary files, and what agents keep for themselves: plans, memories, outputs put aside.
_SCRATCH = re.compile(
    r"^(?:/private)?(?:/tmp|/var/tmp|/var/folders)/|/AppData/Local/Temp/"
    r"|/\.claude/(?:plans|projects|tasks|todos|jobs)/|/\.codex/(?:memories|sessions|plans)/"
    r"|/\.gemini/tmp/|/\.copilot/session-state/|/\.cursor/(?:projects|plans)/"
    r"|/\.local/share/opencode/"
)
_MOST_IN_TEXT = 60
_SHORTEST_ROOT = 2


def normalise(path: str, cwd: str = "") -> str:
    """Return the path absolute where the working directory allows, with plain slashes."""
    # Nearly all paths are fine as they are, and there are many.
    if _is_plain(path) and cwd[1:2] != ":":
        return path
    path = path.strip().strip("\"'")
    path = path.removeprefix("file://")
    is_windows = _DRIVE.match(path) is not None or (
        _DRIVE.match(cwd) is not None and not path.startswith("/")
    )
    if is_windows:
        path = path.replace("\\", "/")
    elif _DRIVE.match(cwd) and (drive := _GIT_BASH_DRIVE.match(path)):
        path = f"{drive[1].upper()}:/{path[3:]}"
    if cwd and not path.startswith(("/", "~")) and not _DRIVE.match(path):
        path = f"{cwd.rstrip('/')}/{path}"
    path = posixpath.normpath(path) if path else ""
    return path[0].upper() + path[1:] if _DRIVE.match(path) else path


def _is_plain(path: str) -> bool:
    return path[:1] == "/" and "/." not in path and "//" not in path and path[-1] not in "/ '\""


def is_windows(cwd: str) -> bool:
    """Tell whether a normalised working directory is one of Windows."""
    return cwd[1:3] == ":/"


def widen_roots(roots: Sequence[str], cwd: str) -> list[str]:
    """Add a working directory, keeping only the outermost ones."""
    depth = len([part for part in cwd.split("/") if part and not part.endswith(":")])
    swallows = any(is_under(root, cwd) for root in roots)
    # A visit to / or /home must not swallow the project below it, nor make /tmp a project.
    if not depth or (swallows and depth < _SHORTEST_ROOT) or (roots and _TEMPORARY.match(cwd)):
        return list(roots)
    if any(is_under(cwd, root) for root in roots):
        return list(roots)
    return [root for root in roots if not is_under(root, cwd)] + [cwd]


def is_under(path: str, root: str) -> bool:
    """Tell whether a path is the root or inside it."""
    return path == root or path.startswith(root + "/")


def is_scratch(path: str, roots: Sequence[str]) -> bool:
    """Tell whether a file is temporary or the agent's own, rather than the project's."""
    if "/.claude/plans/" in path:
        return True
    may_be_inside = not roots or any(is_under(path, root) for root in roots)
    return not may_be_inside and _SCRATCH.search(path) is not None


def anchor(path: str, roots: Iterable[str]) -> str:
    """Return the path relative to the root it lies under, or as it is."""
    for root in roots:
        if path == root:
            return "."
        if path.startswith(root + "/"):
            return path[len(root) + 1 :]
    return path


def paths_in(text: str, *, is_windows: bool = False, limit: int = _MOST_IN_TEXT) -> tuple[str, ...]:
    """Find what looks like a path in a text, in order, each once."""
    if is_windows:
        text = text.replace("\\", "/")
    if "+++ b/" in text:
        text = _DIFF_SIDE.sub(" ", text)
    found: dict[str, None] = {}
    for match in _PATH.finditer(_URL.sub(" ", text)):
        path = _POSITION.sub(r"\1", match[0].rstrip(".,:;)-"))
        if len(path) > 2 and not _NOT_A_PATH.search(path):
            found[path.removeprefix("./")] = None
            if len(found) >= limit:
                break
    return tuple(found)

"""Normalize the paths that agents write, and find paths in text.

All of this works on text. The session may come from another machine or operating system, so the
local file system is never consulted.
"""

import posixpath
from collections.abc import Collection, Iterable, Sequence

from leftoff.lazy_patterns import lazy

_DRIVE = lazy(r"^[A-Za-z]:[\\/]")
_GIT_BASH_DRIVE = lazy(r"^/([A-Za-z])/")
_WITH_SLASH = r"(?:[A-Za-z]:|~|\.{1,2})?(?:/?[\w@+.-]+)?(?:/[\w@+.()\[\]-]+)+"
_BARE_NAME = r"[\w@+-][\w@+.-]*\.[A-Za-z][A-Za-z0-9]{0,7}"
# What follows `$folder` or `${folder}` is only the end of a path.
_PATH = lazy(rf"(?<![\w/.:@$}}-])(?:{_WITH_SLASH}|{_BARE_NAME})")
_URL = lazy(r"\b[a-z][a-z0-9+.-]*://\S+")
_NOT_A_PATH = lazy(r"^[\d./:-]+$|^\.+$|^//|\[\d|\[[^\]]*$|(?:^|/)\.\.\.(?:/|$)")
# grep and compilers append a line number to the name: a.ts-12-, a.ts(12,3).
_POSITION = lazy(r"(\.[A-Za-z][A-Za-z0-9]{0,7})[-(]\d+.*$")
_COLOUR = lazy(r"\x1b\[[0-9;?]*[A-Za-z]")
_DIFF_SIDE = lazy(r"(?<![\w/.]) ?[ab]/(?=\S)")
# `git show HEAD~2:src/a.c` names a file in a commit.
_REVISION = lazy(r"(\bgit\b[^\n;&|]*?\s)[\w./~^@{}-]+:(?=[\w.@-]+[/.])")
_TEMPORARY = lazy(r"(?:/private)?(?:/tmp|/var/tmp)$")
# Temporary files, and files that agents keep for themselves: plans, memories, saved outputs.
_SCRATCH = lazy(
    r"^(?:/private)?(?:/tmp|/var/tmp|/var/folders)/|/AppData/Local/Temp/"
    r"|/\.claude/(?:plans|projects|tasks|todos|jobs)/|/\.codex/(?:memories|sessions|plans)/"
    r"|/\.gemini/tmp/|/\.copilot/session-state/|/\.cursor/(?:projects|plans)/"
    r"|/\.local/share/opencode/"
)
_FILE_NAME = lazy(
    r"/\.?[\w@+()\[\]-][\w@+.()\[\]-]*\.[A-Za-z]\w{0,11}$"
    # Other names with a dot in front are folders: `.github`.
    r"|/\.(?:\w*(?:rc|ignore|attributes|versions?|modules|keep|profile)|\w+config|env)$"
    r"|/(?:Makefile|Dockerfile|Containerfile|Justfile|Rakefile|Gemfile|Procfile|Vagrantfile|Jenkinsfile"
    r"|Brewfile|Caddyfile|Earthfile|Tiltfile|LICENSE|README|CHANGELOG|CODEOWNERS)$"
)
# `buildinfo.Version` and `os.Exit` are names in code.
_SYMBOL = lazy(r"\.[A-Z][a-z]\w*$")
_MOST_IN_TEXT = 60
_SHORTEST_ROOT = 2


def normalise(path: str, cwd: str = "") -> str:
    """Return the path with forward slashes, absolute if the working directory is known."""
    # A fast path: there are many paths, and nearly all need no change.
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
    """Return whether a normalised working directory is a Windows path."""
    return cwd[1:3] == ":/"


def widen_roots(roots: Sequence[str], cwd: str) -> list[str]:
    """Add a working directory, and keep only the outermost ones."""
    depth = len([part for part in cwd.split("/") if part and not part.endswith(":")])
    swallows = any(is_under(root, cwd) for root in roots)
    # A visit to / or /home must not swallow the project below it, nor make /tmp a project.
    if not depth or (swallows and depth < _SHORTEST_ROOT) or (roots and _TEMPORARY.match(cwd)):
        return list(roots)
    if any(is_under(cwd, root) for root in roots):
        return list(roots)
    return [root for root in roots if not is_under(root, cwd)] + [cwd]


def is_under(path: str, root: str) -> bool:
    """Return whether a path is the root or inside it."""
    return path == root or path.startswith(root + "/")


def has_file_name(path: str) -> bool:
    """Return whether a path ends like a file: with a suffix, or with a name known for files."""
    return _FILE_NAME.search(f"/{path}") is not None and not _SYMBOL.search(path)


def is_scratch(path: str, roots: Sequence[str]) -> bool:
    """Return whether a file is temporary or belongs to the agent instead of the project."""
    if "/.claude/plans/" in path:
        return True
    may_be_inside = not roots or any(is_under(path, root) for root in roots)
    return not may_be_inside and _SCRATCH.search(path) is not None


def anchor(path: str, roots: Iterable[str]) -> str:
    """Return the path relative to the root that contains it, or unchanged."""
    for root in roots:
        if path == root:
            return "."
        if path.startswith(root + "/"):
            return path[len(root) + 1 :]
    return path


def resolve_paths(paths: tuple[str, ...], folder: str, known: Collection[str]) -> tuple[str, ...]:
    """Return the paths in a text of a command that ran in this folder, absolute where needed.

    git writes some paths from the root of the repository, so a known file stays as it is.
    """
    if not folder:
        return paths
    return tuple(
        path
        if "/" not in path or path[0] in "/~" or _DRIVE.match(path) or _is_known(path, known)
        else normalise(path, folder)
        for path in paths
    )


def _is_known(path: str, known: Collection[str]) -> bool:
    return any(each.endswith(f"/{path}") for each in known)


def paths_in(text: str, *, is_windows: bool = False) -> tuple[str, ...]:
    """Find everything in a text that looks like a path, in order, without duplicates."""
    if "\x1b" in text:
        text = _COLOUR.sub(" ", text)
    if is_windows:
        text = text.replace("\\", "/")
    if "+++ b/" in text or "diff --git " in text or "--- a/" in text:
        text = _DIFF_SIDE.sub(" ", text)
    if "git " in text and ":" in text:
        text = _REVISION.sub(r"\1 ", text)
    found: dict[str, None] = {}
    for match in _PATH.finditer(_URL.sub(" ", text)):
        path = _POSITION.sub(r"\1", match[0].rstrip(".,:;)-"))
        # `@AGENTS.md` mentions a file to an agent; `@scope/name` is a package.
        if path[0] == "@" and has_file_name(path):
            path = path[1:]
        if len(path) > 2 and not _NOT_A_PATH.search(path):
            found[path.removeprefix("./")] = None
            if len(found) >= _MOST_IN_TEXT:
                break
    return tuple(found)

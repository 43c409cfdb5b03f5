"""Judge the paths of a snapshot: none may lead out of the worktree, or into git's own folder.

An archive with a `.git` folder can bring a snapshot with any path, and any folder of a worktree can
become a link.
"""

import os
from pathlib import Path

_NOT_FILES = frozenset({"", ".", "..", ".git"})
# HFS+ ignores these in names, as git knows: `.g\u200cit` is `.git` there.
_UNSEEN = dict.fromkeys(
    [*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF]
)


def is_inside_worktree(path: str) -> bool:
    """Return whether a path is one that git could have listed in a worktree."""
    # Some file systems do not distinguish `.git` from `.GIT`.
    return _NOT_FILES.isdisjoint(path.translate(_UNSEEN).casefold().split("/"))


class LinkFinder:
    """Finds paths that are behind a link: git does not list those, and they may be anywhere."""

    def __init__(self, worktree: Path) -> None:
        self._worktree = worktree
        self._known: dict[str, bool] = {}

    def is_behind_link(self, path: str) -> bool:
        """Return whether a folder above a path is a link."""
        folder = path.rpartition("/")[0]
        if (known := self._known.get(folder)) is None:
            parts = folder.split("/")
            above = (self._worktree.joinpath(*parts[:end]) for end in range(1, len(parts) + 1))
            known = folder != "" and any(map(os.path.islink, above))
            self._known[folder] = known
        return known

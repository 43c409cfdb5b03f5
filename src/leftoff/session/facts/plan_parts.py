"""Split a plan into its parts, to see which are not done yet."""

import re

from leftoff.agents.loose_values import cut
from leftoff.lazy_patterns import lazy
from leftoff.session.facts import written_paths
from leftoff.session.facts.fold_state import FoldState, PlanPart

_MOST_PARTS = 30
_TITLE_CHARS = 160
_PART = lazy(r"^(?:#{2,4}\s+(?P<heading>\S.*)|(?P<item>\d{1,2}[.)]\s+\S.*))$", re.MULTILINE)
_FILE = lazy(
    r"/|\.(?:ya?ml|json|toml|mdx?|tsx?|jsx?|[cm]js|py|go|rs|rb|java|kt|cs|cpp|c|h|html?|css|txt|sh"
    r"|sql|swift|php|vue|svelte|lock|proto)$|(?:^|/)[A-Z][a-z]+file$"
)
_LOG = lazy(r"^[/~].*\.jsonl$")
_ABOUT = lazy(
    r"(?:\d+[.)]?\s*)?(?:summary|context|overview|background|problem|goal|verification|notes?|"
    r"files? to (?:modify|change)|critical files|approach|issues? found|current state|questions?)",
    re.IGNORECASE,
)


def split_plan(text: str, *, is_windows: bool) -> list[PlanPart]:
    """Return the parts of a plan that name files, in order."""
    found = list(_PART.finditer(text))
    ends = [*(each.start() for each in found[1:]), len(text)]
    parts = []
    for each, end in zip(found, ends, strict=False):
        title = (each["heading"] or each["item"]).strip()
        named = written_paths.paths_in(text[each.start() : end], is_windows=is_windows)
        # `os.Exit` looks like a file, and Claude Code names its transcript below the plan.
        paths = tuple(path for path in named if _FILE.search(path) and not _LOG.search(path))
        if paths and not _ABOUT.match(title):
            parts.append(PlanPart(cut(title, _TITLE_CHARS), paths[:8]))
    return parts[:_MOST_PARTS]


def list_unfinished(state: FoldState) -> list[str]:
    """Return the titles of the unfinished parts of a plan that was begun."""
    # Without an edit, nobody knows whether the plan was approved.
    is_begun = any(path != state.plan_path for path in _list_edited(state))
    return [part.title for part in list_unfinished_parts(state)] if is_begun else []


def list_unfinished_parts(state: FoldState) -> list[PlanPart]:
    """Return the plan's parts of whose files none was edited since the plan."""
    if not state.plan_parts:
        return []
    edited = _list_edited(state)
    return [
        part
        for part in state.plan_parts
        if not any(_is_same(known, path) for known in edited for path in part.paths)
    ]


def _list_edited(state: FoldState) -> list[str]:
    return [
        path for path, use in state.files.items() if use.edits and use.edited_at >= state.plan_at
    ]


def _is_same(known: str, path: str) -> bool:
    return known == path or known.endswith(f"/{path}")

"""Split a plan into its parts, to tell which are not done yet."""

import re

from leftoff.agents.loose_values import cut
from leftoff.session.facts import written_paths
from leftoff.session.facts.fold_state import FoldState, PlanPart

_MOST_PARTS = 30
_TITLE_CHARS = 160
_PART = re.compile(r"^(?:#{2,4}\s+(?P<heading>\S.*)|(?P<item>\d{1,2}[.)]\s+\S.*))$", re.MULTILINE)
_ABOUT = re.compile(
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
        paths = written_paths.paths_in(text[each.start() : end], is_windows=is_windows)
        if paths and not _ABOUT.match(title):
            parts.append(PlanPart(cut(title, _TITLE_CHARS), paths[:8]))
    return parts[:_MOST_PARTS]


def list_unfinished(state: FoldState) -> list[str]:
    """Return the titles of the plan's parts of whose files none was edited since the plan."""
    if not state.plan_parts:
        return []
    edited = [path for path, use in state.files.items() if use.edits and _is_since(state, path)]
    # Without an edit, nobody knows whether the plan was approved.
    if not any(path != state.plan_path for path in edited):
        return []
    return [
        part.title
        for part in state.plan_parts
        if not any(_is_same(known, path) for known in edited for path in part.paths)
    ]


def _is_since(state: FoldState, path: str) -> bool:
    return state.files[path].edited_at >= state.plan_at


def _is_same(known: str, path: str) -> bool:
    return known == path or known.endswith(f"/{path}")

"""Number features and fixes: `feature-007`, `fix-feature-007-1`. No number is used twice."""

import re
from collections.abc import Iterable

_WIDTH = 3


def pick_feature_id(taken: Iterable[str]) -> str:
    """Return the id after the highest one."""
    return f"feature-{_count_up(taken, 'feature-'):0{_WIDTH}d}"


def pick_fix_id(taken: Iterable[str], feature_id: str) -> str:
    """Return the id after the highest one of the feature's fixes."""
    prefix = f"fix-{feature_id}-"
    return f"{prefix}{_count_up(taken, prefix)}"


def pick_similar_id(taken: Iterable[str], item_id: str) -> str:
    """Return a free id of the same kind as one that is already used."""
    if item_id.startswith("fix-"):
        feature_id = item_id.removeprefix("fix-").rpartition("-")[0]
        return pick_fix_id(taken, feature_id)
    return pick_feature_id(taken)


def expand_id(key: str) -> str:
    """Expand the short form of an id: `7` and `feature-7` become `feature-007`."""
    found = re.fullmatch(r"(?:feature-)?(\d+)", key.strip().lower())
    return f"feature-{int(found[1]):0{_WIDTH}d}" if found else key.strip()


def _count_up(taken: Iterable[str], prefix: str) -> int:
    numbers = [each.removeprefix(prefix) for each in taken if each.startswith(prefix)]
    return 1 + max((int(each) for each in numbers if each.isdecimal()), default=0)

"""Compare two checkpoints key by key."""

from typing import Any

import msgspec

# These differ between any two checkpoints and say nothing about the work.
_ALWAYS_DIFFERENT = frozenset(
    "schema id saved_at as_of act thread stated name transcript watched".split()
)


class KeyChange(msgspec.Struct, frozen=True, kw_only=True):
    """A key that differs, with the values that were removed and added."""

    key: str
    removed: list[Any]
    added: list[Any]


def compare(old: dict[str, Any], new: dict[str, Any]) -> list[KeyChange]:
    """Return the keys that changed from the old checkpoint to the new one."""
    changes = (
        _change(key, old.get(key), new.get(key))
        for key in dict.fromkeys([*old, *new])
        if key not in _ALWAYS_DIFFERENT
    )
    return [change for change in changes if change.removed or change.added]


def _change(key: str, old: Any, new: Any) -> KeyChange:
    before, after = _list_items(old), _list_items(new)
    return KeyChange(
        key=key,
        removed=[each for each in before if each not in after],
        added=[each for each in after if each not in before],
    )


def _list_items(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]

"""Check the fields that a caller passes for a checkpoint."""

from collections.abc import Mapping
from typing import Any

from leftoff.errors import UsageError
from leftoff.fingerprints import can_be_path

OURS = ("schema", "id", "saved_at")
"""Keys that the store sets, never the caller."""
SCHEMA_HINT = "Run `leftoff schema` to see the allowed keys and values."
# What people and agents write into a list that should be empty.
_NOTHING = frozenset({"", "-", "none", "none.", "n/a"})


def parse_fields(plain: object) -> dict[str, Any]:
    """Check the caller's fields, and expand the short forms that people write."""
    if not isinstance(plain, dict):
        raise UsageError(
            "The JSON must be an object with the keys of a checkpoint.", hint=SCHEMA_HINT
        )
    told: dict[str, Any] = {
        key: _something(value) for key, value in plain.items() if key not in OURS
    }
    for key, inner in (("next_action", "text"), ("plan", "path")):
        if isinstance(told.get(key), str):
            told[key] = {inner: told[key]}
    for key in ("decisions", "failed"):
        if isinstance(told.get(key), list):
            told[key] = [_parse_reason(each) for each in told[key]]
    if isinstance(told.get("files"), list):
        told["files"] = [
            {"path": each} if isinstance(each, str) else each for each in told["files"]
        ]
    _check_paths(told)
    return told


def _something(value: object) -> object:
    """Remove the entries of a list that only say that it is empty."""
    if not isinstance(value, list):
        return value
    return [each for each in value if str(each).strip().lower() not in _NOTHING]


def _check_paths(told: Mapping[str, Any]) -> None:
    for each in [*_as_list(told.get("files")), told.get("plan")]:
        path = each.get("path") if isinstance(each, dict) else None
        if isinstance(path, str) and not can_be_path(path):
            raise UsageError(f"{path[:60]!r} cannot be the path of a file.")


def _as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _parse_reason(each: object) -> object:
    """Read `what :: why`."""
    if not isinstance(each, str):
        return each
    what, _, why = each.partition("::")
    return {"what": what.strip(), "why": why.strip()}

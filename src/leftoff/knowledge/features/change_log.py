"""Record changes as log lines, for when the files themselves cannot be replaced.

A line holds the difference, key by key, so that it still applies after others have changed other
keys. Applying a line twice changes nothing.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from leftoff.checkpoint import Record, new_id, to_plain
from leftoff.knowledge.features.board import Board, Loop, from_plain
from leftoff.knowledge.features.numbering import pick_similar_id
from leftoff.store.log import UNREADABLE

_LISTS = ("features", "fixes")


class BoardState(msgspec.Struct, frozen=True, kw_only=True):
    """The board, and the loops by the key of their session or worktree."""

    board: Board = Board()
    loops: dict[str, Loop] = {}


class Keys(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The keys of one record that were set or removed."""

    set: dict[str, Any] = {}
    unset: list[str] = []


class ItemKeys(Keys, frozen=True, kw_only=True, omit_defaults=True):
    """The changed keys of a feature or fix; `created_at` identifies it if its number is reused."""

    id: str
    created_at: str | None = None


class FeatureLogLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One change to the board or to loops."""

    id: str
    at: datetime
    features: list[ItemKeys] = []
    fixes: list[ItemKeys] = []
    orchestration: Keys | None = None
    loops: dict[str, Keys] = {}


decode = msgspec.json.Decoder(FeatureLogLine).decode


def compare_states(before: BoardState, after: BoardState, *, at: datetime) -> FeatureLogLine | None:
    """Return the difference between two states as a log line, or None if there is none."""
    old, new = to_plain(before.board), to_plain(after.board)
    orchestration = _compare_keys(old.get("orchestration", {}), new.get("orchestration", {}))
    line = FeatureLogLine(
        id=new_id(at),
        at=at,
        features=_compare_items(old.get("features", []), new.get("features", [])),
        fixes=_compare_items(old.get("fixes", []), new.get("fixes", [])),
        orchestration=orchestration,
        loops=_compare_loops(before.loops, after.loops),
    )
    is_empty = not (line.features or line.fixes or line.orchestration or line.loops)
    return None if is_empty else line


def apply_lines(state: BoardState, lines: Sequence[FeatureLogLine]) -> BoardState:
    """Apply log lines; one that does not fit is skipped.

    A line may come before the one it builds on, if one is in the store and the other in the
    fallback folder. So lines that do not fit are tried again at the end.
    """
    too_early: list[FeatureLogLine] = []
    for line in lines:
        taken_in = _try_to_apply(state, line)
        state = taken_in or state
        too_early += [] if taken_in else [line]
    for line in too_early:
        state = _try_to_apply(state, line) or state
    return state


def _try_to_apply(state: BoardState, line: FeatureLogLine) -> BoardState | None:
    try:
        return _apply_line(state, line)
    except UNREADABLE:
        return None


def _apply_line(state: BoardState, line: FeatureLogLine) -> BoardState:
    board = to_plain(state.board)
    renamed = _find_new_ids(board, [*line.features, *line.fixes])
    for name in _LISTS:
        board[name] = _merge_items(board.get(name, []), getattr(line, name), renamed)
    if line.orchestration is not None:
        board["orchestration"] = _merge_keys(board.get("orchestration", {}), line.orchestration)
    loops = dict(state.loops)
    for key, keys in line.loops.items():
        merged = _merge_keys(_to_plain(loops.get(key)), keys)
        if merged.get("feature") in renamed:
            merged["feature"] = renamed[merged["feature"]]
        loops[key] = from_plain(merged, Loop)
    return BoardState(board=from_plain(board, Board), loops=loops)


def _compare_items(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[ItemKeys]:
    standing = {each["id"]: each for each in old}
    found = []
    for each in new:
        keys = _compare_keys(standing.get(each["id"], {}), each)
        if keys is not None:
            found.append(
                ItemKeys(
                    id=each["id"],
                    created_at=each.get("created_at"),
                    set=keys.set,
                    unset=keys.unset,
                )
            )
    return found


def _compare_loops(old: dict[str, Loop], new: dict[str, Loop]) -> dict[str, Keys]:
    found = {}
    for key, loop in new.items():
        keys = _compare_keys(_to_plain(old.get(key)), to_plain(loop))
        if keys is not None:
            found[key] = keys
    return found


def _to_plain(record: Record | None) -> dict[str, Any]:
    return {} if record is None else to_plain(record)


def _compare_keys(old: dict[str, Any], new: dict[str, Any]) -> Keys | None:
    changed = {key: value for key, value in new.items() if key not in old or old[key] != value}
    gone = [key for key in old if key not in new]
    return Keys(set=changed, unset=gone) if changed or gone else None


def _merge_keys(standing: dict[str, Any], keys: Keys) -> dict[str, Any]:
    kept = {key: value for key, value in standing.items() if key not in keys.unset}
    return {**kept, **keys.set}


def _merge_items(
    standing: list[dict[str, Any]], keys: list[ItemKeys], renamed: dict[str, str]
) -> list[dict[str, Any]]:
    found = {each["id"]: each for each in standing}
    for each in keys:
        item_id = renamed.get(each.id, each.id)
        found[item_id] = {**_merge_keys(found.get(item_id, {}), each), "id": item_id}
    return list(found.values())


def _find_new_ids(board: dict[str, Any], items: list[ItemKeys]) -> dict[str, str]:
    """Return the ids that must change because another writer used the same number."""
    standing = {each["id"]: each for name in _LISTS for each in board.get(name, [])}
    renamed: dict[str, str] = {}
    for item in items:
        other = standing.get(item.id)
        if other is not None and _is_another(other, item):
            same = (each["id"] for each in standing.values() if not _is_another(each, item))
            known = next(same, None)
            renamed[item.id] = known or pick_similar_id([*standing, *renamed.values()], item.id)
    return renamed


def _is_another(standing: dict[str, Any], item: ItemKeys) -> bool:
    """Return whether two items differ, even if two writers made them in the same microsecond."""
    if standing.get("created_at") != item.created_at:
        return True
    is_new = "created_at" in item.set
    return is_new and "name" in item.set and item.set["name"] != standing.get("name")

"""Add, find, change and archive features and fixes."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from leftoff.errors import LeftoffError, UsageError
from leftoff.knowledge.features import board_files
from leftoff.knowledge.features.board import Board, Feature, Fix, Scenario, Status, WorkItem
from leftoff.knowledge.features.change_log import BoardState
from leftoff.knowledge.features.clean_texts import NAME_LIMIT, clean, clean_all
from leftoff.knowledge.features.numbering import expand_id, pick_feature_id, pick_fix_id
from leftoff.store import Store

ItemType = TypeVar("ItemType", bound=WorkItem)


class ItemDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A feature or fix as the user described it, before it has a number."""

    name: str
    description: str = ""
    status: Status = "pending"
    priority: int | str | None = None
    scenarios: Sequence[Scenario] = ()
    dependencies: Sequence[str] = ()
    related_files: Sequence[str] = ()
    labels: Sequence[str] = ()
    issue: int | None = None
    branch: str | None = None


class Archived(msgspec.Struct, frozen=True, kw_only=True):
    """The features and fixes that a call archived."""

    features: list[Feature] = []
    fixes: list[Fix] = []

    @property
    def messages(self) -> list[str]:
        """The lines to print; none if nothing was archived."""
        counts = {"features": len(self.features), "fixes": len(self.fixes)}
        return [f"Archived {count} completed {what}" for what, count in counts.items() if count]


def load(store: Store) -> Board:
    """Return all features and fixes of the project."""
    return board_files.load(store).board


def glance(store: Store) -> Board:
    """Return the features and fixes that can be read; none if their file is broken."""
    return board_files.glance(store).board


def add(store: Store, draft: ItemDraft) -> Feature:
    """Add a feature under a new number."""
    now = store.now()
    common = _build_common(draft, now)

    def edit(state: BoardState) -> BoardState:
        board = state.board
        dependencies = [find(board, each).id for each in draft.dependencies]
        feature = Feature(
            id=pick_feature_id(each.id for each in board.features),
            priority=draft.priority,
            dependencies=dependencies,
            **common,
        )
        return with_board(state, features=[*board.features, feature])

    made = board_files.change(store, edit).board
    return next(each for each in made.features[::-1] if _is_made(each, common))


def add_fix(store: Store, linked_to: str, draft: ItemDraft) -> Fix:
    """Add a fix of a feature, even of an archived one."""
    now = store.now()
    common = _build_common(draft, now)

    def edit(state: BoardState) -> BoardState:
        board = state.board
        feature = find(board, linked_to)
        if isinstance(feature, Fix):
            raise UsageError(
                f"{feature.id} is itself a fix",
                hint=f"Link the new one to its feature: {feature.linked_to}",
            )
        taken = [each.id for each in board.fixes]
        fix = Fix(id=pick_fix_id(taken, feature.id), linked_to=feature.id, **common)
        return with_board(state, fixes=[*board.fixes, fix])

    made = board_files.change(store, edit).board
    return next(each for each in made.fixes[::-1] if _is_made(each, common))


def put(store: Store, items: Sequence[Feature | Fix]) -> Board:
    """Store features and fixes that already have numbers, replacing those with the same ones."""

    def edit(state: BoardState) -> BoardState:
        for item in items:
            state = with_item(state, item)
        return state

    return board_files.change(store, edit).board


def update(store: Store, key: str, **values: Any) -> Feature | Fix:
    """Change keys of a feature or fix, such as the number of its pull request."""
    now = store.now()

    def edit(state: BoardState) -> BoardState:
        item = find(state.board, key)
        changed = msgspec.structs.replace(item, **values)
        return state if changed == item else with_item(state, changed, at=now)

    return find(board_files.change(store, edit).board, key)


def archive(store: Store) -> Archived:
    """Archive what is complete; what is already archived stays unchanged."""
    now = store.now()
    moved: list[Feature | Fix] = []

    def edit(state: BoardState) -> BoardState:
        moved.clear()
        for item in state.board.items:
            if item.is_complete and not item.is_archived:
                moved.append(msgspec.structs.replace(item, archived_at=now))
                state = with_item(state, moved[-1])
        return state

    board_files.change(store, edit)
    return Archived(
        features=[each for each in moved if isinstance(each, Feature)],
        fixes=[each for each in moved if isinstance(each, Fix)],
    )


def restore(store: Store, key: str) -> Feature | Fix:
    """Restore an archived feature or fix as open work."""
    item = find(load(store), key)
    if not item.is_archived:
        raise LeftoffError(
            f"{item.id} is not archived",
            hint="`leftoff feature list --all` also lists archived ones.",
        )
    return update(store, item.id, archived_at=None, status="pending", extra=_drop_completion(item))


def _drop_completion(item: Feature | Fix) -> dict[str, Any]:
    """Return its unknown keys, without the older mark of completion."""
    return {key: value for key, value in item.extra.items() if key != "passes"}


def find(board: Board, key: str) -> Feature | Fix:
    """Return a feature or fix by its id; `7` means feature-007."""
    wanted = expand_id(key)
    for item in board.items:
        if item.id == wanted:
            return item
    raise LeftoffError(
        f"There is no feature or fix {wanted}",
        hint=_suggest(wanted, board) + "`leftoff feature list --all` lists them all.",
    )


def _suggest(wanted: str, board: Board) -> str:
    import difflib  # noqa: PLC0415 - 1 ms, and only a mistyped id needs it

    names = {each.name.lower(): each.id for each in board.items}
    ids = {each.id: each.id for each in board.items}
    known = {**names, **ids}
    near = difflib.get_close_matches(wanted.lower(), known, n=1)
    return f"Did you mean {known[near[0]]}? " if near else ""


def waits_for(board: Board, item: Feature | Fix) -> list[str]:
    """Return the ids of unfinished items that a feature depends on."""
    needed = item.dependencies if isinstance(item, Feature) else []
    open_ids = {each.id for each in board.open_items}
    return [each for each in needed if each in open_ids]


def with_board(state: BoardState, **values: Any) -> BoardState:
    """Return the state with other lists on its board."""
    board = msgspec.structs.replace(state.board, **values)
    return msgspec.structs.replace(state, board=board)


def with_item(state: BoardState, item: Feature | Fix, *, at: datetime | None = None) -> BoardState:
    """Return the state with a feature or fix replaced by its id."""
    if at is not None:
        item = msgspec.structs.replace(item, updated_at=at)
    if isinstance(item, Feature):
        return with_board(state, features=_replace_or_append(state.board.features, item))
    return with_board(state, fixes=_replace_or_append(state.board.fixes, item))


def _replace_or_append(items: list[ItemType], item: ItemType) -> list[ItemType]:
    if any(each.id == item.id for each in items):
        return [item if each.id == item.id else each for each in items]
    return [*items, item]


def _is_made(item: Feature | Fix, common: dict[str, Any]) -> bool:
    return (item.created_at, item.name) == (common["created_at"], common["name"])


def _build_common(draft: ItemDraft, now: datetime) -> dict[str, Any]:
    name = clean(" ".join(draft.name.split()), limit=NAME_LIMIT)
    if not name:
        raise UsageError(
            "A feature needs a name.", hint='Describe it: `leftoff feature add "Export orders"`.'
        )
    return {
        "name": name,
        "description": clean(draft.description),
        "status": draft.status,
        "scenarios": [_clean_scenario(each) for each in draft.scenarios],
        "related_files": clean_all(draft.related_files),
        "labels": clean_all(draft.labels),
        "issue": draft.issue,
        "branch": draft.branch,
        "created_at": now,
        "updated_at": now,
    }


def _clean_scenario(scenario: Scenario) -> Scenario:
    return Scenario(
        scenario=clean(scenario.scenario),
        given=clean(scenario.given),
        when=clean(scenario.when),
        then=clean(scenario.then),
    )

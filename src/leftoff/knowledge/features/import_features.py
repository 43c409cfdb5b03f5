"""Import features, fixes and loops from the files of other systems."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from leftoff import redact
from leftoff.knowledge.features import board_files
from leftoff.knowledge.features.board import Board, Feature, Fix, Loop, Orchestration
from leftoff.knowledge.features.change_log import BoardState
from leftoff.knowledge.features.edit_board import with_board, with_item
from leftoff.knowledge.features.loop_owner import place_of
from leftoff.knowledge.features.numbering import next_like
from leftoff.store import Store

_EVER = datetime.min.replace(tzinfo=UTC)
FORMER_ID = "former_id"
"""The key under which an item keeps its number from the other system."""


def import_items(
    store: Store, found: Sequence[Feature | Fix], *, written_at: datetime | None = None
) -> list[Feature | Fix]:
    """Import features and fixes from other files; return those that are new or changed.

    A known item is replaced only if the file was written after its last change here. A number that
    is already used for something else becomes the next free one.
    """
    items = [redact.redact_value(each) for each in found]
    taken: list[Feature | Fix] = []

    def edit(state: BoardState) -> BoardState:
        taken.clear()
        for item in items:
            placed = _resolve_item(state.board, item, written_at or _EVER)
            if placed is not None:
                taken.append(placed)
                state = with_item(state, placed)
        return state

    board_files.change(store, edit)
    return taken


def _resolve_item(board: Board, item: Feature | Fix, written_at: datetime) -> Feature | Fix | None:
    """Return the item to store, or None to keep the one that is already here."""
    known = next((each for each in board.items if _is_same(each, item)), None)
    if known is None:
        return _renumber_item(board, item)
    extra = {**item.extra, **{key: known.extra[key] for key in known.extra if key == FORMER_ID}}
    item = msgspec.structs.replace(item, id=known.id, extra=extra)
    # Archiving counts as a change too.
    changed_at = max(known.updated_at or _EVER, known.archived_at or _EVER)
    is_newer = written_at > changed_at or (item.updated_at or _EVER) > changed_at
    return item if item != known and is_newer else None


def _is_same(known: Feature | Fix, item: Feature | Fix) -> bool:
    if item.id not in {known.id, known.extra.get(FORMER_ID)} or type(known) is not type(item):
        return False
    # A name may change; the moment of creation does not.
    if known.created_at is not None and known.created_at == item.created_at:
        return True
    return known.name == item.name


def _renumber_item(board: Board, item: Feature | Fix) -> Feature | Fix:
    taken = [each.id for each in board.items]
    if item.id not in taken:
        return item
    extra = {**item.extra, FORMER_ID: item.id}
    return msgspec.structs.replace(item, id=next_like(taken, item.id), extra=extra)


def import_loops(store: Store, found: Mapping[str, Loop], *, is_edit: bool = False) -> list[Loop]:
    """Import loops by session; a loop in progress here stays unchanged.

    `is_edit` means that somebody changed the files since we wrote them: then those count.
    """
    if not found:
        return []
    taken: list[Loop] = []

    def edit(state: BoardState) -> BoardState:
        taken.clear()
        loops = dict(state.loops)
        for session_id, loop in found.items():
            place = place_of(store, session_id or None)
            mine = msgspec.structs.replace(
                loop, worktree=place.worktree, session_id=place.session_id
            )
            known = loops.get(place.key, Loop())
            is_free = known.status == "idle" and mine.status != "idle"
            if known != mine and (is_edit or is_free):
                loops[place.key] = _with_history(mine, known) if is_edit else mine
                taken.append(mine)
        return msgspec.structs.replace(state, loops=loops)

    board_files.change(store, edit)
    return taken


def _with_history(edited: Loop, known: Loop) -> Loop:
    """Return an edited loop with the attempts of the same work that the file does not show."""
    if edited.feature is None or edited.feature != known.feature:
        return edited
    numbers = {each.attempt for each in edited.history}
    missing = [each for each in known.history if each.attempt not in numbers]
    history = sorted([*missing, *edited.history], key=lambda each: each.attempt)
    return msgspec.structs.replace(
        edited, history=history, interrupted=edited.interrupted or known.interrupted
    )


def import_orchestration(store: Store, found: Orchestration | None) -> None:
    """Import the state of agents that work together, unless there is already one here."""
    if found is None or found == Orchestration():
        return

    def edit(state: BoardState) -> BoardState:
        is_known = state.board.orchestration != Orchestration()
        return state if is_known else with_board(state, orchestration=found)

    board_files.change(store, edit)


DOCUMENTS = "documents"
"""The key under which a board keeps what else the files of other systems contain."""


def keep_documents(store: Store, found: Mapping[str, Any]) -> None:
    """Keep what else the files of another system contain; what is known already stays."""
    documents = redact.redact_value(dict(found))

    def edit(state: BoardState) -> BoardState:
        known = state.board.extra.get(DOCUMENTS)
        merged = {**documents, **(known if isinstance(known, dict) else {})}
        extra = {**state.board.extra, DOCUMENTS: merged}
        return state if merged == known else with_board(state, extra=extra)

    board_files.change(store, edit)


def places(store: Store) -> list[Path]:
    """Return the files and folders that change when features or loops do."""
    root = store.project.store
    return [root / "features.json", *store.log_paths("features"), root / "loops"]

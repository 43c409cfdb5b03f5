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
from leftoff.knowledge.features.numbering import pick_similar_id
from leftoff.store import Store

_EVER = datetime.min.replace(tzinfo=UTC)
FORMER_ID = "former_id"
"""The key under which an item keeps its number from the other system."""


def import_items(
    store: Store,
    found: Sequence[Feature | Fix],
    *,
    written_at: datetime | None = None,
    is_edit: bool = False,
) -> list[Feature | Fix]:
    """Import features and fixes from other files; return those that are new or changed.

    A known item is replaced only if the file was written after its last change here. A number that
    is already used for something else becomes the next free one, and the links to it follow. In a
    file that we wrote, which `is_edit` means, another name under the same number is a new name.
    """
    items = [redact.redact_value(each) for each in found]
    taken: list[Feature | Fix] = []
    new_ids: dict[str, str] = {}

    def edit(state: BoardState) -> BoardState:
        taken.clear()
        new_ids.clear()
        for item in items:
            known = find_known(state.board, item, may_rename=is_edit)
            placed = _place_item(state.board, item, known, written_at or _EVER)
            here = placed or known
            if here is not None and here.id != item.id:
                new_ids[item.id] = here.id
            if placed is not None:
                taken.append(placed)
                state = with_item(state, placed)
        # All numbers are known only now.
        taken[:] = [_follow_links(each, new_ids) for each in taken]
        for each in taken:
            state = _rename_loops(with_item(state, each), each)
        return state

    board_files.change(store, edit)
    return taken


def _rename_loops(state: BoardState, item: Feature | Fix) -> BoardState:
    """Return the state in which the loops on an item have its name."""
    loops = {
        key: msgspec.structs.replace(loop, name=item.name) if loop.feature == item.id else loop
        for key, loop in state.loops.items()
    }
    return msgspec.structs.replace(state, loops=loops)


def list_new_ids(store: Store) -> dict[str, str]:
    """Return the numbers of imported items that have another one here, by those in their files."""
    found = ((each.extra.get(FORMER_ID), each.id) for each in board_files.glance(store).board.items)
    return {former: item_id for former, item_id in found if isinstance(former, str)}


def _place_item(
    board: Board, item: Feature | Fix, known: Feature | Fix | None, written_at: datetime
) -> Feature | Fix | None:
    """Return the item to store, or None to keep the one that is already here."""
    if known is None:
        return _renumber_item(board, item)
    extra = {**item.extra, **{key: known.extra[key] for key in known.extra if key == FORMER_ID}}
    item = msgspec.structs.replace(item, id=known.id, extra=extra)
    # Archiving counts as a change too.
    changed_at = max(known.updated_at or _EVER, known.archived_at or _EVER)
    is_newer = written_at > changed_at or (item.updated_at or _EVER) > changed_at
    return item if item != known and is_newer else None


def find_known(board: Board, item: Feature | Fix, *, may_rename: bool) -> Feature | Fix | None:
    """Return the board's version of an item in a file, under any number."""
    same = [each for each in board.items if _has_number(each, item)]
    first = (each for each in same if _is_same(each, item))
    renamed = (each for each in same if may_rename and _can_be_renamed(each, item))
    return next(first, None) or next(renamed, None)


def _has_number(known: Feature | Fix, item: Feature | Fix) -> bool:
    return item.id in {known.id, known.extra.get(FORMER_ID)} and type(known) is type(item)


def _is_same(known: Feature | Fix, item: Feature | Fix) -> bool:
    # A name may change; the moment of creation does not.
    is_made_then = known.created_at is not None and known.created_at == item.created_at
    return is_made_then or known.name == item.name


def _can_be_renamed(known: Feature | Fix, item: Feature | Fix) -> bool:
    # A new item may have the number of an archived one.
    is_one_list = known.is_archived == item.is_archived
    return known.id == item.id and is_one_list and None in {known.created_at, item.created_at}


def _renumber_item(board: Board, item: Feature | Fix) -> Feature | Fix:
    taken = [each.id for each in board.items]
    if item.id not in taken:
        return item
    extra = {**item.extra, FORMER_ID: item.id}
    return msgspec.structs.replace(item, id=pick_similar_id(taken, item.id), extra=extra)


def _follow_links(item: Feature | Fix, new_ids: Mapping[str, str]) -> Feature | Fix:
    """Return an item whose links name the same items as in its file."""
    if isinstance(item, Fix):
        return msgspec.structs.replace(item, linked_to=new_ids.get(item.linked_to, item.linked_to))
    links = [new_ids.get(each, each) for each in item.dependencies]
    return msgspec.structs.replace(item, dependencies=links)


def import_loops(
    store: Store,
    found: Mapping[str, Loop],
    *,
    is_edit: bool = False,
    new_ids: Mapping[str, str] | None = None,
) -> list[Loop]:
    """Import loops by session; a loop in progress here stays unchanged.

    `is_edit` means that somebody changed the files since we wrote them: then those count. `new_ids`
    are the numbers of items that have another one here than in the files.
    """
    ids = new_ids or {}
    if not found:
        return []
    taken: list[Loop] = []

    def edit(state: BoardState) -> BoardState:
        taken.clear()
        loops = dict(state.loops)
        for session_id, loop in found.items():
            place = place_of(store, session_id or None)
            mine = msgspec.structs.replace(
                loop,
                worktree=place.worktree,
                session_id=place.session_id,
                feature=ids.get(loop.feature or "", loop.feature),
                linked_to=ids.get(loop.linked_to or "", loop.linked_to),
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


def list_places(store: Store) -> list[Path]:
    """Return the files and folders that change when features or loops do."""
    root = store.project.store
    return [root / "features.json", *store.log_paths("features"), root / "loops"]

"""Read and write features and loops: `features.json` and `loops/` in the project's store.

A change reads, edits and replaces whole files under the store's lock, so that parallel writers lose
nothing. If the lock is taken or the store is not writable, the change goes to the log
`features.jsonl`, which needs neither; the next writer applies it. Readers see both.
"""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from leftoff.errors import StoreRefused
from leftoff.knowledge.features import change_log
from leftoff.knowledge.features.board import Board, Loop, decode, encode
from leftoff.knowledge.features.change_log import BoardState
from leftoff.store import Store, disk, log
from leftoff.store.layout import Area

_BOARD = "features.json"
_LOG = "features.jsonl"
_LOOPS = "loops"
# Older loops are idle and are not read.
_NEWEST_LOOPS = 100

Edit = Callable[[BoardState], BoardState]


def load(store: Store) -> BoardState:
    """Return the current board and loops of a project."""
    try:
        state = _read_files(store.project.store)
        # Read the board first: changes applied meanwhile are then read twice instead of missed.
        pending, _ = _read_pending(store.project.store, state.board)
        for folder in _list_fallbacks(store):
            pending += log.read(folder / _LOG, change_log.decode)[0]
    except OSError as error:
        raise StoreRefused(
            f"Cannot read the features: {error.filename}: {error.strerror}",
            hint="Make the file readable for you; leftoff has not changed it.",
        ) from error
    return change_log.apply_lines(state, pending)


def glance(store: Store) -> BoardState:
    """Return what can be read, for callers that only mention features: a broken board is empty."""
    try:
        return load(store)
    except StoreRefused:
        loops: dict[str, Loop] = {}
        with contextlib.suppress(OSError):
            loops = _read_loops(store.project.store / _LOOPS)
        return BoardState(board=Board(), loops=loops)


def change(store: Store, edit: Edit) -> BoardState:
    """Edit the board and the loops durably; an edit that raises changes nothing."""
    if any(_is_waiting(store)):
        # Opening the index imports what the fallback folder holds.
        store.index()
    edited: list[tuple[BoardState, BoardState]] = []

    def edit_once(before: BoardState) -> BoardState:
        edited.append((before, edit(before)))
        return edited[-1][1]

    if not any(_is_waiting(store)):
        with _hold_lock(store) as is_held:
            if is_held:
                with contextlib.suppress(OSError):
                    return _change_files(store.project.store, edit_once)
    # Files that were replaced but not synced already hold the edit, so it is not repeated.
    return _change_log(store, edit, edited)


def waiting_in(store: Store) -> Path | None:
    """Return the folder with changes that could not be written to the store, if there is one."""
    return next((folder for folder in _list_fallbacks(store) if (folder / _LOG).exists()), None)


def _change_files(root: Path, edit: Edit) -> BoardState:
    disk.sweep(root / "tmp")
    before = _apply_pending(root)
    after = edit(before)
    # Write the board first: a writer killed before the loops repeats the same edit.
    _write_board(root, before, after)
    _write_loops(root, before, after)
    return after


def _apply_pending(root: Path) -> BoardState:
    """Apply the log to the files, and return what they now contain."""
    before = _read_files(root)
    pending, end = _read_pending(root, before.board)
    if end == before.board.taken_in:
        return before
    after = change_log.apply_lines(before, pending)
    board = msgspec.structs.replace(after.board, taken_in=end)
    after = msgspec.structs.replace(after, board=board)
    # Write the board last: it records that the lines are applied, including those about loops.
    _write_loops(root, before, after)
    _write_board(root, before, after)
    return after


def _write_board(root: Path, before: BoardState, after: BoardState) -> None:
    if after.board != before.board:
        disk.replace(root / _BOARD, encode(after.board), temps=root / "tmp")


def _write_loops(root: Path, before: BoardState, after: BoardState) -> None:
    # Write a loop under its new key before clearing the old one, so that it never disappears.
    for key, loop in sorted(after.loops.items(), key=lambda each: each[1].status == "idle"):
        if before.loops.get(key) != loop:
            disk.ensure_folder(root / _LOOPS)
            disk.replace(root / _LOOPS / f"{key}.json", encode(loop), temps=root / "tmp")


def _change_log(
    store: Store, edit: Edit, edited: Sequence[tuple[BoardState, BoardState]] = ()
) -> BoardState:
    before = edited[0][0] if edited else load(store)
    after = edited[0][1] if edited else edit(before)
    line = change_log.compare_states(before, after, at=store.now())
    if line is not None:
        store.append_line("features", msgspec.json.encode(line))
    return load(store)


@contextlib.contextmanager
def _hold_lock(store: Store) -> Iterator[bool]:
    area = Area(store.project.store)
    with contextlib.ExitStack() as stack:
        try:
            area.prepare()
            is_held = stack.enter_context(disk.lock(area.lock))
        except (OSError, StoreRefused):
            # Without the lock the change goes to the log, which needs none.
            is_held = False
        yield is_held


def _read_files(root: Path) -> BoardState:
    return BoardState(board=_read_board(root / _BOARD), loops=_read_loops(root / _LOOPS))


def _read_board(path: Path) -> Board:
    try:
        return decode(disk.read(path)[0], Board)
    except (FileNotFoundError, NotADirectoryError):
        return Board()
    except log.UNREADABLE as error:
        raise StoreRefused(
            f"{path} contains no readable features: {error}",
            hint="Repair the file or move it away; leftoff has not changed it.",
        ) from error


def _read_loops(folder: Path) -> dict[str, Loop]:
    if not disk.is_own_folder(folder):
        return {}
    found: dict[str, Loop] = {}
    for path in _list_newest(folder):
        # Skip a garbled loop: its feature is still on the board.
        with contextlib.suppress(OSError, StoreRefused, *log.UNREADABLE):
            found[path.stem] = decode(disk.read(path)[0], Loop)
    return found


def _list_newest(folder: Path) -> list[Path]:
    with os.scandir(folder) as entries:
        stamps = [
            (entry.stat(follow_symlinks=False).st_mtime_ns, entry.name)
            for entry in entries
            if entry.name.endswith(".json")
        ]
    return [folder / name for _, name in sorted(stamps, reverse=True)[:_NEWEST_LOOPS]]


def _read_pending(root: Path, board: Board) -> tuple[list[change_log.FeatureLogLine], int]:
    """Return the lines of the store's log that the board does not include yet, and their end."""
    # If the log is shorter than the part that was applied, it has been replaced.
    begin = board.taken_in if board.taken_in <= log.identify(root / _LOG)[1] else 0
    return log.read(root / _LOG, change_log.decode, begin)


def _list_fallbacks(store: Store) -> list[Path]:
    return store.fallbacks()


def _is_waiting(store: Store) -> Iterator[bool]:
    return ((folder / _LOG).exists() for folder in _list_fallbacks(store))

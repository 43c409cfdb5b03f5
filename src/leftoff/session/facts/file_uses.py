"""Follow which files a session reads, edits, renames and deletes."""

from collections.abc import Iterable

import msgspec

from leftoff.agents.stream import ToolCall, ToolResult
from leftoff.session.facts import shell_commands, written_paths
from leftoff.session.facts.fold_state import FileUse, FoldState
from leftoff.session.facts.user_requests import note_work

_MOST_FILES = 1500
_TRIMMED = 0.8
_MOST_GONE = 200
_UNUSED = FileUse()


def note_use(state: FoldState, call: ToolCall, event: ToolResult) -> None:
    """Note the files that a call read or edited."""
    is_edit = call.kind == "edit" or bool(event.paths)
    state.worked_at = event.at if is_edit and event.at else state.worked_at
    if is_edit:
        state.worked_for = state.requested_at
        note_work(state)
    for name in event.paths or call.paths:
        path = written_paths.normalise(name, state.cwd)
        # A search names a folder more often than a file.
        if call.kind == "search" and not written_paths.has_file_name(path):
            continue
        use = state.files.get(path, _UNUSED)
        if is_edit:
            use = FileUse(use.edits + 1, use.reads, state.calls, use.read_at)
        else:
            use = FileUse(use.edits, use.reads + 1, use.edited_at, state.calls)
        state.files[path] = use
        if len(state.files) > _MOST_FILES:
            _trim_files(state)
    note_gone(state, call.removed)


def note_gone(state: FoldState, paths: Iterable[str]) -> None:
    """Note files and folders that were deleted or renamed."""
    for path in paths:
        name = written_paths.normalise(path, state.cwd)
        # Removed and added again, so that the oldest one is first.
        state.gone.pop(name, None)
        state.gone[name] = state.calls
    while len(state.gone) > _MOST_GONE:
        del state.gone[next(iter(state.gone))]


def note_moves(state: FoldState, command: str) -> None:
    """Note the new names of files that the session knows; the old ones are gone."""
    for old, new in shell_commands.moves_in(command):
        before = written_paths.normalise(old, state.cwd)
        after = written_paths.normalise(new, state.cwd)
        for known in [path for path in state.files if written_paths.is_under(path, before)]:
            path = f"{after}{known[len(before) :]}"
            use = state.files.get(path, _UNUSED)
            state.files[path] = msgspec.structs.replace(
                use, reads=use.reads + 1, read_at=state.calls
            )


def _trim_files(state: FoldState) -> None:
    """Drop the files used longest ago; files only read go before edited ones."""
    order = sorted(
        state.files.items(), key=lambda item: (item[1].edited_at, item[1].read_at), reverse=True
    )
    state.files = dict(order[: int(_MOST_FILES * _TRIMMED)])

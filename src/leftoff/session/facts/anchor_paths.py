"""Write the paths and commands of a session as seen from the folder that the work is in."""

import msgspec

from leftoff.agents.loose_values import cut
from leftoff.agents.stream import ToolCall
from leftoff.session.facts import shell_commands, written_paths
from leftoff.session.facts.fold_state import FoldState, TrailEntry

_CALL_CHARS = 400


def anchor_entry(entry: TrailEntry, state: FoldState, base: str) -> TrailEntry:
    """Write the paths in an entry of the trail as seen from the project."""
    if entry.kind == "search":
        return msgspec.structs.replace(entry, what=anchor_text(entry.what, state, base))
    if entry.kind == "run":
        what = shell_commands.unplace(entry.what, base)
        outcome = anchor_text(entry.outcome, state, base)
        return msgspec.structs.replace(entry, what=what, outcome=outcome)
    if entry.kind not in {"edit", "read"} or not entry.what:
        return entry
    paths = [written_paths.normalise(path, state.cwd) for path in entry.what.split(", ")]
    what = ", ".join(written_paths.anchor(path, state.roots) for path in paths)
    return msgspec.structs.replace(entry, what=what)


def anchor_text(text: str, state: FoldState, base: str) -> str:
    """Leave out the folder that the work is in, wherever a text names it."""
    for root in (*state.roots, base):
        text = text.replace(f"{root}/", "") if root else text
    return text


def anchor_call(call: ToolCall, state: FoldState, base: str) -> ToolCall:
    """Write a call's file path or folder the same way as all others."""
    if call.kind == "run" and call.command:
        folder = written_paths.normalise(call.folder, state.cwd) if call.folder else state.cwd
        placed = shell_commands.place(cut(call.command, _CALL_CHARS), folder)
        what = shell_commands.unplace(placed, base)
        return msgspec.structs.replace(call, what=what)
    if call.kind not in {"edit", "read"} or not call.paths:
        return call
    path = written_paths.normalise(call.paths[0], state.cwd)
    return msgspec.structs.replace(call, what=written_paths.anchor(path, state.roots))

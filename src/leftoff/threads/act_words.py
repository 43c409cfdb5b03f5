"""Say in words what somebody did to checkpoints, for those who want to undo or redo it."""

from collections.abc import Sequence

from leftoff.store import StoreEvent, StoreIndex
from leftoff.text.plural import format_count

_ACTS = {
    "saved": "saving {}",
    "resumed": "resuming {}",
    "declined": "declining {}",
    "consumed": "marking {} as done",
    "cleared": "clearing {}",
    "dropped": "dropping {}",
    "restored": "restoring {}",
}
# What an act with several events did, by its trigger.
_COUNTED = {"recovered": ("recovering", "session"), "import": ("importing", "checkpoint")}
_NAMED = 5
_TASK_CHARS = 60


def describe_act(index: StoreIndex, act: StoreEvent) -> str:
    """Return a description such as `marking csv-export as done`."""
    names = name_checkpoints(index, act.ids)
    if act.snapshots:
        return f"restoring files from snapshot {act.snapshots[0][-8:]}"
    if act.act is not None and act.trigger == "ship":
        shown = [_find_label(index, each) for each in act.ids]
        return f"saving {join_names(shown)} as shipped; its commits stay"
    if act.act is not None and act.trigger in _COUNTED:
        verb, what = _COUNTED[act.trigger]
        return f"{verb} {format_count(len(names), what)}: {join_names(names)}"
    if act.replaced is not None:
        former = name_checkpoints(index, [act.replaced])
        if former != names:
            return f"saving {former[0]} as {names[0]}"
        return f"saving {names[0]} again"
    return _ACTS.get(act.action, f"{act.action} {{}}").format(join_names(names))


def name_checkpoints(index: StoreIndex, ids: Sequence[str]) -> list[str]:
    """Return the name of each checkpoint, or its id."""
    found = [(each, index.get(each)) for each in ids]
    return [entry.name or entry.id if entry is not None else each for each, entry in found]


def join_names(names: Sequence[str]) -> str:
    """Join names into one text, the first few only."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


def _find_label(index: StoreIndex, checkpoint_id: str) -> str:
    """Return the name of a checkpoint; what was shipped without a thread has only a task."""
    entry = index.get(checkpoint_id)
    if entry is not None and entry.name is None and entry.task:
        task = " ".join(entry.task.split())
        return f'"{task if len(task) <= _TASK_CHARS else f"{task[: _TASK_CHARS - 1]}…"}"'
    return (entry.name or entry.id) if entry is not None else checkpoint_id

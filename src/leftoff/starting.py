"""Starting: what to do first, and what else could be done, from all that is under way."""

from collections.abc import Iterator

import msgspec

from leftoff import dashboard, features, git
from leftoff.checkpoint import Commit
from leftoff.config import Settings
from leftoff.dashboard import Dashboard
from leftoff.store import Store

_COMMITS = 3
_ALTERNATIVES = 3
_CHANGED = 10


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """Something to do, why, and how to take it up."""

    what: str
    why: str
    command: str | None = None


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """What to do first, what else, and where the code stands."""

    recommended: Task | None = None
    alternatives: list[Task] = []
    branch: str | None = None
    changed: list[str] = []
    changed_count: int = 0
    commits: list[Commit] = []


def look(store: Store, settings: Settings) -> Start:
    """Recommend what to do; the store should be one that leaves no trace."""
    project = store.project
    state = git.read_state(project.worktree) if project.is_git else None
    tasks: dict[str, Task] = {}
    for task in _tasks(store, dashboard.look(store, settings)):
        tasks.setdefault(task.what, task)
    ordered = [*tasks.values()]
    return Start(
        recommended=ordered[0] if ordered else None,
        alternatives=ordered[1 : 1 + _ALTERNATIVES],
        branch=state.branch if state else None,
        changed=[git.printable(path) for path in state.dirty[:_CHANGED]] if state else [],
        changed_count=len(state.dirty) if state else 0,
        commits=git.newest_commits(project.worktree, _COMMITS) if project.is_git else [],
    )


def _tasks(store: Store, found: Dashboard) -> Iterator[Task]:
    """Yield what could be done, the surest first."""
    for saved in found.checkpoints:
        if saved.next_action:
            resume = f"leftoff resume {saved.name}" if saved.name else None
            yield Task(what=saved.next_action, why=f"left off: {saved.summary}", command=resume)
    for todo in found.todos:
        yield Task(what=todo.text, why=f"a todo, {todo.status.replace('_', ' ')}")
    if found.plan is not None:
        stage = found.plan.stage if found.plan.stage is not None else found.plan.number
        yield Task(what=f"Go on with the plan {found.plan.name}", why=f"at stage {stage}")
    yield from (Task(what=each, why="the dashboard suggests it") for each in found.suggestions)
    for item in features.glance(store).unfinished:
        start = f"leftoff feature start {item.id}"
        yield Task(what=f"{item.id}: {item.name}", why=f"a feature, {item.status}", command=start)
    if not found.open_count:
        yield Task(
            what="Say what you are working on",
            why="nothing is open here",
            command="leftoff save --summary '…'",
        )

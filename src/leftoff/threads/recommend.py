"""Recommend what to do first, from everything that is in progress."""

from collections.abc import Iterator
from shlex import quote

import msgspec

from leftoff.checkpoint import Commit
from leftoff.config import Settings
from leftoff.git import query
from leftoff.knowledge import features
from leftoff.store import Store
from leftoff.threads import dashboard
from leftoff.threads.dashboard import Dashboard

_COMMITS = 3
_ALTERNATIVES = 3
_CHANGED = 10


class Recommendation(msgspec.Struct, frozen=True, kw_only=True):
    """Something to do, the reason, and the command to start it."""

    what: str
    why: str
    command: str | None = None


class Recommendations(msgspec.Struct, frozen=True, kw_only=True):
    """What to do first, the alternatives, and the state of the code."""

    recommended: Recommendation | None = None
    alternatives: list[Recommendation] = []
    branch: str | None = None
    changed: list[str] = []
    changed_count: int = 0
    changed_is_more: bool = False
    """Whether more files changed than were counted."""
    commits: list[Commit] = []


def recommend_tasks(store: Store, settings: Settings) -> Recommendations:
    """Recommend what to do; pass a store that writes nothing."""
    project = store.project
    state = query.read_state(project.worktree) if project.is_git else None
    tasks: dict[str, Recommendation] = {}
    # The same text can be a next action and a todo: the first source is the more certain one.
    for task in _list_tasks(store, dashboard.read_dashboard(store, settings)):
        tasks.setdefault(task.what, task)
    ordered = [*tasks.values()]
    return Recommendations(
        recommended=ordered[0] if ordered else None,
        alternatives=ordered[1 : 1 + _ALTERNATIVES],
        branch=state.branch if state else None,
        changed=[query.printable(path) for path in state.dirty[:_CHANGED]] if state else [],
        changed_count=len(state.dirty) if state else 0,
        changed_is_more=state is not None and state.is_truncated,
        commits=query.list_newest_commits(project.worktree, _COMMITS) if project.is_git else [],
    )


def _list_tasks(store: Store, found: Dashboard) -> Iterator[Recommendation]:
    """Yield possible tasks, the most certain first."""
    for saved in found.checkpoints:
        if saved.next_action:
            is_word = saved.name is not None and not saved.name.startswith("-")
            resume = f"leftoff resume {quote(saved.name or '')}" if is_word else None
            yield Recommendation(
                what=saved.next_action, why=f"left off: {saved.summary}", command=resume
            )
    for todo in found.todos:
        yield Recommendation(what=todo.text, why=f"a todo, {todo.status.replace('_', ' ')}")
    if found.plan is not None:
        stage = found.plan.stage if found.plan.stage is not None else found.plan.number
        yield Recommendation(what=f"Continue the plan {found.plan.name}", why=f"at stage {stage}")
    yield from (
        Recommendation(what=each, why="suggested by the dashboard") for each in found.suggestions
    )
    for item in features.glance(store).open_items:
        start = f"leftoff feature start {quote(item.id)}"
        yield Recommendation(
            what=f"{item.id}: {item.name}", why=f"a feature, {item.status}", command=start
        )
    if not found.open_count:
        yield Recommendation(
            what="Say what you are working on",
            why="nothing is open here",
            command="leftoff save --summary '…'",
        )

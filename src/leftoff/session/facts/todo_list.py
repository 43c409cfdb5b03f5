"""Rebuild an agent's todo list from the changes it reported."""

from leftoff.agents.loose_values import cut
from leftoff.agents.stream import TodoChange, TodoList
from leftoff.session.facts.fold_state import FoldState, TodoEntry

_MOST_TODOS = 200
_TEXT_CHARS = 400


def replace_todos(event: TodoList) -> list[TodoEntry]:
    """Return the list from an event that contains all of it."""
    items = event.items[:_MOST_TODOS]
    return [TodoEntry(cut(item.text, _TEXT_CHARS), item.status, item.id) for item in items]


def change_todo(todos: list[TodoEntry], event: TodoChange) -> list[TodoEntry]:
    """Return the list with one todo added, changed or removed."""
    at = next((n for n, todo in enumerate(todos) if todo.id == event.id), None)
    if at is not None:
        changed = [] if event.status == "deleted" else [_apply_change(todos[at], event)]
        return [*todos[:at], *changed, *todos[at + 1 :]]
    if not event.text or event.status == "deleted" or len(todos) >= _MOST_TODOS:
        return todos
    return [*todos, TodoEntry(cut(event.text, _TEXT_CHARS), event.status or "pending", event.id)]


def set_todos(state: FoldState, todos: list[TodoEntry]) -> None:
    """Keep the new list, and note whether more of it is done."""
    if _count_done(todos) > _count_done(state.todos):
        state.ticked_seq = state.seq
    state.todos, state.todos_seq = todos, state.seq


def _count_done(todos: list[TodoEntry]) -> int:
    return sum(todo.status == "completed" for todo in todos)


def _apply_change(todo: TodoEntry, event: TodoChange) -> TodoEntry:
    status = todo.status
    if event.status and event.status != "deleted":
        status = event.status
    return TodoEntry(cut(event.text, _TEXT_CHARS) or todo.text, status, event.new_id or todo.id)

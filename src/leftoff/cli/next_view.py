"""Show `leftoff status --next`: what to do first, and the state of the code."""

import contextlib
from collections.abc import Iterator

import msgspec

from leftoff.checkpoint import address_user, to_plain
from leftoff.cli.app import App, one_line
from leftoff.store import Store
from leftoff.text.plural import format_count
from leftoff.threads import recommend
from leftoff.threads.recommend import Recommendation, Recommendations

_CHARS = 120


def show_next(app: App) -> None:
    """Recommend what to do first; change nothing."""
    # Not app.store: opening that imports edits in mirrored files and updates the index.
    with contextlib.closing(Store(app.project, leaves_no_trace=True)) as store:
        found = recommend.recommend_tasks(store, app.settings)
    plain = {**msgspec.to_builtins(found), "commits": [to_plain(each) for each in found.commits]}
    app.out.result(plain, _format_page(found, is_for_person=app.out.is_for_person))


def _format_page(found: Recommendations, *, is_for_person: bool) -> Iterator[str]:
    def format_what(what: str) -> str:
        return one_line((address_user(what) if is_for_person else "") or what, _CHARS)

    if found.recommended is not None:
        yield f"Recommended: {format_what(found.recommended.what)}"
        yield f"  {_format_reason(found.recommended)}"
    if found.alternatives:
        yield from ("", "Or:")
        for number, task in enumerate(found.alternatives, 1):
            yield f"  {number}. {format_what(task.what)}  ({_format_reason(task)})"
    if found.branch is not None or found.commits:
        yield from ("", *_format_git_state(found))


def _format_reason(task: Recommendation) -> str:
    why = one_line(task.why, _CHARS)
    return f"{why}; `{task.command}`" if task.command else why


def _format_git_state(found: Recommendations) -> Iterator[str]:
    count = format_count(found.changed_count, "file", is_more=found.changed_is_more)
    yield f"On {found.branch or 'no branch'}, {count} changed"
    yield from (f"  {path}" for path in found.changed)
    if found.commits:
        yield "Last commits:"
        yield from (f"  {commit.sha[:8]} {commit.subject}" for commit in found.commits)

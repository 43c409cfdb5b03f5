"""Format features, fixes and the attempts at them for people."""

from collections.abc import Iterator, Sequence

from leftoff.cli.text_columns import one_line
from leftoff.knowledge.features import Board, Feature, Fix, Loop, Scenario
from leftoff.text import times

_LABEL = 11


def columns(items: Sequence[Feature | Fix]) -> dict[str, list[str]]:
    """Return the columns of a table of features and fixes."""
    cells = {
        "id": [each.id for each in items],
        "state": ["archived" if each.is_archived else each.status for each in items],
        "attempts": [str(each.attempts or "-") for each in items],
        "pr": [f"#{each.pr}" if each.pr else "-" for each in items],
        "summary": [one_line(each.name) for each in items],
    }
    if all(each.pr is None for each in items):
        del cells["pr"]
    return cells


def none(board: Board) -> str:
    """Return the text to show instead of an empty list."""
    if board.archive:
        return "All features are archived; `leftoff feature list --all` shows them."
    return 'No features yet. Add one with `leftoff feature add "Export orders"`.'


def under_way(loop: Loop | None) -> str:
    """Describe the current attempt in one line, if there is one."""
    if loop is None or not loop.is_under_way:
        return ""
    return attempt_line("INTERRUPTED" if loop.interrupted else "In progress", loop)


def attempt_line(verb: str, loop: Loop) -> str:
    """Describe which attempt a feature is at."""
    count = f"attempt {loop.attempt} of {loop.max_attempts}"
    return f"{verb}: {loop.feature} {loop.name or ''} ({count})"


def format_attempts(loop: Loop) -> list[str]:
    """List what was tried, one line per attempt."""
    return [
        f"  {each.attempt}. {each.result}: {each.approach}" + (f" -> {why}" if why else "")
        for each in loop.history
        for why in [each.root_cause or "; ".join(each.errors)]
    ]


def after_attempt(loop: Loop) -> list[str]:
    """Confirm a recorded attempt and name the next step."""
    last = loop.history[-1]
    noted = (
        f"Recorded attempt {last.attempt} of {loop.max_attempts} on {loop.feature}: {last.result}"
    )
    if loop.status == "escalated":
        return [noted, f"That was the last attempt: {loop.feature} is escalated to a person."]
    if last.result == "passed":
        return [noted, "Run `leftoff feature pass` to mark it as passing."]
    return [noted]


def format_item(item: Feature | Fix, loops: Sequence[Loop], fixes: Sequence[Fix]) -> Iterator[str]:
    """Yield everything known about a feature or fix, line by line."""
    state = "archived" if item.is_archived else item.status
    yield f"{item.id}: {item.name} [{state}]"
    for label, text in _fields(item):
        if text:
            yield f"{label:{_LABEL}}  {text}"
    yield from (_scenario(each) for each in item.scenarios)
    yield from (f"{'fix':{_LABEL}}  {each.id}: {each.name} [{each.status}]" for each in fixes)
    for loop in loops:
        yield attempt_line(loop.status, loop)
        yield from format_attempts(loop)


def _fields(item: Feature | Fix) -> Iterator[tuple[str, str]]:
    yield "what", item.description
    if isinstance(item, Fix):
        yield "repairs", item.linked_to
    else:
        yield "priority", str(item.priority or "")
        yield "depends on", ", ".join(item.dependencies)
    yield "attempts", f"{item.attempts} of {item.max_attempts}" if item.attempts else ""
    yield "files", ", ".join(item.related_files)
    yield "checks", ", ".join(f"{key} {value}" for key, value in item.verification.items())
    yield "issue", f"#{item.issue}" if item.issue else ""
    yield "pr", f"#{item.pr}" if item.pr else ""
    yield "branch", item.branch or ""
    yield "labels", ", ".join(item.labels)
    yield "noted", times.local(item.created_at) if item.created_at else ""
    yield "archived", times.local(item.archived_at) if item.archived_at else ""


def _scenario(scenario: Scenario) -> str:
    steps = [
        f"{word} {text}"
        for word, text in (
            ("given", scenario.given),
            ("when", scenario.when),
            ("then", scenario.then),
        )
        if text
    ]
    told = f"{scenario.scenario}: {', '.join(steps)}" if steps else scenario.scenario
    return f"{'must hold':{_LABEL}}  {told}"

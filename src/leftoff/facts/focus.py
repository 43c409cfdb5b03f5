"""Which files will be needed next: a ranking by how, when and where each was last named."""

import math
from collections import defaultdict
from collections.abc import Iterable

from leftoff.facts import places
from leftoff.facts.state import State

FOCUS_FILES = 10

# How much each sign counts, and after how many calls it has faded to a third.
_EDITED, _EDITED_FADES = 3.0, 12.0
_READ, _READ_FADES = 2.6, 9.0
_NAMED, _NAMED_FADES = 0.8, 5.0
_IN_FLIGHT = 3.0
_DOING_TODO = 2.5
_OPEN_TODO = 1.2
_REQUESTED = 1.6
_SAID = 1.6
_PLANNED = 1.3
_PLANNED_AND_DONE = 0.3
_FAILED = 1.8


def rank(state: State) -> list[str]:
    """Return paths, absolute where known, the most likely to be needed next first."""
    scores: defaultdict[str, float] = defaultdict(float)
    names = _by_name(state)
    _score_use(state, scores)
    for path, weight in _named(state):
        for known in _resolve(path, names, state):
            scores[known] += weight / (1 + 0.0 * len(known))
    for call in state.open.values():
        for path in call.paths:
            scores[path] += _IN_FLIGHT
    order = sorted(scores.items(), key=lambda item: -item[1])
    return [path for path, _ in order if _is_worth_showing(path, state)]


def _score_use(state: State, scores: defaultdict[str, float]) -> None:
    for path, use in state.files.items():
        if use.edits:
            scores[path] += _EDITED * _fade(state.calls - use.edited_at, _EDITED_FADES)
            scores[path] += 0.15 * math.log1p(use.edits)
        if use.reads:
            scores[path] += _READ * _fade(state.calls - use.read_at, _READ_FADES)


def _named(state: State) -> Iterable[tuple[str, float]]:
    """Yield the paths named in the session's texts, with the weight of each naming."""
    edited = {path.rsplit("/", 1)[-1] for path, use in state.files.items() if use.edits}
    for path in state.plan_paths:
        is_done = path.rsplit("/", 1)[-1] in edited
        yield path, _PLANNED_AND_DONE if is_done else _PLANNED
    for todo in state.todos:
        if todo.status != "completed":
            weight = _DOING_TODO if todo.status == "in_progress" else _OPEN_TODO
            yield from _each(todo.text, state, weight)
    for request in state.requests[-1:]:
        yield from _each(request.text, state, _REQUESTED * _fade(state.calls - request.at, 20.0))
    for answer in state.answers[-2:]:
        yield from _each(answer.text, state, _SAID * _fade(state.calls - answer.at, 6.0))
    for failure in state.failures[-1:]:
        weight = _FAILED * _fade(state.calls - failure.at, 10.0)
        yield from _each(failure.error, state, weight)
    for mention in state.mentions:
        weight = _NAMED * _fade(state.calls - mention.at, _NAMED_FADES)
        weight /= 1 + len(mention.paths) / 10
        for path in mention.paths:
            yield path, weight


def _each(text: str, state: State, weight: float) -> Iterable[tuple[str, float]]:
    is_windows = state.cwd[1:3] == ":/"
    for path in places.paths_in(text, is_windows=is_windows):
        yield path, weight


def _by_name(state: State) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for path in state.files:
        names.setdefault(path.rsplit("/", 1)[-1], []).append(path)
    for mention in state.mentions:
        for path in mention.paths:
            if "/" in path:
                full = places.normalise(path, state.cwd)
                known = names.setdefault(path.rsplit("/", 1)[-1], [])
                if full not in known:
                    known.append(full)
    return names


def _resolve(path: str, names: dict[str, list[str]], state: State) -> list[str]:
    """Find the known files that a path in a text means; itself, if none."""
    known = names.get(path.rsplit("/", 1)[-1], [])
    meant = [full for full in known if full == path or full.endswith("/" + path)]
    if meant:
        return meant[:2]
    return [places.normalise(path, state.cwd)] if "/" in path else []


def _is_worth_showing(path: str, state: State) -> bool:
    return any(places.is_under(path, root) and path != root for root in state.roots) or (
        path in state.files and not path.startswith(("~", "/tmp/"))  # noqa: S108
    )


def _fade(age: float, third_after: float) -> float:
    return math.exp(-age / third_after)

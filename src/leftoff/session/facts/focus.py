"""Rank the files that will be needed next by how, when and where each was last mentioned."""

import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable

from leftoff.session.facts import written_paths
from leftoff.session.facts.fold_state import FoldState

FOCUS_FILES = 10
# What others wrote or a build made. Nobody works on it, unless it was edited.
_MADE = re.compile(
    r"/(?:node_modules|vendor|third_party|site-packages|__pycache__|dist|build|out|target|coverage"
    r"|\.next|\.venv|venv|\.git|\.tox|\.cache|\.mypy_cache|\.pytest_cache|\.turbo)/"
)
# `github.com/org/repo/pkg.Name` and `a.yaml/b.config` look like paths, but are not.
_HOST = re.compile(
    r"^(?:[\w-]+\.)+(?:com|org|net|io|dev|ai|app|sh|co|gg|edu|gov|in|de|uk|cloud)(?:/|$)"
)
_SOURCE_NAME = re.compile(
    r"\.(?:ya?ml|json|toml|md|mdx|tsx?|jsx?|mjs|cjs|py|go|rs|rb|java|kt|cs|cpp|c|h|html?|css|txt|sh|sql)$"
)
_PRODUCT = re.compile(
    r"(?:node|next|nuxt|vue|react|express|three|d3|chart|nest|ember)\.js$", re.IGNORECASE
)
_PAIR = re.compile(r"\([^()/]*\)|\[[^\[\]/]*\]")
_UNPAIRED = re.compile(r"[()\[\]]")
_FILE_WITHIN = re.compile(
    r"\.(?:ya?ml|json|toml|md|mdx|tsx?|jsx?|mjs|cjs|py|go|rs|rb|java|kt|cs|cpp|html?|css|txt|lock|sh)/"
)

# The weight of each sign, and the number of calls after which it fades to a third.
EDITED, EDITED_FADES = 2.0, 12.0
READ, READ_FADES = 2.6, 12.0
COMMANDED, COMMANDED_FADES = 2.0, 6.0
SHOWN, SHOWN_FADES = 0.8, 7.0
NEW = 0.5
OFTEN = 0.15
IN_FLIGHT = 3.0
DOING = 2.5
OPEN = 1.2
REQUESTED, REQUESTED_FADES = 2.0, 20.0
SAID, SAID_FADES = 1.2, 12.0
OUTLINED, OUTLINED_FADES = 1.2, 30.0
PLANNED = 1.3
PLANNED_AND_DONE = 0.3
FAILED, FAILED_FADES = 1.8, 10.0


def rank(state: FoldState) -> list[str]:
    """Return paths, absolute if possible, most likely to be needed first."""
    scores = score(state)
    return sorted(scores, key=lambda path: -scores[path])


def score(state: FoldState) -> dict[str, float]:
    """Score each path by how likely it will be needed next."""
    scores: defaultdict[str, float] = defaultdict(float)
    names = _by_name(state)
    folders = _list_folders(path for paths in names.values() for path in paths)
    _score_use(state, scores)
    expected = {path for said in state.requests[-1:] for path, _ in _each(said.text, state, 0)}
    for path, weight in _weigh_named(state):
        for known in _resolve(path, names, state, expected):
            scores[known] += weight
    for call in state.open.values():
        for path in call.paths:
            scores[written_paths.normalise(path, state.cwd)] += IN_FLIGHT
    return {
        path: value
        for path, value in scores.items()
        if path not in folders and _is_worth_showing(path, state)
    }


def _score_use(state: FoldState, scores: defaultdict[str, float]) -> None:
    for path, use in state.files.items():
        if use.edits:
            scores[path] += EDITED * _fade(state.calls - use.edited_at, EDITED_FADES)
            scores[path] += OFTEN * math.log1p(use.edits)
        if use.reads:
            scores[path] += READ * _fade(state.calls - use.read_at, READ_FADES)


def _weigh_named(state: FoldState) -> Iterable[tuple[str, float]]:
    """Yield the paths mentioned in the session's texts, with the weight of each mention."""
    edited = {path.rsplit("/", 1)[-1] for path, use in state.files.items() if use.edits}
    for path in state.plan_paths:
        is_done = path.rsplit("/", 1)[-1] in edited
        yield path, PLANNED_AND_DONE if is_done else PLANNED
    fade = _fade(state.calls - state.outline.at, OUTLINED_FADES)
    for path, weight in _each(state.outline.text, state, OUTLINED * fade):
        is_done = _is_done(path, state)
        yield path, weight * (PLANNED_AND_DONE if is_done else 1)
    for todo in state.todos:
        if todo.is_open:
            yield from _each(todo.text, state, DOING if todo.status == "in_progress" else OPEN)
    now = state.calls
    for request in state.requests[-1:]:
        fade = _fade(now - request.at, REQUESTED_FADES)
        yield from _each(request.text, state, REQUESTED * fade)
    for answer in state.answers[-2:]:
        yield from _each(answer.text, state, SAID * _fade(now - answer.at, SAID_FADES))
    yield from _each(state.thought.text, state, SAID * _fade(now - state.thought.at, SAID_FADES))
    for failure in state.failures[-1:]:
        yield from _each(failure.error, state, FAILED * _fade(now - failure.at, FAILED_FADES))
    yield from _weigh_mentions(state)


def _is_done(path: str, state: FoldState) -> bool:
    """Return whether a file in the outline was edited after the outline was written."""
    return any(
        use.edited_at > state.outline.at and known.endswith("/" + path)
        for known, use in state.files.items()
    )


def _weigh_mentions(state: FoldState) -> Iterable[tuple[str, float]]:
    used = {path.rsplit("/", 1)[-1] for path in state.files}
    for mention in state.commanded:
        weight = COMMANDED * _fade(state.calls - mention.at, COMMANDED_FADES)
        for path in mention.paths:
            yield path, weight
    for mention in state.shown:
        # An output that lists many files says little about each of them.
        weight = _fade(state.calls - mention.at, SHOWN_FADES) / (1 + len(mention.paths) / 10)
        for path in mention.paths:
            # A file that was found but not opened yet is more likely to come next.
            yield path, weight * (SHOWN if path.rsplit("/", 1)[-1] in used else SHOWN + NEW)


def _each(text: str, state: FoldState, weight: float) -> Iterable[tuple[str, float]]:
    for path in written_paths.paths_in(text, is_windows=written_paths.is_windows(state.cwd)):
        yield path, weight


def _by_name(state: FoldState) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for path in state.files:
        names.setdefault(path.rsplit("/", 1)[-1], []).append(path)
    for mention in (*state.shown, *state.commanded):
        for path in mention.paths:
            if "/" in path:
                full = _place(path, state)
                known = names.setdefault(path.rsplit("/", 1)[-1], [])
                if full not in known:
                    known.append(full)
    return names


def _resolve(
    path: str, names: dict[str, list[str]], state: FoldState, expected: Collection[str]
) -> list[str]:
    """Return the known files that a path in a text refers to, or the path itself."""
    known = names.get(path.rsplit("/", 1)[-1], [])
    meant = [full for full in known if full == path or full.endswith("/" + path)]
    if meant:
        # A name shared by many files, such as `__init__.py`, would raise them all.
        return meant[:2]
    # A bare name in a request is a file that the user expects, unless it is a product.
    is_expected = path in expected and _SOURCE_NAME.search(path) and not _PRODUCT.match(path)
    return [_place(path, state)] if "/" in path or is_expected else []


def _place(path: str, state: FoldState) -> str:
    """Return the absolute path; `src/a.c` in a session that works in `src` is below its parent."""
    parent, _, folder = state.cwd.rpartition("/")
    below = parent if folder and path.startswith(f"{folder}/") else state.cwd
    return written_paths.normalise(path, below)


def _is_worth_showing(path: str, state: FoldState) -> bool:
    """Return whether this is a file of the project, and not other text with slashes."""
    use = state.files.get(path)
    if use is not None and use.edits:
        is_ours = path == state.plan_path or not written_paths.is_scratch(path, _places(state))
        return is_ours and not path.startswith("~")
    inside = _inside(path, state)
    if _MADE.search(f"/{inside}"):
        return False
    if use is not None:
        is_ours = path == state.plan_path or not written_paths.is_scratch(path, _places(state))
        return is_ours and path not in state.roots and not path.startswith("~")
    if state.roots and inside == path:
        return False
    return written_paths.has_file_name(path) and _is_likely(inside, state)


def _places(state: FoldState) -> list[str]:
    return [*state.roots, *state.clones]


def _inside(path: str, state: FoldState) -> str:
    """Return the path below the root or clone that contains it, or unchanged."""
    return written_paths.anchor(path, _places(state))


def _list_folders(paths: Iterable[str]) -> set[str]:
    """Return all folders that contain one of these files."""
    folders: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return folders


def _is_likely(inside: str, state: FoldState) -> bool:
    """Return whether a path that was only written somewhere can be a file of the project."""
    if _HOST.match(inside) or _FILE_WITHIN.search(inside):
        return False
    if _UNPAIRED.search(_PAIR.sub("", inside)):
        return False
    parts = inside.split("/")
    # `vercel/next.js` is a repository: no known file is in a folder of that name.
    if len(parts) != 2 or not state.files:
        return True
    known = {_inside(path, state).split("/")[0] for path in state.files}
    return parts[0] in known or parts[0].startswith(".") or _is_listed(inside, state)


def _is_listed(inside: str, state: FoldState) -> bool:
    """Return whether a command or an output named the path, and not only prose."""
    mentions = (*state.commanded, *state.shown)
    return any(path == inside for mention in mentions for path in mention.paths)


def _fade(age: float, third_after: float) -> float:
    return math.exp(-age / third_after)

"""Rank the files that will be needed next by how, when and where each was last mentioned.

Everything that suggests a file is a sign. A file's score is the sum of its signs, each times the
weight of its kind.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from leftoff.lazy_patterns import lazy
from leftoff.phrases.short_answers import list_untouched
from leftoff.session.facts import written_paths
from leftoff.session.facts.fold_state import FileUse, FoldState, SessionText
from leftoff.session.facts.plan_parts import list_unfinished_parts

FOCUS_FILES = 10

# The weights were fitted to what recorded sessions did next, a part of the sessions held back.
WEIGHTS = {
    # What happened to the file.
    "edited": 0.4,
    "edited just now": 0.8,
    "edited often": 0.3,
    "read": 0.2,
    "read just now": 1.2,
    "read, not edited since": 0.5,
    "call cut short": 2.0,
    # Where its name occurs.
    "in a command": 1.1,
    "in an output": 0.7,
    "in the last output": 0.8,
    "in the error": 1.1,
    "in the todo in progress": 2.5,
    "in an open todo": 1.0,
    "in the last request": 0.6,
    "in an earlier request": 0.3,
    "in the last words": 1.2,
    "at the end of the last words": 1.2,
    "in earlier words": 0.3,
    "in a thought": 0.8,
    "in the next part of the plan": 2.5,
    "in the plan": 0.4,
    "in an outline": 0.6,
    "in an outline, edited since": 0.2,
    # What belongs together.
    "to commit": 0.4,
    "test or tested": 0.6,
    "shares words": 0.6,
}
# Ten mentions say little more than two.
_STRONGEST = 2.0
# After this many calls, a sign of use or a mention fades to a third.
_SOON, _LATE = 5.0, 25.0
_COMMANDED_FADES = 10.0
_SHOWN_FADES, _LAST_SHOWN_FADES = 10.0, 3.0
_REQUESTED_FADES, _SAID_FADES, _SAID_LAST_FADES = 20.0, 12.0, 4.0
_OUTLINED_FADES, _FAILED_FADES, _PAIRED_FADES = 30.0, 10.0, 8.0
# An output that names this many files says half as much about each of them.
_MANY_SHOWN = 10
_END_OF_WORDS = 300
_ASKED_CHARS = 600
# `container` and `Containerfile` share their beginning.
_WORD_CHARS = 6
_NAME_WORD = lazy(r"[A-Z]?[a-z]{3,}|[A-Z]{4,}")
_PARTS_AHEAD = 3
_PRINTED = frozenset({"in an output", "in the last output", "in the error"})
_FILES_OF_PART = 4

# Code by others and build results. They are not part of the work unless they were edited.
_MADE = lazy(
    r"/(?:node_modules|vendor|third_party|site-packages|__pycache__|dist|build|out|target|coverage"
    r"|CMakeFiles|\.next|\.venv|venv|\.git|\.tox|\.cache|\.mypy_cache|\.pytest_cache|\.turbo)/"
)
# `github.com/org/repo/pkg.Name` and `a.yaml/b.config` look like paths, but are not.
_HOST = lazy(r"^(?:[\w-]+\.)+(?:com|org|net|io|dev|ai|app|sh|co|gg|edu|gov|in|de|uk|cloud)(?:/|$)")
_SOURCE_NAME = lazy(
    r"\.(?:ya?ml|json|toml|md|mdx|tsx?|jsx?|mjs|cjs|py|go|rs|rb|java|kt|cs|cpp|c|h|html?|css|txt|sh|sql)$"
)
_PRODUCT = lazy(
    r"(?:node|next|nuxt|vue|react|express|three|d3|chart|nest|ember)\.js$", re.IGNORECASE
)
_SUFFIX = lazy(r"\.[A-Za-z]\w{0,5}")
_PAIR = lazy(r"\([^()/]*\)|\[[^\[\]/]*\]")
_UNPAIRED = lazy(r"[()\[\]]")
_FILE_WITHIN = lazy(
    r"\.(?:ya?ml|json|toml|md|mdx|tsx?|jsx?|mjs|cjs|py|go|rs|rb|java|kt|cs|cpp|html?|css|txt|lock|sh)/"
)

# `test_a.py`, `a_test.go`, `a.test.ts` and `a.spec.ts` belong to `a`.
_TEST_PART = lazy(r"^test_|[._-](?:tests?|spec)(?=\.)")
_DELIVERS = lazy(r"\b(?:commit|push|PR|pull request|merge)\b", re.IGNORECASE)


class _Sign(NamedTuple):
    path: str
    kind: str
    strength: float = 1.0


class _Known(NamedTuple):
    """What decides which file a written path means."""

    names: dict[str, list[str]]
    expected: Collection[str]
    """Paths that the user named."""
    beside: dict[str, str]
    """The folders looked up so far that tools named from the folder of a package."""


def rank(state: FoldState) -> list[str]:
    """Return paths, absolute if possible, most likely to be needed first."""
    scores = score(state)
    return sorted(scores, key=lambda path: -scores[path])


def score(state: FoldState) -> dict[str, float]:
    """Score each path by how likely it will be needed next."""
    found: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    names = _by_name(state)
    folders = _list_folders(path for paths in names.values() for path in paths)
    for sign in _list_uses(state):
        found[sign.path][sign.kind] += sign.strength
    asked = (state.task, *(said.text for said in state.requests[-1:]))
    known = _Known(names, {path for text in asked for path in _paths(text, state)}, {})
    for sign in _list_mentions(state):
        for path in _resolve(sign, known, state):
            found[path][sign.kind] += sign.strength
    untouched = {path for sign in _list_untouched(state) for path in _resolve(sign, known, state)}
    shown = {
        path: signs
        for path, signs in found.items()
        if path not in folders
        and (path not in untouched or _is_edited(path, state))
        and not _is_dot_folder(path, folders)
        and not state.is_gone(path)
        and _is_worth_showing(path, state)
    }
    for sign in (*_list_pairs(state, shown), *_list_alike(state, shown)):
        shown[sign.path][sign.kind] = sign.strength
    return {path: _weigh(signs) for path, signs in shown.items()}


def _weigh(signs: dict[str, float]) -> float:
    return sum(WEIGHTS[kind] * min(strength, _STRONGEST) for kind, strength in signs.items())


# --- signs of use ---


def _list_uses(state: FoldState) -> Iterator[_Sign]:
    for path, use in state.files.items():
        yield from _list_signs_of_use(path, use, state.calls)
    if _is_delivered_next(state):
        for path, use in state.files.items():
            if use.edits and use.edited_at > state.commit_at:
                yield _Sign(path, "to commit")
    for call in state.open.values():
        for path in call.paths:
            yield _Sign(written_paths.normalise(path, state.cwd), "call cut short")


def _list_signs_of_use(path: str, use: FileUse, now: int) -> Iterator[_Sign]:
    if use.edits:
        yield _Sign(path, "edited", _fade(now - use.edited_at, _LATE))
        yield _Sign(path, "edited just now", _fade(now - use.edited_at, _SOON))
        yield _Sign(path, "edited often", math.log1p(use.edits))
    if use.reads:
        yield _Sign(path, "read", _fade(now - use.read_at, _LATE))
        yield _Sign(path, "read just now", _fade(now - use.read_at, _SOON))
        if use.read_at > use.edited_at:
            yield _Sign(path, "read, not edited since", _fade(now - use.read_at, _SOON))


def _is_delivered_next(state: FoldState) -> bool:
    """Return whether the user or the agent just spoke of a commit."""
    asked = state.requests[-1].text[:_END_OF_WORDS] if state.requests else ""
    said = state.answers[-1] if state.answers else SessionText("")
    is_new = state.calls - said.at < _SAID_LAST_FADES
    words = said.text[-_END_OF_WORDS:] if is_new else ""
    return _DELIVERS.search(f"{asked}\n{words}") is not None


def _list_pairs(state: FoldState, shown: Collection[str]) -> Iterator[_Sign]:
    """Yield the tests of files in use, and the files that tests in use belong to."""
    in_use: defaultdict[str, list[tuple[str, float]]] = defaultdict(list)
    for path, use in state.files.items():
        age = state.calls - max(use.edited_at, use.read_at)
        in_use[_find_stem(path)].append((path.rpartition("/")[2], _fade(age, _PAIRED_FADES)))
    for path in shown:
        name = path.rpartition("/")[2]
        fades = [fade for other, fade in in_use.get(_find_stem(path), ()) if other != name]
        if fades:
            yield _Sign(path, "test or tested", max(fades))


def _list_alike(state: FoldState, shown: Collection[str]) -> Iterator[_Sign]:
    """Yield the files whose names share words with what was asked and said last."""
    asked = state.requests[-1].text[:_ASKED_CHARS] if state.requests else ""
    said = state.answers[-1].text[-_END_OF_WORDS:] if state.answers else ""
    doing = " ".join(todo.text for todo in state.todos if todo.status == "in_progress")
    words = _split_words(f"{asked} {said} {doing}")
    named = {path: _split_words(path.rpartition("/")[2]) & words for path in shown}
    often = Counter(word for shared in named.values() for word in shared)
    for path, shared in named.items():
        if shared:
            # A word that many names share does not distinguish them.
            yield _Sign(path, "shares words", sum(1 / often[word] ** 0.5 for word in shared))


def _split_words(text: str) -> set[str]:
    """Return the beginnings of the words in a text or a name, in small letters."""
    return {word[:_WORD_CHARS].lower() for word in _NAME_WORD.findall(text)}


def _find_stem(path: str) -> str:
    return _TEST_PART.sub("", path.rpartition("/")[2])


# --- signs in texts ---


def _list_mentions(state: FoldState) -> Iterator[_Sign]:
    """Yield the paths in the session's texts, as they are written there."""
    yield from _list_planned(state)
    yield from _list_asked(state)
    yield from _list_said(state)
    now = state.calls
    for failure in state.failures[-1:]:
        fade = _fade(now - failure.at, _FAILED_FADES)
        yield from _each(failure.error, state, "in the error", fade)
    for mention in state.commanded:
        fade = _fade(now - mention.at, _COMMANDED_FADES)
        yield from (_Sign(path, "in a command", fade) for path in mention.paths)
    for mention in state.shown:
        share = 1 / (1 + len(mention.paths) / _MANY_SHOWN)
        fade = share * _fade(now - mention.at, _SHOWN_FADES)
        fade_last = share * _fade(now - mention.at, _LAST_SHOWN_FADES)
        for path in mention.paths:
            yield _Sign(path, "in an output", fade)
            yield _Sign(path, "in the last output", fade_last)


def _list_planned(state: FoldState) -> Iterator[_Sign]:
    edited = {path.rsplit("/", 1)[-1] for path, use in state.files.items() if use.edits}
    for path in state.plan_paths:
        if path.rsplit("/", 1)[-1] not in edited:
            yield _Sign(path, "in the plan")
    if state.plan_seq >= state.goal_seq:
        for n, part in enumerate(list_unfinished_parts(state)[:_PARTS_AHEAD]):
            for path in part.paths[:_FILES_OF_PART]:
                yield _Sign(path, "in the next part of the plan", 1 / (1 + n))
    fade = _fade(state.calls - state.outline.at, _OUTLINED_FADES)
    for path in _paths(state.outline.text, state):
        is_done = _is_done(path, state)
        yield _Sign(path, "in an outline, edited since" if is_done else "in an outline", fade)
    for todo in state.todos:
        if todo.is_open:
            is_begun = todo.status == "in_progress"
            kind = "in the todo in progress" if is_begun else "in an open todo"
            yield from _each(todo.text, state, kind)


def _list_asked(state: FoldState) -> Iterator[_Sign]:
    now = state.calls
    for said in state.requests[-1:]:
        fade = _fade(now - said.at, _REQUESTED_FADES)
        yield from _each(said.text, state, "in the last request", fade)
    for text in (state.task, *(said.text for said in state.requests[-3:-1])):
        yield from _each(text, state, "in an earlier request", 0.5)


def _list_untouched(state: FoldState) -> Iterator[_Sign]:
    """Yield the paths of files that the user wants to stay as they are."""
    for text in (state.task, *(said.text for said in state.requests[-3:])):
        # Few requests name a file at all.
        for clause in list_untouched(text) if _paths(text, state) else ():
            yield from _each(clause, state, "in an earlier request")


def _is_edited(path: str, state: FoldState) -> bool:
    use = state.files.get(path)
    return use is not None and use.edits > 0


def _list_said(state: FoldState) -> Iterator[_Sign]:
    now = state.calls
    for said in state.answers[-1:]:
        fade = _fade(now - said.at, _SAID_FADES)
        yield from _each(said.text, state, "in the last words", fade)
        fade = _fade(now - said.at, _SAID_LAST_FADES)
        end = said.text[-_END_OF_WORDS:]
        yield from _each(end, state, "at the end of the last words", fade)
    for said in state.answers[-2:-1]:
        yield from _each(said.text, state, "in earlier words", _fade(now - said.at, _SAID_FADES))
    fade = _fade(now - state.thought.at, _SAID_FADES)
    yield from _each(state.thought.text, state, "in a thought", fade)


def _each(text: str, state: FoldState, kind: str, strength: float = 1.0) -> Iterator[_Sign]:
    return (_Sign(path, kind, strength) for path in _paths(text, state))


def _paths(text: str, state: FoldState) -> tuple[str, ...]:
    return written_paths.paths_in(text, is_windows=written_paths.is_windows(state.cwd))


def _is_done(path: str, state: FoldState) -> bool:
    """Return whether a file in the outline was edited after the outline was written."""
    return any(
        use.edited_at > state.outline.at and known.endswith("/" + path)
        for known, use in state.files.items()
    )


# --- which file a written path means ---


def _by_name(state: FoldState) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for path in state.files:
        names.setdefault(path.rsplit("/", 1)[-1], []).append(path)
    # A request that names a file whole may name it again without its folder.
    asked = (state.task, *(said.text for said in state.requests[-1:]))
    mentioned = [*(each.paths for each in (*state.shown, *state.commanded))]
    for paths in (*mentioned, *(_paths(text, state) for text in asked)):
        for path in paths:
            if "/" in path:
                full = _place(path, state)
                known = names.setdefault(path.rsplit("/", 1)[-1], [])
                if full not in known:
                    known.append(full)
    return names


def _resolve(sign: _Sign, known: _Known, state: FoldState) -> list[str]:
    """Return the known files that a path in a text refers to, or the path itself."""
    path = sign.path
    alike = known.names.get(path.rsplit("/", 1)[-1], [])
    meant = [full for full in alike if full == path or full.endswith("/" + path)]
    # A file that was opened is meant rather than one that only seems to exist.
    used = [full for full in meant if full in state.files]
    if not used and sign.kind in _PRINTED:
        folder, _, name = path.rpartition("/")
        if folder not in known.beside:
            known.beside[folder] = _find_beside(folder, state)
        if known.beside[folder]:
            return [f"{known.beside[folder]}{name}"]
    if len(used) > 1:
        used.sort(key=lambda full: -max(state.files[full].edited_at, state.files[full].read_at))
    if meant:
        # A name shared by many files, such as `__init__.py`, would raise them all.
        return (used or meant)[:2]
    # A bare name in a request is a file that the user expects, unless it is a product.
    is_expected = path in known.expected and _SOURCE_NAME.search(path) and not _PRODUCT.match(path)
    return [_place(path, state)] if "/" in path or is_expected else []


def _find_beside(folder: str, state: FoldState) -> str:
    """Return the folder that a tool named from that of a package: `src` of `packages/web`.

    That is where a file was used last in a folder of that name, if the project itself has none.
    """
    if not folder or folder[0] in "/~.":
        return ""
    top, end = f"{_place(folder.partition('/')[0], state)}/", f"/{folder}/"
    if any(path.startswith(top) for path in state.files):
        return ""
    uses = state.files.items()
    near = [(max(use.edited_at, use.read_at), path) for path, use in uses if end in path]
    last = max(near, default=(0, ""))[1]
    return last[: last.index(end) + len(end)] if last else ""


def _place(path: str, state: FoldState) -> str:
    """Return the absolute path; `src/a.c` in a session that works in `src` is below its parent."""
    parent, _, folder = state.cwd.rpartition("/")
    is_beside = bool(folder) and path.startswith(f"{folder}/")
    if is_beside and any(known.startswith(f"{state.cwd}/{folder}/") for known in state.files):
        # The folder has one of the same name in it.
        is_beside = False
    return written_paths.normalise(path, parent if is_beside else state.cwd)


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
    if _SUFFIX.fullmatch(inside) and any(known.endswith(inside) for known in state.files):
        # "All .wxs files" names no file.
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


def _is_dot_folder(path: str, folders: Collection[str]) -> bool:
    """Return whether another folder has the same name, such as `.github`."""
    name = path.rpartition("/")[2]
    return name.startswith(".") and any(each.endswith(f"/{name}") for each in folders)


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
    if parts[0] in known or parts[0].startswith("."):
        return True
    # Only JavaScript repositories are named like a source file.
    is_source = _SOURCE_NAME.search(inside) and not inside.endswith(".js")
    return bool(is_source) or _is_listed(inside, state)


def _is_listed(inside: str, state: FoldState) -> bool:
    """Return whether a command or an output named the path, and not only prose."""
    mentions = (*state.commanded, *state.shown)
    return any(_inside(path, state) == inside for mention in mentions for path in mention.paths)


def _fade(age: float, third_after: float) -> float:
    return math.exp(-age / third_after)

"""Find the paths of files that a text mentions; when in doubt, find nothing."""

import posixpath
import re
from collections.abc import Iterator

# Compiled on first use: every hook loads this module, and few projects need it. A word ends where
# a path cannot go on.
_WORD = r"[^\s`'\"<>|,;(){}\[\]*?!，。；：、（）【】「」]+"
_PATH = r"(?:~/|\.{1,2}/|/)?(?:[\w.@+%-]+/)*[\w.@+%-]+"
_LINES = r"(?::\d+(?:[-:–]\d+)?|#L\d+(?:-L?\d+)?)$"
_SUFFIXES = frozenset(
    """
    py pyi ipynb js jsx ts tsx mjs cjs vue svelte go rs rb java kt kts swift cc cpp hpp cs php lua
    pl ex exs erl hs scala clj dart jl sh bash zsh fish ps1 sql md mdx rst txt json jsonl yaml yml
    toml ini cfg conf env csv tsv xml html htm css scss sass less lock proto graphql tf gradle log
    pdf png jpg jpeg gif svg webp sqlite db tmpl j2 c h
    """.split()
)
# These are names of libraries.
_LIBRARY = r"(?:[A-Z]\w*|node|next|nuxt|vue|three|d3|react|p5|chart|express)\.js"
# What follows one of these words need not exist yet, unless one of the others comes between.
_MAKING = (
    r"(?is).*\b(?:add|create|copy|export|extract|generate|introduce|make|mkdir|move|mv|new|put|"
    r"rename|save|scaffold|touch|write)\b((?:[^.;]|\.(?=\S))*)$"
)
_USING = r"(?i)\b(?:then|run|execute|open|read|check|verify|pytest|python)\b"


def find_paths(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each path, and whether it must exist: a bare name, or one to be made, need not."""
    for found in re.finditer(_WORD, text):
        word = re.sub(_LINES, "", found[0].rstrip(".:…"))
        # `<folder>/x.py` and `src/*.py` name no file.
        is_pattern = text[found.start() - 1 : found.start()] in {">", "*", "}"}
        if is_pattern or not _is_path(word):
            continue
        path = posixpath.normpath(word)
        is_bare = "/" not in path
        yield path, not is_bare and not _is_made(text[: found.start()])


def _is_made(before: str) -> bool:
    """Return whether the words before a path say that it is to be made."""
    found = re.match(_MAKING, before)
    return found is not None and re.search(_USING, found[1]) is None


def _is_path(word: str) -> bool:
    if re.fullmatch(_PATH, word) is None:
        return False
    name = word.rpartition("/")[2]
    stem, dot, suffix = name.rpartition(".")
    if not dot or suffix.lower() not in _SUFFIXES or not (stem or suffix == "env"):
        return False
    first, slash, _ = word.partition("/")
    if not slash:
        return len(suffix) > 1 and re.fullmatch(_LIBRARY, word) is None and "@" not in word
    # An address: `example.com/page.html`.
    return "." not in first.lstrip(".") and not word.startswith("//")

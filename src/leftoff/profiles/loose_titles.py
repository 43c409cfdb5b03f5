"""Find the title in a heading that says more: a translation, a remark, a count."""

import re
from collections.abc import Callable, Iterator

# `Left Off [中断箇所]`, `Blockers — since Monday`, `Next: today`
_INSIDE = re.compile(r"[ \t]*[(\[（［【]([^()\[\]（）［］【】]*)[)\]）］】][ \t]*")
_BEHIND = re.compile(r"[ \t]*[:：·—–][ \t]*|[ \t]--?[ \t]+")
# `Done / 完了`
_BESIDE = re.compile(r"[ \t]*[/／|][ \t]*")
_LETTERS = re.compile(r"[A-Za-z][A-Za-z' &-]*[A-Za-z]")


def find_title(title: str, know: Callable[[str], str | None]) -> tuple[str | None, str]:
    """Return the title that a heading stands for, and what it says besides it.

    `know` returns the title that a spelling stands for.
    """
    for parts in _split(title):
        found = next(filter(None, map(know, parts)), None)
        if found is not None:
            others = [each for each in parts if know(each) != found and re.search(r"\w", each)]
            return found, " ".join(others)
    parts = _BESIDE.split(title)
    meanings = {*filter(None, map(know, parts))}
    # A heading that names two sections is neither.
    if len(meanings) != 1:
        return None, ""
    return meanings.pop(), " ".join(each for each in parts if know(each) is None)


def _split(title: str) -> Iterator[list[str]]:
    """Yield the ways to take a heading apart in which the first known part is the title."""
    if inside := _INSIDE.findall(title):
        yield [_INSIDE.sub(" ", title).strip(), *inside]
    if len(behind := _BEHIND.split(title)) > 1:
        yield behind
    latin = _LETTERS.search(title) if not title.isascii() else None
    if latin is not None and _BESIDE.search(title) is None:
        yield [latin[0], (title[: latin.start()] + title[latin.end() :]).strip()]

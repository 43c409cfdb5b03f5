"""Read headings as language models spell them: bold, numbered, on another level, with a colon.

A file is rewritten to the one form that the layouts describe, before it is split. Only titles that
the file lacks in that form count, so files that leftoff wrote are never changed.
"""

import functools
import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence

_FENCE = re.compile(r"[ \t]*(```|~~~)")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.+?)[ \t]*$")
# **Status:** text, **Status**: text, - **Status** : text
_BOLD = re.compile(
    r"(?:[-*+][ \t]+)?(\*\*|__)(?P<title>[^*\n]+?)(?:[ \t]*[:：][ \t]*\1|\1[ \t]*[:：])"
    r"[ \t]*(?P<rest>.*)$"
)
# **Status** on a line of its own.
_BOLD_ALONE = re.compile(r"(\*\*|__)(?P<title>[^*\n]+?)\1(?P<rest>)[ \t]*$")
_PLAIN = re.compile(
    r"(?:[-*+][ \t]+)?(?P<title>[^\s*:：][^*:：\n]{0,40}?)[ \t]*[:：](?:[ \t]+(?P<rest>.*))?$"
)
_FIELD = re.compile(r"\*\*[^*\n]+:\*\*")
_NUMBER = re.compile(r"^\(?\d{1,2}[.):]\s*")
# A sign before a field: `🎯 **Task:** …`
_EMOJI = re.compile(r"^[^\w\s!-/:-@\[-`{-~]+[ \t]+")
_COUNT = re.compile(r"\s*[(\[]\d+[)\]]$")
_EDGES = re.compile(r"^[^\w(]+|[^\w)]+$")
_LEAST_PLAIN = 3
_BULLET = re.compile(r"[-*+][ \t]")
_INDENT = "  "


# Reading a file folds some 400 spellings of headings, the same ones for each file.
@functools.lru_cache(maxsize=4096)
def fold_title(title: str) -> str:
    """Normalize a heading, so that case, emphasis, numbers and punctuation do not count."""
    plain = unicodedata.normalize("NFKC", title).replace("`", "").replace("*", "").strip("_ \t")
    plain = _NUMBER.sub("", _EDGES.sub("", plain))
    plain = _COUNT.sub("", _EDGES.sub("", plain))
    return " ".join(plain.replace("-", " ").replace("_", " ").casefold().split())


def level_headings(text: str, titles: Collection[str]) -> str:
    """Return a text in which each of these folded titles is a heading of the second level."""
    lines = text.replace("\r\n", "\n").split("\n")
    missing = {*titles} - {*find_sections(text)}
    if not missing:
        return text
    is_bare = len(missing) == len({*titles})
    made = [*_level_lines(lines, missing)]
    if is_bare and made == lines:
        made = _level_plain(lines, missing)
    return "\n".join(made)


def level_fields(text: str, titles: Collection[str]) -> str:
    """Return a text in which each of these fields above the sections is `**Name:** value`."""
    lines = text.replace("\r\n", "\n").split("\n")
    seen: set[str] = set()
    for number, line in enumerate(lines):
        heading = _HEADING.match(line)
        if heading and len(heading[1]) > 1:
            break
        bare = _EMOJI.sub("", line)
        found = _BOLD.match(bare) or _PLAIN.match(bare)
        name = fold_title(found["title"]) if found else ""
        if found and name in titles and name not in seen:
            seen.add(name)
            if not _FIELD.match(line):
                lines[number] = f"**{found['title'].strip()}:** {found['rest'] or ''}"
    return "\n".join(lines)


def _mark_open(lines: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yield each line, and whether it is outside of fences."""
    fence = ""
    for line in lines:
        mark = _FENCE.match(line)
        if mark is not None:
            fence = "" if mark[1] == fence else fence or mark[1]
        yield line, not fence


def find_sections(text: str) -> Iterator[str]:
    """Yield the folded titles of the headings of the second level."""
    for line, is_open in _mark_open(text.replace("\r\n", "\n").split("\n")):
        found = _HEADING.match(line) if is_open else None
        if found and len(found[1]) == 2:
            yield fold_title(found[2])


def _level_lines(lines: Sequence[str], missing: Collection[str]) -> Iterator[str]:
    """Yield the lines with headings; what is nested below a bullet that became one moves out."""
    indent = ""
    for line, is_open in _mark_open(lines):
        made = _level(line, missing) if is_open else line
        if made != line:
            indent = _INDENT if _BULLET.match(line) else ""
        elif line.strip() and not line.startswith(indent):
            indent = ""
        yield made.removeprefix(indent) if made == line else made


def _level(line: str, missing: Collection[str]) -> str:
    heading = _HEADING.match(line)
    if heading is not None:
        return f"## {heading[2]}" if fold_title(heading[2]) in missing else line
    bold = _BOLD.match(line) or _BOLD_ALONE.match(line)
    if bold is None or fold_title(bold["title"]) not in missing:
        return line
    return _as_section(bold)


def _level_plain(lines: Sequence[str], missing: Collection[str]) -> list[str]:
    """Treat `Status: …` as a section in a file without headings, if it has several such lines."""
    found = [_PLAIN.match(line) if is_open else None for line, is_open in _mark_open(lines)]
    known = [each if each and fold_title(each["title"]) in missing else None for each in found]
    if sum(each is not None for each in known) < _LEAST_PLAIN:
        return [*lines]
    return [_as_section(each) if each else line for each, line in zip(known, lines, strict=True)]


def _as_section(found: re.Match[str]) -> str:
    rest = found["rest"]
    return f"## {found['title'].strip()}\n{rest}" if rest else f"## {found['title'].strip()}"

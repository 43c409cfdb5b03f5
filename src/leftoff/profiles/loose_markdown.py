"""Read Markdown that an agent wrote by hand: sections, fields and lists in any usual spelling.

Nothing is dropped: every line belongs to a part, and every word of a list to an item.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec

from leftoff.profiles.loose_titles import find_title
from leftoff.profiles.markdown_codec import unescape

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?[ \t]*#*[ \t]*$")
_FENCE = re.compile(r"\s*(```|~~~)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-{3,})[ \t]*$")
# **Left Off:** half of it
_INLINE = re.compile(r"(?:[-*+][ \t]+)?\*\*([^*:\n]{2,40})(?::\*\*|\*\*[ ]?:)[ \t]+(\S.*)$")
_ALONE = re.compile(r"\s*(?:\*\*(.+?)\*\*|__(.+?)__|(\w[\w' ]{2,40}):)[ \t]*:?[ \t]*$")
_LINES_OF_FRONT_MATTER = 40


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A heading and the lines below it; the top of a file is a part, too."""

    title: str = ""
    lines: list[str]
    known: str | None = None
    """The title that a heading stands for, if it is a known one."""
    aside: bool = False
    """Whether the heading says more than that title."""

    @property
    def has_text(self) -> bool:
        """Whether it has anything to read."""
        return bool(self.title.strip() or any(line.strip() for line in self.lines))


class _Heading(msgspec.Struct, frozen=True):
    """A line that may begin a part."""

    level: int
    title: str
    lines: int = 1
    """How many lines it takes."""
    text: str = ""
    """What its line says behind the title."""


def fold(text: str) -> str:
    """Normalize a heading or key: case, accents, numbering, emphasis and signs do not count."""
    bare = unicodedata.normalize("NFKD", text).casefold().replace("'", "").replace("\u2019", "")
    plain = "".join(each for each in bare if not unicodedata.combining(each))
    words = re.sub(r"[\W_]+", " ", unicodedata.normalize("NFC", plain)).split()
    while len(words) > 1 and words[0].isdecimal():
        words.pop(0)
    return " ".join(words)


def split(text: str, titles: Mapping[str, str]) -> list[Part]:
    """Split a file at its headings; `titles` has the known ones, folded."""
    lines = _drop_front_matter(text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n"))
    headings = dict(_find_headings(lines))
    known = [each.level for each in headings.values() if _find_known(each.title, titles)[0]]
    # A bold line can be a heading that the file does not have otherwise; without any real heading,
    # other lines can be one, too.
    there = {_find_known(each.title, titles)[0] for each in headings.values()}
    loose = {
        at: each
        for at, each in _find_loose(lines)
        if _is_missing(each, titles, there)
        and (not known or (lines[at].startswith(("**", "__")) and not each.text))
    }
    headings = {**loose, **headings}
    level = min(known, default=2)
    starts = [
        at
        for at, each in sorted(headings.items())
        if each.level <= level or _find_known(each.title, titles)[0]
    ]
    return _cut(lines, headings, starts, titles)


def _is_missing(
    heading: _Heading, titles: Mapping[str, str], there: Collection[str | None]
) -> bool:
    known = _find_known(heading.title, titles)[0]
    return known is not None and known not in there


def _cut(
    lines: Sequence[str],
    headings: Mapping[int, _Heading],
    starts: Sequence[int],
    titles: Mapping[str, str],
) -> list[Part]:
    above = list(lines[: starts[0] if starts else len(lines)])
    parts = [Part(lines=above)]
    for number, at in enumerate(starts):
        heading = headings[at]
        end = starts[number + 1] if number + 1 < len(starts) else len(lines)
        below = [heading.text] if heading.text else []
        below += lines[at + heading.lines : end]
        known, aside = _find_known(heading.title, titles)
        is_first = fold(heading.title).startswith("checkpoint") or not any(map(str.strip, above))
        if known is None and not number and is_first:
            parts[0] = Part(title=heading.title, lines=[*above, *below])
        else:
            parts.append(Part(title=heading.title, lines=below, known=known, aside=aside))
    return parts


def _find_known(title: str, titles: Mapping[str, str]) -> tuple[str | None, bool]:
    """Return the known title that a heading stands for, and whether it says more."""
    if found := titles.get(fold(title)):
        return found, False
    found, aside = find_title(title, lambda each: titles.get(fold(each)))
    return found, bool(aside)


def _find_headings(lines: Sequence[str]) -> Iterator[tuple[int, _Heading]]:
    """Yield the headings with a `#`, outside of fences."""
    fence = ""
    for at, line in enumerate(lines):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1] == fence:
            fence = ""
        elif not fence and (found := _HEADING.match(line)):
            yield at, _Heading(len(found[1]), found[2] or "")


def _find_loose(lines: Sequence[str]) -> Iterator[tuple[int, _Heading]]:
    """Yield lines that serve as headings: underlined, bold or with a colon."""
    for at, line in enumerate(lines):
        following = lines[at + 1] if at + 1 < len(lines) else ""
        if line.strip() and _UNDERLINE.match(following):
            yield at, _Heading(2, line.strip(), lines=2)
        elif found := _ALONE.match(line):
            yield at, _Heading(2, next(filter(None, found.groups())).rstrip(":"))
        elif found := _INLINE.match(line):
            yield at, _Heading(2, found[1], text=found[2])


def _drop_front_matter(lines: list[str]) -> list[str]:
    """Return the fields of front matter as ordinary lines."""
    end = next((n for n, line in enumerate(lines[1:_LINES_OF_FRONT_MATTER], 1) if line == "---"), 0)
    return [*lines[1:end], *lines[end + 1 :]] if lines[0] == "---" and end else lines


# --- fields ---

# A quote, a bullet, an emoji; the name, possibly with its translation in brackets.
_LEAD = r"[\s>]*(?:[-*+\u2022][ \t]+)?(?:[^\w\s!-/:-@\[-`{-~]+[ \t]*)?"
# The vowel signs of Indian and Thai scripts are not letters to a pattern.
_NAME = r"([^\W\d_][\w\u0900-\u0e7f ]{1,30}?(?:[ \t]*[(\uff08][^()\uff08\uff09]{1,30}[)\uff09])?)"
_FIELD = re.compile(
    rf"{_LEAD}(?:\*\*|__)?{_NAME}(?:\*\*|__)?\s*[:\uff1a](?:\*\*|__)?\s*(.*?)[ \t]*$"
)
# A bold name, a dash of any length, and the value.
_DASHED = re.compile(
    rf"{_LEAD}(?:\*\*|__){_NAME}(?:\*\*|__)[ \t]+[-\u2013\u2014][ \t]+(.*?)[ \t]*$"
)
_CELLS = re.compile(r"\s*\|[ \t*]*([^\W\d_][\w ]{1,30}?)[ \t*:]*\|[ \t]*(.*?)[ \t]*\|?[ \t]*$")


def split_fields(line: str) -> list[str]:
    """Split a line that has several fields: `Branch: main | Saved: …`."""
    found = re.split(r"[ \t]+[|\u00b7\u2022][ \t]+", line)
    is_split = len(found) > 1 and not line.lstrip().startswith("|")
    return found if is_split and all(map(read_field, found)) else [line]


_WHOLE = re.compile(
    r"\s*(```+|~~~+)[ \t]*(?:markdown|md|text)?[ \t]*\n(.*)\n\1[ \t]*\s*", re.DOTALL
)


def unfence(text: str) -> str:
    """Return a text without the code fence around all of it, if no heading is outside of it."""
    whole = _WHOLE.fullmatch(text)
    is_bare = whole is not None and next(_find_headings(text.split("\n")), None) is None
    return whole[2] if whole is not None and is_bare else text


def unquote(text: str) -> str:
    """Return a text without the marks of a quote, if all of it is one."""
    lines = text.split("\n")
    is_quote = all(line.startswith(">") for line in lines if line.strip())
    return "\n".join(re.sub(r"^> ?", "", line) for line in lines) if is_quote else text


def read_field(line: str) -> tuple[str, str] | None:
    """Return the name and the value of a field, as a bullet or in a table."""
    found = _FIELD.match(line) or _DASHED.match(line) or _CELLS.match(line)
    return (found[1], found[2]) if found else None


# --- lists ---

_BULLET = re.compile(r" ?(?:[-*+\u2022\u2023\u2013\u25aa\u25cf]|\d{1,3}[.)])[ \t]+(.*)$")
_RULER = re.compile(r"[\s|:=-]*$")
_BREAK = re.compile(r"\s{0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$")


def is_blank(line: str) -> bool:
    """Return whether a line has nothing to read: it is empty, or a ruler."""
    return not line.strip() or _BREAK.match(line) is not None


def is_bullet(line: str) -> bool:
    """Return whether a line begins an item of a list."""
    return _BULLET.match(line) is not None


def read_items(lines: Sequence[str]) -> list[str]:
    """Return the items of a list: bullets with all that is below them, and paragraphs."""
    found: list[str] = []
    is_after_blank, fence = True, ""
    for line in list_rows(lines):
        mark = _FENCE.match(line)
        is_fenced = bool(fence or mark) and bool(found)
        if mark:
            fence = "" if mark[1] == fence else fence or mark[1]
        bullet, heading = _BULLET.match(line), _HEADING.match(line)
        if bullet and not is_fenced:
            found.append(bullet[1])
        elif heading and heading[2] and not is_fenced and line.startswith("#"):
            found.append(f"{heading[2].rstrip(':')}:")
        elif found and (is_fenced or line.startswith(("  ", "\t"))):
            found[-1] += "\n" + (line[2:] if line.startswith("  ") else line.removeprefix("\t"))
        elif is_blank(line):
            found[-1:] = [f"{found[-1]}\n"] if found else []
        elif is_after_blank or not found:
            found += [] if _RULER.match(line) else [line]
        else:
            found[-1] += f"\n{line}"
        is_after_blank = not fence and is_blank(line)
    items = [unescape(each.rstrip("\n")) for each in found]
    return [each for each in items if each.strip()]


# --- tables ---

# More spaces would make it a detail of the bullet above.
_ROW = re.compile(r" ?\|(.*?)\|?[ \t]*$")
_CELL_RULER = re.compile(r" ?\|[\s:]*-+[\s|:-]*$")
_CELL_EDGE = re.compile(r"(?<!\\)\|")
_COUNTER = re.compile(r"\W*(?:\d{1,3}\W*)?")
_FEW_CELLS = 2
# The headings of columns that a reader does not need: the items of the list are of that kind.
LABELS = frozenset(
    fold(each)
    for each in """
    approach, attempt, idea, what, what we tried, tried, method, why, reason, why it failed, result,
    outcome, problem, file, path, change, changes, task, item, description, done, status, notes,
    approche, tentative, essai, idee, raison, pourquoi, resultat, fichier, modification, tache,
    ansatz, versuch, grund, warum, ergebnis, datei, aenderung, aufgabe, beschreibung,
    enfoque, intento, razon, motivo, por que, resultado, archivo, cambio, tarea,
    abordagem, tentativa, arquivo, approccio, tentativo, perche, modifica,
    方法, 原因, 文件, 结果, 修改, 尝试, アプローチ, 理由, ファイル, 変更
    """.split(",")
)


def list_rows(lines: Sequence[str]) -> list[str]:
    """Return the lines of a list in which the rows of tables are bullets: `first \u2014 second`."""
    result: list[str] = []
    header: list[str] | None = None
    fence = ""
    for at, line in enumerate(lines):
        mark = _FENCE.match(line)
        if mark:
            fence = "" if mark[1] == fence else fence or mark[1]
        row = _ROW.match(line) if not fence else None
        if row is None:
            header = None
            result.append(line)
        elif header is None and _CELL_RULER.match("".join(lines[at + 1 : at + 2])):
            header = _split_cells(row[1])
        elif header is None:
            result.append(line)
        elif not _CELL_RULER.match(line):
            result.append(f"- {_join_cells(header, _split_cells(row[1]))}")
    return result


def _split_cells(row: str) -> list[str]:
    return [each.strip().replace("\\|", "|") for each in _CELL_EDGE.split(row)]


def _join_cells(header: Sequence[str], cells: Sequence[str]) -> str:
    """Join the cells of a row; the heading of a column stays with its cell if it says more."""
    titles = [*header, *([""] * len(cells))]
    shown = [
        cell if not title or fold(title) in LABELS else f"{title}: {cell}"
        for title, cell in zip(titles, cells, strict=False)
        if cell and not (_COUNTER.fullmatch(cell) and _COUNTER.fullmatch(title))
    ]
    first = " \u2014 ".join(shown[:_FEW_CELLS])
    return "; ".join([first, *shown[_FEW_CELLS:]])

"""Describe native Markdown files as tables that list each section and field once.

Sections are written in the order of the table. A heading is recognized by its title or by one of
its `spellings`, so a new spelling is one more word in the table. Unknown parts are returned
unchanged, so that a profile can keep them and write them back.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, TypeVar

import msgspec

from leftoff.checkpoint import Checkpoint

Lines = Sequence[str]
Plain = dict[str, Any]


Value = TypeVar("Value")


class FilePart(msgspec.Struct, Generic[Value], frozen=True):
    """A section or field: its title, how to read it into a checkpoint, and how to write it."""

    title: str
    read: Callable[[Value], Plain]
    write: Callable[[Checkpoint], str | None]
    """Returns None to leave the part out."""
    spellings: tuple[str, ...] = ()
    """Other titles that mean the same."""


Section = FilePart[Lines]
Field = FilePart[str]


class Style(msgspec.Struct, frozen=True, kw_only=True):
    """How a system writes texts and lists, for sections that hold a single key."""

    read_text: Callable[[Lines], str | None]
    write_text: Callable[[str | None], str]
    read_list: Callable[[Lines], list[str]]
    write_list: Callable[[Sequence[str]], str]

    def text(self, title: str, key: str, **more: Any) -> Section:
        """Return a section that holds a text."""
        return _make_section(title, key, self.read_text, self.write_text, **more)

    def texts(self, title: str, key: str, **more: Any) -> Section:
        """Return a section that holds a list of texts."""
        return _make_section(title, key, self.read_list, self.write_list, **more)


def _make_section(  # noqa: PLR0913 - each is a keyword
    title: str,
    key: str,
    read: Callable[[Lines], Any],
    write: Callable[[Any], str],
    *,
    find: Callable[[Checkpoint], Any] | None = None,
    is_optional: bool = False,
    spellings: tuple[str, ...] = (),
) -> Section:
    """Make a section for one key; `find` computes a value that depends on more than that key."""

    def write_value(checkpoint: Checkpoint) -> str | None:
        value = find(checkpoint) if find else getattr(checkpoint, key)
        return None if is_optional and not value else write(value)

    return Section(title, lambda lines: {key: read(lines)}, write_value, spellings)


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """A file split into the parts that the table knows by title, and the rest unchanged."""

    fields: dict[str, str] = {}
    sections: dict[str, list[str]] = {}
    intro: str = ""
    """Everything above the fields except the title."""
    unknown_fields: dict[str, str] = {}
    unknown_sections: dict[str, str] = {}


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """The table of one kind of file."""

    sections: tuple[Section, ...]
    fields: tuple[Field, ...] = ()
    field_mark: re.Pattern[str] = re.compile(r"\*\*([^*\n]+?):\*\*[ \t]*(.*)$")
    """Matches the first line of a field: its name, and the start of its value."""
    field_line: str = "**{title}:** {value}"
    fold: Callable[[str], str] = str.lower
    """Normalizes headings, so that insignificant differences do not count."""
    joins_repeated: bool = True
    """Whether a repeated section continues the first one, or counts as unknown."""

    def split(self, text: str) -> Parts:
        """Split a file into known and unknown parts."""
        above, *found = split_sections(text)
        titles = self._find_titles(self.sections)
        known: dict[str, list[str]] = {}
        unknown: dict[str, list[str]] = {}
        for section in found:
            title = titles.get(self.fold(section.title))
            if title is None:
                unknown.setdefault(section.title, []).append("\n".join(section.lines).strip("\n"))
            elif title not in known or self.joins_repeated:
                known.setdefault(title, []).extend(section.lines)
            elif known[title] != section.lines:
                # Pasted in below the first one: not its content, but somebody's text.
                unknown.setdefault(section.title, []).append("\n".join(section.lines).strip("\n"))
        fields, unknown_fields, intro = self._split_fields(above.lines)
        return Parts(
            fields=fields,
            sections=known,
            intro=intro,
            unknown_fields=unknown_fields,
            unknown_sections={
                title: "\n\n".join(filter(None, texts)) for title, texts in unknown.items()
            },
        )

    def _split_fields(self, lines: Lines) -> tuple[dict[str, str], dict[str, str], str]:
        values: dict[str, list[str]] = {}
        name = ""
        for line in lines[1:] if lines and lines[0].startswith("# ") else lines:
            found = self.field_mark.match(line)
            name = found[1] if found else name
            values.setdefault(name, []).append(found[2] if found else line)
        texts = {name: "\n".join(value).strip(" \t\r\n") for name, value in values.items()}
        intro = texts.pop("", "")
        titles = self._find_titles(self.fields)
        chosen: dict[str, str] = {}
        for name in texts:
            title = titles.get(self.fold(name))
            # If a field has two names, its own title wins, and the other one is kept.
            if title and (title not in chosen or self.fold(name) == self.fold(title)):
                chosen[title] = name
        known = {title: texts[name] for title, name in chosen.items()}
        unknown = {k: v for k, v in texts.items() if v and k not in chosen.values()}
        return known, unknown, intro

    def _find_titles(self, table: Sequence[FilePart[Any]]) -> dict[str, str]:
        return {
            self.fold(spelling): each.title
            for each in table
            for spelling in (each.title, *each.spellings)
        }

    def read(self, parts: Parts) -> Plain:
        """Return the content of the parts, in keys of a checkpoint."""
        plain: Plain = {}
        for field in self.fields:
            if field.title in parts.fields:
                plain |= field.read(parts.fields[field.title])
        for section in self.sections:
            if section.title in parts.sections:
                plain |= section.read(parts.sections[section.title])
        return plain

    def write_fields(self, checkpoint: Checkpoint) -> list[str]:
        """Write the fields, one per line."""
        written = ((field.title, field.write(checkpoint)) for field in self.fields)
        return [self.write_field(title, value) for title, value in written if value is not None]

    def write_field(self, title: str, value: str) -> str:
        """Write one field."""
        return self.field_line.format(title=title, value=value)

    def write_sections(
        self, checkpoint: Checkpoint, unknown: Iterable[tuple[str, str]] = ()
    ) -> str:
        """Write the sections, the unknown ones last."""
        bodies = [(section.title, section.write(checkpoint)) for section in self.sections]
        return "\n".join(
            f"## {title}\n{body}\n" for title, body in [*bodies, *unknown] if body is not None
        )


def read_nothing(_: object) -> Plain:
    """Ignore a part without content to keep."""
    return {}


# --- the Markdown of native layouts: a title, sections, bullets ---


_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*$")
_BULLET = re.compile(r"[-*+][ \t]+(.*)$")
_FENCE = re.compile(r"\s*(```|~~~)")


class MarkdownSection(msgspec.Struct, frozen=True):
    """A heading and the lines below it, up to the next heading of its level or above."""

    title: str
    lines: list[str]

    @property
    def text(self) -> str:
        """The lines as one text, without escapes."""
        return unescape("\n".join(self.lines).strip("\n"))


def split_sections(text: str) -> list[MarkdownSection]:
    """Split a text at its headings of the second level; the part above has no title."""
    found = [MarkdownSection("", [])]
    for line, is_heading in _mark_lines(text):
        heading = _HEADING.match(line) if is_heading else None
        if heading and heading[1] == "##":
            found.append(MarkdownSection(heading[2], []))
        else:
            found[-1].lines.append(line)
    return found


def find_title(text: str) -> str:
    """Return the text of the first heading; empty if there is none."""
    for line, is_heading in _mark_lines(text):
        if is_heading and (found := _HEADING.match(line)):
            return found[2]
    return ""


def _mark_lines(text: str) -> Iterable[tuple[str, bool]]:
    """Yield each line, and whether it can be a heading: lines inside fences cannot."""
    fence = ""
    for line in text.replace("\r\n", "\n").split("\n"):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1] == fence:
            fence = ""
        yield line, not fence and line.startswith("#")


def read_bullets(lines: Sequence[str]) -> list[str]:
    """Return the bullets, each with its indented continuation lines."""
    found: list[str] = []
    for line in lines:
        if bullet := _BULLET.match(line):
            found.append(bullet[1])
        elif found and line.startswith("  "):
            found[-1] += f"\n{line[2:]}"
        elif found and not line.strip():
            found[-1] += "\n"
    return [unescape(each.rstrip("\n")) for each in found]


def write_bullets(texts: Iterable[str], *, none: str) -> str:
    """Write texts as bullets; further lines of a text are indented."""
    written = [f"- {escape(text)}".replace("\n", "\n  ") for text in texts]
    return "\n".join(_strip_lines(each) for each in written) or none


def _strip_lines(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n"))


class Escapes:
    """Protects text with backslashes from being read as markup, and removes them again."""

    def __init__(self, markup: str, *, indent: str = r"\s*") -> None:
        self._special = re.compile(rf"^({indent})(\\*)({markup})", re.MULTILINE)
        self._escaped = re.compile(rf"^({indent})\\(\\*)({markup})", re.MULTILINE)

    def escape(self, text: str) -> str:
        """Protect a text from being read as markup of the file."""
        return self._special.sub(r"\1\\\2\3", text)

    def unescape(self, text: str) -> str:
        """Read an escaped text back."""
        return self._escaped.sub(r"\1\2\3", text)


# A heading, fence or bullet inside a text would change the meaning of the file.
_ESCAPES = Escapes(r"#|```|~~~|[-*+][ \t]")
escape = _ESCAPES.escape
unescape = _ESCAPES.unescape

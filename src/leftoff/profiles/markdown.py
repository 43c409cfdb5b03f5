"""Read and write Markdown as the native layouts use it: a title, sections, bullets."""

import re
from collections.abc import Iterable, Sequence

import msgspec

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


def split_sections(text: str, *, level: int = 2) -> list[MarkdownSection]:
    """Split a text at its headings of one level; the part above the first has no title."""
    found = [MarkdownSection("", [])]
    for line, is_heading in _lines(text):
        heading = _HEADING.match(line) if is_heading else None
        if heading and len(heading[1]) == level:
            found.append(MarkdownSection(heading[2], []))
        else:
            found[-1].lines.append(line)
    return found


def find_title(text: str) -> str:
    """Return the text of the first heading; empty if there is none."""
    for line, is_heading in _lines(text):
        if is_heading and (found := _HEADING.match(line)):
            return found[2]
    return ""


def _lines(text: str) -> Iterable[tuple[str, bool]]:
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

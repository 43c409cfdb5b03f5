"""Markdown as the native layouts use it: a title, sections under headings, bullets."""

import re
from collections.abc import Iterable, Sequence

import msgspec

_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*$")
_BULLET = re.compile(r"[-*+][ \t]+(.*)$")
_FENCE = re.compile(r"\s*(```|~~~)")


class Section(msgspec.Struct, frozen=True):
    """A heading and the lines below it, down to the next heading of its level or above."""

    title: str
    lines: list[str]

    @property
    def text(self) -> str:
        """The lines as one text, without escapes."""
        return unescaped("\n".join(self.lines).strip("\n"))


def sections(text: str, *, level: int = 2) -> list[Section]:
    """Split a text at its headings of one level; what stands above the first has no title."""
    found = [Section("", [])]
    for line, is_heading in _lines(text):
        heading = _HEADING.match(line) if is_heading else None
        if heading and len(heading[1]) == level:
            found.append(Section(heading[2], []))
        else:
            found[-1].lines.append(line)
    return found


def title(text: str) -> str:
    """Return the text of the first heading of all; empty without one."""
    for line, is_heading in _lines(text):
        if is_heading and (found := _HEADING.match(line)):
            return found[2]
    return ""


def _lines(text: str) -> Iterable[tuple[str, bool]]:
    """Yield each line and whether it can be a heading: not inside a fence."""
    fence = ""
    for line in text.replace("\r\n", "\n").split("\n"):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1] == fence:
            fence = ""
        yield line, not fence and line.startswith("#")


def bullets(lines: Sequence[str]) -> list[str]:
    """Return the bullets, each with the indented lines that go on with it."""
    found: list[str] = []
    for line in lines:
        if bullet := _BULLET.match(line):
            found.append(bullet[1])
        elif found and line.startswith("  "):
            found[-1] += f"\n{line[2:]}"
        elif found and not line.strip():
            found[-1] += "\n"
    return [unescaped(each.rstrip("\n")) for each in found]


def bullet_list(texts: Iterable[str], *, none: str) -> str:
    """Write texts as bullets; a text of several lines goes on indented."""
    written = [f"- {escaped(text)}".replace("\n", "\n  ") for text in texts]
    return "\n".join(_without_trailing(each) for each in written) or none


def _without_trailing(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n"))


# A heading, fence or bullet inside a text would change what the file means.
_SPECIAL = re.compile(r"^(\s*)(\\*)(#|```|~~~|[-*+][ \t])", re.MULTILINE)
_ESCAPED = re.compile(r"^(\s*)\\(\\*)(#|```|~~~|[-*+][ \t])", re.MULTILINE)


def escaped(text: str) -> str:
    """Keep what a text holds from being read as markup of the file."""
    return _SPECIAL.sub(r"\1\\\2\3", text)


def unescaped(text: str) -> str:
    """Read an escaped text back."""
    return _ESCAPED.sub(r"\1\2\3", text)

"""Read and write the texts and lists of a quoin file, escaped so that reading returns them.

A text that looks like a heading, a fence or `(none)` gets a backslash, which reading removes. So do
blank lines at its edges, which nobody would see, and a carriage return at the end of a line, which
a change of line ends would remove.
"""

import re
from collections.abc import Iterable, Sequence

from leftoff.profiles import markdown_codec
from leftoff.text.markdown_tables import replace_tables

NONE = "(none)"

# The words for an empty section, as language models write them.
_NOTHING = r"[*_]{0,2}\(?(?i:none(?: found| yet)?|not found|n/a|nothing|tbd)\)?[.!]?[*_]{0,2}"
_IS_NOTHING = re.compile(rf"(?:[-*+][ \t]+)?{_NOTHING}")
_ESCAPES = markdown_codec.Escapes(
    rf"##[ \t]|```|~~~|\(none|{_NOTHING}[ \t]*$|- (?:why|instead of|impact): "
    r"|[-*+] (?:\*\*|__)[A-Za-z ]+(?::\*\*|\*\*:|:__|__:) "
)
_RETURN = re.compile(r"\r\\*$")
_ITEM = re.compile(r"[-*+] (.*)", re.DOTALL)
_GROUP = re.compile(r"#{3,6}[ \t]+(.*?)[ \t#]*$")
_INDENT = "  "


def is_nothing(text: str) -> bool:
    """Return whether a text only says that there is nothing."""
    return _IS_NOTHING.fullmatch(text.strip(" \t\r\n")) is not None


def escape(text: str) -> str:
    """Escape a text, so that no line of it means something else."""
    lines = [_escape_line(line) for line in text.split("\n")]
    for numbers in (range(len(lines)), range(len(lines) - 1, -1, -1)):
        for number in numbers:
            if lines[number].strip():
                break
            lines[number] = "\\" + lines[number]
    return "\n".join(lines)


def _escape_line(line: str) -> str:
    if _RETURN.search(line):
        line += "\\"
    return f"\\{line}" if _is_covered_blank(line) else _ESCAPES.escape(line)


def unescape(lines: Sequence[str]) -> str:
    """Read the lines of a text back, without the blank ones around it."""
    kept = [*lines]
    while kept and not kept[0].strip():
        kept.pop(0)
    while kept and not kept[-1].strip():
        kept.pop()
    return "\n".join(_unescape_line(line) for line in kept)


def _unescape_line(line: str) -> str:
    line = line[1:] if _is_covered_blank(line) else _ESCAPES.unescape(line)
    return line[:-1] if _RETURN.search(line) and line.endswith("\\") else line


def _is_covered_blank(line: str) -> bool:
    """Return whether a line consists of backslashes before invisible characters."""
    return line.startswith("\\") and not line.strip("\\").strip()


def write_text(value: str | None) -> str:
    """Write a text as a section's body."""
    return escape(value) if value else NONE


def read_text(lines: Sequence[str]) -> str | None:
    """Read a section's body as a text; None if it says that there is none."""
    found = unescape(lines)
    return None if is_nothing("\n".join(lines)) or not found else found


def read_word(lines: Sequence[str]) -> str | None:
    """Read a branch or a stage, which may be written as code."""
    text = read_text(lines)
    if text is None:
        return None
    found = _CODE_WORD.fullmatch(text)
    return found[2] if found else text.removeprefix("\\") if _COVERED.match(text) else text


def write_word(value: str | None) -> str:
    """Write a branch or a stage; one in backticks keeps them."""
    is_marked = value is not None and (_CODE_WORD.fullmatch(value) or _COVERED.match(value))
    return write_text(f"\\{value}" if is_marked else value)


_CODE_WORD = re.compile(r"(`|\*\*)([^`*\n]+)\1")
_COVERED = re.compile(r"\\+(?:`|\*\*)")


def write_items(values: Iterable[str]) -> str:
    """Write texts as bullets; further lines of a text are indented."""
    return "\n".join(write_item(escape(value)) for value in values) or NONE


def write_item(value: str) -> str:
    """Write one text, already escaped, as a bullet."""
    first, *rest = value.split("\n")
    return "\n".join([f"- {first}", *(f"{_INDENT}{line}" if line else "" for line in rest)])


def read_items(lines: Sequence[str]) -> list[str]:
    """Read bullets as texts; a line without a bullet is a text of its own."""
    found = [raw for raw in split_items(replace_tables(lines)) if not is_nothing("\n".join(raw))]
    return [unescape(each) for each in found]


def split_items(lines: Sequence[str]) -> list[list[str]]:
    """Read bullets as lines, still escaped."""
    found: list[list[str]] = []
    blanks, is_grouped = 0, False
    for line in lines:
        if not line.strip() and not line.startswith(_INDENT):
            blanks += 1
            continue
        bullet = _ITEM.match(line)
        if (group := _GROUP.match(line)) is not None:
            found.append([group[1]])
            is_grouped = True
        elif is_grouped:
            # What is below a heading of a lower level belongs to it.
            found[-1] += [*[""] * blanks, line]
        elif bullet is not None:
            found.append([bullet[1]])
        elif found and line.startswith(_INDENT):
            found[-1] += [*[""] * blanks, line.removeprefix(_INDENT)]
        elif line.strip() != NONE:
            found.append([line])
        blanks = 0
    return found

"""Write a man page for each command, from the same words as its help."""

import re
from collections.abc import Iterable, Iterator

import click

from leftoff.cli import leftoff
from leftoff.cli.catalog import COMMANDS, EXAMPLES, GROUPS, PLUMBING, CommandHelp
from leftoff.cli.help_layout import COMMON, first_line, group_options

# Text is not stretched to the margin, and names are not broken.
_TITLE = '.TH "{name}" "1" "" "leftoff" "leftoff manual"\n.ad l\n.nh'
_EXITS = {
    "0": "Success.",
    "1": "A problem that you can fix; the message says how.",
    "2": "Invalid usage.",
    "3": "A choice is needed.",
    "4": "A checkpoint is below the quality bar.",
    "70": "A bug in leftoff.",
    "130": "Interrupted.",
}


def write_pages() -> dict[str, str]:
    """Return all man pages, by file name: one for leftoff, and one for each command."""
    top = _make_context(leftoff)
    pages = {"leftoff.1": "\n".join([*_write_top(), ""])}
    for found in COMMANDS.values():
        command = leftoff.get_command(top, found.name)
        if command is not None:
            pages[f"leftoff-{found.name}.1"] = "\n".join([*_write_command(found, command), ""])
    return pages


def _write_top() -> Iterator[str]:
    yield _TITLE.format(name="LEFTOFF")
    yield ".SH NAME"
    yield rf"leftoff \- {_escape(_lower_first(first_line(leftoff)))}"
    yield ".SH SYNOPSIS"
    yield r".B leftoff"
    yield r"[\fICOMMAND\fR] [\fIOPTION\fR]..."
    yield ".SH DESCRIPTION"
    yield r"\fBleftoff\fR alone shows the status. Each command has a page of its own, such as"
    yield r"\fBleftoff\-save\fR(1), and \fBleftoff help\fR \fICOMMAND\fR shows its options."
    yield ".SH COMMANDS"
    for title, commands in {**GROUPS, "For agents and scripts": PLUMBING}.items():
        yield f".SS {_escape(title)}"
        for each in commands:
            yield from (".TP", rf"\fBleftoff\-{_escape(each.name)}\fR(1)", _escape(each.summary))
    yield ".SH OPTIONS"
    for rows in _group_options(leftoff).values():
        yield from _write_options(rows)
    yield from _write_end()


def _write_command(found: CommandHelp, command: click.Command) -> Iterator[str]:
    name = f"leftoff-{found.name}"
    yield _TITLE.format(name=name.upper())
    yield ".SH NAME"
    yield rf"{_escape(name)} \- {_escape(_lower_first(found.summary))}"
    yield ".SH SYNOPSIS"
    yield _write_synopsis(f"leftoff {found.name}", command)
    yield ".SH DESCRIPTION"
    yield from _write_text(command.help or found.summary)
    inner = command.commands if isinstance(command, click.Group) else {}
    if inner:
        yield ".SH COMMANDS"
        for word, each in inner.items():
            yield from _write_inner(f"{found.name} {word}", each)
    yield ".SH OPTIONS"
    for number, (title, rows) in enumerate(_group_options(command).items()):
        if number or title != "Options":
            yield f".SS {_escape(title)}"
        yield from _write_options(rows)
    yield ".SH EXAMPLE"
    yield from (".nf", rf"\&{_escape(found.example)}", ".fi")
    yield from _write_end()


def _write_inner(words: str, command: click.Command) -> Iterator[str]:
    yield f".SS {_escape(words)}"
    yield _write_synopsis(f"leftoff {words}", command)
    yield ".PP"
    yield from _write_text(command.help or "")
    for title, rows in _group_options(command).items():
        yield from _write_options(rows) if title != COMMON else ()
    if words in EXAMPLES:
        yield from (".PP", ".nf", rf"\&{_escape(EXAMPLES[words])}", ".fi")


def _write_synopsis(name: str, command: click.Command) -> str:
    context = _make_context(command)
    pieces = [piece.strip() for piece in command.collect_usage_pieces(context)]
    # A long choice of words may be broken between them.
    arguments = _escape(" ".join(pieces)).replace("|", r"|\:")
    return rf"\fB{_escape(name)}\fR {arguments}".rstrip()


def _group_options(command: click.Command) -> dict[str, list[tuple[str, str]]]:
    sections = getattr(command, "sections", {})
    return group_options(command, _make_context(command), sections)


def _write_options(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, meaning in rows:
        yield from (".TP", rf"\fB{_escape(name)}\fR", _escape(meaning))


def _make_context(command: click.Command) -> click.Context:
    """Make a context as a call of the command has it: click caches the option --help."""
    top = click.Context(leftoff, info_name="leftoff", **leftoff.context_settings)
    return click.Context(command, info_name=command.name, parent=top)


def _write_text(text: str) -> Iterator[str]:
    """Write the paragraphs of a help text; click marks those that must not be wrapped."""
    for number, paragraph in enumerate(re.split(r"\n\s*\n", text.strip())):
        if number:
            yield ".PP"
        lines = [line.strip() for line in paragraph.split("\n")]
        if lines[0] == "\b":
            yield from (".nf", *(_escape(line) for line in lines[1:]), ".fi")
        else:
            yield _escape(" ".join(lines))


def _write_end() -> Iterator[str]:
    yield ".SH EXIT STATUS"
    for code, meaning in _EXITS.items():
        yield from (".TP", rf"\fB{code}\fR", meaning)
    yield ".SH SEE ALSO"
    yield r"\fBleftoff\fR(1); \fBleftoff help all\fR lists all commands."


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


def _escape(text: str) -> str:
    """Escape what roff would interpret: backslashes, dashes, and a dot or quote at the start."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped

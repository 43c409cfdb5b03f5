"""Write a checkpoint as Markdown or as a web page, for people who do not have leftoff.

The text of a checkpoint may come from a model or from somebody else's repository. Nothing in it
becomes markup: a browser shows it, and runs none of it.
"""

import html
import re

from leftoff.checkpoint import Checkpoint
from leftoff.cli.checkpoint_view import PageField, format_branch, list_fields
from leftoff.text import times

# What would start a heading, a quote, a rule, a list or a block of code at the start of a line, or
# make a heading of the line before.
_LINE_MARK = re.compile(r"(?m)^([^\S\n]*\d*)(#|>|~~~|[-+=_*][-+=_* \t]*$|[-+*_]\s|[.)](?:\s|$))")
# Code within one line. Any other backtick could open code that Markdown never closes.
_CODE = re.compile(r"(?<![`\\])(`[^`\n]+`)(?!`)")
# Tags, links, images, other code, and what would take away the effect of our backslashes.
_MARK = re.compile(r"<(?=[A-Za-z/!?])|`|\](?=[(\[:])|!(?=\[)|\\(?=[!-/:-@\[-`{-~])")
_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
h1 { line-height: 1.25; margin-bottom: .25rem; }
h2 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
p, li { white-space: pre-wrap; overflow-wrap: anywhere; margin: .25rem 0; }
ul { margin: 0; padding-left: 1.25rem; }
.facts { opacity: .75; }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def to_markdown(checkpoint: Checkpoint, state: str) -> list[str]:
    """Return a checkpoint as the lines of a Markdown file."""
    lines = [f"# {_escape_markdown(_format_title(checkpoint))}", ""]
    lines += [_escape_markdown(_format_facts(checkpoint, state))]
    for field in list_fields(checkpoint):
        lines += ["", f"## {field.label}", "", *_format_values(field)]
    return "\n".join(lines).split("\n")


def to_html(checkpoint: Checkpoint, state: str) -> list[str]:
    """Return a checkpoint as the lines of a web page that needs nothing else."""
    title = html.escape(_format_title(checkpoint))
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title>",
        f"<style>{_STYLE}</style>",
        f"<h1>{title}</h1>",
        f'<p class="facts">{html.escape(_format_facts(checkpoint, state))}</p>',
    ]
    for field in list_fields(checkpoint):
        lines += [f"<h2>{html.escape(field.label)}</h2>", *_format_elements(field)]
    return "\n".join([*lines, "</html>"]).split("\n")


def _format_title(checkpoint: Checkpoint) -> str:
    return " ".join(checkpoint.task.split()) or "Checkpoint"


def _format_facts(checkpoint: Checkpoint, state: str) -> str:
    by = f" by {checkpoint.agent}" if checkpoint.agent else ""
    name = checkpoint.name or "autosave"
    at = times.local(checkpoint.described_at)
    return f"{name} ({state}), left off {at} on branch {format_branch(checkpoint)}{by}"


def _format_values(field: PageField) -> list[str]:
    texts = [_escape_markdown(value) for value in field.values]
    if not field.is_list:
        return texts
    return ["- " + text.replace("\n", "\n  ") for text in texts]


def _format_elements(field: PageField) -> list[str]:
    texts = [html.escape(value) for value in field.values]
    if not field.is_list:
        return [f"<p>{text}</p>" for text in texts]
    return ["<ul>", *(f"<li>{text}</li>" for text in texts), "</ul>"]


def _escape_markdown(text: str) -> str:
    """Escape what would become a tag, a link or a heading; `code` is shown as it is anyway."""
    parts = _CODE.split("\n".join(text.splitlines()))
    plain = [
        _MARK.sub(_escape_mark, part) if number % 2 == 0 else part
        for number, part in enumerate(parts)
    ]
    return _LINE_MARK.sub(r"\1\\\2", "".join(plain))


def _escape_mark(found: re.Match[str]) -> str:
    return "&lt;" if found[0] == "<" else f"\\{found[0]}"

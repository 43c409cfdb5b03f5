"""Read what older and newer versions of claude-harness store elsewhere.

Older: `feature-list.json` and `agent-context.json` in the project's folder, `loops/state.json`.
Newer: one Markdown file for each memory entry, with its fields at the top.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from leftoff.knowledge.memory import EntryDraft
from leftoff.profiles import markdown_codec
from leftoff.profiles.harness import layers
from leftoff.profiles.json_codec import Plain
from leftoff.profiles.regular_files import read_regular

# Each folder of entries, and the layer they belong to.
_FOLDERS = {
    "decisions": layers.DECISIONS,
    "failures": layers.FAILURES,
    "successes": layers.SUCCESSES,
    "rules": layers.RULES,
}
_PATTERNS = "patterns"
_NO_ENTRY = frozenset({"index.md", "log.md"})
_FRONT = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)(.*)\Z", re.DOTALL)
_FIELD = re.compile(r"([A-Za-z_][\w.-]*):[ \t]*(.*)")
# The field name for each heading in an entry's text.
_SECTIONS = {
    "root cause": "rootCause",
    "rationale": "rationale",
    "why": "rationale",
    "impact": "impact",
    "prevention": "prevention",
    "approach": "approach",
    "decision": "decision",
    "description": "description",
    "lessons": "lessons",
    "alternatives": "alternatives",
    "errors": "errors",
    "files": "files",
}
_LISTS = frozenset({"lessons", "alternatives", "errors", "files"})


def list_active_files(folder: Path) -> list[Path]:
    """List the former locations of features, the newer one first."""
    return [folder / "feature-list.json", folder.parent / "feature-list.json"]


def list_archive_files(folder: Path) -> list[Path]:
    """List the former locations of completed features."""
    return [folder / "feature-archive.json", folder.parent / "feature-archive.json"]


def list_agent_files(folder: Path) -> list[Path]:
    """List the former locations of the state of agents that work together."""
    return [folder / "agent-context.json", folder.parent / "agent-context.json"]


def list_okf_files(folder: Path) -> Iterator[Path]:
    """Yield the Markdown files with one entry each."""
    for name in (*_FOLDERS, _PATTERNS):
        for path in sorted((folder / "memory" / name).glob("*.md")):
            if path.name not in _NO_ENTRY:
                yield path


def read_okf_entry(path: Path) -> tuple[EntryDraft, bool] | None:
    """Read an entry and whether it is in force; None if the file contains none."""
    found = read_regular(path)
    if found is None:
        return None
    text = found[0].decode("utf-8", "replace")
    fields = _read_fields(text)
    if path.parent.name == _PATTERNS:
        said = _find_first(fields, "pattern", "description", "title", "body")
        return (EntryDraft(kind="pattern", text=said), True) if said else None
    layer = _FOLDERS[path.parent.name]
    fields.setdefault("id", path.stem)
    if not fields.get(layer.text):
        fields[layer.text] = _find_first(fields, "title", "summary", "body")
    read = layers.draft_of(layer, {**fields, "active": fields.get("active") != "false"})
    return (read.draft, read.is_active) if read else None


def _find_first(fields: Plain, *keys: str) -> str:
    return next((str(fields[key]) for key in keys if fields.get(key)), "")


def _read_fields(text: str) -> Plain:
    """Read the fields at the top and the sections below; a list may be inline or in bullets."""
    front = _FRONT.match(text)
    fields: Plain = dict(_read_front(front[1])) if front else {}
    body = front[2] if front else text
    first, *parts = markdown_codec.split_sections(body)
    for part in parts:
        key = _SECTIONS.get(part.title.lower())
        if key and key not in fields:
            fields[key] = markdown_codec.read_bullets(part.lines) if key in _LISTS else part.text
    title = markdown_codec.find_title(body)
    fields.setdefault("title", title or None)
    plain = [line for line in first.text.split("\n") if line.strip() and not line.startswith("#")]
    fields["body"] = " ".join(plain)
    return {key: value for key, value in fields.items() if value}


def _read_front(text: str) -> Iterator[tuple[str, object]]:
    key, listed = "", []
    for line in text.replace("\r\n", "\n").split("\n"):
        bullet = re.match(r"[ \t]*-[ \t]+(.*)", line)
        if bullet and key:
            listed.append(_unquote(bullet[1]))
            yield key, [*listed]
        elif found := _FIELD.match(line):
            key, listed = found[1], []
            yield key, _read_value(found[2])


def _read_value(text: str) -> object:
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        return [_unquote(each) for each in text[1:-1].split(",") if each.strip()]
    return _unquote(text)


def _unquote(text: str) -> str:
    text = text.strip()
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if is_quoted else text

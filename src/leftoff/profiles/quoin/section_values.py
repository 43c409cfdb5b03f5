"""Read and write structured sections of a quoin file: pairs, plans, decisions."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import zip_longest
from pathlib import PurePosixPath

import msgspec

from leftoff.checkpoint import Checkpoint, Decision
from leftoff.profiles.loose_headings import fold_title
from leftoff.profiles.markdown_codec import Lines, Plain
from leftoff.profiles.quoin.section_texts import (
    NONE,
    escape,
    is_nothing,
    split_items,
    unescape,
    write_item,
)
from leftoff.text.markdown_tables import is_ruler, replace_tables, split_row

PLAN, STATE = "current-plan.md", "session-state"
_NOT_FOUND = "(none found)"
# The artifacts that are always listed, found or not.
LISTED = (PLAN, "architecture.md", "latest critic-response", "latest review", STATE)
# The words that introduce further details of a decision, and their keys.
_REASONS = {"why": "why", "instead of": "alternatives", "impact": "impact"}
_OTHER_REASONS = {
    **dict.fromkeys(("rationale", "reason", "because"), "why"),
    **dict.fromkeys(("alternative", "alternatives", "alternatives considered"), "instead of"),
    "rejected": "instead of",
}
# The separator between a decision and its reason.
_BECAUSE = " — "
_REASON = re.compile(rf"- ({'|'.join(_REASONS)}): (.*)", re.DOTALL)
# The same as people write it: - **Rationale:** text
_LOOSE_REASON = re.compile(
    rf"[-*+] (\*\*|__)({'|'.join([*_REASONS, *_OTHER_REASONS])})(?::\1|\1:) (.*)",
    re.DOTALL | re.IGNORECASE,
)
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_STEP = re.compile(r"(\d+|None) of (\d+|None)")


# Names with values


def read_pairs(lines: Lines) -> Iterator[tuple[str, str]]:
    """Yield names with their values; what was not found has none."""
    for raw in split_items(lines):
        name, rest = _split_name(raw[0])
        value = rest.removeprefix(":").strip(" \t")
        if name and value and not is_nothing(value):
            yield name, _read_value(value)


def has_only(lines: Lines, names: Collection[str]) -> bool:
    """Return whether every line of a section is one of these names with its value."""
    items = [raw for raw in split_items(lines) if not is_nothing("\n".join(raw))]
    return all(len(raw) == 1 and _split_name(raw[0])[0] in names for raw in items)


def _split_name(text: str) -> tuple[str, str]:
    """Split a text at the colon after its name, which may be quoted."""
    quoted = _QUOTED.match(text)
    if quoted is not None and (read := _read_string(quoted[0])) is not None:
        return read, text[quoted.end() :]
    name, colon, rest = text.partition(":")
    return name.strip(), colon + rest


def _read_value(text: str) -> str:
    read = _read_string(text) if _QUOTED.fullmatch(text) else None
    return text.rstrip() if read is None else read


def _read_string(text: str) -> str | None:
    try:
        return msgspec.json.decode(text.encode(), type=str)
    except (msgspec.MsgspecError, UnicodeError):
        return None


def _quote(text: str) -> str:
    """Quote a name or path only if it would be read as something else."""
    is_plain = text.strip() == text and text.isprintable() and not _MARKS.search(text)
    is_same = _read_path(text) == (text, "") and _split_paths(text) == [text]
    if text and is_plain and is_same and not text.startswith(('"', "(none")):
        return text
    return msgspec.json.encode(text).decode()


# Artifacts

# What people put around names and paths.
_MARKS = re.compile(r"[:：*`|→]|\]\(| (?:->|=>|—|–|=) ")
_ARROW = re.compile(r"[ \t]+(?:→|->|=>|—|–|=)[ \t]+|[ \t]*→[ \t]*")
_CODE = re.compile(
    r"(?:\[[^\]\n]*\]\((?P<link>[^)\s]+)\)|`(?P<code>[^`\n]+)`|<code>(?P<html>[^<\n]+)</code>)"
    r"[ \t]*(?P<rest>.*)"
)
# path (remark), path — remark, path # remark, path <!-- remark -->
_REMARKED = re.compile(r"([^\s\"]+)[ \t]+(\([^()]*\)|<!--.*-->|[—–#-][ \t].*)")
_DASHES = "-–— "
_COLON = re.compile(r"[ \t]*：[ \t]*|[ \t]+:(?=[ \t])")
# The heads of columns that say nothing about their cells.
_REMARKS = frozenset({"", "note", "notes", "remark", "remarks", "comment", "comments"})
_RULE = re.compile(r"\|?[ \t:|-]+\|?")
_ALIASES = {
    "current plan": PLAN,
    "current plan.md": PLAN,
    "architecture": "architecture.md",
    "critic response": "latest critic-response",
    "latest critic response": "latest critic-response",
    "review": "latest review",
    "latest review": "latest review",
    "session state": STATE,
    "session state file": STATE,
    **dict.fromkeys(("última revisión", "dernière revue", "letztes review"), "latest review"),
}
_NUMBERED = re.compile(r"(critic-response|review)-\d+\.md")


def read_artifacts(lines: Lines) -> Plain:
    """Read the artifacts however they are listed; what is not one is left for the notes."""
    paths: dict[str, str] = {}
    rest: list[str] = []
    for raw in _split_artifacts(lines):
        name, path, remark = _read_artifact(raw[0])
        is_quoted = raw[0].rstrip().endswith('"')
        for each in [path] if path and is_quoted else _split_paths(path):
            remark = _add_path(paths, name, each, remark)
        remarks = [f"{name}: {remark}" if name and remark else remark, *raw[1:]]
        if any(each.strip() for each in remarks):
            rest.append(unescape([each for each in remarks if each.strip()]))
    return {"artifacts": paths, "remarks": rest}


def _add_path(paths: dict[str, str], name: str, path: str, remark: str) -> str:
    """Add a path under its name, or under its file's if that is taken; return what is left."""
    for key in (name, _name_path(path)):
        if key not in paths:
            paths[key] = path
            return remark
    return f"{path} {remark}".strip()


def _split_artifacts(lines: Lines) -> Iterator[list[str]]:
    """Yield the items of a list; those below a group are items themselves."""
    for raw in split_items([*_name_columns(lines)]):
        below = split_items(raw[1:])
        if below and all(_read_artifact(each[0])[0] for each in below):
            yield [raw[0]]
            yield from below
        else:
            yield raw


def _name_columns(lines: Lines) -> Iterator[str]:
    """Yield the lines; the head of a table goes to the cells behind the path."""
    heads: list[str] = []
    for line, below in zip_longest(lines, lines[1:], fillvalue=""):
        if line.startswith("|") and is_ruler(below) and below.startswith("|"):
            heads = split_row(line)
        elif line.startswith("|") and heads and is_ruler(line):
            continue
        elif line.startswith("|") and heads:
            name, *cells = split_row(line)
            said = [
                f"{head}: {cell}" if cell and fold_title(head) not in _REMARKS else cell
                for head, cell in zip([*heads[2:], *cells], cells[1:], strict=False)
            ]
            yield f"| {' | '.join([name, *cells[:1], *said])} |"
        else:
            heads = []
            yield line


def _read_artifact(text: str) -> tuple[str, str, str]:
    """Return the name, the path and what else a line says."""
    if _QUOTED.match(text):
        name, rest = _split_name(text)
        return (name, *_read_path(rest.removeprefix(":").strip(" \t")))
    if text.startswith("|"):
        if _RULE.fullmatch(text) or fold_title(text) == "artifact | path":
            return "", "", ""
        name, value, *more = [*split_row(text), ""]
        path, remark = _read_path(value)
        return _find_alias(name), path, " ".join([remark, *more]).strip()
    name, colon, value = _COLON.sub(":", text, count=1).partition(":")
    if colon and "/" not in name:
        # A title without a path, such as a heading in bold, is a remark.
        is_title = not value.strip("*_ \t") and _find_alias(name) not in LISTED
        named = (_find_alias(name), *_read_path(value.strip(" \t")))
        return ("", "", text) if is_title else named
    name, *values = _ARROW.split(text, maxsplit=1)
    if values:
        return (_find_alias(name), *_read_path(values[0]))
    path, remark = _read_path(text)
    is_one = _is_path(path) and len(path.split()) == 1
    return (_name_path(path), path, remark) if is_one else ("", "", text)


def _read_path(value: str) -> tuple[str, str]:
    """Return a path without its markup, and the remark behind it."""
    value = value.removeprefix("**").removesuffix("**").strip(" \t")
    if not value or is_nothing(value) or not value.strip(_DASHES):
        return "", ""
    if _QUOTED.fullmatch(value) and (read := _read_string(value)) is not None:
        return read, ""
    found = _CODE.fullmatch(value)
    if found is not None:
        path = (found["link"] or found["code"] or found["html"]).strip()
        return "" if is_nothing(path) else path, found["rest"].strip()
    remarked = _REMARKED.fullmatch(value)
    if remarked is not None and _is_path(remarked[1]):
        return remarked[1], remarked[2]
    return value.rstrip(), ""


def _split_paths(path: str) -> list[str]:
    """Return the paths of a list of several in one line."""
    several = path.split(", ")
    is_list = all(_is_path(each) and len(each.split()) == 1 for each in several)
    return several if is_list else [path] if path else []


def _is_path(text: str) -> bool:
    return "/" in text or text.strip("`* ").endswith(".md")


def _name_path(path: str) -> str:
    """Name an artifact after its file."""
    name = PurePosixPath(path).name
    if numbered := _NUMBERED.fullmatch(name):
        return f"latest {numbered[1]}"
    return STATE if "/memory/sessions/" in path else name


def _find_alias(name: str) -> str:
    plain = name.replace("*", "").replace("`", "").strip()
    return _ALIASES.get(fold_title(plain), plain)


def _write_name(name: str) -> str:
    """Write a name, quoted if it would be read as another one."""
    is_own = _find_alias(name) == name and "/" not in name
    return _quote(name) if is_own else msgspec.json.encode(name).decode()


def write_artifacts(checkpoint: Checkpoint) -> str:
    """List the artifacts, including those that were not found."""
    paths: dict[str, str | None] = dict(checkpoint.artifacts)
    if checkpoint.plan and checkpoint.plan.path:
        paths.setdefault(PLAN, checkpoint.plan.path)
    named = {**dict.fromkeys(LISTED, None), **paths}
    return "\n".join(
        f"- {_write_name(name)}: {_NOT_FOUND if path is None else _quote(path)}"
        for name, path in named.items()
    )


# The plan


def read_plan(lines: Lines) -> Plain:
    """Read the section about the plan."""
    plain: Plain = {}
    for raw in split_items(lines):
        key, rest = _split_name(raw[0])
        value = rest.removeprefix(":").strip(" \t")
        if key == "step" and (found := _STEP.fullmatch(value)):
            numbers = zip(("step", "total"), found.groups(), strict=True)
            plain |= {name: int(number) for name, number in numbers if number != "None"}
        elif key in {"path", "title"}:
            plain[key] = None if value == NONE else _read_value(value)
    return plain


def write_plan(checkpoint: Checkpoint) -> str | None:
    """Write what the stage and the line among the artifacts do not say about the plan."""
    plan, listed = checkpoint.plan, checkpoint.artifacts.get(PLAN)
    if plan is None or not any((plan.path, plan.title, plan.step, plan.total)):
        return NONE if listed else None
    lines = []
    if plan.path != listed:
        lines.append(f"- path: {_quote(plan.path) if plan.path else NONE}")
    if plan.title:
        lines.append(f"- title: {_quote(plan.title)}")
    if plan.step is not None or plan.total is not None:
        lines.append(f"- step: {plan.step} of {plan.total}")
    return "\n".join(lines) or None


# Decisions


def read_decisions(lines: Lines) -> Plain:
    """Read the decisions."""
    found = [raw for raw in split_items(replace_tables(lines)) if not is_nothing("\n".join(raw))]
    return {"decisions": [_read_decision(raw) for raw in found]}


def write_decisions(checkpoint: Checkpoint) -> str:
    """Write the decisions."""
    return "\n".join(map(_write_decision, checkpoint.decisions)) or NONE


def _read_decision(raw: Sequence[str]) -> Plain:
    groups: list[tuple[str, list[str]]] = [("", [])]
    for line in raw:
        if (found := _find_reason(line)) is not None:
            groups.append((found[0], [found[1]]))
        else:
            groups[-1][1].append(line.removeprefix("  ") if groups[-1][0] else line)
    decision: Plain = {"what": unescape(groups[0][1])}
    if len(groups) == 1 and "\n" not in decision["what"]:
        what, _, why = decision["what"].partition(_BECAUSE)
        return {"what": what, "why": why}
    for word, lines in groups[1:]:
        text = unescape(lines)
        if word == "why" and lines == [NONE]:
            continue
        if word == "instead of":
            decision.setdefault("alternatives", []).append(text)
        else:
            decision[_REASONS[word]] = text
    return decision


def _find_reason(line: str) -> tuple[str, str] | None:
    """Return the word that introduces a detail of a decision, and the detail."""
    if (found := _REASON.match(line)) is not None:
        return found[1], found[2]
    if (loose := _LOOSE_REASON.match(line)) is not None:
        word = loose[2].lower()
        return _OTHER_REASONS.get(word, word), loose[3]
    return None


def _write_decision(decision: Decision) -> str:
    """Write a decision on one line, as people do, if it has only a reason."""
    what, why = decision.what, decision.why
    if why and not (decision.alternatives or decision.impact) and _fits_one_line(what, why):
        return write_item(escape(f"{what}{_BECAUSE}{why}"))
    lines = [escape(what)]
    if not why and _BECAUSE in what:
        lines.append(f"- why: {NONE}")
    for word, key in _REASONS.items():
        value = getattr(decision, key)
        texts = value if isinstance(value, list) else [value] if value else []
        lines += [write_item(f"{word}: {escape(each)}") for each in texts]
    return write_item("\n".join(lines))


def _fits_one_line(what: str, why: str) -> bool:
    """Return whether both fit on one line from which they can be separated again."""
    line = f"{what}{_BECAUSE}{why}"
    is_whole = bool(what.strip() and why.strip()) and "\n" not in line
    return is_whole and line.partition(_BECAUSE) == (what, _BECAUSE, why)


# The session

LINK = ("Agent", "Resume command", "JSONL path", "Read up to")
_PLAIN_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+=-]*")


def read_link(lines: Lines) -> Plain:
    """Read the agent, and how far its transcript was read."""
    pairs = dict(read_pairs(lines))
    command = pairs.get("Resume command", "")
    known = "claude" if command.startswith("claude ") else None
    plain: Plain = {"agent": pairs.get("Agent") or known}
    if (path := pairs.get("JSONL path")) is not None:
        offset = pairs.get("Read up to", "")
        plain["transcript"] = {"path": path, "offset": int(offset) if offset.isdecimal() else 0}
    return plain


def write_link(checkpoint: Checkpoint) -> str | None:
    """Write how to find the session; None if that is unknown."""
    lines = [f"- Agent: {_quote(checkpoint.agent)}"] if checkpoint.agent else []
    # People and agents run this command, so the id must be a plain word and not an option.
    if checkpoint.agent == "claude" and _PLAIN_ID.fullmatch(checkpoint.session_id or ""):
        lines.append(f"- Resume command: claude --resume {checkpoint.session_id}")
    if checkpoint.transcript:
        lines.append(f"- JSONL path: {_quote(checkpoint.transcript.path)}")
        lines.append(f"- Read up to: {checkpoint.transcript.offset}")
    return "\n".join(lines) or None

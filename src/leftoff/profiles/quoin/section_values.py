"""Read and write structured sections of a quoin file: pairs, plans, decisions."""

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from leftoff.checkpoint import Checkpoint, Decision
from leftoff.profiles import markdown_codec
from leftoff.profiles.markdown_codec import Lines, Plain

PLAN, STATE = "current-plan.md", "session-state"
_NOT_FOUND = "(none found)"
# The artifacts that are always listed, found or not.
LISTED = (PLAN, "architecture.md", "latest critic-response", "latest review", STATE)
# The words that introduce further details of a decision, and their keys.
_REASONS = {"why": "why", "instead of": "alternatives", "impact": "impact"}
# The separator between a decision and its reason.
_BECAUSE = " — "
_REASON = re.compile(rf"- ({'|'.join(_REASONS)}): (.*)", re.DOTALL)
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_STEP = re.compile(r"(\d+|None) of (\d+|None)")


# Names with values


def read_pairs(lines: Lines) -> Iterator[tuple[str, str]]:
    """Yield names with their values; what was not found has none."""
    for raw in split_items(lines):
        name, rest = _split_name(raw[0])
        value = rest.removeprefix(":").strip(" \t")
        if name and value not in {"", _NOT_FOUND, NONE}:
            yield name, _read_value(value)


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
    is_plain = text.strip() == text and text.isprintable() and ":" not in text
    if text and is_plain and not text.startswith(('"', "(none")):
        return text
    return msgspec.json.encode(text).decode()


# Artifacts


def write_artifacts(checkpoint: Checkpoint) -> str:
    """List the artifacts, including those that were not found."""
    paths: dict[str, str | None] = dict(checkpoint.artifacts)
    if checkpoint.plan and checkpoint.plan.path:
        paths.setdefault(PLAN, checkpoint.plan.path)
    named = {**dict.fromkeys(LISTED, None), **paths}
    return "\n".join(
        f"- {_quote(name)}: {_NOT_FOUND if path is None else _quote(path)}"
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
    return {"decisions": [_read_decision(raw) for raw in split_items(lines)]}


def write_decisions(checkpoint: Checkpoint) -> str:
    """Write the decisions."""
    return "\n".join(map(_write_decision, checkpoint.decisions)) or NONE


def _read_decision(raw: Sequence[str]) -> Plain:
    groups: list[tuple[str, list[str]]] = [("", [])]
    for line in raw:
        if (found := _REASON.match(line)) is not None:
            groups.append((found[1], [found[2]]))
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


def read_link(lines: Lines) -> Plain:
    """Read the agent, and how far its transcript was read."""
    pairs = dict(read_pairs(lines))
    plain: Plain = {"agent": pairs.get("Agent")}
    if (path := pairs.get("JSONL path")) is not None:
        offset = pairs.get("Read up to", "")
        plain["transcript"] = {"path": path, "offset": int(offset) if offset.isdecimal() else 0}
    return plain


def write_link(checkpoint: Checkpoint) -> str | None:
    """Write how to find the session; None if that is unknown."""
    lines = [f"- Agent: {_quote(checkpoint.agent)}"] if checkpoint.agent else []
    if checkpoint.agent == "claude" and checkpoint.session_id:
        lines.append(f"- Resume command: claude --resume {_quote(checkpoint.session_id)}")
    if checkpoint.transcript:
        lines.append(f"- JSONL path: {_quote(checkpoint.transcript.path)}")
        lines.append(f"- Read up to: {checkpoint.transcript.offset}")
    return "\n".join(lines) or None


# --- texts and lists in sections, escaped so that reading returns them ---
#
# A text that looks like a heading, a fence or `(none)` gets a backslash, which reading removes. So
# do blank lines at its edges, which nobody would see, and a carriage return at the end of a line,
# which a change of line ends would remove.


NONE = "(none)"

_ESCAPES = markdown_codec.Escapes(r"##[ \t]|```|~~~|\(none|- (?:why|instead of|impact): ")
_RETURN = re.compile(r"\r\\*$")
_ITEM = re.compile(r"[-*+] (.*)", re.DOTALL)
_INDENT = "  "


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
    is_none = "\n".join(lines).strip() == NONE
    return None if is_none or not found else found


def write_items(values: Iterable[str]) -> str:
    """Write texts as bullets; further lines of a text are indented."""
    return "\n".join(write_item(escape(value)) for value in values) or NONE


def write_item(value: str) -> str:
    """Write one text, already escaped, as a bullet."""
    first, *rest = value.split("\n")
    return "\n".join([f"- {first}", *(f"{_INDENT}{line}" if line else "" for line in rest)])


def read_items(lines: Sequence[str]) -> list[str]:
    """Read bullets as texts; a line without a bullet is a text of its own."""
    return [unescape(each) for each in split_items(lines)]


def split_items(lines: Sequence[str]) -> list[list[str]]:
    """Read bullets as lines, still escaped."""
    found: list[list[str]] = []
    blanks = 0
    for line in lines:
        if not line.strip() and not line.startswith(_INDENT):
            blanks += 1
            continue
        if (bullet := _ITEM.match(line)) is not None:
            found.append([bullet[1]])
        elif found and line.startswith(_INDENT):
            found[-1] += [*[""] * blanks, line.removeprefix(_INDENT)]
        elif line.strip() != NONE:
            found.append([line])
        blanks = 0
    return found

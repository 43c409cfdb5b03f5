"""Read and write guardz's checkpoint-{name}.md.

Agents write this file by hand, so it is read in any spelling: other headings, bullets or fields,
and sections of its own. What a checkpoint has no key for becomes a note. The text itself is kept as
well, so that a checkpoint that nobody changed since is written back byte for byte.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from leftoff.checkpoint import Checkpoint
from leftoff.names import clean_name
from leftoff.profiles import guardz_words, loose_markdown, markdown_codec
from leftoff.profiles.guardz_failures import (
    DASHES,
    NOTHING_BECAUSE,
    list_below_headings,
    split_at,
    split_failure,
)
from leftoff.profiles.guardz_paths import read_files, read_path
from leftoff.profiles.guardz_words import (
    BLOCKERS,
    DECISIONS,
    DONE,
    FAILED,
    FILES,
    LEFT_OFF,
    NEXT,
    NOTES,
    ORDER,
    QUESTIONS,
    TITLES,
)
from leftoff.profiles.loose_markdown import (
    Part,
    fold,
    is_blank,
    read_field,
    read_items,
)
from leftoff.profiles.loose_times import read_moment
from leftoff.profiles.loose_words import says_nothing
from leftoff.profiles.profile import Native
from leftoff.profiles.regular_files import compute_digest

TEXT = "native_text"
"""The key under which a checkpoint keeps the text of its file."""
_PROFILE = "guardz"
HOLDS = frozenset(
    {
        "name", "branch", "plan", "left_off", "done", "failed", "files_modified", "questions",
        "blockers", "next_action", "decisions", "notes", TEXT,
    }
)  # fmt: skip

Plain = dict[str, Any]

_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_NO_BRANCH = re.compile(
    r"[(]?(?:none|n/?a|unknown|null|detached|head|detached head)[)]?", re.IGNORECASE
)
_MOST_FILES = 10


# Reading


def read(path: Path, data: bytes) -> Native:
    """Read a checkpoint's file."""
    text = data.decode("utf-8", "replace")
    plain = loose_markdown.unquote(loose_markdown.unfence(text))
    top, *sections = loose_markdown.split(plain, TITLES)
    sections = _name_by_order(sections)
    name = name_of(path.name)
    reader = _Reader(name)
    reader.add_top(top)
    # A single line may be anything; more than that under this name is a checkpoint.
    is_text = "\0" not in text and text.encode() == data and "\n" in text.strip()
    is_titled = fold(top.title).startswith("checkpoint")
    if not (sections or reader.has_fields or is_titled or is_text):
        return Native(problem="It has none of the fields or sections of a checkpoint.")
    for part in sections:
        reader.add_section(part)
    fields = reader.collect()
    # Without this, bytes that are not UTF-8 would be written back as other ones.
    kept = {TEXT: text} if text.encode() == data else {}
    saved_at = fields.pop("saved_at", None)
    return Native(fields={**fields, **kept}, name=name, has_plain_name=True, saved_at=saved_at)


def _name_by_order(parts: list[Part]) -> list[Part]:
    """Name unknown sections by their place in the template, in a file without its own titles."""
    if any(part.title in ORDER for part in parts):
        return parts
    found = list(parts)
    for gap, titles in _find_gaps(parts):
        fits = len(gap) == len(titles) and (FILES not in titles or _lists_files(parts[gap[-1]]))
        for at, title in zip(gap, titles, strict=True) if fits else ():
            # Beside known titles it may be a section of its own, so its title is kept.
            aside = len(gap) < len(parts)
            found[at] = msgspec.structs.replace(parts[at], known=title, aside=aside)
    return found


def _find_gaps(parts: Sequence[Part]) -> Iterable[tuple[list[int], list[str]]]:
    """Yield the unknown sections between two known ones, and the titles that are missing there."""
    gap: list[int] = []
    last = -1
    for at, part in enumerate(parts):
        if part.known in ORDER:
            place = ORDER.index(part.known)
            if gap and place > last:
                yield gap, list(ORDER[last + 1 : place])
            gap, last = [], max(last, place)
        elif part.known is None:
            gap.append(at)
    if gap:
        yield gap, list(ORDER[last + 1 :])


def _lists_files(part: Part) -> bool:
    # Headings of another kind would hardly end in a list of files.
    files = [read_path(each)[0] for each in read_files(part.lines)]
    return bool(files) and all(re.fullmatch(r"\S*[./]\S+", each) for each in files)


def name_of(file: str) -> str:
    """Return the name of the checkpoint in a file."""
    return clean_name(file.removesuffix(".md").removeprefix("checkpoint-"))


class _Reader:
    """Collects what the parts of a file say, in keys of a checkpoint."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._fields: Plain = {}
        self._texts: dict[str, list[str]] = {title: [] for title in TITLES.values()}
        self._prose = ""
        self._rest: list[str] = []

    @property
    def has_fields(self) -> bool:
        """Whether there was a known field."""
        return bool(self._fields)

    def add_section(self, part: Part) -> None:
        """Read a heading and what is below it."""
        if part.known == LEFT_OFF:
            text = "\n".join(part.lines).strip("\n").rstrip()
            # A callout such as `> [!todo]` would be no quote without its marks.
            is_callout = re.match(r">[ ]?\[!", text) is not None
            self._texts[LEFT_OFF].append(text if is_callout else loose_markdown.unquote(text))
        elif part.known == FILES:
            self._add_files(part)
        elif part.known == FAILED:
            self._add_failed(part)
        elif part.known is not None:
            self._texts[part.known] += _drop_nothing(read_items(part.lines))
        elif _has_only_fields(part.lines):
            self._rest += [
                line for line in part.lines if line.strip() and not self._take_field(line)
            ]
        elif part.has_text:
            # A heading without text below it is kept as well.
            self._rest.append("\n".join([part.title, *part.lines]).strip("\n"))
        if part.aside:
            self._rest.append(part.title)

    def add_top(self, part: Part) -> None:
        """Read the title and the fields, and the prose below them."""
        title = re.sub(r"^checkpoint\s*[:\u2013\u2014-]\s*", "", part.title, flags=re.IGNORECASE)
        if title and clean_name(title.strip("`*\"' ")) != self._name:
            self._rest.append(part.title)
        prose: list[str] = []
        for line in _name_fields(_drop_title(part.lines, self._name)):
            field = read_field(line)
            if not self._take_field(line) and not self._take_section(field):
                is_plain = field is not None and re.match(r"[\s>*_+-]*\w", line)
                prose.append(f"{field[0]}: {field[1]}".rstrip() if field and is_plain else line)
        self._prose = "\n".join(line for line in prose if line == "" or not is_blank(line)).strip()

    def _take_field(self, line: str) -> bool:
        """Read a line if it is a field that guardz knows; return whether it is."""
        field = read_field(line)
        key = guardz_words.find_field(field[0]) if field else None
        if field is None or key is None or key in self._fields:
            return False
        self._add_field(key, *field)
        return True

    def _take_section(self, field: tuple[str, str] | None) -> bool:
        """Read a section that is a field of one line: `- **Left Off:** half of it`."""
        known = TITLES.get(fold(field[0])) if field and field[1] else None
        if field is None or known is None:
            return False
        self.add_section(Part(title=field[0], lines=[field[1]], known=known))
        return True

    def _add_field(self, key: str, name: str, value: str) -> None:
        found, is_whole = _READERS[key](value)
        self._fields |= found
        if not is_whole:
            self._rest.append(f"{name}: {value}")

    def _add_files(self, part: Part) -> None:
        for item in _drop_nothing(read_files(part.lines)):
            path, is_whole = read_path(item)
            is_path = " " not in path or "/" in path or "." in path.strip(".")
            self._texts[FILES] += [path] if is_path else []
            self._rest += [] if is_whole and is_path else [item]

    def _add_failed(self, part: Part) -> None:
        found = read_items(list_below_headings(part.lines))
        is_only = len(found) == 1 and not says_nothing(found[0])
        if is_only and NOTHING_BECAUSE.match(found[0]):
            self._rest.append(f"{part.title}: {found[0]}")
        else:
            self._texts[FAILED] += _drop_nothing(found)

    def collect(self) -> Plain:
        """Return everything that was found."""
        texts = self._texts
        if not any(texts[LEFT_OFF]):
            texts[LEFT_OFF] = [self._prose]
        elif self._prose:
            self._rest += re.split(r"\n{2,}", self._prose)
        left_off, pending = _split_pending("\n\n".join(filter(None, texts[LEFT_OFF])))
        action = [*pending["Next"], *texts[NEXT]]
        lists: Plain = {
            "left_off": left_off,
            "done": texts[DONE],
            "failed": [split_failure(each) for each in texts[FAILED]],
            "files_modified": texts[FILES],
            "questions": [*pending["Open question"], *texts[QUESTIONS]],
            "blockers": [*pending["Blocked"], *texts[BLOCKERS]],
            "decisions": [split_at(each, DASHES[:1]) for each in texts[DECISIONS]],
            "notes": [*self._rest, *texts[NOTES]],
        }
        if action:
            lists["next_action"] = {"text": "\n".join(action)}
        return {**self._fields, **lists}


def _drop_nothing(items: list[str]) -> list[str]:
    """Return no items if the only one says that there are none."""
    if len(items) != 1:
        return items
    only = items[0]
    if says_nothing(only):
        return []
    # `_write_list` escapes what only looks like nothing.
    return [only.removeprefix("\\")] if _says_nothing(only.lstrip("\\")) else items


def _says_nothing(text: str) -> bool:
    return says_nothing(text) or NOTHING_BECAUSE.match(text) is not None


def _has_only_fields(lines: Sequence[str]) -> bool:
    """Return whether a section without a known title holds the fields of the top."""
    said = [read_field(line) for line in lines if line.strip()]
    return bool(said) and all(each and guardz_words.find_field(each[0]) for each in said)


_UNDERLINED = re.compile(
    r"\s*checkpoint\s*[:\u2013\u2014-][ \t]*(.*)\n(?:=+|-{3,})[ \t]*(?:\n|\Z)", re.IGNORECASE
)


def _drop_title(lines: Sequence[str], name: str) -> Sequence[str]:
    """Drop the title of the file, if it is the first line and underlined."""
    found = _UNDERLINED.match("\n".join(lines))
    is_name = found is not None and clean_name(found[1]) == name
    return "\n".join(lines)[found.end() :].split("\n") if found and is_name else lines


def _name_fields(lines: Sequence[str]) -> list[str]:
    """Return the lines above the sections, with a field on each; unknown names by their values."""
    single = [each for line in lines for each in loose_markdown.split_fields(line)]
    fields = {at: found for at, line in enumerate(single) if (found := read_field(line))}
    if any(guardz_words.find_field(name) for name, _ in fields.values()):
        return single
    for at, (_, value) in fields.items():
        if read_moment(value)[0] is not None:
            single[at] = f"Saved: {value}"
        elif re.fullmatch(r"`[^`\s]+`", value) and not value.endswith(".md`"):
            single[at] = f"Branch: {value}"
    return single


# The fields. Each reader also returns whether it understood the whole value.


def _read_branch(value: str) -> tuple[Plain, bool]:
    branch, _, rest = value.partition("`")[2].partition("`") if "`" in value else (value, "", "")
    branch = branch.strip()
    # A branch has no spaces, so more words are a remark.
    is_whole = not rest.strip() and " " not in branch
    if not is_whole and (commit := re.search(r"\b[0-9a-f]{7,40}\b", value)) and "`" not in value:
        return {"branch": None, "head": commit[0]}, False
    if _COMMIT.fullmatch(branch):
        return {"branch": None, "head": branch}, is_whole
    is_branch = bool(branch) and " " not in branch and not _NO_BRANCH.fullmatch(branch)
    return {"branch": branch if is_branch else None}, is_whole


def _read_moment(value: str) -> tuple[Plain, bool]:
    found, is_whole = read_moment(value)
    return ({"saved_at": found} if found else {}), is_whole


_STEP = re.compile(
    r"\(?\b(?:step|étape|schritt|paso|passo|stap|шаг)\s+(\d+)\s*(?:of|/|sur|von|de|di|van|из)\s*(\d+)\)?"
    r"|[(（]?第?\s*(\d+)\s*步\D{0,4}(\d+)\s*步[)）]?",
    re.IGNORECASE,
)
_STEPS = re.compile(r"\((\d+) steps\)")


def _read_plan(value: str) -> tuple[Plain, bool]:
    if not value or says_nothing(value):
        return {}, True
    quoted = re.match(r"`([^`]+)`|\[[^\]]*\]\(([^()\s]+)\)|(\S+\.md)\b", value)
    if quoted is None:
        return {}, False
    rest = value[quoted.end() :]
    plan: Plain = {"path": quoted[1] or quoted[2] or quoted[3]}
    if found := _STEP.search(rest):
        step, total = filter(None, found.groups())
        plan |= {"step": int(step), "total": int(total)}
    elif found := _STEPS.search(rest):
        plan["total"] = int(found[1])
    if found:
        rest = rest[: found.start()] + rest[found.end() :]
    return {"plan": plan}, not rest.strip(" ,.:;-\u2013\u2014")


_READERS = {"branch": _read_branch, "saved_at": _read_moment, "plan": _read_plan}


# Where the work stopped, with what was pending in its last lines.
_PENDING = ("Open question", "Blocked", "Next")
_LINE = re.compile(f"({'|'.join(_PENDING)}): (.+)")


def _split_pending(text: str) -> tuple[str, dict[str, list[str]]]:
    found: dict[str, list[str]] = {words: [] for words in _PENDING}
    first, *lines = text.split("\n")
    while lines and (pending := _LINE.match(lines[-1])):
        found[pending[1]].insert(0, pending[2])
        lines.pop()
    return markdown_codec.unescape("\n".join([first, *lines]).strip("\n")), found


# Writing


def render(checkpoint: Checkpoint, home: Path | None = None) -> str:
    """Write a checkpoint as its native file: as it was read, if nobody changed it since."""
    if (text := find_kept_text(checkpoint)) is not None:
        return text
    fields = [("Branch", f"`{place_of(checkpoint)}`"), ("Saved", _write_moment(checkpoint))]
    if plan := _write_plan(checkpoint, home):
        fields.append(("Plan", plan))
    head = [f"# Checkpoint: {checkpoint.name}\n", *(f"- **{k}:** {v}" for k, v in fields), "\n"]
    bodies = [(title, body) for title, body in _write_sections(checkpoint) if body is not None]
    return "\n".join(head) + "\n".join(f"## {title}\n{body}\n" for title, body in bodies)


def find_kept_text(checkpoint: Checkpoint) -> str | None:
    """Return the text that a checkpoint was read from, if it still shows the same."""
    text, source = checkpoint.extra.get(TEXT), checkpoint.source
    if not isinstance(text, str) or source is None or source.profile != _PROFILE:
        return None
    # A redacted text is no longer the file's.
    return text if compute_digest(text.encode("utf-8", "replace")) == source.sha256 else None


def place_of(checkpoint: Checkpoint) -> str:
    """Return the branch, or the commit on a detached HEAD."""
    return checkpoint.branch or (checkpoint.head or "")[:_SHORT] or "unknown"


# The length to which git shortens a commit.
_SHORT = 7


def _write_moment(checkpoint: Checkpoint) -> str:
    return f"{checkpoint.saved_at.astimezone():%Y-%m-%d %H:%M}"


def _write_plan(checkpoint: Checkpoint, home: Path | None) -> str | None:
    plan = checkpoint.plan
    if plan is None or plan.path is None:
        return None
    path = plan.path
    if home is not None and path.startswith(f"{home}/"):
        path = f"~{path.removeprefix(str(home))}"
    # Nothing is done, so the work is at the first step.
    step = plan.step or (0 if checkpoint.done else 1)
    at = f"step {step} of {plan.total}" if step else f"{plan.total} steps"
    return f"`{path}` ({at})" if plan.total else f"`{path}`"


def _write_sections(checkpoint: Checkpoint) -> Iterable[tuple[str, str | None]]:
    yield LEFT_OFF, _write_left_off(checkpoint)
    yield DONE, _write_list(checkpoint.done)
    yield FAILED, _write_list(_write_reason(each.what, each.why) for each in checkpoint.failed)
    yield FILES, _write_list(map(_write_path, _find_files(checkpoint)))
    # guardz has no place for these, and a file without them would lose them.
    decisions = [_write_reason(each.what, each.why) for each in checkpoint.decisions]
    yield DECISIONS, _write_list(decisions) if decisions else None
    yield NOTES, _write_list(checkpoint.notes) if checkpoint.notes else None
    # Longer ones do not fit into a line of Left Off.
    titles = (QUESTIONS, BLOCKERS, NEXT)
    for title, texts in zip(titles, _list_pending(checkpoint), strict=True):
        long = [each for each in texts if not _is_line(each)]
        yield title, _write_list(long) if long else None


def _write_list(texts: Iterable[str]) -> str:
    items = [*texts]
    if len(items) == 1 and _says_nothing(items[0].lstrip("\\")):
        items = [f"\\{items[0]}"]
    return markdown_codec.write_bullets(items, none="- None")


def _write_reason(what: str, why: str) -> str:
    return f"{what} \u2014 {why}" if why else what


def _find_files(checkpoint: Checkpoint) -> Sequence[str]:
    """Return the modified files, or those named, or those that git sees as changed."""
    named = [file.path for file in checkpoint.files if file.role != "plan"]
    return checkpoint.files_modified or named or checkpoint.dirty[:_MOST_FILES]


def _write_path(path: str) -> str:
    """Write a path; as code, if it could be read as more than a path."""
    if read_path(path) == (path, True):
        return path
    return f"`` {path} ``" if "`" in path else f"`{path}`"


def _write_left_off(checkpoint: Checkpoint) -> str:
    """Write where the work stopped, and what is still undecided."""
    text = checkpoint.left_off or checkpoint.summary or checkpoint.intent or ""
    pending = zip(_PENDING, _list_pending(checkpoint), strict=True)
    lines = [f"{words}: {each}" for words, texts in pending for each in texts if _is_line(each)]
    return markdown_codec.escape("\n".join([text, *lines]).strip())


def _list_pending(checkpoint: Checkpoint) -> tuple[list[str], list[str], list[str]]:
    action = [checkpoint.next_action.text] if checkpoint.next_action else []
    return checkpoint.questions, checkpoint.blockers, action


def _is_line(text: str) -> bool:
    return "\n" not in text and bool(text.strip())


def one_line(text: str) -> str:
    """Collapse line breaks and other blanks, because a bullet has a single line."""
    return " ".join(text.split())

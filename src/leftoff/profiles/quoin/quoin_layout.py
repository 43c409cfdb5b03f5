"""The format of quoin's checkpoint files: ten sections, and more where they do not suffice."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from leftoff.checkpoint import MANUAL, TRIGGERS, Checkpoint, to_plain
from leftoff.names import kebab, suggest_name
from leftoff.profiles.loose_frames import reframe
from leftoff.profiles.loose_headings import fold_title
from leftoff.profiles.markdown_codec import (
    Layout,
    Lines,
    Parts,
    Plain,
    Section,
    Style,
    split_sections,
)
from leftoff.profiles.profile import Native
from leftoff.profiles.quoin import section_texts, section_values
from leftoff.profiles.quoin.section_titles import SPELLINGS
from leftoff.profiles.quoin.section_values import PLAN, STATE
from leftoff.text import times

PRECOMPACT = "precompact"
DATED = re.compile(r"(\d{4}-\d\d-\d\d)(?:T(\d\d)(\d\d))?-(.+)\.md")
Sections = Mapping[str, Lines]
_EXTRA = "quoin"
"""The key under which a checkpoint keeps sections that we do not know."""
_UNKNOWN = "unknown"
_INFERRED = "Next action (inferred)"
_TASK_SUMMARY = "Task summary"
_VOLUNTARY = "checkpoint save (voluntary)"
_AUTOMATIC = {f"checkpoint save ({trigger})": trigger for trigger in TRIGGERS}
# Programs that sync folders name a conflict copy `name 2.md`.
_CONFLICT_COPY = re.compile(r".+ \d+\.md")
_AUTOMATIC_FILE = re.compile(r"-(?:precompact|auto)(?:-\d+)?$")
_LEAST_BYTES = 100
# A file with fewer sections is torn, and does not show what it is about.
_LEAST_SECTIONS = 3
# A task that can be part of a file's name as it is.
_FILE_NAME = re.compile(r"\w[\w.@+-]{0,99}")
# The sections of a single word, in which a comment is not part of it.
_WORDS = frozenset({"Status", "Current stage", "Active task", "Branch"})
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_HINT = re.compile(
    r"Run /checkpoint --restore in a fresh session to resume task '(.*)' from branch '.*'\."
)


# Reading


def read(path: Path, data: bytes, pending: Mapping[str, str]) -> Native:
    """Read a checkpoint's file; `pending` maps files to the sessions that wait for them."""
    if _CONFLICT_COPY.fullmatch(path.name):
        return Native(problem="It is a conflict copy of another file.")
    if len(data) < _LEAST_BYTES:
        return Native(problem=f"It is smaller than {_LEAST_BYTES} bytes.")
    text = reframe(data.decode("utf-8", "replace").removeprefix("\ufeff"), _TEN)
    parts, comments = _take_comments(LAYOUT.split(text))
    found = LAYOUT.read(parts)
    found["remarks"] = [*found.get("remarks", []), *comments]
    task, status = found.pop("task", "") or _read_task(path, parts), found.pop("status", "")
    if not task:
        return Native(problem="It does not name an active task.")
    is_named = _is_named(path, status)
    kept = {
        "intro": "\n".join(split_sections(text)[0].lines).strip(),
        "sections": _find_unknown(parts, found),
        "status": status if is_named and status != _VOLUNTARY else "",
        "hint": found.pop("hint", ""),
        "task": "" if is_named and kebab(task) == task else task,
    }
    fields = {
        **_resolve(found),
        "trigger": _find_trigger(found.get("trigger"), status, is_named=is_named),
        "session_id": found.get("session_id") or pending.get(path.name),
        _EXTRA: {key: value for key, value in kept.items() if value},
    }
    return Native(
        fields=fields,
        name=task if is_named else None,
        saved_at=fields.pop("saved_at", None) or _read_date(path),
        is_open=path.name in pending,
    )


def _take_comments(parts: Parts) -> tuple[Parts, list[str]]:
    """Separate the comments from the sections that hold a single word, in files of others."""
    sections = dict(parts.sections)
    comments: list[str] = []
    for title in _WORDS & sections.keys() if "Saved at" not in sections else ():
        text = "\n".join(sections[title])
        if len(bare := _COMMENT.sub("", text).strip()) < len(text.strip()) and bare:
            comments += _COMMENT.findall(text)
            sections[title] = bare.split("\n")
    return msgspec.structs.replace(parts, sections=sections), comments


def _resolve(found: Plain) -> Plain:
    """Combine what several sections say: the request, the plan, the next action."""
    fields = dict(found)
    asked = fields.pop("asked", None) or fields.pop("summary", None)
    has_request = "request" in fields
    request = fields.pop("request", None)
    fields |= {"summary": asked, "intent": request} if has_request else {"intent": asked}
    artifacts = dict(fields.get("artifacts", {}))
    if remarks := fields.pop("remarks", []):
        fields["notes"] = [*fields.get("notes", []), *remarks]
    fields["plan"] = _resolve_plan(fields.pop("stage", None), fields.get("plan"), artifacts)
    inferred = fields.pop("inferred", None)
    fields["next_action"] = fields.get("next_action") or inferred
    return {**fields, "artifacts": artifacts}


def _resolve_plan(stage: str | None, section: Plain | None, artifacts: Plain) -> Plain | None:
    stated, listed = section or {}, artifacts.get(PLAN)
    # Without its own section, the plan is the one among the artifacts.
    path = listed if section is None or (stated and "path" not in stated) else stated.get("path")
    if "path" in stated and path == listed:
        # It is listed among the artifacts only for readers.
        artifacts.pop(PLAN, None)
    plan = {**stated, "path": path, "stage": stage}
    return {key: value for key, value in plan.items() if value is not None} or None


def _read_task(path: Path, parts: Parts) -> str:
    """Take the task from the hint or the file's name if an otherwise whole file lacks it."""
    hint = _HINT.search("\n".join(parts.sections.get("Restore hint", [])))
    if hint is not None:
        return hint[1]
    dated = DATED.fullmatch(path.name)
    # In a language that leftoff does not know, all sections are unknown.
    count = len(parts.sections) + len(parts.unknown_sections)
    if dated is None or count < _LEAST_SECTIONS:
        return ""
    return _AUTOMATIC_FILE.sub("", dated[4])


def _find_unknown(parts: Parts, found: Plain) -> dict[str, str]:
    """Return the sections that no key can hold, or not whole."""
    unread = [title for title, is_whole in _IS_WHOLE.items() if not is_whole(parts.sections)]
    # A guess beside a stated next action.
    if {"next_action", "inferred"} <= found.keys():
        unread.append(_INFERRED)
    bodies = {title: "\n".join(parts.sections[title]) for title in unread}
    sections = {
        title: section_texts.read_text(body.split("\n"))
        for title, body in {**parts.unknown_sections, **bodies}.items()
    }
    return {title: text for title, text in sections.items() if text}


def _is_named(path: Path, status: str) -> bool:
    if status in _AUTOMATIC or PRECOMPACT in status:
        return False
    return "voluntary" in status.lower() or _AUTOMATIC_FILE.search(path.stem) is None


def _find_trigger(stated: str | None, status: str, *, is_named: bool) -> str:
    if is_named:
        return stated if stated in TRIGGERS else MANUAL
    # The section, if present, says how the compaction began; the status says why we saved.
    return _AUTOMATIC.get(status, PRECOMPACT)


def _read_date(path: Path) -> datetime | None:
    """Take the date from the file's name, unless the file was last written by that day."""
    found = DATED.fullmatch(path.name)
    if found is None:
        return None
    date, hour, minute, _ = found.groups()
    if hour is not None:
        return times.parse(f"{date}T{hour}:{minute}")
    noon = times.parse(f"{date}T12:00", zone=None)
    try:
        written = datetime.fromtimestamp(path.lstat().st_mtime).astimezone()
    except (ValueError, OSError, OverflowError):
        return None
    # A file last written before the day in its name cannot have been saved later.
    return noon if f"{written:%Y-%m-%d}" > date else None


# Writing


def render(checkpoint: Checkpoint) -> str:
    """Write a checkpoint as its file."""
    kept = _find_kept(checkpoint)
    sections = kept.get("sections")
    unknown = sections if isinstance(sections, dict) else {}
    text = LAYOUT.write_sections(
        checkpoint,
        [
            (" ".join(str(title).split()), section_texts.write_text(str(body)))
            for title, body in unknown.items()
        ],
    )
    intro = kept.get("intro")
    return f"{intro}\n\n{text}" if isinstance(intro, str) else text


def task_of(checkpoint: Checkpoint) -> str:
    """Return the task of a checkpoint as quoin spells it, or one derived from the work."""
    known = _find_kept(checkpoint).get("task")
    spelled = known if isinstance(known, str) and _FILE_NAME.fullmatch(known) else ""
    if checkpoint.name:
        return spelled if kebab(spelled) == kebab(checkpoint.name) else checkpoint.name
    if spelled:
        return spelled
    dated = DATED.fullmatch(Path(checkpoint.artifacts.get(STATE, "")).name)
    found = known if isinstance(known, str) else dated[4] if dated else ""
    texts = [checkpoint.summary, checkpoint.intent, checkpoint.left_off]
    return kebab(found) or suggest_name(texts, checkpoint.branch)


def _find_kept(checkpoint: Checkpoint) -> dict[str, object]:
    """Return what is stored for these files and means nothing elsewhere."""
    found = checkpoint.extra.get(_EXTRA)
    return found if isinstance(found, dict) else {}


# Sections


def _has_both(checkpoint: Checkpoint) -> bool:
    """Return whether a checkpoint has its task and the last request apart."""
    return bool(checkpoint.summary and checkpoint.intent)


def _read_active_task(lines: Lines) -> Plain:
    text = " ".join(section_texts.unescape(lines).split()).strip("`* ")
    return {"task": "" if section_texts.is_nothing(text) else text}


def _read_branch(lines: Lines) -> Plain:
    branch = section_texts.read_word(lines)
    return {"branch": None if branch == _UNKNOWN else branch}


def _read_hint(lines: Lines) -> Plain:
    """Read a hint that says something of its own."""
    text = section_texts.read_text(lines)
    return {"hint": text} if text and not _HINT.fullmatch(text) else {}


def _write_hint(checkpoint: Checkpoint) -> str:
    own = _find_kept(checkpoint).get("hint")
    if isinstance(own, str):
        return section_texts.write_text(own)
    branch = " ".join((checkpoint.branch or _UNKNOWN).split())
    return (
        f"Run /checkpoint --restore in a fresh session to resume task '{task_of(checkpoint)}' "
        f"from branch '{branch}'."
    )


def _make_action(title: str, key: str, origin: str) -> Section:
    """Make the section for a stated next action, or for an inferred one."""

    def read(lines: Lines) -> Plain:
        text = section_texts.read_text(lines)
        return {} if text is None else {key: {"text": text, "origin": origin}}

    def write(checkpoint: Checkpoint) -> str | None:
        action = checkpoint.next_action
        is_mine = action is not None and (action.origin == "stated") == (origin == "stated")
        return section_texts.write_text(action.text) if action and is_mine else None

    return Section(title, read, write)


def _read_context(lines: Lines) -> Plain:
    try:
        found = msgspec.json.decode("\n".join(lines).strip().encode())
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return {}
    return {"context": found} if isinstance(found, dict) else {}


def _write_context(checkpoint: Checkpoint) -> str | None:
    use = checkpoint.context
    return None if use is None else msgspec.json.encode(to_plain(use)).decode()


def _read_moment(lines: Lines) -> Plain:
    moment = times.parse("\n".join(lines).strip())
    return {"saved_at": moment} if moment else {}


def _find_status(checkpoint: Checkpoint) -> str:
    own = _find_kept(checkpoint).get("status")
    if checkpoint.name and isinstance(own, str):
        return section_texts.write_text(own)
    return _VOLUNTARY if checkpoint.name else f"checkpoint save ({checkpoint.trigger})"


def _find_shown_trigger(checkpoint: Checkpoint) -> str | None:
    is_shown = checkpoint.name and checkpoint.trigger != MANUAL
    return checkpoint.trigger if is_shown else None


_STYLE = Style(
    read_text=section_texts.read_text,
    write_text=section_texts.write_text,
    read_list=section_texts.read_items,
    write_list=section_texts.write_items,
)
LAYOUT = Layout(
    fold=fold_title,
    # The first section counts: a second one with the same title was pasted in.
    joins_repeated=False,
    sections=(
        Section(
            "Status",
            lambda lines: {"status": section_texts.unescape(lines)},
            _find_status,
            SPELLINGS["Status"],
        ),
        Section(
            "Current stage",
            lambda lines: {"stage": section_texts.read_word(lines)},
            lambda each: section_texts.write_word(each.plan.stage if each.plan else None),
            SPELLINGS["Current stage"],
        ),
        Section("Active task", _read_active_task, task_of, SPELLINGS["Active task"]),
        Section(
            "Branch",
            _read_branch,
            lambda each: section_texts.write_word(each.branch or _UNKNOWN),
            SPELLINGS["Branch"],
        ),
        _STYLE.text(
            "Last user intent",
            "asked",
            find=lambda each: each.intent or each.summary,
            spellings=SPELLINGS["Last user intent"],
        ),
        Section(
            "In-flight artifacts",
            section_values.read_artifacts,
            section_values.write_artifacts,
            SPELLINGS["In-flight artifacts"],
        ),
        _STYLE.texts("Open questions", "questions", spellings=SPELLINGS["Open questions"]),
        Section(
            "Decisions made",
            section_values.read_decisions,
            section_values.write_decisions,
            SPELLINGS["Decisions made"],
        ),
        _STYLE.text("Unfinished work", "left_off", spellings=SPELLINGS["Unfinished work"]),
        Section("Restore hint", _read_hint, _write_hint, SPELLINGS["Restore hint"]),
        # The sections above always exist; those below hold what does not fit into them.
        Section(
            _TASK_SUMMARY,
            lambda lines: {"summary": section_texts.read_text(lines)},
            lambda each: section_texts.write_text(each.summary) if _has_both(each) else None,
        ),
        # Without a request, the last intent holds the summary.
        Section(
            "Last request",
            lambda lines: {"request": section_texts.read_text(lines)},
            lambda each: (
                section_texts.write_text(None) if each.summary and not each.intent else None
            ),
        ),
        Section(
            "Plan",
            lambda lines: {"plan": section_values.read_plan(lines)},
            section_values.write_plan,
        ),
        _make_action("Next action", "next_action", "stated"),
        _make_action(_INFERRED, "inferred", "inferred"),
        _STYLE.texts("Completed in this session", "done", is_optional=True),
        _STYLE.texts("Blockers", "blockers", is_optional=True),
        _STYLE.texts("Pending prompts", "pending_prompts", is_optional=True),
        _STYLE.texts("Notes", "notes", is_optional=True),
        _STYLE.text("Session ID", "session_id", is_optional=True),
        Section("Session link", section_values.read_link, section_values.write_link),
        _STYLE.text("Trigger", "trigger", find=_find_shown_trigger, is_optional=True),
        Section("Context use", _read_context, _write_context),
        Section("Saved at", _read_moment, lambda each: each.saved_at.astimezone(UTC).isoformat()),
    ),
)
_TEN = {
    title: frozenset(map(fold_title, (title, *spellings))) for title, spellings in SPELLINGS.items()
}


def _is_read_whole(title: str, check: Callable[[Lines], bool]) -> Callable[[Sections], bool]:
    def is_whole(sections: Sections) -> bool:
        lines = sections.get(title)
        return lines is None or section_texts.read_text(lines) is None or check(lines)

    return is_whole


# Sections that only leftoff writes; in other hands they may hold anything.
_IS_WHOLE = {
    title: _is_read_whole(title, check)
    for title, check in {
        "Plan": lambda lines: section_values.has_only(lines, ("path", "title", "step")),
        "Session link": lambda lines: section_values.has_only(lines, section_values.LINK),
        "Context use": lambda lines: bool(_read_context(lines)),
        "Saved at": lambda lines: bool(_read_moment(lines)),
    }.items()
}

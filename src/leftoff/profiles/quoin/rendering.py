"""Writing the file of one checkpoint: ten sections, and more where they do not suffice."""

import re
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path

import msgspec

from leftoff.checkpoint import MANUAL, Checkpoint, Decision, to_plain
from leftoff.names import kebab, suggested_name
from leftoff.profiles.quoin import section_texts

PRECOMPACT = "precompact"
NOT_FOUND = "(none found)"
UNKNOWN = "unknown"
PLAN, STATE = "current-plan.md", "session-state"
SHOWN = (PLAN, "architecture.md", "latest critic-response", "latest review", STATE)
"""The artifacts that are always listed, found or not."""
VOLUNTARY = "checkpoint save (voluntary)"
AUTOMATIC = "checkpoint save ({trigger})"
INFERRED = "Next action (inferred)"
REASONS = {"why": "why", "instead of": "alternatives", "impact": "impact"}
"""The words before what else is known of a decision, and its keys."""
BECAUSE = " — "
"""What stands between a decision and its reason."""
EXTRA = "quoin"
"""The key of a checkpoint that keeps what nobody here knows."""

DATED = re.compile(r"(\d{4}-\d\d-\d\d)(?:T(\d\d)(\d\d))?-(.+)\.md")


def render(checkpoint: Checkpoint) -> str:
    """Write a checkpoint as its file."""
    parts = [*_ten(checkpoint), *_beyond(checkpoint)]
    return "\n".join(f"## {title}\n{body}\n" for title, body in parts)


def task_of(checkpoint: Checkpoint) -> str:
    """Tell what a checkpoint is filed under: its name, or one made from the work."""
    if checkpoint.name:
        return checkpoint.name
    known = kept(checkpoint).get("task")
    noted = DATED.fullmatch(Path(checkpoint.artifacts.get(STATE, "")).name)
    found = known if isinstance(known, str) else noted[4] if noted else ""
    texts = [checkpoint.summary, checkpoint.intent, checkpoint.left_off]
    return kebab(found) or suggested_name(texts, checkpoint.branch)


def kept(checkpoint: Checkpoint) -> dict[str, object]:
    """Return what is kept for files like these and means nothing elsewhere."""
    found = checkpoint.extra.get(EXTRA)
    return found if isinstance(found, dict) else {}


def _ten(checkpoint: Checkpoint) -> list[tuple[str, str]]:
    task, branch = task_of(checkpoint), checkpoint.branch or UNKNOWN
    automatic = AUTOMATIC.format(trigger=checkpoint.trigger)
    stage = checkpoint.plan.stage if checkpoint.plan else None
    hint = (
        f"Run /checkpoint --restore in a fresh session to resume task '{task}' "
        f"from branch '{' '.join(branch.split())}'."
    )
    return [
        ("Status", VOLUNTARY if checkpoint.name else automatic),
        ("Current stage", section_texts.text(stage)),
        ("Active task", task),
        ("Branch", section_texts.text(branch)),
        ("Last user intent", section_texts.text(checkpoint.summary or checkpoint.intent)),
        ("In-flight artifacts", _artifacts(checkpoint)),
        ("Open questions", section_texts.items(checkpoint.questions)),
        ("Decisions made", "\n".join(map(_decision, checkpoint.decisions)) or section_texts.NONE),
        ("Unfinished work", section_texts.text(checkpoint.left_off)),
        ("Restore hint", hint),
    ]


def _beyond(checkpoint: Checkpoint) -> Iterator[tuple[str, str]]:
    """Yield the sections for what the ten have no room for."""
    if checkpoint.summary:
        yield "Last request", section_texts.text(checkpoint.intent)
    if (plan := _plan(checkpoint)) is not None:
        yield "Plan", plan
    if action := checkpoint.next_action:
        yield (
            "Next action" if action.origin == "stated" else INFERRED,
            section_texts.text(action.text),
        )
    for title, texts in (
        ("Completed in this session", checkpoint.done),
        ("Blockers", checkpoint.blockers),
        ("Pending prompts", checkpoint.pending_prompts),
        ("Notes", checkpoint.notes),
    ):
        if texts:
            yield title, section_texts.items(texts)
    yield from _origin(checkpoint)
    unknown = kept(checkpoint).get("sections")
    for title, body in (unknown if isinstance(unknown, dict) else {}).items():
        yield " ".join(str(title).split()), section_texts.text(str(body))


def _origin(checkpoint: Checkpoint) -> Iterator[tuple[str, str]]:
    """Yield the sections that tell where a checkpoint comes from."""
    if checkpoint.session_id:
        yield "Session ID", section_texts.text(checkpoint.session_id)
    if link := _link(checkpoint):
        yield "Session link", link
    if checkpoint.name and checkpoint.trigger != MANUAL:
        yield "Trigger", section_texts.text(checkpoint.trigger)
    if checkpoint.context is not None:
        yield "Context use", msgspec.json.encode(to_plain(checkpoint.context)).decode()
    yield "Saved at", checkpoint.saved_at.astimezone(UTC).isoformat()


def _artifacts(checkpoint: Checkpoint) -> str:
    paths: dict[str, str | None] = dict(checkpoint.artifacts)
    if checkpoint.plan and checkpoint.plan.path:
        paths.setdefault(PLAN, checkpoint.plan.path)
    named = {**dict.fromkeys(SHOWN, None), **paths}
    return "\n".join(f"- {_quoted(name)}: {_path(path)}" for name, path in named.items())


def _path(path: str | None) -> str:
    return NOT_FOUND if path is None else _quoted(path)


def _quoted(text: str) -> str:
    """Write a name or path as it is; in quotes if it would be read as something else."""
    is_plain = text.strip() == text and text.isprintable() and ":" not in text
    if text and is_plain and not text.startswith(('"', "(none")):
        return text
    return msgspec.json.encode(text).decode()


def _decision(decision: Decision) -> str:
    """Write a decision in one line where its reason is all there is to it, as people do."""
    what, why = decision.what, decision.why
    if why and not (decision.alternatives or decision.impact) and _joined(what, why):
        return section_texts.item(section_texts.escaped(f"{what}{BECAUSE}{why}"))
    lines = [section_texts.escaped(what)]
    if not why and BECAUSE in what:
        lines.append(f"- why: {section_texts.NONE}")
    for word, key in REASONS.items():
        value = getattr(decision, key)
        texts = value if isinstance(value, list) else [value] if value else []
        lines += [section_texts.item(f"{word}: {section_texts.escaped(each)}") for each in texts]
    return section_texts.item("\n".join(lines))


def _joined(what: str, why: str) -> bool:
    """Say whether both fit into a line from which they can be told apart again."""
    line = f"{what}{BECAUSE}{why}"
    is_whole = bool(what.strip() and why.strip()) and "\n" not in line
    return is_whole and line.partition(BECAUSE) == (what, BECAUSE, why)


def _plan(checkpoint: Checkpoint) -> str | None:
    """Tell of the plan what its stage and its line among the artifacts do not."""
    plan, listed = checkpoint.plan, checkpoint.artifacts.get(PLAN)
    if plan is None or not any((plan.path, plan.title, plan.step, plan.total)):
        return section_texts.NONE if listed else None
    lines = []
    if plan.path != listed:
        lines.append(f"- path: {_quoted(plan.path) if plan.path else section_texts.NONE}")
    if plan.title:
        lines.append(f"- title: {_quoted(plan.title)}")
    if plan.step is not None or plan.total is not None:
        lines.append(f"- step: {plan.step} of {plan.total}")
    return "\n".join(lines) or None


def _link(checkpoint: Checkpoint) -> str:
    lines = [f"- Agent: {_quoted(checkpoint.agent)}"] if checkpoint.agent else []
    if checkpoint.agent == "claude" and checkpoint.session_id:
        lines.append(f"- Resume command: claude --resume {_quoted(checkpoint.session_id)}")
    if checkpoint.transcript:
        lines.append(f"- JSONL path: {_quoted(checkpoint.transcript.path)}")
        lines.append(f"- Read up to: {checkpoint.transcript.offset}")
    return "\n".join(lines)

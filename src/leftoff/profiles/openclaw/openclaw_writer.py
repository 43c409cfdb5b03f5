"""Writing a checkpoint's file."""

import re
from collections.abc import Iterable

from leftoff.checkpoint import Checkpoint, Decision, Plan
from leftoff.profiles.openclaw import moments, points
from leftoff.profiles.openclaw.openclaw_reader import KEY, NO_TASK, SECTIONS
from leftoff.profiles.openclaw.points import Point
from leftoff.profiles.openclaw.section_items import INFERRED, escaped

_SUBHEADING = re.compile(r"#{3,6} \S(?:.*\S)?")


def render(checkpoint: Checkpoint, *, project: str = "") -> str:
    """Write a checkpoint as its native file."""
    fields = [
        f"# Checkpoint: {checkpoint.name}\n",
        f"**Created:** {moments.written(checkpoint.saved_at)}",
    ]
    return "\n".join([*fields, body(checkpoint, project=project)])


def body(checkpoint: Checkpoint, *, project: str) -> str:
    """Write all of a checkpoint below the line that dates it."""
    task = escaped(checkpoint.summary or checkpoint.intent or "") or NO_TASK
    kept = _kept(checkpoint)
    fields = [f"**Task:** {task}", *([f"**Project:** {project}"] if project else [])]
    fields += [f"**{key}:** {value}" for key, value in kept["fields"].items()]
    sections = [
        "\n".join(_written_progress(checkpoint)) or "- None",
        _written_action(checkpoint),
        _written(_blocking(checkpoint)),
        _written(_decided(each) for each in checkpoint.decisions),
        _written(_surroundings(checkpoint)),
    ]
    texts = [*zip(SECTIONS, sections, strict=True), *kept["sections"].items()]
    return "\n".join([*fields, *(f"\n## {title}\n{text}" for title, text in texts), ""])


def _kept(checkpoint: Checkpoint) -> dict[str, dict[str, str]]:
    """Return what an earlier file held beside all that we know of."""
    extra = checkpoint.extra.get(KEY)
    found = extra if isinstance(extra, dict) else {}
    return {key: _texts(found.get(key)) for key in ("fields", "sections")}


def _texts(value: object) -> dict[str, str]:
    return {str(k): str(v) for k, v in value.items()} if isinstance(value, dict) else {}


def _written(told: Iterable[Point]) -> str:
    return "\n".join(points.written(point) for point in told) or "- None"


def _written_progress(checkpoint: Checkpoint) -> Iterable[str]:
    """Write what was done; a day of several is a heading, and the end tells where it stopped."""
    for number, text in enumerate(checkpoint.done):
        is_heading = _SUBHEADING.fullmatch(text) is not None
        if is_heading and number:
            yield ""
        yield text if is_heading else points.written(Point(text=text))
    if checkpoint.left_off:
        yield from ([""] if checkpoint.done else [])
        yield escaped(points.guarded(checkpoint.left_off))


def _written_action(checkpoint: Checkpoint) -> str:
    action = checkpoint.next_action
    if action is None:
        return "None"
    text = escaped(points.guarded(action.text))
    return f"{text}\n{INFERRED}" if action.origin == "inferred" else text


def _blocking(checkpoint: Checkpoint) -> Iterable[Point]:
    yield from (Point(text=text) for text in checkpoint.blockers)
    yield from (Point(label="Open question", text=text) for text in checkpoint.questions)


def _decided(decision: Decision) -> Point:
    more = [("Alternative", each) for each in decision.alternatives]
    more += [("Impact", decision.impact)] if decision.impact else []
    return points.reasoned("", decision.what, decision.why, more)


def _surroundings(checkpoint: Checkpoint) -> Iterable[Point]:
    if checkpoint.branch:
        yield Point(label="Branch", text=checkpoint.branch)
    if checkpoint.plan is not None:
        yield _planned(checkpoint.plan)
    for path in checkpoint.files_modified:
        yield Point(label="Modified", text=path)
    told = {*checkpoint.files_modified, checkpoint.plan.path if checkpoint.plan else None}
    for file in checkpoint.files:
        if file.path not in told:
            yield Point(label="File", text=file.path)
    for name, path in checkpoint.artifacts.items():
        flat = " = " not in name
        yield (
            Point(label="Artifact", text=f"{name} = {path}")
            if flat
            else Point(label="Artifact", text=name, parts=[("Path", path)])
        )
    for failure in checkpoint.failed:
        yield points.reasoned("Failed", failure.what, failure.why)
    yield from (Point(text=text) for text in checkpoint.notes)


def _planned(plan: Plan) -> Point:
    path = plan.path or ""
    step = f"{plan.step} of {plan.total}" if plan.total else str(plan.step or "")
    is_short = not plan.title and not plan.stage and not path.endswith(")")
    if path and is_short and (plan.total or not step):
        return Point(label="Plan", text=f"{path} (step {step})" if step else path)
    return points.with_parts("Plan", path, {"Title": plan.title, "Step": step, "Stage": plan.stage})

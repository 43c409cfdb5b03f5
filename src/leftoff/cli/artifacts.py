"""The artifacts of a checkpoint: named at resume, read again on demand, never stored."""

import click

from leftoff import fence, restore
from leftoff.fingerprints import located
from leftoff.paths import Project

QUESTION = "Re-fire reads on artifacts now? [y / n]"


def summary(checks: restore.Checks, questions: int) -> str:
    """Say how many artifacts and open questions there are; nothing without artifacts."""
    if not checks.artifacts:
        return ""
    missing = sum(not artifact.is_there for artifact in checks.artifacts)
    gone = f" ({missing} missing)" if missing else ""
    return f"Artifacts: {len(checks.artifacts)}{gone}. Open questions: {questions}."


def contents(checks: restore.Checks, project: Project) -> str:
    """Return the text of every artifact that is there, fenced; say which are missing."""
    if not checks.artifacts:
        return "The checkpoint names no artifacts."
    return "\n\n".join(_content(artifact, project) for artifact in checks.artifacts)


def ask() -> bool:
    """Ask on a terminal whether to read the artifacts again."""
    return click.confirm(QUESTION, default=None, show_default=False, prompt_suffix=" ")


def _content(artifact: restore.ArtifactCheck, project: Project) -> str:
    name = fence.disarm(f"{artifact.name}: {artifact.path}")
    if not artifact.is_there:
        return f"{name} is missing."
    text = restore.read_text(located(artifact.path, project.worktree), project)
    if text is None:
        return f"{name} is not a file of this project, so open it yourself if you trust it."
    return fence.fenced(f"{name}\n\n{text.strip()}").rstrip("\n")

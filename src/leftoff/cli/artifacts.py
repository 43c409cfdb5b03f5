"""The artifacts of a checkpoint: named at resume, read again on demand, never stored."""

import click

from leftoff import fence, restore
from leftoff.fence import Rendered, block, join, say
from leftoff.fingerprints import located
from leftoff.projects import Project

QUESTION = "Re-fire reads on artifacts now? [y / n]"


def summary(checks: restore.Checks, questions: int) -> Rendered:
    """Say how many artifacts and open questions there are; nothing without artifacts."""
    if not checks.artifacts:
        return say("")
    missing = sum(not artifact.is_there for artifact in checks.artifacts)
    gone = say(" ({count} missing)", count=missing) if missing else say("")
    return say(
        "Artifacts: {count}{gone}. Open questions: {questions}.",
        count=len(checks.artifacts),
        gone=gone,
        questions=questions,
    )


def contents(checks: restore.Checks, project: Project) -> Rendered:
    """Return the text of every artifact that is there, fenced; say which are missing."""
    if not checks.artifacts:
        return say("The checkpoint names no artifacts.")
    return join((_content(artifact, project) for artifact in checks.artifacts), "\n\n")


def ask() -> bool:
    """Ask on a terminal whether to read the artifacts again."""
    return click.confirm(QUESTION, default=None, show_default=False, prompt_suffix=" ")


def _content(artifact: restore.ArtifactCheck, project: Project) -> Rendered:
    name = say("Artifact {name}: {path}", name=artifact.name, path=artifact.path)
    if not artifact.is_there:
        return say("{name} is missing.", name=name)
    text = restore.read_text(located(artifact.path, project.worktree), project)
    if text is None:
        return say(
            "{name} is not a file of this project, so open it yourself if you trust it.", name=name
        )
    return fence.fenced(join([name, block(text)]))

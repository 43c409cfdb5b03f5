"""Show a checkpoint's artifacts when it is resumed; the store keeps their paths, not contents."""

import click

from leftoff.fingerprints import locate_file
from leftoff.projects.project import Project
from leftoff.text import fence
from leftoff.text.fence import Rendered, block, join, say
from leftoff.threads import check_claims

QUESTION = "Re-fire reads on artifacts now? [y / n]"


def summary(checks: check_claims.Checks, questions: int) -> Rendered:
    """Count artifacts and open questions; return an empty text without artifacts."""
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


def contents(checks: check_claims.Checks, project: Project) -> Rendered:
    """Return the fenced text of every artifact, and name those that are missing."""
    if not checks.artifacts:
        return say("The checkpoint names no artifacts.")
    return join((_content(artifact, project) for artifact in checks.artifacts), "\n\n")


def ask() -> bool:
    """Ask on a terminal whether to read the artifacts again."""
    return click.confirm(QUESTION, default=None, show_default=False, prompt_suffix=" ")


def _content(artifact: check_claims.ArtifactCheck, project: Project) -> Rendered:
    name = say("Artifact {name}: {path}", name=artifact.name, path=artifact.path)
    if not artifact.is_there:
        return say("{name} is missing.", name=name)
    text = check_claims.read_text(locate_file(artifact.path, project.worktree), project)
    if text is None:
        return say("{name} is outside this project. Open it yourself if you trust it.", name=name)
    return fence.enclose_text(join([name, block(text)]))

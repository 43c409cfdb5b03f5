"""Show the artifacts of a checkpoint in `leftoff resume`, and ask whether to read them."""

from collections.abc import Sequence
from pathlib import Path

import click

from leftoff import cli
from leftoff.fingerprints import locate_file
from leftoff.projects.project import Project
from leftoff.text import fence
from leftoff.text.fence import Rendered, block, join, say
from leftoff.threads.check_claims import ArtifactCheck, Checks, read_text

# quoin's question.
_QUESTION = "Re-fire reads on artifacts now? [y / n]"
ARTIFACTS_QUESTION = say(_QUESTION)
_HINT = "To print the artifacts, add --read-artifacts."


def count_artifacts(checks: Checks, questions: int) -> Rendered:
    """Count artifacts and open questions."""
    missing = sum(not artifact.is_there for artifact in checks.artifacts)
    gone = say(" ({count} missing)", count=missing) if missing else say("")
    return say(
        "Artifacts: {count}{gone}. Open questions: {questions}.",
        count=len(checks.artifacts),
        gone=gone,
        questions=questions,
    )


def quote_artifacts(checks: Checks, project: Project, also: Sequence[Path] = ()) -> Rendered:
    """Return the fenced text of every artifact, and name those that are missing."""
    if not checks.artifacts:
        return say("The checkpoint names no artifacts.")
    quoted = (_quote_artifact(artifact, project, also) for artifact in checks.artifacts)
    return join(quoted, "\n\n")


def _quote_artifact(artifact: ArtifactCheck, project: Project, also: Sequence[Path]) -> Rendered:
    name = say("Artifact {name}: {path}", name=artifact.name, path=artifact.path)
    if not artifact.is_there:
        return say("{name} is missing.", name=name)
    text = read_text(locate_file(artifact.path, project.worktree), project, also)
    if text is None:
        return say("{name} is outside this project. Open it yourself if you trust it.", name=name)
    return fence.enclose_text(join([name, block(text)]))


def wants_artifacts(*, has_sentinels: bool) -> bool:
    """Ask a person whether to print the artifacts; quoin's users know its question."""
    if not has_sentinels:
        return cli.ask_questions.confirm("Print the artifacts?")
    return click.confirm(_QUESTION, default=None, show_default=False, prompt_suffix=" ")


def ask_agent(checks: Checks, *, has_sentinels: bool) -> Rendered:
    """Return the question about the artifacts with their paths: the agent reads them itself."""
    if not has_sentinels:
        return say(_HINT)
    if not checks.artifacts:
        return ARTIFACTS_QUESTION
    paths = [
        say(
            "- {name}: {path}{gone}",
            name=each.name,
            path=each.path,
            gone=say("" if each.is_there else " (missing)"),
        )
        for each in checks.artifacts
    ]
    listed = fence.enclose_text(join([say("In-flight artifacts:"), *paths]))
    answers = say("- y: read each of these files now\n- n: do not read them")
    return join([listed, ARTIFACTS_QUESTION, answers])

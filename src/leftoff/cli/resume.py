"""The `leftoff resume` command: show where the work left off and what changed since."""

import os
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click
import msgspec

from leftoff import knowledge, threads
from leftoff.checkpoint import Checkpoint, to_plain
from leftoff.cli import replay, sessions_command
from leftoff.cli.app import App, checkpoint_argument, command, complete_open, key_of, printable
from leftoff.cli.list import warn_of_other_stores
from leftoff.errors import ChoiceNeeded, StoreRefused, UsageError
from leftoff.fingerprints import locate_file
from leftoff.projects.project import Project
from leftoff.store import CheckpointEntry
from leftoff.text import fence
from leftoff.text.fence import Rendered, block, join, say
from leftoff.threads import briefing, check_claims
from leftoff.threads.compose import refresh

if TYPE_CHECKING:
    from leftoff.knowledge.features import Loop


# --- what `resume` and `resume --pending` show ---


class ViewOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How much to show, and whether to read artifacts (None: ask)."""

    budget: int
    reads: bool | None
    always_asks: bool = False
    """Whether to ask even if there are no artifacts."""


class ResumeBriefing(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint ready to show, with what changed since and the queued prompts."""

    checkpoint: Checkpoint
    checks: check_claims.Checks
    text: Rendered
    waiting: replay.WaitingPrompts | None
    """The queued prompts; None if there cannot be any."""
    artifacts: Rendered
    """The contents of the artifacts, if the user wants them."""
    question: Rendered
    """The question whether to resume it."""
    is_recovery: bool
    """Whether openclaw's sentence must be approved before anything happens."""
    asks: bool
    """Whether to ask if the artifacts should be read."""

    def plain(self, question: Rendered | None) -> dict[str, Any]:
        """Return the briefing and its question as JSON-ready values."""
        return {
            "checkpoint": to_plain(self.checkpoint),
            "briefing": self.text,
            "checks": msgspec.to_builtins(self.checks),
            "question": question,
            "prompts": replay.rows(self.waiting) if self.waiting else [],
        }

    def ask_user(self, question: Rendered | None) -> Rendered:
        """Return openclaw's sentence for an agent to ask; empty if there is nothing to ask."""
        if question is None or not self.is_recovery:
            return say("")
        return say("Ask the user: {question}", question=question)

    def questions(self) -> list[Rendered]:
        """Return the open questions as text, for output without a terminal."""
        prompts = replay.notice(self.waiting) if self.waiting else say("")
        return [prompts, say(ARTIFACTS_QUESTION if self.asks else "")]


def prepare_briefing(app: App, checkpoint: Checkpoint, view: ViewOptions) -> ResumeBriefing:
    """Check a checkpoint against the current worktree and render its briefing.

    Call it before accepting the checkpoint: a consumed one no longer lists its prompts.
    """
    checks = app.workspace.check(checkpoint)
    is_recovery = app.settings.profile == "openclaw"
    return ResumeBriefing(
        checkpoint=checkpoint,
        checks=checks,
        text=_render(app, checkpoint, checks, view.budget, is_recovery=is_recovery),
        question=threads.recovery_briefing.question(checkpoint, checks)
        if is_recovery
        else briefing.question(checkpoint, checks),
        is_recovery=is_recovery,
        waiting=_find_prompts(app, checkpoint),
        artifacts=quote_artifacts(checks, app.project, _list_folders(app))
        if view.reads
        else say(""),
        asks=view.reads is None and (view.always_asks or bool(checks.artifacts)),
    )


def _render(
    app: App,
    checkpoint: Checkpoint,
    checks: check_claims.Checks,
    budget: int,
    *,
    is_recovery: bool,
) -> Rendered:
    if not is_recovery:
        return briefing.render(checkpoint, checks, budget=budget)
    shown = threads.recovery_briefing
    buffer = shown.quote_buffer(checkpoint, app.project, app.settings)
    return join([shown.render(checkpoint, checks, budget=budget), buffer], "\n\n")


def ask_rest(app: App, shown: ResumeBriefing) -> None:
    """Ask the open questions on a terminal."""
    if shown.asks and ask_for_artifacts():
        app.out.text(quote_artifacts(shown.checks, app.project, _list_folders(app)))
    if shown.waiting:
        replay.ask(app, shown.waiting)


def _find_prompts(app: App, checkpoint: Checkpoint) -> replay.WaitingPrompts | None:
    """Return the queued prompts; only hooks queue any, in the log, a session or an autosave."""
    places = [*app.store.log_paths("prompts"), app.environment.state_folder / "live"]
    if not any(map(os.path.lexists, places)) and app.store.index().autosave() is None:
        return None
    return replay.waiting(app, session_id=checkpoint.session_id)


# --- the command ---


@command()
@checkpoint_argument(complete_open, required=False)
@click.option("--accept", "answer", flag_value="accept", help="Resume it without asking.")
@click.option("--decline", "answer", flag_value="decline", help="Start fresh; stop offering it.")
@click.option(
    "--read-artifacts/--no-read-artifacts",
    "reads",
    default=None,
    help="Print the artifacts' contents, or skip the question.",
)
@click.option("--refresh", is_flag=True, help="First save it again with the files as they are now.")
@click.option("--pending", is_flag=True, help="Resume what was left for this session; do not ask.")
@click.option("--skip", is_flag=True, help="With --pending: ignore what waits; take the newest.")
@click.option("--budget", type=click.IntRange(min=100), help="Maximum tokens of the briefing.")
@click.option(
    "--for",
    "reader",
    type=click.Choice([*briefing.MOST_TOKENS]),
    help="Fit the briefing to what this agent reads at once.",
)
def resume(app: App, name: str | None, answer: str | None, **given: Any) -> int:
    """Show where the work left off and what changed since.

    On a terminal, leftoff asks whether to resume. Elsewhere pass --accept or --decline; without
    them the checkpoint is only shown.
    """
    _refuse_odd_mixes(answer, given)
    if given["pending"]:
        from leftoff.cli import pending_view  # noqa: PLC0415 - 3 ms, and few profiles use it

        return pending_view.resume_pending(
            app, name, given["budget"], skip=given["skip"], reads=given["reads"]
        )
    _resume(app, name, answer, given)
    return 0


def _refuse_odd_mixes(answer: str | None, given: dict[str, Any]) -> None:
    if given["skip"] and not given["pending"]:
        raise UsageError("--skip needs --pending.")
    if given["pending"] and (answer or given["refresh"] or given["reader"]):
        raise UsageError(
            "--pending cannot be combined with --accept, --decline, --refresh or --for."
        )


def _resume(app: App, name: str | None, answer: str | None, given: dict[str, Any]) -> None:
    # guardz prints this when the file of a checkpoint was deleted.
    if _is_gone(app, name):
        app.out.result({"gone": name}, "Checkpoint file missing (cleaned up stale entry)")
        return
    entry = _choose_entry(app, name, is_accepted=answer == "accept")
    if entry is None:
        _print_nothing_found(app)
    elif answer == "decline":
        _decline(app, entry)
    else:
        budget = given["budget"] or app.settings.budget
        budget = min(budget, briefing.MOST_TOKENS.get(given["reader"], budget))
        is_accepted = _needs_no_question(app, is_accepted=answer == "accept")
        entry = _refresh_entry(app, entry) if given["refresh"] else entry
        _offer(
            app, entry, ViewOptions(budget=budget, reads=given["reads"]), is_accepted=is_accepted
        )


def _refresh_entry(app: App, entry: CheckpointEntry) -> CheckpointEntry:
    saved = refresh(app.store, app.store.load(entry), app.settings)
    return app.store.find(saved.checkpoint.id)


def _offer(app: App, entry: CheckpointEntry, view: ViewOptions, *, is_accepted: bool) -> None:
    shown = prepare_briefing(app, app.store.load(entry), view)
    is_asked = not is_accepted and app.settings.confirm != "never"
    question = shown.question if is_asked else None
    if is_accepted:
        app.workspace.accept(entry, once=True)
    _print_briefing(app, shown, question, None if is_accepted else key_of(entry))
    if not app.out.is_interactive:
        return
    if question and not _is_confirmed(question):
        _decline(app, entry)
        return
    if question:
        app.workspace.accept(entry)
    ask_rest(app, shown)


def _print_briefing(
    app: App, shown: ResumeBriefing, question: Rendered | None, key: str | None
) -> None:
    """Print a briefing; with a key, also the commands that resume or decline it."""
    broken_off = list_loops(app)
    counted = count_artifacts(shown.checks, len(shown.checkpoint.questions))
    said = [
        _plan(shown.checks.plan),
        counted,
        shown.artifacts,
        format_loops(broken_off),
    ]
    # A terminal asks them afterwards, one by one; elsewhere print them as the last lines.
    if not app.out.is_interactive:
        said += [*shown.questions(), shown.ask_user(question), _commands(key, shown.checks)]
    app.out.briefing(
        {
            **shown.plain(question),
            "interrupted": list_loop_rows(broken_off),
            "choices": _choices(key, shown.checks) if key else [],
        },
        join([shown.text, *said], "\n\n"),
    )


def _print_nothing_found(app: App) -> None:
    broken_off = list_loops(app)
    warn_of_other_stores(app, is_empty=True)
    nothing = {"checkpoint": None, "briefing": "", "checks": None, "question": None}
    unsaved = sessions_command.find_unsaved(app)
    told = {
        **nothing,
        "prompts": [],
        "interrupted": list_loop_rows(broken_off),
        "unsaved": sessions_command.describe_unsaved(app, unsaved),
    }
    empty = say("No saved checkpoints found.")
    app.out.result(told, join([empty, format_loops(broken_off)], "\n\n"))
    if not app.out.as_json:
        app.out.text(sessions_command.format_unsaved(app, unsaved))


def _is_gone(app: App, name: str | None) -> bool:
    """Return whether someone removed the mirrored file of this checkpoint."""
    return name is not None and app.workspace.is_missing(name)


def _needs_no_question(app: App, *, is_accepted: bool) -> bool:
    # Without a terminal a look changes nothing: an agent may only want to know what is there.
    if not app.out.is_interactive:
        return is_accepted
    # `always` asks on a terminal even with --accept.
    if app.settings.confirm == "always":
        return False
    return is_accepted or app.settings.confirm == "never"


def _choices(key: str, checks: check_claims.Checks) -> list[dict[str, str]]:
    """List the possible answers, each with the command that carries it out."""
    words = ("resume anyway", "start fresh") if checks.is_stale else ("yes", "no")
    key = quote(key)
    commands = [f"leftoff resume {key} --accept", f"leftoff resume {key} --decline"]
    choices = zip(words, commands, strict=True)
    found = [{"choice": word, "command": command} for word, command in choices]
    if checks.is_stale:
        found.append({"choice": "refresh", "command": f"leftoff resume {key} --refresh"})
    return found


def _commands(key: str | None, checks: check_claims.Checks) -> Rendered:
    """Say how to answer the question: off a terminal, nobody can type `yes`."""
    if key is None:
        return say("")
    accept, decline, *rest = [each["command"] for each in _choices(key, checks)]
    stale = say(" although some of it is stale" if checks.is_stale else "")
    refresh = say(" To update it first, run `{command}`.", command=rest[0]) if rest else say("")
    return say(
        "To resume it{stale}, run `{accept}`. To start fresh, run `{decline}`.{refresh}",
        stale=stale,
        accept=accept,
        decline=decline,
        refresh=refresh,
    )


_ANSWERS = {
    **dict.fromkeys(("yes", "y", "resume", "anyway", "resume anyway"), True),
    **dict.fromkeys(("no", "n", "fresh", "start fresh"), False),
}


def _is_confirmed(question: Rendered) -> bool:
    while True:
        answer = str(click.prompt(printable(question), prompt_suffix=" ")).strip().lower()
        if answer in _ANSWERS:
            return _ANSWERS[answer]
        click.echo("Please answer with one of the words in brackets.")


def _choose_entry(app: App, name: str | None, *, is_accepted: bool) -> CheckpointEntry | None:
    """Find the named checkpoint or choose an open one; accepting twice is the same as once."""
    taken = app.workspace.find_taken(name) if is_accepted and name is not None else None
    if name is not None:
        return taken or app.workspace.find_open(name, with_autosave=True)
    try:
        found = app.workspace.choose()
    except ChoiceNeeded as choice:
        if is_accepted:
            # Who has accepted need not accept again after choosing.
            choice.choices = [
                {**each, "command": f"{each['command']} --accept"} for each in choice.choices
            ]
        return app.store.find(app.choose(choice))
    return found or (app.workspace.find_taken(None) if is_accepted else None)


def _decline(app: App, entry: CheckpointEntry) -> None:
    is_trashed = app.settings.on_decline == "trash"
    app.store.record("cleared" if is_trashed else "declined", [entry.id])
    kept = "moved to the trash" if is_trashed else "kept"
    app.out.result(
        {"declined": key_of(entry), "kept": not is_trashed},
        f"Starting fresh; {key_of(entry)} is {kept}.",
    )


def _plan(plan: check_claims.PlanCheck | None) -> Rendered:
    if plan is None:
        return say("")
    if plan.text is None:
        return say("Plan {path} is missing.", path=plan.path)
    return fence.enclose_text(join([say("Plan {path}:", path=plan.path), block(plan.text)]))


# --- artifacts ---


ARTIFACTS_QUESTION = "Re-fire reads on artifacts now? [y / n]"


def count_artifacts(checks: check_claims.Checks, questions: int) -> Rendered:
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


def _list_folders(app: App) -> list[Path]:
    return app.workspace.mirrors.list_folders(app.project)


def quote_artifacts(
    checks: check_claims.Checks, project: Project, also: Sequence[Path] = ()
) -> Rendered:
    """Return the fenced text of every artifact, and name those that are missing."""
    if not checks.artifacts:
        return say("The checkpoint names no artifacts.")
    quoted = (_quote_artifact(artifact, project, also) for artifact in checks.artifacts)
    return join(quoted, "\n\n")


def ask_for_artifacts() -> bool:
    """Ask on a terminal whether to read the artifacts again."""
    return click.confirm(ARTIFACTS_QUESTION, default=None, show_default=False, prompt_suffix=" ")


def _quote_artifact(
    artifact: check_claims.ArtifactCheck, project: Project, also: Sequence[Path]
) -> Rendered:
    name = say("Artifact {name}: {path}", name=artifact.name, path=artifact.path)
    if not artifact.is_there:
        return say("{name} is missing.", name=name)
    text = check_claims.read_text(locate_file(artifact.path, project.worktree), project, also)
    if text is None:
        return say("{name} is outside this project. Open it yourself if you trust it.", name=name)
    return fence.enclose_text(join([name, block(text)]))


# --- interrupted work on features ---


def list_loops(app: App) -> "list[Loop]":
    """List the interrupted work on this project's features, newest first."""
    store = app.store
    places = [store.project.store / "loops", *store.log_paths("features")]
    # Most projects have no features, so avoid importing the code for them.
    if not any(place.exists() for place in places):
        return []
    try:
        return knowledge.features.list_interrupted_loops(store)
    except StoreRefused as error:
        # An unreadable feature file must not prevent resuming a checkpoint.
        app.out.warn(error.message)
        return []


def format_loops(found: "list[Loop]") -> Rendered:
    """Describe each interruption: what failed and how to continue."""
    if not found:
        return say("")
    return fence.enclose_text(join(map(knowledge.features.ways_to_go_on, found), "\n\n"))


def list_loop_rows(found: "list[Loop]") -> list[dict[str, Any]]:
    """Return the interrupted work as JSON-ready values."""
    return [to_plain(loop) for loop in found]
